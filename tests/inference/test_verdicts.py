"""VerdictSelector: what it says of features, groups, categories and gaps, and its contract."""

import warnings

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.utils.estimator_checks import parametrize_with_checks

from covmin import VerdictSelector
from covmin.data import TableOptions, read

# Small, so that chance calls nothing needed here.
FDR = 0.005


@pytest.mark.filterwarnings("ignore:.*constant feature:UserWarning")
@pytest.mark.filterwarnings("ignore:No features were selected:UserWarning")
@parametrize_with_checks([VerdictSelector()])
def test_scikit_learn_contract(estimator, check):
    check(estimator)


@pytest.fixture(scope="module")
def table():
    """A product, a line with a noisy copy, a category, and noise."""
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.standard_normal((200, 7)), columns=list("abcdefg"))
    frame["copy"] = frame["c"] + 0.5 * rng.standard_normal(200)
    frame["colour"] = pd.Categorical(rng.choice(["red", "green", "blue"], 200))
    y = frame["a"] * frame["b"] + frame["c"] + 1.2 * (frame["colour"] == "red")
    return frame, y + 0.5 * rng.standard_normal(200)


@pytest.fixture(scope="module")
def fitted(table):
    return VerdictSelector(fdr=FDR).fit(*table)


def test_each_feature_gets_its_verdict(fitted):
    told = dict(zip(fitted.feature_names_in_, fitted.verdicts_, strict=True))
    assert [name for name, verdict in told.items() if verdict == "needed"] == [
        *("a", "b", "c", "colour")
    ]
    assert [name for name, verdict in told.items() if verdict == "relevant"] == ["copy"]


def test_a_relevant_feature_has_substitutes_and_no_other_has(fitted):
    names = list(fitted.feature_names_in_)
    substitutes = {names[j]: list(each) for j, each in enumerate(fitted.substitutes_) if each.size}
    assert substitutes == {"copy": [names.index("c")]}


def test_two_p_values(fitted):
    for p, q in (
        (fitted.needed_pvalues_, fitted.needed_qvalues_),
        (fitted.relevant_pvalues_, fitted.relevant_qvalues_),
    ):
        assert ((p >= 0) & (p <= 1) & (q >= p - 1e-15)).all()
    both = np.maximum(fitted.needed_qvalues_, fitted.relevant_qvalues_)
    assert_array_equal(fitted.verdicts_ == "needed", both <= fitted.fdr)
    assert_array_equal(fitted.support_, fitted.relevant_qvalues_ <= fitted.fdr)


def test_needed_features_rank_first(fitted):
    order = fitted.verdicts_[np.argsort(fitted.ranking_)]
    assert list(order[:4]) == ["needed"] * 4
    assert order[4] == "relevant"
    assert sorted(fitted.ranking_) == list(range(1, 10))


def test_what_is_kept(table, fitted):
    X, y = table
    assert fitted.n_features_ == fitted.support_.sum() == 5
    assert list(fitted.transform(X).T.shape) == [5, 200]
    strict = VerdictSelector(fdr=FDR, keep="needed").fit(X, y)
    assert_array_equal(strict.support_, strict.verdicts_ == "needed")
    assert_allclose(strict.needed_pvalues_, fitted.needed_pvalues_)


def test_frame(fitted):
    frame = fitted.verdict_frame()
    assert frame["verdict"].tolist()[:5] == ["needed"] * 4 + ["relevant"]
    assert frame.loc[frame["name"] == "copy", "substitutes"].item() == "c"


def test_given_columns_are_kept_and_known(table):
    X, y = table
    selector = VerdictSelector(fdr=FDR, given="c").fit(X, y)
    told = dict(zip(selector.feature_names_in_, selector.verdicts_, strict=True))
    assert told["c"] == "given"
    assert selector.support_[X.columns.get_loc("c")]
    assert selector.ranking_[X.columns.get_loc("c")] == 0
    assert np.isnan(selector.needed_pvalues_[X.columns.get_loc("c")])
    assert told["copy"] != "needed"


def test_a_group_gets_one_verdict(table):
    X, y = table
    selector = VerdictSelector(feature_groups={"pair": ["c", "copy"]}).fit(X, y)
    assert selector.verdicts_[2] == selector.verdicts_[7] == "needed"
    assert selector.needed_pvalues_[2] == selector.needed_pvalues_[7]
    assert selector.ranking_[2] == selector.ranking_[7]


def test_a_product_of_three_signs_is_found():
    rng = np.random.default_rng(8)
    X = rng.standard_normal((300, 10))
    y = (X[:, :3].prod(axis=1) > 0).astype(int)
    assert list(np.flatnonzero(VerdictSelector(fdr=FDR).fit(X, y).verdicts_ == "needed")) == [
        0,
        1,
        2,
    ]


@pytest.mark.parametrize("shape", [np.sign, lambda x: np.round(1.5 * x)])
def test_a_noisy_copy_of_stairs_is_not_needed(shape):
    """In 12 tables; the regressions must not blur the steps."""
    false = 0
    for seed in range(12):
        rng = np.random.default_rng(seed)
        X, e = rng.standard_normal((200, 5)), rng.standard_normal((2, 200))
        steps = shape(X[:, 0])
        X[:, 1] = steps + 0.3 * e[0]
        false += VerdictSelector().fit(X, steps + 0.3 * e[1]).verdicts_[1] == "needed"
    assert false <= 4


def test_gaps_say_something():
    """y goes with whether a value is there, not with the value."""
    rng = np.random.default_rng(1)
    X = rng.standard_normal((200, 5))
    gone = rng.random(200) < 0.4
    y = 1.5 * gone + 0.7 * rng.standard_normal(200)
    X[gone, 2] = np.nan
    selector = VerdictSelector(fdr=FDR).fit(X, y)
    assert list(np.flatnonzero(selector.verdicts_ == "needed")) == [2]


def test_an_exact_copy_makes_neither_needed(table):
    X, y = table
    selector = VerdictSelector(fdr=FDR).fit(X.assign(again=X["c"]), y)
    told = dict(zip(selector.feature_names_in_, selector.verdicts_, strict=True))
    assert told["c"] == told["again"] == "relevant"
    assert told["a"] == told["b"] == "needed"


def test_copies_of_noise_are_never_needed():
    """Here a regression on the copies leaves so much of two of them that chance would."""
    rng = np.random.default_rng([99, 0, 8])
    X, y = rng.standard_normal((80, 4)), rng.standard_normal(80)
    assert (VerdictSelector().fit(np.hstack([X, X]), y).needed_pvalues_ == 1.0).all()


def test_excluded_and_empty_columns_are_named_as_what_they_are(table):
    X, y = table
    X = X[["a", "b"]].assign(key=[f"id{i}" for i in range(len(X))], nothing=np.nan)
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        selector = VerdictSelector().fit(X, y)
    assert [str(each.message).partition(".")[0] for each in said] == [
        "1 feature without values is ranked last: 'nothing'",
        "Excluded because their values hardly repeat, as in row identifiers: 'key'",
    ]
    assert list(selector.verdicts_[2:]) == ["not shown to matter"] * 2


def test_partners_of_an_interaction_with_a_copy_are_relevant():
    rng = np.random.default_rng(4)
    X = rng.standard_normal((250, 10))
    X[:, 2] = X[:, 0] + 0.02 * rng.standard_normal(250)
    y = (X[:, 0] * X[:, 1] > 0).astype(int)
    verdicts = VerdictSelector(fdr=FDR).fit(X, y).verdicts_
    assert verdicts[1] == "needed"
    assert set(verdicts[[0, 2]]) <= {"needed", "relevant"}
    assert list(verdicts).count("not shown to matter") >= 6


def test_weights_and_copies_of_rows_agree():
    rng = np.random.default_rng(5)
    X, weight = rng.standard_normal((60, 4)), rng.integers(1, 4, 60)
    y = X[:, 0] + rng.standard_normal(60)
    weighted = VerdictSelector().fit(X, y, weight)
    repeated = VerdictSelector().fit(np.repeat(X, weight, axis=0), np.repeat(y, weight))
    assert_allclose(weighted.needed_pvalues_, repeated.needed_pvalues_, atol=1e-9)


def test_more_features_than_samples():
    rng = np.random.default_rng(6)
    X = rng.standard_normal((80, 120))
    y = 2.0 * X[:, 7] + rng.standard_normal(80)
    selector = VerdictSelector().fit(X, y)
    assert selector.verdicts_[7] in ("needed", "relevant")
    assert selector.support_.sum() <= 3


def test_the_order_of_rows_and_columns_does_not_matter(table):
    X, y = table
    X = X.drop(columns="colour")
    rows, columns = np.random.default_rng(0).permutation(200), list(X.columns[::-1])
    one, other = VerdictSelector().fit(X, y), VerdictSelector().fit(X.loc[rows, columns], y[rows])
    assert_array_equal(one.verdicts_, other.verdicts_[::-1])
    assert_allclose(one.needed_pvalues_, other.needed_pvalues_[::-1], rtol=1e-3, atol=1e-6)


def test_a_table_in_place_of_X_and_groups_of_rows(table, fitted):
    X, y = table
    read_once = read(X, y, TableOptions(), groups=np.arange(200))
    again = VerdictSelector(fdr=FDR).fit(read_once)
    assert_array_equal(again.verdicts_, fitted.verdicts_)
    assert list(again.feature_names_in_) == list(X.columns)
    with pytest.raises(ValueError, match="groups must have one label"):
        VerdictSelector().fit(X, y, groups=[1, 2])


def test_bad_input():
    X, y = np.random.default_rng(0).standard_normal((2, 30, 3))
    with pytest.raises(ValueError, match="'fdr' parameter"):
        VerdictSelector(fdr=1.0).fit(X, y[:, 0])
    with pytest.raises(ValueError, match="not a column"):
        VerdictSelector(given="z").fit(pd.DataFrame(X, columns=list("abc")), y[:, 0])
    with pytest.raises(ValueError, match="constant"):
        VerdictSelector().fit(np.ones((30, 3)), y[:, 0])


@pytest.mark.slow
def test_levels_on_noise():
    """Of 40 tables of noise at 0.1 few have any feature called needed or relevant."""
    false = []
    for seed in range(40):
        rng = np.random.default_rng(seed)
        X = rng.standard_normal((100, 8)) + rng.standard_normal((100, 1))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            verdicts = VerdictSelector().fit(X, rng.standard_normal(100)).verdicts_
        false.append([(verdicts == "needed").any(), (verdicts != "not shown to matter").any()])
    assert (np.mean(false, axis=0) <= 0.1 + 3 * np.sqrt(0.1 * 0.9 / 40) + 0.05).all()
