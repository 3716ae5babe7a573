"""How well predictions tell classes apart, and how well predicted risks order survival times."""

import numpy as np


def class_measures(
    shares: np.ndarray, labels: np.ndarray, weight: np.ndarray, n_training: int
) -> dict[str, float]:
    """Return measures of classification from the class indicators that a regression predicts.

    The predicted class is the one with the largest indicator. For the log-loss, indicators are
    raised to at least ``1 / (n_training + n_classes)``, the share of one sample more than were
    seen. The area under the ROC curve is the mean over the classes, each against the rest, in
    which some but not all samples are; ½ if there is none.
    """
    n_classes = shares.shape[1]
    right = shares.argmax(axis=1) == labels
    chances = np.maximum(shares, 1.0 / (n_training + n_classes))
    chances /= chances.sum(axis=1, keepdims=True)
    of_class = np.bincount(labels, weight)
    recall = np.bincount(labels, weight * right)[of_class > 0.0] / of_class[of_class > 0.0]
    areas = []
    for c in [1] if n_classes == 2 else range(n_classes):
        inside, place = labels == c, np.unique(shares[:, c], return_inverse=True)[1]
        if 0 < inside.sum() < labels.size:
            # A tenth of scikit-learn's time on few samples; a tie counts half.
            members, others = (np.bincount(place, weight * each) for each in (inside, ~inside))
            below = np.cumsum(others) - others / 2.0
            areas.append(members @ below / (members.sum() * others.sum()))
    return {
        "accuracy": float(weight @ right),
        "balanced_accuracy": float(recall.mean()),
        "log_loss": float(-weight @ np.log(chances[np.arange(labels.size), labels])),
        "roc_auc": float(np.mean(areas)) if areas else 0.5,
    }


def concordance(
    times: np.ndarray, risk: np.ndarray, weight: np.ndarray
) -> tuple[float, np.ndarray]:
    """Return the concordance index of events and times (n, 2), and the influence of each sample.

    Two samples are comparable if the event of one was observed while the other was under
    observation: at an earlier time, or at the time when the other was censored. Two events at the
    same time are not comparable. The index (F. E. Harrell and others, JAMA 247, 1982) is the
    fraction of comparable pairs in which the sample with the higher risk has the event first. Equal
    risks count one half.

    The index is a ratio of sums over pairs, ½ if none is comparable; the time is O(n log² n). The
    influences are the first-order term of its expansion in the samples (Hoeffding projection); the
    sum of their squares is its variance.
    """
    event = times[:, 0] == 1.0
    # At equal times, events come first: a sample censored then has not had the event before.
    later = 2 * np.unique(times[:, 1], return_inverse=True)[1] + ~event
    first, equal = weight * event, np.zeros(event.size)
    # As the first of a pair, and as the second; with equal risks, all pairs count one half.
    right = first * _below(-later, risk, weight) + weight * _below(later, -risk, first)
    half = first * _below(-later, equal, weight) + weight * _below(later, equal, first)
    total = 2.0 * half.sum()
    if total <= 0.0:
        return 0.5, np.zeros(event.size)
    index = right.sum() / total
    # Each pair involves two samples, and appears twice in both sums.
    return float(index), 2.0 * (right - index * 2.0 * half) / total


def _below(a: np.ndarray, b: np.ndarray, weight: np.ndarray) -> np.ndarray:
    """Return, for each sample, the weight of those lower in a and b; ties in b count one half.

    Samples are ordered by b and merge-sorted by a: when two neighbouring runs are merged, each
    sample of the right run counts the samples of the left run that are lower in a.
    """
    total, place = np.zeros(a.size), np.arange(a.size)
    # Among ties in b, those lower in a come later, and are not counted; or earlier, and are.
    for order in (np.lexsort((-a, b)), np.lexsort((a, b))):
        rank, w = a[order], 0.5 * weight[order]
        width = 1
        while width < a.size:
            is_right, pair = place // width % 2 == 1, place // (2 * width)
            merged = np.lexsort((~is_right, rank, pair))  # on ties in a the right run comes first
            before = np.cumsum(np.where(is_right, 0.0, w)[merged])
            before -= np.append(0.0, before)[pair * 2 * width]  # in earlier pairs of runs
            total[order[merged]] += np.where(is_right[merged], before, 0.0)
            width *= 2
    return total
