"""The share left unexplained beside the criterion, where the noise is known.

``python -m experiments.unexplained`` prints both, as shares of the variance, for sets of features
of ``z₀z₁ + z₂`` and of ``sin 4z₀`` with 5 % of noise among twenty columns.
"""

import numpy as np

from covmin import conditional_covariance_trace, unexplained_variance

NOISE, N_DRAWS = 0.05, 10
FUNCTIONS = {"z₀z₁ + z₂": lambda z: z[0] * z[1] + z[2], "sin 4z₀": lambda z: np.sin(4 * z[0])}
SETS = {"first three": range(3), "all twenty": range(20), "last seventeen": range(3, 20)}


def shares(function, columns, n, seed):
    """Held out, in the sample, and by the criterion at its default ridge."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, 20))
    f = function(X.T)
    y = f + np.sqrt(NOISE / (1 - NOISE)) * f.std() * rng.standard_normal(n)
    X = X[:, columns]
    fitted = unexplained_variance(X, y, held_out=False)
    return unexplained_variance(X, y), fitted, conditional_covariance_trace(X, y) / y.var()


def main():
    print("| response | samples | features | held out | in the sample | criterion |")
    print("| --- | ---: | --- | ---: | ---: | ---: |")
    for response, function in FUNCTIONS.items():
        for n in (300, 1000):
            for features, columns in SETS.items():
                found = [shares(function, columns, n, seed) for seed in range(N_DRAWS)]
                told = " | ".join(f"{value:.3f}" for value in np.mean(found, axis=0))
                print(f"| {response} | {n} | {features} | {told} |", flush=True)


if __name__ == "__main__":
    main()
