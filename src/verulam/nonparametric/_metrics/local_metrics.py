"""Metrics found around a point: from scatters of the classes, or from what each column tells."""

import numpy as np

#: Rows of each class added to a slice, as a share of it: a few rows that agree by chance must not
#: make a column look certain, and its loss large wherever it is not.
ADDED_SHARE = 0.1


def tricube_weights(distances: np.ndarray) -> np.ndarray:
    """Return weights that fall to nothing at the farthest row of each neighbourhood."""
    reach = np.maximum(distances[:, -1:], 1e-300) * (1.0 + 1e-9)
    weights = (1.0 - (distances / reach) ** 3) ** 3
    # Equal distances leave no weight at all; then every row counts.
    weights[weights.sum(axis=1) <= 0] = 1.0
    return weights


def scatter_metrics(
    offsets: np.ndarray, codes: np.ndarray, weights: np.ndarray, n_classes: int, softening: float
) -> np.ndarray:
    """Return the metric around each point, from weighted scatters of its neighbourhood.

    Parameters
    ----------
    offsets
        Rows of each neighbourhood (points, rows, columns), from their point.
    codes
        Their classes.
    weights
        Their weights.
    n_classes
        Number of classes.
    softening
        Share of the sphere.
    """
    n_columns = offsets.shape[2]
    member = weights[:, :, None] * (codes[:, :, None] == np.arange(n_classes))
    totals = member.sum(axis=1)
    sums = np.einsum("qrk,qrj->qkj", member, offsets)
    means = sums / np.maximum(totals, 1e-300)[:, :, None]
    own_means = np.take_along_axis(means, codes[:, :, None], axis=1)
    centred = (offsets - own_means) * np.sqrt(weights)[:, :, None]
    whole = weights.sum(axis=1)[:, None, None]
    within = np.einsum("qri,qrj->qij", centred, centred) / whole
    overall = sums.sum(axis=1) / whole[:, :, 0]
    apart = (means - overall[:, None]) * np.sqrt(totals)[:, :, None]
    between = np.einsum("qki,qkj->qij", apart, apart) / whole
    values, vectors = np.linalg.eigh(within)
    # A direction without spread within classes would be infinitely important.
    floor = 1e-6 * np.maximum(values.mean(axis=1, keepdims=True), 1e-12)
    roots = np.einsum("qij,qj,qkj->qik", vectors, np.maximum(values, floor) ** -0.5, vectors)
    return roots @ (roots @ between @ roots + softening * np.eye(n_columns)) @ roots


def column_losses(
    offsets: np.ndarray, codes: np.ndarray, n_classes: int, around: int, slice_size: int
) -> np.ndarray:
    r"""Return how much worse each column alone tells the classes at each point than all do.

    Parameters
    ----------
    offsets
        Rows of each neighbourhood (points, rows, columns), from their point, nearest first.
    codes
        Their classes.
    n_classes
        Number of classes.
    around
        Nearest rows that tell the classes at the point.
    slice_size
        Rows of the neighbourhood nearest in one column, which tell them along that column.

    Notes
    -----
    :math:`r_i(z) = \sum_j (P(j \mid z) - P(j \mid x_i = z_i))^2 / P(j \mid x_i = z_i)`, where some
    rows of each class are added to the slices to keep their shares off zero.
    """
    classes = np.arange(n_classes)
    shares = (codes[:, :around, None] == classes).mean(axis=1)
    nearest = np.argpartition(np.abs(offsets), slice_size - 1, axis=1)[:, :slice_size]
    labels = np.take_along_axis(np.broadcast_to(codes[:, :, None], offsets.shape), nearest, axis=1)
    counts = (labels[..., None] == classes).sum(axis=1)
    by_column = (counts + ADDED_SHARE * slice_size) / (slice_size * (1.0 + ADDED_SHARE * n_classes))
    return (np.square(shares[:, None] - by_column) / by_column).sum(axis=2)


def relevance_metrics(losses: np.ndarray, sharpness: float) -> np.ndarray:
    r"""Return diagonal metrics whose weights grow with what the columns tell.

    Parameters
    ----------
    losses
        Loss of each column around each point.
    sharpness
        The factor :math:`c` in weights proportional to :math:`e^{c R_i}`, where the relevance
        :math:`R_i` is the largest loss less the column's own.
    """
    relevance = losses.max(axis=1, keepdims=True) - losses
    # Relative to the most relevant column, so that nothing overflows.
    weights = np.exp(sharpness * (relevance - relevance.max(axis=1, keepdims=True)))
    weights *= weights.shape[1] / weights.sum(axis=1, keepdims=True)
    return weights[:, :, None] * np.eye(losses.shape[1])


def squared_distances(queries: np.ndarray, stored: np.ndarray, metrics: np.ndarray) -> np.ndarray:
    """Return squared distances to stored rows (columns) that each have a metric of their own."""
    offsets = queries[None] - stored[:, None]
    return np.einsum("rqi,rqi->qr", offsets @ metrics, offsets)
