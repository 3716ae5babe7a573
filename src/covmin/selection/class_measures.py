"""Measures of classification from predicted class indicators."""

import numpy as np

CLASS_MEASURES = ["accuracy", "balanced_accuracy", "log_loss", "roc_auc"]


def class_measures(
    shares: np.ndarray, labels: np.ndarray, weight: np.ndarray, n_training: int
) -> dict[str, float]:
    """Return accuracy, balanced accuracy, log-loss and area under the ROC curve.

    Parameters
    ----------
    shares : ndarray of shape (n_samples, n_classes)
        Class indicators predicted by a regression.
    labels : ndarray of shape (n_samples,)
        Class of each sample, as a number.
    weight : ndarray of shape (n_samples,)
        Sample weights that sum to one.
    n_training : int
        Number of training samples.

    Notes
    -----
    The predicted class is the one with the largest indicator. Balanced accuracy is the mean over
    the classes present. For the log-loss, indicators are raised to at least
    ``1 / (n_training + n_classes)``, the share of one sample more than were seen, and normalised to
    sum to one. The area under the ROC curve is the mean over classes, each against the rest. It
    is undefined for a class with no samples or with all of them; if it is undefined for every
    class, the result is ½.
    """
    right = shares.argmax(axis=1) == labels
    chances = np.maximum(shares, 1.0 / (n_training + shares.shape[1]))
    chances /= chances.sum(axis=1, keepdims=True)
    losses = -np.log(chances[np.arange(labels.size), labels])
    # With two classes, both have the same area.
    classes = [1] if shares.shape[1] == 2 else range(shares.shape[1])
    areas = [_area(shares[:, c], labels == c, weight) for c in classes]
    known = [area for area in areas if area is not None]
    in_class = np.bincount(labels, weight)
    balanced = np.bincount(labels, weight * right)[in_class > 0.0] / in_class[in_class > 0.0]
    return {
        "accuracy": float(weight @ right),
        "balanced_accuracy": float(balanced.mean()),
        "log_loss": float(weight @ losses),
        "roc_auc": float(np.mean(known)) if known else 0.5,
    }


def _area(share: np.ndarray, is_in: np.ndarray, weight: np.ndarray) -> float | None:
    """Return the probability that a sample of the class ranks above another; a tie counts half.

    >>> _area(np.array([0.1, 0.4, 0.4]), np.array([False, True, False]), np.ones(3))
    0.75
    """
    if is_in.all() or not is_in.any():
        return None
    place = np.unique(share, return_inverse=True)[1]
    inside = np.bincount(place, weight * is_in)
    outside = np.bincount(place, weight * ~is_in)
    below = np.cumsum(outside) - outside / 2
    return float(inside @ below / (inside.sum() * outside.sum()))
