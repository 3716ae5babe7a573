"""Fits on sparse matrices: those on the dense table, in less memory."""

import re

import numpy as np
import pandas as pd
import pytest
import scipy.sparse
from numpy.testing import assert_allclose, assert_array_equal
from scipy.sparse import csc_matrix, csr_array, csr_matrix
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline

from covmin import CCMSelector, Fourier, KnockoffSelector, StabilitySelector
from covmin.data.blocks import array

N_SAMPLES = 900


def counts(n_samples=N_SAMPLES, n_words=60, seed=0):
    """Counts of words, of which the first four go with the class, two with either."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 2, n_samples)
    rate = np.full((n_samples, n_words), 0.02)
    rate[:, :2] += 0.2 * y[:, None]
    rate[:, 2:4] += 0.2 * (1 - y[:, None])
    return rng.poisson(rate).astype(float), y


@pytest.fixture
def in_blocks(monkeypatch):
    """No room for a dense copy, nor for many rows of all columns."""
    monkeypatch.setattr(array, "MEMORY_NUMBERS", 1000)
    monkeypatch.setattr("covmin.constants.MEMORY_NUMBERS", 1000)


def fitted(X, y, **options):
    return CCMSelector(4, approximation=Fourier(64)).set_params(**options).fit(X, y)


def assert_same_fit(one, other):
    assert_array_equal(one.ranking_, other.ranking_)
    assert_allclose(one.weights_, other.weights_, atol=1e-4)


@pytest.mark.parametrize("n_samples", [300, N_SAMPLES])
def test_a_small_table_is_made_dense(n_samples):
    X, y = counts(n_samples)
    assert_array_equal(fitted(csc_matrix(X), y).ranking_, fitted(X, y).ranking_)


OPTIONS = {
    "classes": {},
    "kernel of pairs": {"kernel": "mixed"},
    "ranks": {"standardize": "rank"},
    "as it is": {"standardize": False},
    "exact": {"approximation": "exact"},
    "paper": {"formulation": "paper"},
    "groups": {"feature_groups": np.repeat(np.arange(30), 2), "n_features_to_select": 2},
    "given": {"given": [0]},
    "number chosen": {"n_features_to_select": "auto"},
    "number chosen by an estimator": {
        "n_features_to_select": "auto",
        "estimator": LogisticRegression(),
    },
    "balanced": {"class_weight": "balanced"},
}


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=pytest.mark.slow if name.startswith("number") else ())
        for name in OPTIONS
    ],
)
def test_blocks_give_the_fit_of_the_dense_table(name, in_blocks):
    X, y = counts(2400 if name.startswith("number") else N_SAMPLES)
    one, other = (fitted(table, y, **OPTIONS[name]) for table in (csr_array(X), X))
    assert_same_fit(one, other)
    assert isinstance(array.sparse_table(csr_array(X)), array.SparseBlocks)
    if name != "groups":
        assert one.support_[:4].all()


def test_numbers_and_weights(in_blocks):
    X, y = counts()
    numbers = X[:, 0] - X[:, 2] + 0.1 * np.random.default_rng(1).standard_normal(y.size)
    weight = np.arange(y.size) % 3
    one, other = (
        CCMSelector(2, approximation=Fourier(64)).fit(table, numbers, sample_weight=weight)
        for table in (csr_matrix(X), X)
    )
    assert_same_fit(one, other)
    assert_array_equal(one.get_support(indices=True), [0, 2])


@pytest.mark.parametrize("kind", ["array", "matrix"])
@pytest.mark.parametrize("name", ["csr", "csc", "coo", "lil"])
def test_a_selection_stays_in_its_format(name, kind):
    X, y = counts(200, 10)
    table = getattr(scipy.sparse, f"{name}_{kind}")(X)
    selector = CCMSelector(3).fit(table, y)
    kept = selector.transform(table)
    assert type(kept) is type(table)
    assert_array_equal(kept.toarray(), X[:, selector.support_])
    back = selector.inverse_transform(kept)
    assert type(back) is type(table)
    assert_array_equal(back.toarray(), X * selector.support_)


def test_in_a_pipeline_of_texts():
    texts = ["good film", "good book", "bad film", "bad book", "good day", "bad day"] * 5
    y = [1, 1, 0, 0, 1, 0] * 5
    steps = CountVectorizer(), CCMSelector(1), LogisticRegression()
    assert make_pipeline(*steps).fit(texts, y).score(texts, y) == 1.0


def test_stability_of_sparse_tables():
    X, y = counts(200, 8)
    one, other = (
        StabilitySelector(CCMSelector(3), n_pairs=2).fit(table, y) for table in (csr_array(X), X)
    )
    assert_array_equal(one.frequencies_, other.frequencies_)


def test_knockoffs_are_not_sparse():
    X, y = counts(100, 8)
    with pytest.raises(TypeError, match="toarray"):
        KnockoffSelector().fit(csr_array(X), y)


class TestRareValues:
    """Where two features are seldom out of the ordinary together, single effects are all."""

    def test_words_of_both_classes_come_first(self):
        X, y = counts(1000, 200)
        found = CCMSelector(4).fit(X, y)
        assert found.kernel_ == "additive"
        assert "features rarely vary together" in str(found.plan_)
        assert found.support_[:4].all()

    def test_a_pair_that_stands_out_keeps_the_kernel_of_pairs(self):
        rng = np.random.default_rng(0)
        signs = rng.choice([-1.0, 1.0], (1000, 2))
        X = np.hstack([signs, rng.poisson(0.05, (1000, 98))])
        found = CCMSelector(2).fit(X, signs[:, 0] * signs[:, 1])
        assert found.kernel_ == "mixed"
        assert_array_equal(found.get_support(indices=True), [0, 1])

    def test_nothing_that_shows_alone_keeps_it_too(self):
        """Copies of ordinary samples hide the pair from the look at pairs."""
        rng = np.random.default_rng(0)
        signs = rng.choice([-1.0, 1.0], (1000, 2))
        X = np.hstack([signs, rng.poisson(0.02, (1000, 98))])
        found = CCMSelector(2).fit(X, signs[:, 0] * signs[:, 1])
        assert found.interactions_.share.size == 0
        assert_array_equal(found.get_support(indices=True), [0, 1])

    def test_a_kernel_that_is_asked_for_stays(self):
        X, y = counts(300, 50)
        assert CCMSelector(4, kernel="mixed").fit(X, y).kernel_ == "mixed"


def test_a_report_of_a_sparse_table(tmp_path, monkeypatch):
    """A small one is drawn like any other, and a large one by a sample of its rows."""
    pytest.importorskip("jinja2", reason="pip install 'covmin[report]'")
    X = csr_array(np.random.default_rng(0).poisson(0.5, (60, 5)).astype(float))
    y = X.toarray()[:, 0] > 0
    selector = CCMSelector(2).fit(X, y)
    assert selector.report(tmp_path / "r.html", X, y).exists()
    monkeypatch.setattr("covmin.data.blocks.array.MEMORY_NUMBERS", 100)
    assert selector.report(tmp_path / "few.html", X, y).exists()


def test_a_frame_of_sparse_columns_shows_its_names(tmp_path):
    X, y = counts(300)
    words = [f"word{j}" for j in range(X.shape[1])]
    frame = pd.DataFrame.sparse.from_spmatrix(csr_matrix(X), columns=words)
    selector = CCMSelector(4).fit(frame, y)
    expected = CCMSelector(4).fit(pd.DataFrame(X, columns=words), y)
    assert_array_equal(selector.ranking_, expected.ranking_)
    assert selector.ranking_frame()["name"].isin(words).all()
    page = selector.report(tmp_path / "r.html").read_text(encoding="utf-8")
    text = re.sub("<[^>]+>", " ", re.sub(r"(?s)<(style|script).*?</\1>", " ", page))
    assert "word1" in text
    assert not re.search(r"\bx\d+\b", text)
