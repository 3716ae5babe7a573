"""All eight formulations find the true features of the paper's three synthetic sets."""

from types import SimpleNamespace

import numpy as np
import pytest
from single import problem_on

from covmin.core.kernels import Gaussian
from covmin.core.path import run_path
from covmin.core.rows import Sample
from covmin.datasets import make_additive, make_shell, make_xor
from covmin.plan.formulation import Formulation

# generator, ε, and the largest acceptable mean of the median rank (2.5, 2 and 2.5 at best)
SETS = {
    "binary": (make_shell, 1e-3, 2.6),
    "xor": (make_xor, 1e-3, 2.1),
    "regression": (make_additive, 0.1, 3.0),
}
N_COMPONENTS = 300


def responses(data):
    """±1 for two classes, one-hot for more, centred."""
    y = data.target
    Y = np.eye(4)[y] if data.task == "classification" and y.max() > 1 else y[:, None].astype(float)
    return Y - Y.mean(axis=0)


def median_rank(order, informative):
    ranks = np.empty(order.size)
    ranks[order] = np.arange(1, order.size + 1)
    return np.median(ranks[informative])


@pytest.mark.parametrize("name", list(SETS))
@pytest.mark.parametrize("approximation", ["exact", "fourier"])
@pytest.mark.parametrize("inverse", ["exact", "free"])
@pytest.mark.parametrize("constraint", ["hard", "soft"])
def test_recovery(name, approximation, inverse, constraint):
    make, epsilon, acceptable = SETS[name]
    formulation = Formulation(strategy="single", constraint=constraint, inverse=inverse)
    medians = []
    for seed in range(3):
        data = make(100, random_state=seed)
        X = (data.data - data.data.mean(axis=0)) / data.data.std(axis=0)
        Y, (n, d) = responses(data), X.shape
        sample, options = Sample(X, Y, np.full(n, 1 / n)), {"kernel": Gaussian()}
        if approximation == "exact":
            problem = problem_on(sample, epsilon=epsilon, **options)
        else:
            rng = np.random.default_rng(seed)
            frequencies = Gaussian().draw_frequencies(d, N_COMPONENTS, rng)
            problem = problem_on(sample, frequencies, epsilon=epsilon, **options)
        columns = SimpleNamespace(p=sample.p, total_weight=n)
        response = SimpleNamespace(Y=Y, squared_unit=1.0)
        problem = formulation.applied_to(problem, epsilon, columns, response)
        path = run_path(problem, [data.informative.size])
        medians.append(median_rank(path.order, data.informative))
    assert np.mean(medians) <= acceptable
