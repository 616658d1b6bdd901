"""Votes of neighbours: weights, shares of the classes, and what to do about ties."""

from collections.abc import Callable

import numpy as np

from verulam.base import DataError

#: Shares closer than this are tied.
TIED = 1e-12

Weighting = str | Callable[[np.ndarray], np.ndarray]


def vote_weights(distances: np.ndarray, weights: Weighting) -> np.ndarray:
    """Return the weight of each neighbour's vote; those of a query sum to 1.

    Parameters
    ----------
    distances
        Distances of the neighbours of each query.
    weights
        "uniform"; "distance", the inverse of the distance, where neighbours at distance zero
        share the whole vote; or a function of the distances.
    """
    if callable(weights):
        votes = np.asarray(weights(distances), dtype=np.float64)
        if votes.shape != distances.shape or (votes < 0).any() or not np.isfinite(votes).all():
            raise DataError(
                "weights: the function must return one number of at least 0 for each distance."
            )
    elif weights == "uniform":
        votes = np.ones_like(distances)
    else:
        nearest = distances.min(axis=1, keepdims=True)
        with np.errstate(divide="ignore", invalid="ignore"):
            # Relative to the nearest, so that tiny distances cannot overflow.
            votes = np.where(nearest > 0, nearest / distances, distances == 0)
    totals = votes.sum(axis=1, keepdims=True)
    uniform = np.full_like(votes, 1.0 / votes.shape[1])
    # Where every weight is zero, all neighbours count alike.
    return np.where(totals > 0, votes / np.where(totals > 0, totals, 1.0), uniform)


def class_shares(codes: np.ndarray, weights: np.ndarray | None, n_classes: int) -> np.ndarray:
    """Return the share of the votes that each class gets from each query's neighbours.

    Without `weights` all votes are equal.
    """
    if weights is None:
        return count_votes(codes, n_classes) / codes.shape[1]
    return _add_votes(codes, weights, n_classes)


def count_votes(codes: np.ndarray, n_classes: int) -> np.ndarray:
    """Return how many of each query's neighbours, given by their codes, belong to each class."""
    return _add_votes(codes, None, n_classes)


def _add_votes(codes: np.ndarray, weights: np.ndarray | None, n_classes: int) -> np.ndarray:
    n_queries = len(codes)
    # One count for all queries: each has a range of places of its own.
    places = (codes + n_classes * np.arange(n_queries)[:, None]).ravel()
    votes = np.bincount(places, None if weights is None else weights.ravel(), n_queries * n_classes)
    return votes.reshape(n_queries, n_classes)


def winning_class(
    shares: np.ndarray, codes: np.ndarray, class_counts: np.ndarray, ties: str
) -> np.ndarray:
    """Return the class with the largest share, ties broken as asked.

    Parameters
    ----------
    shares
        Share of each class.
    codes
        Classes of each query's neighbours, nearest first.
    class_counts
        Rows of each class in the training data.
    ties
        "nearest", for the tied class that has the nearest neighbour; "prior", for the one with
        most training rows; "first", for the first label.
    """
    best = shares >= shares.max(axis=1, keepdims=True) - TIED
    if ties == "nearest":
        among = np.take_along_axis(best, codes, axis=1)
        first = among.argmax(axis=1)
        return np.take_along_axis(codes, first[:, None], axis=1)[:, 0]
    if ties == "prior":
        return np.where(best, class_counts, -1.0).argmax(axis=1)
    return best.argmax(axis=1)
