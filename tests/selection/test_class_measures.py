"""Accuracy, log-loss and areas against scikit-learn's."""

import numpy as np
import pytest
from sklearn.metrics import accuracy_score, balanced_accuracy_score, log_loss, roc_auc_score

from covmin.selection.measures import class_measures


@pytest.mark.parametrize("n_classes", [2, 4])
def test_measures_are_those_of_scikit_learn(n_classes):
    rng = np.random.default_rng(n_classes)
    labels = rng.integers(0, n_classes, 80)
    shares = rng.dirichlet(np.ones(n_classes), 80).round(1) + 0.05  # with ties
    shares /= shares.sum(axis=1, keepdims=True)
    weight = rng.uniform(1, 3, 80)
    found = class_measures(shares, labels, weight / weight.sum(), 10**6)
    options = {"sample_weight": weight}
    best = shares.argmax(axis=1)
    assert found["accuracy"] == pytest.approx(accuracy_score(labels, best, **options))
    balanced = balanced_accuracy_score(labels, best, **options)
    assert found["balanced_accuracy"] == pytest.approx(balanced)
    assert found["log_loss"] == pytest.approx(log_loss(labels, shares, **options))
    areas = [roc_auc_score(labels == c, shares[:, c], **options) for c in range(n_classes)]
    assert found["roc_auc"] == pytest.approx(np.mean(areas))


def test_every_measure_is_a_number_whatever_is_predicted():
    weight = np.full(4, 0.25)
    shares = np.array([[1.0, 0.0, 0.0], [0.0, 0.0, 0.0], [1.0, 1.0, 0.0], [0.0, 1.0, 0.0]])
    # The third class is in no sample: it has no area.
    found = class_measures(shares, np.array([0, 0, 1, 1]), weight, 20)
    assert found["roc_auc"] == pytest.approx((0.5 + 1.0) / 2)
    assert found["log_loss"] < np.log(23)
    alone = class_measures(shares, np.zeros(4, dtype=int), weight, 20)
    assert alone["roc_auc"] == 0.5
    assert np.isfinite(list(alone.values())).all()
