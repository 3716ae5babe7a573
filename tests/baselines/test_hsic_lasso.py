"""The HSIC lasso: its order, its blocks, and what is guarded."""

import builtins
import sys

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

from covmin.baselines import HSICLassoSelector
from covmin.baselines.hsic_lasso import largest_block

from .samples import every_task, make_data


@every_task
def test_hsic_lasso_with_copies_and_reflections(task):
    X, y = make_data(task, n=100)
    X = np.column_stack([X, X[:, 3], -2 * X[:, 7] + 1])
    ranking = HSICLassoSelector(2).fit(X, y).ranking_
    assert set(np.argsort(ranking)[:2]) == {3, 7}


def test_hsic_lasso_order_is_weights_then_marginal_dependence():
    X, y = make_data("regression", n=60)
    selector = HSICLassoSelector(8).fit(X, y)
    assert 0 < selector.n_entered_ <= 8
    order = np.argsort(selector.ranking_)
    assert (np.diff(selector.scores_[order]) <= 0).all()
    assert (selector.scores_[order[: selector.n_entered_]] >= 0).all()
    assert (selector.scores_[order[selector.n_entered_ :]] == 0).all()


@pytest.mark.parametrize("block_size", [None, 10, 7, 1000])
def test_hsic_lasso_in_blocks(block_size):
    X, y = make_data("regression", n=100)
    selector = HSICLassoSelector(2, block_size=block_size).fit(X, y)
    assert selector.get_support(indices=True).tolist() == [3, 7]


def test_hsic_lasso_blocks_respect_memory():
    assert largest_block(100, 100, 3, 2**30) == 100
    for n, d, limit in [(137, 10_000, 2**30), (171, 5748, 2**29), (1000, 1000, 2**28)]:
        B = largest_block(n, d, 3, limit)
        assert 5 <= B < n
        assert 12 * n * B * 3 * d <= limit
    assert largest_block(1000, 10**6, 3, 1) == 5


def test_hsic_lasso_reports_a_broken_path(monkeypatch):
    def broken(*args, **kwargs):
        raise IndexError("too many steps")

    monkeypatch.setattr("pyHSICLasso.api.nlars", broken)
    X, y = make_data("regression", n=100)
    with pytest.warns(ConvergenceWarning, match="broke down"):
        selector = HSICLassoSelector(2).fit(X, y)
    assert selector.n_entered_ == 0
    assert selector.get_support(indices=True).tolist() == [3, 7]


def test_hsic_lasso_says_what_to_install(monkeypatch):
    real_import = builtins.__import__

    def no_library(name, *args, **kwargs):
        if name == "pyHSICLasso":
            raise ImportError(name)
        return real_import(name, *args, **kwargs)

    monkeypatch.delitem(sys.modules, "pyHSICLasso", raising=False)
    monkeypatch.setattr(builtins, "__import__", no_library)
    with pytest.raises(ImportError, match=r'pip install "covmin\[baselines\]"'):
        HSICLassoSelector().fit(*make_data("binary"))
