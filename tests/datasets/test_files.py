"""Bytes of files against checksums, and formats of public sources."""

import hashlib

import numpy as np
import pytest

from covmin.datasets import files, load, registry

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


def test_git_blob_checksum_is_git_s_own():
    # What `git hash-object` prints for an empty file and for "hello world\n".
    assert files.checksum(b"", "git-blob") == "e69de29bb2d1d6434b8b29ae775ad8c2e48c5391"
    known = "3b18e512dba79e4c8300dd08aeb37f8e728b8dad"
    assert files.checksum(b"hello world\n", "git-blob") == known


def test_a_value_that_differs_by_a_hair_is_noticed():
    wine, record = load("wine"), registry.find_record("wine")
    assert files.same_values(wine.data, wine.target, record)
    wine.data[-1, -1] += 1e-9
    assert not files.same_values(wine.data, wine.target, record)


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
    record = registry.find_record(name)
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
