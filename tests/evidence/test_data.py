"""The paper's sets: found, downloaded, verified and handed over."""

import hashlib

import numpy as np
import pytest
import requests
from experiments.paper import data
from experiments.paper.data import list_datasets, load

from .copies import PAPER_DATA, needs_paper_data, source_bytes, stored

STORED = [name for name in list_datasets() if name != "CLL-SUB-111"]


def registered(monkeypatch, name, **changes):
    """A changed record in place of the real one."""
    known = {**data.records(), name: data.records()[name] | changes}
    monkeypatch.setattr(data, "records", lambda: known)


@needs_paper_data
@pytest.mark.parametrize("name", STORED)
def test_stored_sets(name, paper_data):
    for ours, theirs in zip(load(name), stored(name), strict=True):
        np.testing.assert_array_equal(ours, theirs)


@needs_paper_data
@pytest.mark.parametrize(
    ("name", "newline"), [("Yale", ""), ("glass", "\n"), ("vowel", "\r\n")], ids=str
)
def test_a_download_is_verified_kept_and_gives_the_same(name, newline, monkeypatch, network):
    X, y = stored(name)
    content = source_bytes(data.records()[name], X, y, newline)
    checksum = f"sha256:{hashlib.sha256(content).hexdigest()}"
    mirrors = ["https://a/1", "https://b/2", "https://c/3"]
    registered(monkeypatch, name, source_checksum=checksum, source_urls=mirrors)
    fetched = []

    def fetch(url):
        fetched.append(url)
        if len(fetched) == 1:
            raise requests.ConnectionError("first mirror down")
        return b"a proxy's login page" if len(fetched) == 2 else content

    network.fetch = fetch
    for _ in range(2):
        for ours, theirs in zip(load(name), (X, y), strict=True):
            np.testing.assert_array_equal(ours, theirs)
    assert fetched == mirrors


def test_offline_error_says_what_to_put_where(network):
    def fetch(url):
        raise requests.ConnectionError("no route to host")

    network.fetch = fetch
    with pytest.raises(ConnectionError, match=r"no route to host(?s:.*)put ALLAML\.mat"):
        load("ALLAML")


@needs_paper_data
def test_a_damaged_file_is_refused(monkeypatch, tmp_path):
    content = bytearray((PAPER_DATA / "glass.npz").read_bytes())
    content[len(content) // 2] ^= 1
    (tmp_path / "glass.npz").write_bytes(content)
    monkeypatch.setenv("COVMIN_DATA", str(tmp_path))
    with pytest.raises(OSError, match=r"glass\.npz is damaged"):
        load("glass")


def test_the_registry_is_complete():
    for record in data.records().values():
        assert len(record["class_counts"]) == len(record["target_names"])
        assert sum(record["class_counts"]) == record["n_samples"]
        assert all(url.startswith("https://") for url in record["source_urls"])
