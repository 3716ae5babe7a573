"""VerdictSelector: what it says of features, groups, categories and gaps, and its contract."""

import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from covmin import VerdictSelector


@pytest.mark.filterwarnings("ignore:.*constant feature:UserWarning")
@pytest.mark.filterwarnings("ignore:No features were selected:UserWarning")
@parametrize_with_checks([VerdictSelector()])
def test_scikit_learn_contract(estimator, check):
    check(estimator)
