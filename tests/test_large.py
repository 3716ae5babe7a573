"""Many rows: read in blocks from memory, from mapped files and from Parquet."""

import tracemalloc
import weakref

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from threadpoolctl import threadpool_limits

import covmin.plan.formulation as formulation
import covmin.selection.selector
from covmin import CCMSelector, open_parquet
from covmin.core import problem as core_problem
from covmin.core.arrays import cos_sin
from covmin.core.grams import FourierGram
from covmin.core.kernels import Gaussian
from covmin.core.rows import ArrayRows, map_blocks
from covmin.data.columns import prepare_columns
from covmin.data.sources.local import ArraySource
from covmin.datasets import make_shell, make_xor

pa = pytest.importorskip("pyarrow")
N, D = 4200, 8


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((N, D)) * np.arange(1.0, D + 1.0) + 5.0
    Z = (X - 5.0) / np.arange(1.0, D + 1.0)
    return X, Z[:, 0] * Z[:, 1] + Z[:, 2] + 0.1 * rng.standard_normal(N)


def selector(**options):
    options = {
        "task": "regression",
        "n_components": 128,
        "epsilon": 0.01,
        "random_state": 0,
    } | options
    return CCMSelector(3, **options)


@pytest.fixture(scope="module")
def in_memory(data):
    return selector().fit(*data)


@pytest.fixture
def folder(data, tmp_path):
    """The data in three files, with row groups that fit no block."""
    import pyarrow.parquet as parquet

    X, y = data
    for part, rows in enumerate(np.array_split(np.arange(N), 3)):
        columns = {f"c{j}": X[rows, j] for j in range(D)} | {"y": y[rows]}
        parquet.write_table(pa.table(columns), tmp_path / f"{part}.parquet", row_group_size=1000)
    return tmp_path


def assert_same(one, other):
    assert_array_equal(one.ranking_, other.ranking_)
    assert_allclose(one.weights_, other.weights_, atol=1e-6)
    assert_allclose(one.objective_, other.objective_, rtol=1e-6)


def test_the_fit_in_memory_finds_the_features_and_its_error(in_memory):
    assert_array_equal(in_memory.get_support(indices=True), [0, 1, 2])
    assert in_memory.approximation_ == "fourier"
    assert 0.0 < in_memory.approximation_error_ < 0.1


def test_the_error_is_that_of_the_exact_criterion(data):
    """With few rows for the sample to be all of them, by the naive formula."""
    from covmin.core.path import Stage, approximation_error
    from covmin.core.problem import Formulation, Problem

    X, y = data[0][:200], data[1][:200, None]
    X, Y, p = (X - X.mean(0)) / X.std(0), y - y.mean(), np.full(200, 1 / 200)
    frequencies = Gaussian().draw_frequencies(D, 32, np.random.default_rng(0))
    problem = Problem(X, Y, p, Formulation(0.1), frequencies)
    w = np.linspace(0.0, 1.0, D)
    stage = Stage(D, np.arange(D), np.arange(D), w, 2.0, 0.0, 0.0, None)
    K = Gaussian(2.0).cross(X, X, w)
    U = Gaussian(2.0).features(frequencies).features(X, w)
    H = np.eye(200) - 1 / 200
    exact, close = (
        float(np.sum(Y * np.linalg.solve(H @ G @ H + 200 * 0.1 * np.eye(200), Y)))
        for G in (K, U @ U.T)
    )
    assert_allclose(approximation_error(problem, stage), abs(close - exact) / exact, rtol=1e-8)


@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_a_mapped_file_gives_the_fit_in_memory(dtype, data, tmp_path):
    X, y = data[0].astype(dtype), data[1]
    np.save(tmp_path / "X.npy", X)
    mapped = np.load(tmp_path / "X.npy", mmap_mode="r")
    assert_same(selector().fit(mapped, y), selector().fit(X, y))


@pytest.mark.parametrize("kernel", ["mixed", "additive"])
def test_a_sum_over_features_is_read_in_blocks_too(kernel, data, folder, tmp_path):
    X, y = data
    expected = selector(kernel=kernel).fit(X, y)
    assert expected.kernel_ == kernel
    assert expected.approximation_ == "fourier"
    np.save(tmp_path / "X.npy", X)
    mapped = np.load(tmp_path / "X.npy", mmap_mode="r")
    assert_same(selector(kernel=kernel).fit(mapped, y), expected)
    assert_same(selector(kernel=kernel).fit(*open_parquet(folder, "y")), expected)


def test_single_effects_among_many_features_are_not_lost_in_the_noise_of_random_features():
    X, y = make_shell(2100, n_noise=400, random_state=0, return_X_y=True)
    selector = CCMSelector(4).fit(X, y)
    assert selector.approximation_ == "fourier"
    assert selector.kernel_ == "mixed"
    assert_array_equal(selector.get_support(indices=True), [0, 1, 2, 3])
    assert selector.mixing_ == 0.3


def test_an_interaction_among_many_features_is_found_by_random_features():
    """No feature has an effect by itself; a bandwidth for all of them sees nothing."""
    X, y = make_xor(3000, n_noise=200, random_state=0, return_X_y=True)
    selector = CCMSelector(3).fit(X, y)
    assert selector.approximation_ == "fourier"
    assert_array_equal(selector.get_support(indices=True), [0, 1, 2])


def test_a_column_of_two_values_is_seen_by_the_sum_alone():
    """Its values are a full turn of a single wave apart."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((3000, 300))
    X[:, 0] = np.arange(3000) < 78
    y = 2 * X[:, 0] + 0.5 * rng.standard_normal(3000)
    assert CCMSelector(1, kernel="additive").fit(X, y).ranking_[0] == 1


@pytest.mark.parametrize("kernel", ["linear", "additive"])
@pytest.mark.parametrize("options", [{"constraint": "soft"}, {"n_substitutes": 2}], ids=str)
def test_nothing_is_worth_its_weight(kernel, options):
    """No feature of the map has a power then."""
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((300, 8)), rng.standard_normal(300)
    fitted = CCMSelector(1, kernel=kernel, approximation="fourier", **options).fit(X, y)
    assert_array_equal(np.sort(fitted.ranking_), np.arange(1, 9))


def test_substitutes_have_the_kernel_of_the_fit():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((500, 140))  # four waves for all of them, eight for those kept
    y = np.sin(2 * X[:, 0]) + X[:, 2] ** 2 + 0.5 * rng.standard_normal(500)
    options = {"kernel": "additive", "approximation": "fourier", "epsilon": 0.01}
    fitted = CCMSelector(2, n_substitutes=1, **options).fit(X, y)
    left = fitted.epsilon_ * fitted.objective_ / y.var()
    assert_allclose(fitted.substitutes_.unexplained, left, rtol=1e-6)


def test_the_error_is_measured_with_the_kernel_of_the_fit():
    """Waves of many columns are few; those of the few that are kept would have no error."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((1000, 300))
    y = np.sin(2 * X[:, 0]) + 0.3 * rng.standard_normal(1000)
    options = {"kernel": "additive", "strategy": "single", "approximation": "fourier"}
    assert CCMSelector(3, **options).fit(X, y).approximation_error_ > 1e-3


def test_repeats_and_weights_have_the_same_share():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((60, 20))
    y = (X[:, 0] > 0).astype(int)
    options = {"approximation": "fourier", "kernel": "mixed", "n_components": 128}
    once = CCMSelector(3, **options).fit(X, y, np.full(60, 5))
    often = CCMSelector(3, **options).fit(np.repeat(X, 5, axis=0), np.repeat(y, 5))
    assert once.mixing_ == often.mixing_ == pytest.approx(0.3 * 128 / 200)
    assert_array_equal(once.ranking_, often.ranking_)


def test_the_screen_mixes_as_much_as_the_fit(monkeypatch):
    monkeypatch.setattr(core_problem, "MOST_COLUMNS", 20)
    monkeypatch.setattr(formulation, "MOST_COLUMNS", 20)
    shares = []
    screen = formulation._screen

    def noted(columns, Y, asked, device, seed):
        shares.append(asked.mixing)
        return screen(columns, Y, asked, device, seed)

    monkeypatch.setattr(formulation, "_screen", noted)
    rng = np.random.default_rng(0)
    X = rng.standard_normal((300, 40))
    fitted = CCMSelector(2, kernel="mixed", approximation="fourier").fit(X, (X[:, 0] > 0) * 1)
    assert set(shares) == {fitted.mixing_}


def test_folds_have_the_kernel_of_the_fit(monkeypatch):
    """Also a fold in which a column is constant, so that it has too few for the sum."""
    names = []
    make_problem = covmin.selection.selector.make_problem

    def noted(columns, Y, asked, **options):
        names.append((columns.X.shape[1], asked.kernel_name))
        return make_problem(columns, Y, asked, **options)

    monkeypatch.setattr(covmin.selection.selector, "make_problem", noted)
    rng = np.random.default_rng(0)
    X = rng.standard_normal((60, 5))
    X[:, 4] = np.arange(60) == 0
    CCMSelector(approximation="fourier", n_components=16).fit(X, X[:, 0])
    assert {n_columns for n_columns, _ in names} == {4, 5}
    assert {name for _, name in names} == {"mixed"}


def test_blocks_are_let_go_of():
    alive = []

    def blocks():
        for number in range(6):
            X = np.full(3, number)
            alive.append(weakref.ref(X))
            yield X, None, None

    for number, _ in enumerate(map_blocks(lambda X, Y, p: float(X[0]), blocks())):
        assert sum(reference() is not None for reference in alive) <= 3, number


class TestMoreColumnsThanASumCanHold:
    """A sample of the rows decides among them, by the exact kernel."""

    N = 400

    @pytest.fixture(autouse=True)
    def few_are_many(self, monkeypatch):
        monkeypatch.setattr(core_problem, "MOST_COLUMNS", 20)
        monkeypatch.setattr(formulation, "MOST_COLUMNS", 20)

    @pytest.fixture
    def wide(self):
        rng = np.random.default_rng(0)
        X = rng.standard_normal((self.N, 40))
        return X, np.sin(2 * X[:, 3]) + X[:, 7] * X[:, 8] + X[:, 8] + 0.1 * rng.standard_normal(
            self.N
        )

    def test_it_is_the_exact_fit_as_long_as_all_rows_are_in_the_sample(self, wide):
        exact = selector(approximation=None, kernel="mixed").fit(*wide)
        fitted = selector(approximation="fourier", kernel="mixed").fit(*wide)
        among = np.array([40, *exact.path_.n_features[:-1]])
        assert_allclose(fitted.path_.weights[among > 20], exact.path_.weights[among > 20])
        assert not np.allclose(fitted.path_.weights[among <= 20], exact.path_.weights[among <= 20])
        assert_array_equal(fitted.get_support(indices=True), [3, 7, 8])

    def test_the_sample_follows_the_seed(self, wide, monkeypatch):
        monkeypatch.setattr(formulation, "_SCREEN_ROWS", (100, 100))
        options = {"approximation": "fourier", "kernel": "mixed"}
        one, again, other = (
            selector(**options, random_state=seed).fit(*wide).path_.weights[0] for seed in (0, 0, 1)
        )
        assert_array_equal(one, again)
        assert not np.allclose(one, other)

    def test_rows_on_disk_and_weights(self, wide, tmp_path, monkeypatch):
        monkeypatch.setattr(formulation, "_SCREEN_ROWS", (100, 100))
        X, y = wide
        options = {"approximation": "fourier", "kernel": "mixed"}
        np.save(tmp_path / "X.npy", X)
        mapped = np.load(tmp_path / "X.npy", mmap_mode="r")
        weight = np.random.default_rng(1).integers(0, 3, self.N)
        assert_same(
            selector(**options).fit(mapped, y, weight), selector(**options).fit(X, y, weight)
        )

    def test_substitutes_are_found_on_the_sample(self, wide):
        X, y = wide
        X = np.column_stack([X, X[:, 3] + 0.1 * np.random.default_rng(1).standard_normal(self.N)])
        fitted = selector(approximation="fourier", kernel="mixed", n_substitutes=1).fit(X, y)
        found = dict(zip(fitted.substitutes_.feature, fitted.substitutes_.substitute, strict=True))
        assert found.get(3) == 40 or found.get(40) == 3

    def test_m_is_chosen(self, wide):
        fitted = selector(approximation="fourier", kernel="mixed")
        fitted.set_params(n_features_to_select="auto").fit(*wide)
        assert fitted.support_[[3, 7, 8]].all()
        assert fitted.n_features_ < 10


def test_a_mapped_file_of_whole_numbers(data, tmp_path):
    X, y = (data[0] * 10).astype(np.int16), data[1]
    np.save(tmp_path / "X.npy", X)
    mapped = np.load(tmp_path / "X.npy", mmap_mode="r")
    assert_same(selector().fit(mapped, y), selector().fit(X.astype(float), y))


def test_parquet_gives_the_fit_in_memory(folder, data, in_memory):
    X, y = open_parquet(folder, target="y")
    assert X.shape == (N, D)
    assert_array_equal(y, data[1])
    fitted = selector().fit(X, y)
    assert_same(fitted, in_memory)
    assert list(fitted.get_feature_names_out()) == ["c0", "c1", "c2"]
    narrow = fitted.transform(X)
    assert narrow.names == ["c0", "c1", "c2"]
    rows = np.array([0, 1399, 1400, 4199])
    assert_array_equal(narrow.take(rows), data[0][rows, :3])


@pytest.mark.parametrize("approximation", ["auto", "fourier"])
@pytest.mark.parametrize("kind", ["mapped", "parquet"])
@pytest.mark.parametrize("class_weight", [None, "balanced"])
def test_rows_of_weight_zero_of_a_file_are_no_rows(kind, approximation, class_weight, tmp_path):
    """They hold a class of their own, and more than a block of the file."""
    import pyarrow.parquet as parquet

    rng = np.random.default_rng(0)
    n = 1500
    X = rng.standard_normal((n, 5))
    y = (X[:, 0] * X[:, 1] > 0).astype(int)
    weight = np.ones(n)
    weight[20:1420], y[20:1420] = 0.0, 2
    if kind == "mapped":
        np.save(tmp_path / "X.npy", X)
        source = np.load(tmp_path / "X.npy", mmap_mode="r")
    else:
        columns = {f"c{j}": X[:, j] for j in range(5)} | {"y": y}
        parquet.write_table(pa.table(columns), tmp_path / "x.parquet")
        source, _ = open_parquet(tmp_path, "y")
    options = {"approximation": approximation, "n_components": 64, "class_weight": class_weight}
    fitted = CCMSelector(2, **options).fit(source, y, weight)
    assert_array_equal(fitted.classes_, [0, 1])
    assert_same(fitted, CCMSelector(2, **options).fit(X, y, weight))


def test_files_with_other_columns_are_not_transformed(folder):
    X, y = open_parquet(folder, "y")
    fitted = selector(strategy="single").fit(X, y)
    names = [f"c{j}" for j in range(D)]
    with pytest.raises(ValueError, match=r"should match those .* same order"):
        fitted.transform(open_parquet(folder, "y", names[::-1])[0])
    with pytest.raises(ValueError, match=r"should match those .* now missing: 'c6', 'c7'"):
        fitted.transform(open_parquet(folder, "y", names[:6])[0])


def table_with_codes():
    """Numbers and codes of four levels, two of which go with one class."""
    rng = np.random.default_rng(0)
    codes = rng.integers(4, size=80)
    return np.c_[rng.standard_normal((80, 3)), codes], np.isin(codes, [0, 2]).astype(int)


def test_categories_of_a_mapped_file_are_those_of_the_array(tmp_path):
    X, y = table_with_codes()
    np.save(tmp_path / "X.npy", X)
    mapped = np.load(tmp_path / "X.npy", mmap_mode="r")
    fitted = CCMSelector(1, categorical_features=[3]).fit(mapped, y)
    assert_same(fitted, CCMSelector(1, categorical_features=[3]).fit(X, y))
    assert fitted.objective_ != CCMSelector(1, categorical_features=[]).fit(mapped, y).objective_


def test_categories_of_a_file_read_in_blocks_are_refused(folder):
    X, y = open_parquet(folder, "y")
    with pytest.raises(ValueError, match="Encode these columns first"):
        selector(categorical_features=["c1"]).fit(X, y)
    with pytest.raises(ValueError, match="names 'c9', which is not a column"):
        selector(categorical_features=["c9"]).fit(X, y)


def test_few_rows_of_a_file_are_fitted_exactly(data, tmp_path):
    X, y = data[0][:300], data[1][:300]
    np.save(tmp_path / "X.npy", X)
    fitted = selector().fit(np.load(tmp_path / "X.npy", mmap_mode="r"), y)
    assert fitted.approximation_ is None
    assert_same(fitted, selector().fit(X, y))


def test_the_number_of_features_is_chosen_on_a_sample(folder, data, monkeypatch):
    monkeypatch.setattr(covmin.selection.selector, "_CROSS_FIT_ROWS", 600)
    fitted = CCMSelector(n_components=128, epsilon=0.01, task="regression").fit(
        *open_parquet(folder, "y")
    )
    assert set(fitted.get_support(indices=True)) == {0, 1, 2}


def test_a_sketch_leads_to_the_same_features(data, in_memory, monkeypatch):
    monkeypatch.setattr(formulation, "_SKETCH_ROWS", 1000)
    fitted = selector().fit(*data)
    assert_array_equal(fitted.support_, in_memory.support_)
    assert_allclose(fitted.objective_, in_memory.objective_, rtol=5e-3)
    assert fitted.converged_


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"target": "z"}, ValueError, "no column 'z'"),
        ({"target": "y", "columns": ["c0", "nope"]}, ValueError, "'nope'"),
        ({"target": "y", "columns": iter(["c0", "y"])}, ValueError, "leave it out of columns"),
    ],
)
def test_parquet_columns_that_cannot_be_features(folder, options, error, message):
    with pytest.raises(error, match=message):
        open_parquet(folder, **options)


def test_parquet_that_cannot_be_read(folder, tmp_path):
    import pyarrow.parquet as parquet

    with pytest.raises(FileNotFoundError, match="no file or folder"):
        open_parquet(tmp_path / "nowhere", "y")
    (tmp_path / "empty").mkdir()
    with pytest.raises(FileNotFoundError, match=r"no \*.parquet files"):
        open_parquet(tmp_path / "empty", "y")
    text = tmp_path / "text.parquet"
    parquet.write_table(pa.table({"word": ["a", "b"], "y": [1, 2]}), text)
    with pytest.raises(ValueError, match="'word'"):
        open_parquet(text, "y")


def test_missing_values_in_a_file_are_named(tmp_path, data):
    import pyarrow.parquet as parquet

    X, y = data
    column = X[:, 0].copy()
    column[-1] = np.nan
    parquet.write_table(pa.table({"a": column, "b": X[:, 1], "y": y}), tmp_path / "x.parquet")
    with pytest.raises(ValueError, match=r"NaN or infinity in 1 column.*'a'"):
        selector().fit(*open_parquet(tmp_path, "y"))


def test_moments_in_blocks_are_those_of_the_whole(data):
    """Against the plain formulas, with weights, a constant column and extreme scales."""
    rng = np.random.default_rng(1)
    X = rng.standard_normal((3000, 4)) * [1.0, 1e-150, 1e150, 0.0] + [3.0, 0.0, 0.0, 7.0]
    weight = rng.uniform(0.5, 2.0, 3000)
    columns = prepare_columns(ArraySource(X), sample_weight=weight)
    p = weight / weight.sum()
    assert_array_equal(columns.constant, [3])
    for j, mean, scale in zip(columns.index, columns.mean, columns.scale, strict=True):
        size = np.abs(X[:, j]).max()
        assert_allclose(mean / size, p @ (X[:, j] / size), atol=1e-14)
        assert_allclose(scale / size, np.sqrt(p @ (X[:, j] / size - mean / size) ** 2), rtol=1e-12)
    whole = prepare_columns(X, sample_weight=weight)
    assert_array_equal(whole.index, columns.index)
    assert_array_equal(columns.X.sample(np.arange(3000)), whole.X)


def test_a_step_holds_a_few_blocks_and_no_more():
    """All features of 40,000 rows would take 164 MB."""
    n, d, n_components = 40_000, 5, 512
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n, d))
    Y = X[:, :1] - X[:, :1].mean()
    features = Gaussian().features(Gaussian().draw_frequencies(d, n_components, rng))
    rows = ArrayRows(X, Y, np.full(n, 1.0 / n), n_threads=2)
    tracemalloc.start()
    operator = FourierGram(features, rows).at(np.ones(d))
    f = operator.solve(0.1)
    operator.grad(f, f)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 60e6


@pytest.mark.parametrize(("n_jobs", "expected"), [(None, 2), (2, 1)])
def test_folds_are_worked_on_by_the_threads_that_blas_gave_up(data, monkeypatch, n_jobs, expected):
    seen = []
    whole_sum = ArrayRows.sum

    def noted_sum(rows, function):
        seen.append(rows.n_threads)
        return whole_sum(rows, function)

    monkeypatch.setattr(ArrayRows, "sum", noted_sum)
    X, y = data
    with threadpool_limits(2, user_api="blas"):
        selector(approximation="fourier", n_jobs=n_jobs).set_params(
            n_features_to_select="auto"
        ).fit(X[:100], y[:100])
    assert seen[0] == expected


@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_waves_are_right_at_awkward_angles(dtype):
    """They are made from the tangent of half the angle, which has poles."""
    turns = np.pi * np.array([0.0, 0.5, 1.0, -1.0, 1.5, 3.0, 7.0, -2.0, 1e-9, 0.25, 12345.5])
    angles = turns[None, :].astype(dtype)
    expected = np.concatenate([np.cos(angles), np.sin(angles)], axis=1)
    close = 1e-15 if dtype == "float64" else 1e-6
    assert_allclose(cos_sin(angles, 0.5), 0.5 * expected, atol=close)


def test_the_leave_one_out_error_of_many_rows_needs_no_pass():
    """Generalised cross-validation against each row's own leverage."""
    rng = np.random.default_rng(0)
    n = 3000
    X = rng.standard_normal((n, 3))
    Y = np.sin(X[:, :1]) + 0.3 * rng.standard_normal((n, 1))
    Y -= Y.mean()
    features = Gaussian(2.0).features(Gaussian().draw_frequencies(3, 32, rng))
    p = np.full(n, 1.0 / n)
    operator = FourierGram(features, ArrayRows(X, Y, p)).at(np.ones(3))
    V = features.features(X, np.ones(3))
    V = V - V.mean(axis=0)
    hat = V @ np.linalg.solve(V.T @ V + n * 0.01 * np.eye(32), V.T) + 1.0 / n
    residuals = (Y - hat @ Y)[:, 0] / (1.0 - np.diag(hat))
    assert_allclose(operator.leave_one_out(0.01), np.mean(residuals**2), rtol=1e-3)


def test_tensors_are_fitted_as_they_are(data):
    torch = pytest.importorskip("torch")
    X, y = data[0][:200], data[1][:200]
    fitted = selector().fit(torch.as_tensor(X), torch.as_tensor(y))
    assert_same(fitted, selector().fit(X, y))
    assert fitted.device_ is None  # a tensor in main memory is an array to NumPy
    selected = fitted.transform(torch.as_tensor(X))
    assert isinstance(selected, torch.Tensor)
    assert_array_equal(selected.numpy(), X[:, fitted.support_])
    with pytest.raises(ValueError, match="features"):
        fitted.transform(torch.as_tensor(X[:, :2]))


def test_a_tensor_elsewhere_is_computed_on_where_it_is(data, monkeypatch):
    """Without such a device at hand: main memory under another name."""
    torch = pytest.importorskip("torch")
    X, y = data[0][:200], data[1][:200]
    monkeypatch.setattr("covmin.data.tables._on_host", lambda device: False)
    fitted = selector().fit(torch.as_tensor(X), torch.as_tensor(y))
    assert fitted.device_ == "cpu"
    assert_same(fitted, selector().fit(X, y))


def test_a_file_that_is_not_parquet(tmp_path):
    path = tmp_path / "table.csv"
    path.write_text("a,y\n1,2\n")
    with pytest.raises(ValueError, match="not a Parquet file"):
        open_parquet(path, "y")


def test_gaps_in_files_that_fit_in_memory_are_told_by_name(tmp_path):
    frame = pd.DataFrame(np.random.default_rng(0).standard_normal((60, 3)), columns=["u", "v", "y"])
    frame.loc[5, "v"] = np.nan
    frame.to_parquet(tmp_path / "table.parquet")
    with pytest.raises(ValueError, match="column\\(s\\): 'v'"):
        CCMSelector(1).fit(*open_parquet(tmp_path / "table.parquet", "y"))
