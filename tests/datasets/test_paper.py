"""Sets found, downloaded, kept and handed over."""

import builtins
import hashlib
import http.server
import threading
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import requests

from covmin.datasets import list_datasets, load, registry

from .copies import (
    PAPER_DATA,
    TINY,
    TINY_GLASS,
    mat_bytes,
    needs_paper_data,
    sha256,
    source_bytes,
    stored,
)

STORED = [name for name in list_datasets() if name != "CLL-SUB-111"]


@needs_paper_data
@pytest.mark.parametrize("name", STORED)
def test_load_stored_sets(name, paper_data):
    X, y = stored(name)
    result = load(name)
    assert result.data.dtype == np.float64
    assert result.target.dtype == np.int64
    np.testing.assert_array_equal(result.data, X)
    np.testing.assert_array_equal(result.target, y)
    assert len(result.feature_names) == len(set(result.feature_names)) == X.shape[1]
    assert len(result.target_names) == y.max() + 1
    assert result.task == "classification"
    for word in (name, "Origin", "Notes", "Terms", "https://"):
        assert word in result.DESCR
    assert ("groups" in result) == (name == "vowel")


@needs_paper_data
def test_original_labels_and_names(paper_data):
    glass = load("glass")
    assert glass.target_names.tolist() == ["1", "2", "3", "5", "6", "7"]
    assert glass.feature_names[:2] == ["Id", "RI"]
    np.testing.assert_array_equal(glass.data[:, 0], np.arange(1, 215))


@needs_paper_data
def test_glass_without_its_id(paper_data):
    glass, without = load("glass"), load("glass-no-id")
    np.testing.assert_array_equal(without.data, glass.data[:, 1:])
    np.testing.assert_array_equal(without.target, glass.target)
    assert without.data.flags.c_contiguous
    assert without.feature_names == glass.feature_names[1:]
    assert "gives the class away" in glass.DESCR
    assert without.DESCR.startswith("glass-no-id: 214 samples, 9 features")


@needs_paper_data
def test_vowel_groups_are_speakers(paper_data):
    vowel = load("vowel")
    assert np.bincount(vowel.groups).tolist() == [66] * 15
    # Each speaker says each of the eleven vowels six times, in one run of rows.
    for speaker in range(15):
        assert np.bincount(vowel.target[vowel.groups == speaker]).tolist() == [6] * 11


def test_as_frame():
    result = load("wine", as_frame=True)
    assert list(result.data.columns) == result.feature_names
    assert result.frame.shape == (178, 14)
    X, y = load("wine", as_frame=True, return_X_y=True)
    assert isinstance(X, pd.DataFrame)
    assert isinstance(y, pd.Series)
    for found, expected in zip((X, y), load("wine", return_X_y=True), strict=True):
        np.testing.assert_array_equal(found.to_numpy(), expected)


def test_environment_must_name_a_folder(monkeypatch, tmp_path):
    monkeypatch.setenv("COVMIN_DATA", str(tmp_path / "nowhere"))
    with pytest.raises(NotADirectoryError, match=r"COVMIN_DATA.*nowhere.*not a folder"):
        load("wine")


@needs_paper_data
def test_download_is_kept_and_used_again(register, network, tmp_path):
    content = source_bytes(registry.find_record("glass"), *stored("glass"))
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
        np.testing.assert_array_equal(load("glass").data, stored("glass")[0])
    assert fetched == mirrors
    folder = tmp_path / "user-cache" / "covmin"
    assert [path.name for path in folder.iterdir()] == ["glass.data"]


def test_download_is_checked_against_the_git_blob(register, network, tmp_path):
    content = mat_bytes(X=np.eye(3, 2), Y=np.array([[1], [2], [2]]))
    blob = hashlib.sha1(b"blob %d\0" % len(content) + content).hexdigest()
    real = registry.find_record("CLL-SUB-111")
    assert real.source_checksum == "git-blob:6f14fa8d02fbe7fca3e73f4c97da3f1e7003a648"
    names = {"target_names": ["1", "2"]}
    register("CLL-SUB-111", **TINY, **names, source_checksum=f"git-blob:{blob}")
    network.fetch = lambda url: content[:-1]
    with pytest.raises(ConnectionError, match=f"git-blob checksum is .*expected {blob}"):
        load("CLL-SUB-111", data_home=tmp_path)
    assert list(tmp_path.iterdir()) == []
    network.fetch = lambda url: content
    assert load("CLL-SUB-111", data_home=tmp_path).target.tolist() == [0, 1, 1]
    assert [path.name for path in tmp_path.iterdir()] == ["CLL-SUB-111.mat"]


def test_unregistered_npz_is_not_trusted(tmp_path, monkeypatch):
    np.savez(tmp_path / "CLL-SUB-111.npz", X=np.zeros((111, 11340)), y=np.zeros(111, int))
    monkeypatch.setenv("COVMIN_DATA", str(tmp_path))
    with pytest.raises(AssertionError, match=r"tried to fetch https.*CLL-SUB-111\.mat"):
        load("CLL-SUB-111")


def test_offline_error_says_what_to_put_where(network, tmp_path):
    def fetch(url):
        raise requests.ConnectionError("no route to host")

    network.fetch = fetch
    with pytest.raises(ConnectionError) as caught:
        load("ALLAML", data_home=tmp_path / "new")
    message = str(caught.value)
    source = "https://raw.githubusercontent.com/jundongl/scikit-feature/48cffad4"
    bring = f"ALLAML.mat from one of these addresses and put it in {tmp_path / 'new'}"
    for part in (source, "no route to host", bring, "COVMIN_DATA", "ALLAML.npz"):
        assert part in message
    assert not (tmp_path / "new").exists()


@needs_paper_data
def test_failed_write_leaves_nothing(register, network, monkeypatch, tmp_path):
    content = source_bytes(registry.find_record("glass"), *stored("glass"))
    register("glass", source_checksum=sha256(content))
    network.fetch = lambda url: content

    def interrupted(source, target):
        assert Path(source).read_bytes() == content
        raise KeyboardInterrupt

    monkeypatch.setattr("os.replace", interrupted)
    with pytest.raises(KeyboardInterrupt):
        load("glass", data_home=tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_download_over_http(register, monkeypatch, tmp_path):
    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            self.send_response(200 if self.path == "/there" else 404)
            self.send_header("Content-Length", str(len(TINY_GLASS)))
            self.end_headers()
            self.wfile.write(TINY_GLASS)

        def log_message(self, *args):
            pass

    monkeypatch.undo()
    for variable in ("NO_PROXY", "no_proxy"):
        monkeypatch.setenv(variable, "127.0.0.1")
    monkeypatch.delenv("COVMIN_DATA", raising=False)
    names = {"target_names": ["5", "7"], "feature_names": ["Id", "RI"]}
    register("glass", **TINY, **names, source_checksum=sha256(TINY_GLASS))
    with http.server.HTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            root = f"http://127.0.0.1:{server.server_port}"
            register("glass", source_urls=[f"{root}/gone"])
            with pytest.raises(ConnectionError, match="404"):
                load("glass", data_home=tmp_path)
            register("glass", source_urls=[f"{root}/gone", f"{root}/there"])
            assert load("glass", data_home=tmp_path).target.tolist() == [1, 0, 1]
        finally:
            server.shutdown()
            thread.join()


@needs_paper_data
def test_wine_needs_no_download():
    X, y = stored("wine")
    result = load("wine")
    np.testing.assert_array_equal(result.data, X)
    np.testing.assert_array_equal(result.target, y)


def test_wine_of_scikit_learn_is_not_used_once_it_differs(monkeypatch):
    X, y = load("wine", return_X_y=True)
    X[0, 0] += 0.01
    monkeypatch.setattr("sklearn.datasets.load_wine", lambda return_X_y: (X, y))
    with pytest.raises(AssertionError, match=r"tried to fetch https.*wine\.csv"):
        load("wine")


def hide(monkeypatch, package):
    real = builtins.__import__

    def importer(name, *args, **kwargs):
        if name == package:
            raise ImportError(name)
        return real(name, *args, **kwargs)

    monkeypatch.setattr(builtins, "__import__", importer)


@needs_paper_data
def test_pooch_is_needed_only_for_a_download(monkeypatch, tmp_path):
    hide(monkeypatch, "pooch")
    assert load("wine").data.shape == (178, 13)
    assert load("glass", data_home=PAPER_DATA).data.shape == (214, 10)
    with pytest.raises(ImportError, match=r'vowel requires pooch: pip install "covmin\[data\]"'):
        load("vowel")
    monkeypatch.setenv("COVMIN_DATA", str(PAPER_DATA))
    assert load("vowel").data.shape == (990, 10)


def test_pandas_is_needed_only_for_frames(monkeypatch):
    hide(monkeypatch, "pandas")
    assert load("wine").data.shape == (178, 13)
    with pytest.raises(ImportError, match="pip install pandas"):
        load("wine", as_frame=True)
