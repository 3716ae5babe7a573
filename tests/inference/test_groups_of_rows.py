"""Groups of rows reach the tools through a pipeline, as in scikit-learn."""

import numpy as np
import pytest
import sklearn
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from covmin import CCMSelector, KnockoffSelector, StabilitySelector, VerdictSelector
from covmin.remarks import InputError


def patients():
    """Eight nearly equal rows of each of forty patients; y is a coin toss for each."""
    rng, patient = np.random.default_rng(0), np.repeat(np.arange(40), 8)
    X = rng.standard_normal((40, 6))[patient] + 0.05 * rng.standard_normal((320, 6))
    return X, rng.permutation(np.arange(40) % 2)[patient], patient


@pytest.mark.filterwarnings("ignore:Nothing was kept:UserWarning")
@pytest.mark.parametrize(
    "selector",
    [
        VerdictSelector(),
        KnockoffSelector(fdr=0.5),
        StabilitySelector(CCMSelector(2), n_pairs=2),
    ],
)
def test_groups_are_routed_to_every_selector(selector):
    X, y, patient = patients()
    with pytest.raises(InputError, match="not independent"):
        make_pipeline(StandardScaler(), selector).fit(X, y)
    with sklearn.config_context(enable_metadata_routing=True):
        selector.set_fit_request(groups=True)
        routed = make_pipeline(StandardScaler(), selector).fit(X, y, groups=patient)[-1]
    alone = selector.fit(StandardScaler().fit_transform(X), y, groups=patient)
    np.testing.assert_array_equal(routed.ranking_, alone.ranking_)
