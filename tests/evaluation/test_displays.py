"""Pictures of results."""

import pytest

from covmin.evaluation import compare_selectors


@pytest.mark.parametrize("protocol", ["nested", "paper"])
def test_accuracy_curves(table, protocol):
    X, y = table
    result = compare_selectors(
        X, y, ["anova", "pearson"], protocol=protocol, n_features=[1, 2], random_state=0
    )
    ax = result.plot()
    ranked = {"nested": "training folds", "paper": "all samples"}[protocol]
    assert ax.get_title() == f"ranked on {ranked}"
    assert ax.get_xlabel() == "number of selected features"
    assert ax.get_ylabel() == "cross-validated accuracy"
    assert len({line.get_marker() for line in ax.get_lines()}) == 2
    assert result.plot(ax) is ax
    ax.figure.canvas.draw()
