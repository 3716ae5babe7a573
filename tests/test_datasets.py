"""Generators against the distributions they claim; loaders against checksums and bad files."""

import builtins
import hashlib
import http.server
import io
import threading
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import requests
from scipy.io import savemat
from scipy.stats import beta, binomtest, chi2, ks_2samp, kstest, norm

from covmin.datasets import (
    _files,
    _paper,
    _registry,
    list_datasets,
    load,
    make_additive,
    make_correlated_interaction,
    make_correlated_linear,
    make_shell,
    make_xor,
)

PAPER_DATA = Path(__file__).resolve().parents[2] / "shared" / "data" / "paper"
HARD = [make_correlated_linear, make_correlated_interaction]
GENERATORS = [make_shell, make_xor, make_additive, *HARD]
STORED = [name for name in list_datasets() if name != "CLL-SUB-111"]
N = 20_000


def is_plausible(sample, cdf):
    return kstest(sample, cdf).pvalue > 1e-3


# ---------------------------------------------------------------------------------- generators


@pytest.fixture(scope="module")
def shell():
    return make_shell(N, random_state=1)


@pytest.fixture(scope="module")
def xor():
    return make_xor(N, random_state=2)


@pytest.fixture(scope="module")
def additive():
    return make_additive(N, random_state=3)


def test_shell_negative_class_and_noise_are_standard_normal(shell):
    negative = shell.data[shell.target == -1]
    assert all(is_plausible(column, norm.cdf) for column in negative.T)
    assert is_plausible((negative[:, :4] ** 2).sum(axis=1), chi2(4).cdf)
    noise = shell.data[:, 4:]
    assert all(is_plausible(column, norm.cdf) for column in noise[shell.target == 1].T)


def test_shell_radius_is_truncated_chi2(shell):
    squared_radius = (shell.data[shell.target == 1, :4] ** 2).sum(axis=1)
    # Inside the shell, and reaching both its edges.
    assert 9 - 1e-12 <= squared_radius.min() < 9.01
    assert 15.9 < squared_radius.max() <= 16 + 1e-12
    low, high = chi2(4).cdf([9, 16])
    assert is_plausible(squared_radius, lambda r: (chi2(4).cdf(r) - low) / (high - low))


def test_shell_direction_is_uniform_and_independent_of_radius(shell):
    positive = shell.data[shell.target == 1, :4]
    radius = np.linalg.norm(positive, axis=1)
    direction = positive / radius[:, None]
    # One squared coordinate of a uniform direction in four dimensions is Beta(1/2, 3/2).
    assert all(is_plausible(column**2, beta(0.5, 1.5).cdf) for column in direction.T)
    correlation = np.corrcoef(np.column_stack([direction, radius]), rowvar=False)
    assert np.abs(correlation - np.eye(5)).max() < 0.04


def test_shell_matches_plain_rejection(shell):
    cloud = np.random.default_rng(0).standard_normal((200_000, 4))
    squared_radius = (cloud**2).sum(axis=1)
    kept = cloud[(squared_radius >= 9) & (squared_radius <= 16)]
    ours = shell.data[shell.target == 1]
    assert ks_2samp(ours[:, 0], kept[:, 0]).pvalue > 1e-3
    assert ks_2samp(ours[:, 0] + ours[:, 1], kept[:, 0] + kept[:, 1]).pvalue > 1e-3


def test_classes_are_drawn_uniformly(shell, xor):
    for target, labels in [(shell.target, [-1, 1]), (xor.target, [0, 1, 2, 3])]:
        assert np.unique(target).tolist() == labels
        for label in labels:
            count = int((target == label).sum())
            assert binomtest(count, N, 1 / len(labels)).pvalue > 1e-3


def test_xor_class_follows_from_products_of_signs(xor):
    x1, x2, x3 = xor.data[:, :3].T
    for label in range(4):
        rows = xor.target == label
        # The noise is independent over features, so E[x1 x3 | class] is v1 v3 itself.
        assert np.mean((x1 * x3)[rows]) == pytest.approx(2 * (label // 2) - 1, abs=0.06)
        assert np.mean((x2 * x3)[rows]) == pytest.approx(2 * (label % 2) - 1, abs=0.06)
    from_signs = 2 * (x1 * x3 > 0) + (x2 * x3 > 0)
    right = norm.cdf(1 / np.sqrt(0.5))
    expected = right**3 + (1 - right) ** 3
    assert np.mean(from_signs == xor.target) == pytest.approx(expected, abs=0.012)


def test_xor_features_are_each_independent_of_the_class(xor):
    def mixture(x):
        return (norm.cdf(x, -1, np.sqrt(0.5)) + norm.cdf(x, 1, np.sqrt(0.5))) / 2

    for label in range(4):
        rows = xor.data[xor.target == label]
        assert all(is_plausible(column, mixture) for column in rows[:, :3].T)
        assert all(is_plausible(column, norm.cdf) for column in rows[:, 3:].T)


def test_additive_formula_has_unit_normal_residual(additive):
    x = additive.data
    mean = -2 * np.sin(2 * x[:, 0]) + np.maximum(x[:, 1], 0) + x[:, 2] + np.exp(-x[:, 3])
    residual = additive.target - mean
    assert is_plausible(residual, norm.cdf)
    assert residual.var() == pytest.approx(1, abs=0.04)
    assert np.abs(np.corrcoef(residual, x.T, rowvar=True)[0, 1:]).max() < 0.03
    assert all(is_plausible(column, norm.cdf) for column in x.T)


@pytest.mark.parametrize(
    ("make", "n_true", "task"),
    [
        (make_shell, 4, "classification"),
        (make_correlated_linear, 4, "regression"),
        (make_correlated_interaction, 3, "classification"),
        (make_xor, 3, "classification"),
        (make_additive, 4, "regression"),
    ],
)
def test_result_fields(make, n_true, task):
    result = make(30, random_state=0)
    assert result.data.shape == (30, 10)
    assert result.data.dtype == np.float64
    assert result.target.dtype == (np.float64 if task == "regression" else np.int64)
    assert result.informative.tolist() == list(range(n_true))
    assert result.feature_names == [f"x{j}" for j in range(10)]
    assert result.task == task
    X, y = make(30, random_state=0, return_X_y=True)
    np.testing.assert_array_equal(X, result.data)
    np.testing.assert_array_equal(y, result.target)
    assert make(np.int64(1), 0).data.shape == (1, n_true)


@pytest.mark.parametrize("make", HARD)
def test_noise_features_look_like_true_ones_in_turn(make):
    data = make(N, n_noise=9, random_state=2)
    m = len(data.informative)
    noise = np.arange(9)
    found = np.corrcoef(data.data.T)[m:, :m]
    expected = np.where(noise[:, None] % m == np.arange(m), 0.7, 0.0)
    assert np.abs(found - expected).max() < 0.03
    assert np.abs(data.data.std(axis=0) - 1).max() < 0.03


def test_correlated_linear_formula_has_unit_normal_residual():
    data = make_correlated_linear(N, random_state=3)
    residual = data.target - data.data[:, :4] @ [1, -1, 1, -1]
    assert kstest(residual, norm.cdf).pvalue > 1e-3


def test_correlated_interaction_follows_the_sign_of_its_formula():
    data = make_correlated_interaction(N, random_state=3)
    x = data.data
    margin = 2 * x[:, 0] * x[:, 1] + x[:, 2]
    expected = norm.cdf(margin / 0.5)  # probability of the class +1
    rate = [(data.target[near] == 1).mean() for near in (expected > 0.99, expected < 0.01)]
    assert rate[0] > 0.99
    assert rate[1] < 0.01
    for j in (0, 1):  # nothing by itself
        assert abs(np.corrcoef(x[:, j], data.target)[0, 1]) < 0.03


@pytest.mark.parametrize("make", GENERATORS)
def test_same_seed_same_data(make):
    first, again, other = (make(50, random_state=seed).data for seed in (5, 5, 6))
    np.testing.assert_array_equal(first, again)
    assert not np.array_equal(first, other)
    np.testing.assert_array_equal(first, make(50, random_state=np.random.default_rng(5)).data)
    legacy = [make(50, random_state=np.random.RandomState(5)).data for _ in range(2)]
    np.testing.assert_array_equal(*legacy)
    assert not np.array_equal(make(50).data, make(50).data)


@pytest.mark.parametrize("make", GENERATORS)
def test_noise_features_leave_the_rest_alone(make):
    few, many = make(40, 0, random_state=9), make(40, 25, random_state=9)
    np.testing.assert_array_equal(few.data, many.data[:, many.informative])
    np.testing.assert_array_equal(few.target, many.target)


@pytest.mark.parametrize("make", GENERATORS)
@pytest.mark.parametrize("seed", [None, 0])
def test_global_random_state_is_untouched(make, seed):
    before = np.random.get_state()  # noqa: NPY002
    make(20, random_state=seed)
    after = np.random.get_state()  # noqa: NPY002
    assert before[2:] == after[2:]
    np.testing.assert_array_equal(before[1], after[1])


@pytest.mark.parametrize("make", GENERATORS)
@pytest.mark.parametrize(
    ("sizes", "error", "message"),
    [
        ((0,), ValueError, "n_samples must be at least 1, got 0"),
        ((10, -1), ValueError, "n_noise must be at least 0, got -1"),
        ((2.5,), TypeError, "n_samples must be an integer.*2.5 of type float"),
        ((True,), TypeError, "n_samples must be an integer"),
        ((10, "3"), TypeError, "n_noise must be an integer"),
    ],
)
def test_bad_sizes(make, sizes, error, message):
    with pytest.raises(error, match=message):
        make(*sizes)


# ------------------------------------------------------------------------------------- loaders


@pytest.fixture(autouse=True)
def isolated(monkeypatch, tmp_path):
    """No test may reach the network, the user's cache or the user's settings."""

    def refuse(url, record):
        raise AssertionError(f"a test tried to fetch {url}")

    monkeypatch.setattr(_paper, "_fetch", refuse)
    monkeypatch.delenv("COVMIN_DATA", raising=False)
    monkeypatch.setattr("pooch.os_cache", lambda project: tmp_path / "user-cache" / project)


@pytest.fixture
def paper_data(monkeypatch):
    monkeypatch.setenv("COVMIN_DATA", str(PAPER_DATA))


@pytest.fixture
def register(monkeypatch):
    """Register a changed record in place of the real one."""

    def change(record, **changes):
        changed = replace(record, **changes)
        known = {**_registry.records(), changed.name: changed}
        monkeypatch.setattr(_registry, "records", lambda: known)
        return changed

    return change


def stored(name):
    with np.load(PAPER_DATA / f"{name}.npz", allow_pickle=False) as arrays:
        return arrays["X"], arrays["y"]


def sha256(content):
    return f"sha256:{hashlib.sha256(content).hexdigest()}"


def mat_bytes(**variables):
    content = io.BytesIO()
    savemat(content, variables, do_compression=True)
    return content.getvalue()


def source_bytes(record, X, y, newline="\n"):
    """Write a set as its public source has it."""
    labels = np.array([int(name) for name in record.target_names])[y]
    if record.source_file.endswith(".mat"):
        return mat_bytes(X=X, Y=labels[:, None].astype(np.uint8))
    rows = [
        ", ".join(["0"] * record.skip_columns + [repr(v) for v in values] + [str(label)])
        for values, label in zip(X.tolist(), labels.tolist(), strict=True)
    ]
    return (newline.join(rows) + newline).encode()


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


def test_every_registered_value_checksum_matches_the_stored_values():
    for name in STORED:
        X, y = stored(name)
        record = _registry.find_record(name)
        assert _files.values_checksum(X.astype(float), y) == record.values_sha256
        X = X.astype(float)
        X[-1, -1] += 1e-9
        assert not _files.same_values(X, y.astype(np.int64), record)


def test_original_labels_and_names(paper_data):
    glass = load("glass")
    assert glass.target_names.tolist() == ["1", "2", "3", "5", "6", "7"]
    assert glass.feature_names[:2] == ["Id", "RI"]
    np.testing.assert_array_equal(glass.data[:, 0], np.arange(1, 215))


def test_glass_without_its_id(paper_data):
    glass, without = load("glass"), load("glass-no-id")
    np.testing.assert_array_equal(without.data, glass.data[:, 1:])
    np.testing.assert_array_equal(without.target, glass.target)
    assert without.data.flags.c_contiguous
    assert without.feature_names == glass.feature_names[1:]
    assert "gives the class away" in glass.DESCR
    assert without.DESCR.startswith("glass-no-id: 214 samples, 9 features")


def test_vowel_groups_are_speakers(paper_data):
    vowel = load("vowel")
    assert np.bincount(vowel.groups).tolist() == [66] * 15
    # Each speaker says each of the eleven vowels six times, in one run of rows.
    for speaker in range(15):
        assert np.bincount(vowel.target[vowel.groups == speaker]).tolist() == [6] * 11


def test_as_frame(paper_data):
    result = load("wine", as_frame=True)
    assert list(result.data.columns) == result.feature_names
    assert result.frame.shape == (178, 14)
    X, y = load("wine", as_frame=True, return_X_y=True)
    assert isinstance(X, pd.DataFrame)
    assert isinstance(y, pd.Series)
    np.testing.assert_array_equal(X.to_numpy(), stored("wine")[0])
    np.testing.assert_array_equal(y.to_numpy(), stored("wine")[1])


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
    assert _registry.find_record(spelling).name == name


def test_unknown_names_are_refused_with_the_nearest():
    with pytest.raises(ValueError, match=r"'TOX-117'.*Did you mean 'TOX-171'.*Known names: ALLAML"):
        load("TOX-117")
    with pytest.raises(ValueError, match=r"called 'qqqqqq'\. Known names"):
        load("qqqqqq")
    with pytest.raises(TypeError, match=r"must be a string.*3 of type int"):
        load(3)


@pytest.mark.parametrize("name", ["../wine", "/etc/passwd", "wine.npz", "..", "", "wine\0"])
def test_names_are_never_paths(name, paper_data):
    with pytest.raises(ValueError, match="No data set is called"):
        load(name)


# ---------------------------------------------------------------- checksums and damaged files


def test_git_blob_checksum_is_git_s_own():
    # What `git hash-object` prints for an empty file and for "hello world\n".
    assert _files.checksum(b"", "git-blob") == "e69de29bb2d1d6434b8b29ae775ad8c2e48c5391"
    known = "3b18e512dba79e4c8300dd08aeb37f8e728b8dad"
    assert _files.checksum(b"hello world\n", "git-blob") == known
    with pytest.raises(ValueError, match="kind of checksum 'md5'"):
        _files.checksum(b"", "md5")


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
    register(_registry.find_record("glass"), npz_sha256=digest)
    with pytest.raises(ValueError, match="allow_pickle=False"):
        load("glass", data_home=tmp_path)


def test_environment_must_name_a_folder(monkeypatch, tmp_path):
    monkeypatch.setenv("COVMIN_DATA", str(tmp_path / "nowhere"))
    with pytest.raises(NotADirectoryError, match=r"COVMIN_DATA.*nowhere.*not a folder"):
        load("wine")


# ------------------------------------------------------------------------------ source formats


@pytest.mark.parametrize("name", ["Yale", "ALLAML", "glass", "vowel", "wine"])
@pytest.mark.parametrize("newline", ["\n", "\r\n"])
def test_source_gives_the_values_of_the_npz(name, newline, register, tmp_path):
    X, y = stored(name)
    record = _registry.find_record(name)
    content = source_bytes(record, X, y, newline)
    register(record, source_checksum=sha256(content), bundled=None)
    (tmp_path / record.source_file).write_bytes(content)
    result = load(name, data_home=tmp_path)
    np.testing.assert_array_equal(result.data, X)
    np.testing.assert_array_equal(result.target, y)
    assert result.data.dtype == np.float64
    assert result.data.flags.c_contiguous


TINY = {"n_samples": 3, "n_features": 2, "class_counts": [1, 2], "values_sha256": None}


def load_tiny(register, folder, name, content, **changes):
    record = register(
        _registry.find_record(name), source_checksum=sha256(content), **{**TINY, **changes}
    )
    (folder / record.source_file).write_bytes(content)
    return load(name, data_home=folder)


def test_text_source_by_hand(register, tmp_path):
    content = b"1,.5,7\n2,-1e-3,5\n3,8.90,7\n"
    result = load_tiny(
        register, tmp_path, "glass", content, target_names=["5", "7"], feature_names=["Id", "RI"]
    )
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
        ("Yale", mat_bytes(X=np.eye(3, 2)), "must hold a numeric matrix Y"),
        ("Yale", mat_bytes(X="text", Y=np.ones(3)), "must hold a numeric matrix X"),
        ("Yale", mat_bytes(X=np.eye(3, 2), Y=np.ones((3, 1))), "its values are not those"),
    ],
)
def test_bad_sources_say_what_is_wrong(name, content, message, register, tmp_path):
    with pytest.raises(ValueError, match=message):
        load_tiny(register, tmp_path, name, content, target_names=["1", "2"])


# ----------------------------------------------------------------------------------- downloads


def test_download_is_kept_and_used_again(register, monkeypatch, tmp_path):
    record = _registry.find_record("glass")
    content = source_bytes(record, *stored("glass"))
    record = register(record, source_checksum=sha256(content))
    fetched = []

    def fetch(url, record):
        fetched.append(url)
        if len(fetched) == 1:
            raise requests.ConnectionError("first mirror down")
        return b"a proxy's login page" if len(fetched) == 2 else content

    register(record, source_urls=["https://a/1", "https://b/2", "https://c/3"])
    monkeypatch.setattr(_paper, "_fetch", fetch)
    for _ in range(2):
        np.testing.assert_array_equal(load("glass").data, stored("glass")[0])
    assert fetched == ["https://a/1", "https://b/2", "https://c/3"]
    folder = tmp_path / "user-cache" / "covmin"
    assert [path.name for path in folder.iterdir()] == ["glass.data"]


def test_download_is_checked_against_the_git_blob(register, monkeypatch, tmp_path):
    content = mat_bytes(X=np.eye(3, 2), Y=np.array([[1], [2], [2]]))
    blob = hashlib.sha1(b"blob %d\0" % len(content) + content).hexdigest()
    real = _registry.find_record("CLL-SUB-111")
    assert real.source_checksum == "git-blob:6f14fa8d02fbe7fca3e73f4c97da3f1e7003a648"
    register(real, **TINY, source_checksum=f"git-blob:{blob}", target_names=["1", "2"])
    monkeypatch.setattr(_paper, "_fetch", lambda url, record: content[:-1])
    with pytest.raises(ConnectionError, match=f"git-blob checksum is .*expected {blob}"):
        load("CLL-SUB-111", data_home=tmp_path)
    assert list(tmp_path.iterdir()) == []
    monkeypatch.setattr(_paper, "_fetch", lambda url, record: content)
    assert load("CLL-SUB-111", data_home=tmp_path).target.tolist() == [0, 1, 1]
    assert [path.name for path in tmp_path.iterdir()] == ["CLL-SUB-111.mat"]


def test_unregistered_npz_is_not_trusted(tmp_path, monkeypatch):
    np.savez(tmp_path / "CLL-SUB-111.npz", X=np.zeros((111, 11340)), y=np.zeros(111, int))
    monkeypatch.setenv("COVMIN_DATA", str(tmp_path))
    with pytest.raises(AssertionError, match=r"tried to fetch https.*CLL-SUB-111\.mat"):
        load("CLL-SUB-111")


def test_offline_error_says_what_to_put_where(monkeypatch, tmp_path):
    def fetch(url, record):
        raise requests.ConnectionError("no route to host")

    monkeypatch.setattr(_paper, "_fetch", fetch)
    with pytest.raises(ConnectionError) as caught:
        load("ALLAML", data_home=tmp_path / "new")
    message = str(caught.value)
    source = "https://raw.githubusercontent.com/jundongl/scikit-feature/48cffad4"
    bring = f"ALLAML.mat from an address above and put it in {tmp_path / 'new'}"
    for part in (source, "no route to host", bring, "COVMIN_DATA", "ALLAML.npz"):
        assert part in message
    assert not (tmp_path / "new").exists()


def test_failed_write_leaves_nothing(register, monkeypatch, tmp_path):
    content = source_bytes(_registry.find_record("glass"), *stored("glass"))
    register(_registry.find_record("glass"), source_checksum=sha256(content))
    monkeypatch.setattr(_paper, "_fetch", lambda url, record: content)

    def interrupted(source, target):
        assert Path(source).read_bytes() == content
        raise KeyboardInterrupt

    monkeypatch.setattr("os.replace", interrupted)
    with pytest.raises(KeyboardInterrupt):
        load("glass", data_home=tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_fetch_reads_over_http(monkeypatch):
    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            self.send_response(200 if self.path == "/there" else 404)
            self.send_header("Content-Length", "5")
            self.end_headers()
            self.wfile.write(b"hello")

        def log_message(self, *args):
            pass

    monkeypatch.undo()
    for variable in ("NO_PROXY", "no_proxy"):
        monkeypatch.setenv(variable, "127.0.0.1")
    record = _registry.find_record("wine")
    with http.server.HTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            root = f"http://127.0.0.1:{server.server_port}"
            assert _paper._fetch(f"{root}/there", record) == b"hello"
            with pytest.raises(OSError, match="404"):
                _paper._fetch(f"{root}/gone", record)
        finally:
            server.shutdown()
            thread.join()


def test_wine_needs_no_download():
    X, y = stored("wine")
    result = load("wine")
    np.testing.assert_array_equal(result.data, X)
    np.testing.assert_array_equal(result.target, y)


def test_wine_of_scikit_learn_is_not_used_once_it_differs(monkeypatch):
    X, y = stored("wine")
    X = X.copy()
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


def test_pooch_is_needed_only_for_a_download(monkeypatch, tmp_path):
    hide(monkeypatch, "pooch")
    assert load("wine").data.shape == (178, 13)
    assert load("glass", data_home=PAPER_DATA).data.shape == (214, 10)
    with pytest.raises(ImportError, match=r'vowel needs pooch: pip install "covmin\[data\]"'):
        load("vowel")
    monkeypatch.setenv("COVMIN_DATA", str(PAPER_DATA))
    assert load("vowel").data.shape == (990, 10)


def test_pandas_is_needed_only_for_frames(monkeypatch, paper_data):
    hide(monkeypatch, "pandas")
    assert load("wine").data.shape == (178, 13)
    with pytest.raises(ImportError, match="pip install pandas"):
        load("wine", as_frame=True)


def test_registry_is_complete_and_safe():
    for record in _registry.records().values():
        assert len(record.class_counts) == len(record.target_names)
        assert sum(record.class_counts) == record.n_samples
        assert len(record.columns) == record.n_features
        kind, _, digest = record.source_checksum.partition(":")
        assert len(digest) == {"sha256": 64, "git-blob": 40}[kind]
        assert all(url.startswith("https://") for url in record.source_urls)
        assert all(Path(file_name).name == file_name for file_name in record.file_names)
