"""How well predicted shares of classes tell the classes of samples."""

import numpy as np

CLASS_MEASURES = ["accuracy", "balanced_accuracy", "log_loss", "roc_auc"]


def class_measures(
    shares: np.ndarray, labels: np.ndarray, weight: np.ndarray, n_training: int
) -> dict[str, float]:
    """Accuracy, over all samples and balanced, log-loss and area under the ROC curve.

    Parameters
    ----------
    shares : ndarray of shape (n_samples, n_classes)
        Indicators of the classes, as a regression predicts them.
    labels : ndarray of shape (n_samples,)
        Numbers of the classes.
    weight : ndarray of shape (n_samples,)
        Weights of the samples; they sum to one.
    n_training : int
        Samples that the regression has seen.

    Notes
    -----
    The accuracy goes by the largest share; balanced, it is the mean over the classes that there
    are. For the log-loss, no share is less than that of one
    sample more than were seen (``1 / (n_training + n_classes)``), and the shares of a sample are
    divided by their sum. The area is that of each class against all others, and the mean over
    classes; a class that no sample is in, or all are, has none. Without any, it is ½.
    """
    right = shares.argmax(axis=1) == labels
    chances = np.maximum(shares, 1.0 / (n_training + shares.shape[1]))
    chances /= chances.sum(axis=1, keepdims=True)
    losses = -np.log(chances[np.arange(labels.size), labels])
    # Of two classes, either has the same area.
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
    """The chance that a sample of the class has a larger share than another; a tie is half.

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
