"""What the tests of the selector share."""

from numpy.testing import assert_allclose, assert_array_equal

from covmin import Formulation, Fourier

FORMULATIONS = [
    {},
    {"formulation": "paper"},
    {"kernel": "gaussian", "formulation": Formulation(constraint="soft", lambda1=0.01)},
    {"formulation": Formulation(inverse="free", lambda2=100.0)},
    {"approximation": Fourier(60)},
    {"kernel": "laplacian"},
    {"kernel": "linear"},
]
SEE_INTERACTIONS = FORMULATIONS[:-1]


def same_fit(one, other, rtol=1e-8):
    assert_array_equal(one.ranking_, other.ranking_)
    assert_allclose(one.weights_, other.weights_, rtol=rtol, atol=1e-8)
    assert_allclose(one.objective_, other.objective_, rtol=rtol)
    assert_allclose(one.bandwidth_, other.bandwidth_, rtol=rtol)
