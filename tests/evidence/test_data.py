"""The paper's sets: registered, found, downloaded, verified and handed over."""

import hashlib
from pathlib import Path

import numpy as np
import pytest
import requests
from experiments.paper import data
from experiments.paper.data import list_datasets, load

from .copies import PAPER_DATA, TINY, mat_bytes, needs_paper_data, sha256, source_bytes, stored

STORED = [name for name in list_datasets() if name != "CLL-SUB-111"]


@needs_paper_data
@pytest.mark.parametrize("name", STORED)
def test_stored_sets(name, paper_data):
    for ours, theirs in zip(load(name), stored(name), strict=True):
        np.testing.assert_array_equal(ours, theirs)


@needs_paper_data
def test_download_is_kept_and_used_again(register, network, tmp_path):
    content = source_bytes(data.records()["glass"], *stored("glass"))
    mirrors = ["https://a/1", "https://b/2", "https://c/3"]
    register("glass", source_checksum=sha256(content), source_urls=mirrors)
    fetched = []

    def fetch(url):
        fetched.append(url)
        if len(fetched) == 1:
            raise requests.ConnectionError("first mirror down")
        return b"a proxy's login page" if len(fetched) == 2 else content

    network.fetch = fetch
    for _ in range(2):
        np.testing.assert_array_equal(load("glass")[0], stored("glass")[0])
    assert fetched == mirrors
    folder = tmp_path / "user-cache" / "covmin"
    assert [path.name for path in folder.iterdir()] == ["glass.data"]


def test_download_is_checked_against_the_git_blob(register, network, tmp_path):
    content = mat_bytes(X=np.eye(3, 2), Y=np.array([[1], [2], [2]]))
    blob = hashlib.sha1(b"blob %d\0" % len(content) + content).hexdigest()
    names = {"target_names": ["1", "2"]}
    register("CLL-SUB-111", **TINY, **names, source_checksum=f"git-blob:{blob}")
    network.fetch = lambda url: content[:-1]
    with pytest.raises(ConnectionError, match=f"git-blob checksum is .*expected {blob}"):
        load("CLL-SUB-111", tmp_path)
    assert list(tmp_path.iterdir()) == []
    network.fetch = lambda url: content
    assert load("CLL-SUB-111", tmp_path)[1].tolist() == [0, 1, 1]
    # What `git hash-object` prints for an empty file.
    assert data.checksum(b"", "git-blob") == "e69de29bb2d1d6434b8b29ae775ad8c2e48c5391"


def test_offline_error_says_what_to_put_where(network, tmp_path):
    def fetch(url):
        raise requests.ConnectionError("no route to host")

    network.fetch = fetch
    with pytest.raises(ConnectionError, match=r"no route to host(?s:.*)put ALLAML\.mat.*new"):
        load("ALLAML", tmp_path / "new")
    assert not (tmp_path / "new").exists()


@needs_paper_data
def test_damaged_npz_is_refused(monkeypatch, tmp_path):
    content = bytearray((PAPER_DATA / "glass.npz").read_bytes())
    content[len(content) // 2] ^= 1
    (tmp_path / "glass.npz").write_bytes(content)
    monkeypatch.setenv("COVMIN_DATA", str(tmp_path))
    with pytest.raises(OSError, match=r"glass\.npz is damaged.*sha256.*expected 0a6c467d"):
        load("glass")


@needs_paper_data
@pytest.mark.parametrize(
    ("name", "newline"), [("Yale", ""), ("glass", "\n"), ("vowel", "\r\n"), ("wine", "\r\n")]
)
def test_source_gives_the_values_of_the_npz(name, newline, register, tmp_path):
    X, y = stored(name)
    record = data.records()[name]
    content = source_bytes(record, X, y, newline)
    register(name, source_checksum=sha256(content))
    (tmp_path / record["source_file"]).write_bytes(content)
    for ours, theirs in zip(load(name, tmp_path), (X, y), strict=True):
        np.testing.assert_array_equal(ours, theirs)


def test_registry_is_complete_and_safe():
    for name in list_datasets():
        record = data.records()[name]
        assert len(record["class_counts"]) == len(record["target_names"])
        assert sum(record["class_counts"]) == record["n_samples"]
        kind, _, digest = record["source_checksum"].partition(":")
        assert len(digest) == {"sha256": 64, "git-blob": 40}[kind]
        assert all(url.startswith("https://") for url in record["source_urls"])
        assert Path(record["source_file"]).name == record["source_file"]
