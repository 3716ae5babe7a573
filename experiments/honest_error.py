"""What the cross-fitted error says of sets whose noise is known.

``python -m experiments.honest_error`` writes ``experiments/results/honest-error.md``: the error of
the true features beside the noise, and how many features are kept.
"""

from pathlib import Path

import numpy as np
import pandas as pd

from covmin import CCMSelector
from covmin.evaluation.frames import markdown_table

N_DRAWS = 10


def product(rng, n=300):
    """The product of two of six features, with 1.5 % of noise."""
    X = rng.standard_normal((n, 6))
    return X, X[:, 0] * X[:, 1] + np.sqrt(0.015) * rng.standard_normal(n), 2


def four(rng, n=300):
    """A wave, a product and a line in four features, with 3 % of noise."""
    X = rng.standard_normal((n, 4))
    f = np.sin(X[:, 0]) + X[:, 1] * X[:, 2] + 0.5 * X[:, 3]
    f /= f.std()
    return X, f + np.sqrt(0.03) * rng.standard_normal(n), 4


def errors(make, n):
    """Error of the true number of features and the number kept, over draws."""
    found = []
    for seed in range(N_DRAWS):
        X, y, size = make(np.random.default_rng(seed), n)
        selector = CCMSelector().fit(X, y)
        found.append((selector.cv_results_.mean_error[0, size - 1], selector.n_features_))
    return np.mean(found, axis=0)


def main():
    rows = []
    for make, noise in ((product, 0.015), (four, 0.03)):
        for n in (300, 800):
            error, kept = errors(make, n)
            rows.append((make.__name__, n, noise, error, f"{kept:.1f}"))
    columns = ["table", "samples", "noise", "error", "features kept"]
    text = markdown_table(pd.DataFrame(rows, columns=columns), 3)
    path = Path(__file__).parent / "results" / "honest-error.md"
    path.write_text(text + "\n", encoding="utf-8")
    print(text)


if __name__ == "__main__":
    main()
