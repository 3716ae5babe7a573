"""Recursive elimination against scikit-learn's."""

import numpy as np
from sklearn.feature_selection import RFE
from sklearn.svm import SVC, SVR

from covmin.baselines import RFESelector

from .samples import every_task, make_data, standardised


def test_rfe_orders_a_round_by_weight():
    X, y = make_data("binary")
    weights = SVC(kernel="linear").fit(standardised(X), y).coef_[0]
    all_at_once = RFESelector(step=11).fit(X, y)
    expected = np.argsort(-(weights**2))
    assert np.argsort(all_at_once.ranking_).tolist() == expected.tolist()


@every_task
def test_rfe_matches_scikit_learn_one_at_a_time(task):
    X, y = make_data(task)
    machine = SVC(kernel="linear")
    if task == "regression":
        machine, y = SVR(kernel="linear"), standardised(y)
    expected = RFE(machine, n_features_to_select=1).fit(standardised(X), y).ranking_
    np.testing.assert_array_equal(RFESelector(step=1).fit(X, y).ranking_, expected)
