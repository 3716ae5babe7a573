"""The paper's sets: registered, found, downloaded, verified and handed over."""

import builtins
import hashlib
import http.server
import threading
from pathlib import Path

import numpy as np
import pytest
import requests
from experiments.paper import data
from experiments.paper.data import list_datasets, load

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


def test_environment_must_name_a_folder(monkeypatch, tmp_path):
    monkeypatch.setenv("COVMIN_DATA", str(tmp_path / "nowhere"))
    with pytest.raises(NotADirectoryError, match=r"COVMIN_DATA.*nowhere.*not a folder"):
        load("wine")


@needs_paper_data
def test_download_is_kept_and_used_again(register, network, tmp_path):
    content = source_bytes(data.find_record("glass"), *stored("glass"))
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
    real = data.find_record("CLL-SUB-111")
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
    content = source_bytes(data.find_record("glass"), *stored("glass"))
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
    with pytest.raises(ImportError, match="vowel requires pooch: pip install"):
        load("vowel")
    monkeypatch.setenv("COVMIN_DATA", str(PAPER_DATA))
    assert load("vowel").data.shape == (990, 10)


def test_git_blob_checksum_is_git_s_own():
    # What `git hash-object` prints for an empty file and for "hello world\n".
    assert data.checksum(b"", "git-blob") == "e69de29bb2d1d6434b8b29ae775ad8c2e48c5391"
    known = "3b18e512dba79e4c8300dd08aeb37f8e728b8dad"
    assert data.checksum(b"hello world\n", "git-blob") == known


def test_a_value_that_differs_by_a_hair_is_noticed():
    wine, record = load("wine"), data.find_record("wine")
    assert data.same_values(wine.data, wine.target, record)
    wine.data[-1, -1] += 1e-9
    assert not data.same_values(wine.data, wine.target, record)


@needs_paper_data
def test_damaged_npz_is_refused(monkeypatch, tmp_path):
    content = bytearray((PAPER_DATA / "glass.npz").read_bytes())
    content[len(content) // 2] ^= 1
    (tmp_path / "glass.npz").write_bytes(content)
    monkeypatch.setenv("COVMIN_DATA", str(tmp_path))
    with pytest.raises(OSError, match=r"glass\.npz is damaged.*sha256.*expected 0a6c467d"):
        load("glass")
    (tmp_path / "glass.npz").write_bytes(b"")
    with pytest.raises(OSError, match="damaged"):
        load("glass")


def test_npz_is_never_unpickled(register, tmp_path):
    X = np.empty((2, 1), dtype=object)
    np.savez(tmp_path / "glass.npz", X=X, y=np.array([0, 1]))
    digest = hashlib.sha256((tmp_path / "glass.npz").read_bytes()).hexdigest()
    register("glass", npz_sha256=digest)
    with pytest.raises(ValueError, match="allow_pickle=False"):
        load("glass", data_home=tmp_path)


@needs_paper_data
@pytest.mark.parametrize(
    ("name", "newline"), [("Yale", ""), ("glass", "\n"), ("vowel", "\r\n"), ("wine", "\r\n")]
)
def test_source_gives_the_values_of_the_npz(name, newline, register, tmp_path):
    X, y = stored(name)
    record = data.find_record(name)
    content = source_bytes(record, X, y, newline)
    register(name, source_checksum=sha256(content), bundled=None)
    (tmp_path / record.source_file).write_bytes(content)
    result = load(name, data_home=tmp_path)
    np.testing.assert_array_equal(result.data, X)
    np.testing.assert_array_equal(result.target, y)
    assert result.data.dtype == np.float64
    assert result.data.flags.c_contiguous


def load_tiny(register, folder, name, content, **changes):
    record = register(name, source_checksum=sha256(content), **TINY, **changes)
    (folder / record.source_file).write_bytes(content)
    return load(name, data_home=folder)


def test_text_source_by_hand(register, tmp_path):
    names = {"target_names": ["5", "7"], "feature_names": ["Id", "RI"]}
    result = load_tiny(register, tmp_path, "glass", TINY_GLASS, **names)
    assert result.data.tolist() == [[1, 0.5], [2, -0.001], [3, 8.9]]
    assert result.target.tolist() == [1, 0, 1]


def test_mat_source_by_hand(register, tmp_path):
    content = mat_bytes(
        X=np.array([[0, 255], [3, 4], [5, 6]], dtype=np.uint8),
        Y=np.array([[2], [1], [2]], dtype=np.uint8),
        ignored=np.arange(3),
    )
    result = load_tiny(register, tmp_path, "Yale", content, target_names=["1", "2"])
    assert result.data.tolist() == [[0, 255], [3, 4], [5, 6]]
    assert result.target.tolist() == [1, 0, 1]
    assert result.feature_names == ["x0", "x1"]


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("glass", b"1,2,3,1\n1,2,3,2\n1,2,3,2\n", "must have 3 columns.*got 4"),
        ("glass", b"1,2,1\n1,2,9\n1,2,2\n", r"labels \[9\.0\]; glass has only 1, 2"),
        ("glass", b"1,2,1\n1,2,1.5\n1,2,2\n", r"labels \[1\.5\]"),
        ("glass", b"1,2,1\n1,2,2\n", r"shape \(2, 2\) or its values.*\(3, 2\)"),
        ("glass", b"a,b,c\n1,2,1\n1,2,2\n", "could not convert"),
        ("Yale", mat_bytes(X=np.eye(3, 2)), "must contain a numeric matrix Y"),
        ("Yale", mat_bytes(X="text", Y=np.ones(3)), "must contain a numeric matrix X"),
        ("Yale", mat_bytes(X=np.eye(3, 2), Y=np.ones((3, 1))), "its values differ from those"),
    ],
)
def test_bad_sources_say_what_is_wrong(name, content, message, register, tmp_path):
    with pytest.raises(ValueError, match=message):
        load_tiny(register, tmp_path, name, content, target_names=["1", "2"])


def test_list_datasets_is_the_table_of_the_paper():
    expected = "ALLAML CLL-SUB-111 glass ORL orlraws10P pixraw10P TOX-171 vowel warpAR10P "
    assert list_datasets() == (expected + "warpPIE10P wine Yale").split()
    assert list_datasets(variants=True) == [*list_datasets(), "glass-no-id"]


@pytest.mark.parametrize(
    ("spelling", "name"),
    [
        ("tox_171", "TOX-171"),
        ("TOX171", "TOX-171"),
        ("cll-sub_111", "CLL-SUB-111"),
        ("yale", "Yale"),
    ],
)
def test_names_are_matched_loosely(spelling, name):
    assert data.find_record(spelling).name == name


def test_unknown_names_are_refused_with_the_nearest():
    with pytest.raises(ValueError, match=r"'TOX-117'.*Did you mean 'TOX-171'.*Known names: ALLAML"):
        load("TOX-117")
    with pytest.raises(ValueError, match=r"called 'qqqqqq'\. Known names"):
        load("qqqqqq")
    with pytest.raises(TypeError, match=r"must be a string.*3 of type int"):
        load(3)


@pytest.mark.parametrize("name", ["../wine", "/etc/passwd", "wine.npz", "..", "", "wine\0"])
def test_names_are_never_paths(name):
    with pytest.raises(ValueError, match="There is no data set called"):
        load(name)


def test_registry_is_complete_and_safe():
    for record in data.records().values():
        assert len(record.class_counts) == len(record.target_names)
        assert sum(record.class_counts) == record.n_samples
        assert len(record.columns) == record.n_features
        kind, _, digest = record.source_checksum.partition(":")
        assert len(digest) == {"sha256": 64, "git-blob": 40}[kind]
        assert all(url.startswith("https://") for url in record.source_urls)
        assert all(Path(file_name).name == file_name for file_name in record.file_names)
