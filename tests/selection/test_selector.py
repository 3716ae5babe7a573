"""CCMSelector: scikit-learn's contract, exactness of the selection, bad input."""

import itertools
import pickle
import re
import warnings

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import BaseEstimator, clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.svm import SVC
from sklearn.utils.estimator_checks import parametrize_with_checks

from covmin import CCMSelector, Formulation, Fourier, LongRun, conditional_covariance_trace
from covmin.datasets import make_additive, make_shell, make_xor
from covmin.kernels import Gaussian, Mixed, Polynomial

# The eight forms of the paper, each on a path and solved once.
FORMS = [
    {
        "formulation": Formulation(strategy, constraint, inverse=inverse),
        "approximation": approximation,
    }
    for strategy in ("path", "single")
    for constraint in ("hard", "soft")
    for inverse in ("exact", "free")
    for approximation in ("exact", Fourier(150))
]


def name_of_formulation(options):
    switches = options["formulation"]
    return (
        f"{switches.strategy}-{switches.constraint}-{switches.inverse}-{options['approximation']}"
    )


@parametrize_with_checks(
    [
        CCMSelector(random_state=0),
        CCMSelector(1, formulation="paper"),
        CCMSelector(1, kernel="laplacian", formulation=Formulation(constraint="soft")),
        CCMSelector(
            1,
            epsilon=0.1,  # a smaller one needs thousands of steps
            approximation=Fourier(16),
            formulation=Formulation(inverse="free"),
            random_state=0,
        ),
    ]
)
def test_scikit_learn_contract(estimator, check):
    check(estimator)


@pytest.fixture
def xor():
    return make_xor(60, random_state=3, return_X_y=True)  # another draw than in other files


# --- what is selected -----------------------------------------------------------------------------


@pytest.mark.parametrize("formulation", FORMS, ids=name_of_formulation)
@pytest.mark.parametrize(
    ("make", "bar"), [(make_shell, 2.75), (make_xor, 2.25), (make_additive, 3.0)]
)
def test_every_formulation_recovers_the_true_features(make, bar, formulation):
    ranks = []
    for seed in range(3):
        data = make(100, random_state=seed)
        selector = CCMSelector(
            len(data.informative),
            task=data.task,
            random_state=seed,
            **formulation,
        )
        ranks.append(np.median(selector.fit(data.data, data.target).ranking_[data.informative]))
    assert np.mean(ranks) <= bar


@pytest.mark.parametrize("kernel", ["gaussian", "laplacian", "linear", "polynomial"])
def test_kernels_find_an_additive_effect(kernel):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((80, 6))
    y = 2 * X[:, 4] - X[:, 1] + 0.1 * rng.standard_normal(80)
    selector = CCMSelector(2, kernel=kernel).fit(X, y)
    assert_array_equal(selector.get_support(indices=True), [1, 4])


def test_mixing_finds_single_effects_among_many_features():
    """One effect among 400 features and 40 samples, and an interaction it must not drown."""
    hits = {"gaussian": 0, "mixed": 0}
    for seed in range(5):
        rng = np.random.default_rng(seed)
        X = rng.standard_normal((40, 400))
        y = np.sign(X[:, 7] + 0.3 * rng.standard_normal(40))
        for kernel in hits:
            hits[kernel] += CCMSelector(1, kernel=kernel).fit(X, y).support_[7]
    assert hits["mixed"] == 5 >= hits["gaussian"]
    X, y = make_xor(60, random_state=3, return_X_y=True)
    assert CCMSelector(3, kernel="mixed").fit(X, y).support_[:3].all()
    blind = CCMSelector(3, kernel=Mixed(mixing=1.0)).fit(X, y)
    assert not blind.support_[:3].all()  # the sum alone cannot see an interaction


def test_kernels_that_auto_stands_for(xor):
    X, y = xor
    for options, kernel in (
        ({"formulation": "path"}, "mixed"),
        ({"formulation": "paper"}, "gaussian"),
        ({"approximation": Fourier(16), "random_state": 0}, "mixed"),
    ):
        auto = CCMSelector(3, **options).fit(X, y)
        named = CCMSelector(3, **{"kernel": kernel, **options}).fit(X, y)
        # The first solve: the last word belongs to the default alone.
        assert_array_equal(auto.path_.weights[0], named.path_.weights[0])
        assert auto.kernel_ == kernel


@pytest.mark.skipif(
    not hasattr(BaseEstimator, "_html_repr"),
    reason="scikit-learn before 1.7 shows its own diagram alone",
)
def test_notebook_view_escapes_names(xor):
    X, y = xor
    table = pd.DataFrame(X, columns=["<script>alert(1)</script>", *map(str, range(9))])
    selector = CCMSelector(3)
    assert "features most relevant" not in selector._repr_html_()
    html = selector.fit(table, y)._repr_html_()
    assert "The 3 of 10 features most relevant to y" in html
    assert "<script>alert" not in html


@pytest.mark.parametrize("formulation", ["path", "paper"])
@pytest.mark.parametrize("m", range(1, 11))
def test_exactly_m_features_and_a_ranking_without_ties(xor, formulation, m):
    selector = CCMSelector(m, formulation=formulation).fit(*xor)
    assert selector.support_.sum() == selector.n_features_ == m
    assert_array_equal(np.sort(selector.ranking_), np.arange(1, 11))
    assert_array_equal(selector.support_, selector.ranking_ <= m)
    assert selector.weights_.shape == (10,)
    assert selector.weights_.min() >= 0
    assert selector.weights_.sum() <= m + 1e-9


@pytest.mark.parametrize("approximation", ["exact", "fourier"])
def test_same_seed_same_answer_and_permuted_columns_permute_it(xor, approximation):
    X, y = xor
    selector = CCMSelector(approximation=approximation, random_state=7)
    ranking = clone(selector).fit(X, y).ranking_
    assert_array_equal(clone(selector).fit(X, y).ranking_, ranking)
    order = np.random.default_rng(0).permutation(X.shape[1])
    assert_array_equal(clone(selector).fit(X[:, order], y).ranking_, ranking[order])


def test_auto_takes_the_smallest_set_within_one_standard_error(xor):
    selector = CCMSelector(random_state=0).fit(*xor)
    errors, spread = selector.cv_results_.mean_error[0], selector.cv_results_.standard_error[0]
    best = errors.argmin()
    within = selector.cv_results_.n_features[errors <= errors[best] + spread[best]]
    assert selector.n_features_ == within.min() == 3
    assert_array_equal(selector.get_support(indices=True), [0, 1, 2])


def test_epsilon_is_chosen_by_the_cross_validated_error():
    """A heavy ridge does not see the interaction, and what it keeps predicts badly."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((120, 6))
    y = X[:, 1] * X[:, 3] + 0.1 * rng.standard_normal(120)
    selector = CCMSelector(2, epsilon=[1e-3, 10.0], formulation="paper").fit(X, y)
    assert selector.epsilon_ == 1e-3
    assert selector.cv_results_.mean_error.shape == (2, 1)
    assert selector.cv_results_.mean_error[0, 0] < 0.1 < 0.2 < selector.cv_results_.mean_error[1, 0]
    assert_array_equal(selector.get_support(indices=True), [1, 3])


@pytest.mark.parametrize(
    ("dtype", "units"), [("float64", 1e-17), ("float64", [1e3, 1e-30, 1e300]), ("float32", 1e-9)]
)
def test_cross_validation_does_not_depend_on_units(dtype, units):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((60, 3)).astype(dtype)
    y = (X[:, 0] * X[:, 1] > 0).astype(int)
    scaled = (X * np.array(units)).astype(dtype)
    plain, other = CCMSelector().fit(X, y), CCMSelector().fit(scaled, y)
    # In single precision another unit is another rounding, of which a small ridge makes much.
    rtol = 1e-2 if dtype == "float32" else 1e-3
    assert_allclose(other.cv_results_.mean_error, plain.cv_results_.mean_error, rtol=rtol)
    given, other_given = (CCMSelector(given=[1]).fit(Z, y) for Z in (X, scaled))
    assert_allclose(other_given.weights_, given.weights_, rtol=1e-3)
    assert_allclose(other_given.objective_, given.objective_, rtol=1e-3)


def test_responses(xor):
    X, _ = xor
    rng = np.random.default_rng(0)
    two_outputs = np.column_stack([X[:, 0] ** 2, X[:, 5]]) + 0.1 * rng.standard_normal((60, 2))
    selector = CCMSelector(2).fit(X, two_outputs)
    assert_array_equal(selector.get_support(indices=True), [0, 5])
    assert selector.task_ == "regression"
    assert selector.classes_ is None
    labels = np.where(X[:, 4] > 0, "up", "down")
    selector = CCMSelector(1).fit(X, labels)
    assert list(selector.classes_) == ["down", "up"]
    assert_array_equal(selector.get_support(indices=True), [4])


def test_lambda1_is_in_the_units_of_y(xor):
    X, _ = xor
    y = X[:, 0] + 0.5 * X[:, 1]
    small, large, free = (
        CCMSelector(2, formulation=Formulation("single", "soft", price)).fit(X, unit * y)
        for price, unit in ((0.5, 1.0), (0.5e4, 100.0), (0.0, 1.0))
    )
    assert_allclose(small.weights_, large.weights_, atol=1e-6)
    assert free.weights_.sum() > small.weights_.sum()


def test_wide_data_and_nested_path():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((60, 800))
    y = X[:, 13] + X[:, 700] + 0.2 * rng.standard_normal(60)
    selector = CCMSelector(150).fit(X, y)
    assert selector.support_[[13, 700]].all()
    assert selector.support_.sum() == 150
    alive = selector.path_.weights > 0
    for larger, smaller in itertools.pairwise(alive):
        assert not (smaller & ~larger & (selector.ranking_ > 150)).any()
    assert list(selector.path_.n_features) == sorted(selector.path_.n_features, reverse=True)
    assert selector.path_.n_features[-1] == 1


# --- the estimator's manners ----------------------------------------------------------------------


def test_pipeline_grid_search_clone_pickle(xor):
    X, y = xor
    pipeline = make_pipeline(CCMSelector(random_state=0), SVC())
    search = GridSearchCV(pipeline, {"ccmselector__n_features_to_select": [1, 3]}, cv=3)
    search.fit(X, y)
    assert search.best_params_ == {"ccmselector__n_features_to_select": 3}
    selector = search.best_estimator_[0]
    again = pickle.loads(pickle.dumps(selector))
    assert_array_equal(again.transform(X), selector.transform(X))


def test_parameters_of_what_was_given_by_name(xor):
    """A name makes way for its object; the objects behind the names stay as they are."""
    selector = CCMSelector(2, kernel="polynomial")
    selector.set_params(kernel__degree=2, formulation__max_iter=50, long_run__interrupt="keep")
    assert selector.kernel == Polynomial(degree=2)
    assert selector.formulation == Formulation(max_iter=50)
    assert selector.long_run.interrupt == "keep"
    assert CCMSelector().set_params(formulation__tol=0.1).formulation.max_iter == 200
    grid = {"kernel__degree": [1, 2]}
    assert (
        GridSearchCV(
            make_pipeline(CCMSelector(2, kernel="polynomial"), SVC()),
            {f"ccmselector__{name}": values for name, values in grid.items()},
            cv=2,
        )
        .fit(*xor)
        .best_score_
        > 0.0
    )
    with pytest.raises(ValueError, match="Mixed has no parameter 'degree'"):
        CCMSelector().set_params(kernel__degree=2)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"kernel": 3}, r"such as Polynomial\(degree=2\)"),
        ({"kernel": Gaussian(-1.0)}, r"kernel=Gaussian\(bandwidth=-1.0\): bandwidth must be"),
        ({"formulation": "zigzag"}, "covmin.Formulation"),
        ({"formulation": Formulation("zigzag")}, "strategy.* must be a str among"),
        ({"formulation": Formulation(lambda1=0.1)}, "constraint='soft'"),
        ({"formulation": Formulation(lambda2=0.1)}, "inverse='free'"),
        ({"long_run": LongRun(interrupt="no")}, "interrupt must be"),
        ({"long_run": LongRun(checkpoint="no/such/folder/file")}, "a folder that exists"),
    ],
)
def test_objects_are_refused_in_words(xor, parameters, message):
    with pytest.raises(ValueError, match=message):
        CCMSelector(2, **parameters).fit(*xor)


def test_float32_stays_float32_and_agrees(xor):
    X, y = xor
    single = CCMSelector(3).fit(X.astype(np.float32), y)
    assert single.transform(X.astype(np.float32)).dtype == np.float32
    double = CCMSelector(3).fit(X, y)
    assert_array_equal(single.support_, double.support_)
    # Steps end where rounding errors do, and the ridge is small.
    assert_allclose(single.objective_, double.objective_, rtol=0.02)


def test_inverse_transform_puts_columns_back(xor):
    X, y = xor
    selector = CCMSelector(3).fit(X, y)
    restored = selector.inverse_transform(selector.transform(X))
    assert_array_equal(restored[:, selector.support_], X[:, selector.support_])
    assert not restored[:, ~selector.support_].any()


def test_nothing_of_the_user_changes(xor):
    X, y = (array.copy() for array in xor)
    state = np.random.get_state()  # noqa: NPY002
    X.setflags(write=False)
    y.setflags(write=False)
    CCMSelector(approximation=Fourier(16)).fit(X, y)
    assert all(
        np.array_equal(a, b)
        for a, b in zip(np.random.get_state(), state, strict=True)  # noqa: NPY002
    )


@pytest.mark.parametrize("formulation", ["path", "paper"])
def test_torch_agrees_with_numpy(xor, formulation):
    pytest.importorskip("torch", reason="pip install 'covmin[torch]'")
    X, y = xor
    expected = CCMSelector(3, formulation=formulation).fit(X, y)
    actual = CCMSelector(3, formulation=formulation, device="cpu").fit(X, y)
    assert_array_equal(actual.ranking_, expected.ranking_)
    assert_allclose(actual.weights_, expected.weights_, atol=1e-6)
    assert isinstance(actual.weights_, np.ndarray)


def on_devices():
    """Tables that are prepared in different ways, with a response."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((200, 6)).astype(np.float32)
    y = X[:, 0] * X[:, 1] + X[:, 2] + 0.3 * rng.standard_normal(200)
    far, missing = X.copy(), X.copy()
    far[0, 3], missing[:9, 4] = 1e6, np.nan
    frame = pd.DataFrame(X, columns=list("abcdef")).assign(g=np.where(X[:, 5] > 0, "u", "v"))
    return {
        "numbers": (X, y),
        "integers": (np.round(4 * X).astype(int), y),
        "far value": (far, y),
        "missing": (missing, y),
        "categories": (frame, y),
        "counts": (X, rng.poisson(np.exp(0.6 * X[:, 0] + 0.6 * X[:, 1]))),
    }


@pytest.mark.parametrize(
    ("name", "m"), [*((name, 3) for name in on_devices()), ("categories", "auto")]
)
def test_tables_on_a_device_are_prepared_as_in_main_memory(name, m):
    pytest.importorskip("torch", reason="pip install 'covmin[torch]'")
    X, y = on_devices()[name]
    expected, actual = (CCMSelector(m, device=each).fit(X, y) for each in (None, "cpu"))
    assert_array_equal(actual.support_, expected.support_)
    assert_allclose(actual.objective_, expected.objective_, rtol=1e-3)


def test_progress_history_and_callback(xor, capfd):
    seen = []
    selector = CCMSelector(3, verbose=1, long_run=LongRun(callback=seen.append)).fit(*xor)
    shown = capfd.readouterr().err
    assert re.search(r"keep \d+, step \d+: objective", shown)  # a fast fit shows the last only
    assert "100%" in shown
    assert len(seen) == selector.n_iter_ == selector.history_.objective.size
    assert seen[0].budget == selector.path_.n_features[0]
    for stage in np.unique(selector.history_.stage):
        values = selector.history_.objective[selector.history_.stage == stage]
        assert (np.diff(values) <= 0).all()


def test_jobs_do_not_change_the_answer(xor):
    one = CCMSelector(random_state=0).fit(*xor)
    two = CCMSelector(random_state=0, n_jobs=2).fit(*xor)
    assert_allclose(two.cv_results_.mean_error, one.cv_results_.mean_error, rtol=1e-6)
    assert_array_equal(two.ranking_, one.ranking_)


# --- bad and odd input ----------------------------------------------------------------------------


def test_constant_columns_rank_last_with_a_warning(xor):
    X, y = xor
    X = np.insert(X, [0, 5], 7.0, axis=1)
    too_many = pytest.warns(UserWarning, match="11 features were requested, but only 10 vary")
    with too_many, pytest.warns(UserWarning, match="2 constant") as record:
        selector = CCMSelector(11).fit(X, y)
    assert record[0].filename == __file__
    assert set(selector.ranking_[[0, 6]]) == {11, 12}
    assert selector.support_.sum() == 11


def test_low_lambda2_warns(xor):
    for m in (3, "auto"):
        with pytest.warns(UserWarning, match="below 1/") as record:
            CCMSelector(
                m, formulation=Formulation(inverse="free", lambda2=1e-3, max_iter=500), given=[4]
            ).fit(*xor)
        assert [warning.filename for warning in record] == [__file__]


def test_a_price_that_no_feature_is_worth_warns(xor):
    formulation = Formulation(constraint="soft", lambda1=1e6)
    with pytest.warns(UserWarning, match="All weights are zero.*smaller lambda1") as record:
        selector = CCMSelector(3, formulation=formulation, given=[4]).fit(*xor)
    assert [warning.filename for warning in record] == [__file__]
    assert selector.support_.sum() == 4


def test_exact_is_a_name_of_the_kernel_itself(xor):
    named = CCMSelector(3, approximation="exact").fit(*xor)
    assert named.approximation_ is None
    assert named.get_params()["approximation"] == "exact"
    assert "as requested" in str(named.plan_)
    assert conditional_covariance_trace(*xor, approximation="exact") > 0.0


def test_too_few_steps_warn(xor):
    with pytest.warns(ConvergenceWarning, match="max_iter=1") as record:
        selector = CCMSelector(3, formulation=Formulation(max_iter=1)).fit(*xor)
    assert record[0].filename == __file__
    assert not selector.converged_
    assert selector.support_.sum() == 3


def test_many_whole_numbers_are_a_real_response():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((200, 3))
    y = 10 * np.round(4 * X[:, 2] + 2 * rng.standard_normal(200))
    with pytest.warns(UserWarning, match="read as numbers") as record:
        assert CCMSelector(1).fit(X, y).task_ == "regression"
    assert record[0].filename == __file__
    ages = np.tile(np.arange(30), 6)
    with pytest.warns(UserWarning, match="read as classes"):
        selector = CCMSelector(1).fit(np.random.default_rng(0).standard_normal((180, 3)), ages)
    assert selector.task_ == "classification"
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert CCMSelector(1, task="regression").fit(X, y).support_[2]


class TestInteractions:
    """Pairs of features that say more together."""

    def test_found_among_a_thousand_features_from_a_hundred_samples(self):
        X, y = make_xor(100, 1000, random_state=5, return_X_y=True)
        selector = CCMSelector(3).fit(X, y)
        assert_array_equal(selector.get_support(indices=True), [0, 1, 2])
        found = selector.interactions_
        assert set(found.features.ravel()) == {0, 1, 2}
        assert found.features.shape == (found.share.size, 2)
        assert (found.p_value <= 0.05).all()
        plain = CCMSelector(3, interactions=False).fit(X, y)
        assert plain.interactions_.features.shape == (0, 2)
        assert not plain.support_[:3].any()

    @pytest.mark.parametrize(
        "options",
        [
            {"formulation": "paper"},
            {"kernel": "additive"},
            {"kernel": "linear"},
            {"kernel": Mixed(mixing=1.0)},
            {"kernel": Polynomial(degree=1)},
            {"interactions": False},
        ],
    )
    def test_not_looked_for_where_the_kernel_would_not_see_them(self, options):
        X, y = make_xor(100, 7, random_state=0, return_X_y=True)
        assert CCMSelector(3, **options).fit(X, y).interactions_.share.size == 0

    @pytest.mark.parametrize(
        "options",
        [
            {"kernel": "gaussian"},
            {"kernel": "laplacian"},
            {"kernel": "polynomial"},
            {"formulation": Formulation(constraint="soft")},
            {"approximation": "fourier"},
        ],
    )
    def test_looked_for_along_every_other_path(self, options):
        X, y = make_xor(100, 40, random_state=0, return_X_y=True)
        selector = CCMSelector(3, **options).fit(X, y)
        assert set(selector.interactions_.features.ravel()) == {0, 1, 2}
        assert_array_equal(selector.get_support(indices=True), [0, 1, 2])

    def test_in_the_columns_of_the_input(self):
        """Constant columns, categories, groups and given columns stand in between."""
        rng = np.random.default_rng(0)
        n = 200
        X = pd.DataFrame(rng.standard_normal((n, 12)), columns=[f"x{j}" for j in range(12)])
        X.insert(0, "same", 1.0)
        X.insert(1, "colour", pd.Categorical(rng.choice(["r", "g", "b"], n)))
        y = X["x3"] * X["x8"] + 0.3 * rng.standard_normal(n)
        with pytest.warns(UserWarning, match="constant"):
            selector = CCMSelector(2, feature_groups={"pair": ["x8", "x9"]}).fit(X, y)
        names = X.columns[selector.interactions_.features.ravel()]
        assert list(names) == ["x3", "x8"]
        with pytest.warns(UserWarning, match="constant"):
            selector = CCMSelector(1, given=["x8"]).fit(X, y)
        assert list(X.columns[selector.interactions_.features.ravel()]) == ["x3", "x8"]
        assert selector.ranking_[X.columns.get_loc("x3")] == 1

    @pytest.mark.slow
    def test_rows_in_blocks(self, tmp_path):
        X, y = make_xor(2500, 150, random_state=0, return_X_y=True)
        mapped = np.memmap(tmp_path / "X", dtype="float64", mode="w+", shape=X.shape)
        mapped[:] = X
        selector = CCMSelector(3, approximation=Fourier(256)).fit(mapped, y)
        assert selector.approximation_ == "fourier"
        assert set(selector.interactions_.features.ravel()) == {0, 1, 2}
        assert_array_equal(selector.get_support(indices=True), [0, 1, 2])
