"""The cost of a leaf, chosen by cross-validation."""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from verulam.tree._pruning import PruningPath, prune_to_alpha
from verulam.tree._structure.tree import TreeStructure
from verulam.tree._structure.validation_rows import folds

Grown = Callable[[NDArray[np.intp]], tuple[TreeStructure, PruningPath]]
Losses = Callable[[TreeStructure, NDArray[np.intp]], NDArray[np.float64]]


def choose_alpha(
    path: PruningPath,
    grown: Grown,
    losses: Losses,
    targets: NDArray[np.generic],
    n_folds: int,
    random: np.random.Generator,
    *,
    stratified: bool,
) -> float:
    """Return the cost of a leaf of least cross-validated loss, the largest where several tie.

    Candidates are the geometric means of neighbouring costs at which the tree grown on all rows
    changes; each fold's tree is pruned to each of them (Breiman et al., 1984).

    Parameters
    ----------
    path
        The pruning path of the tree grown on all rows.
    grown
        Grows a tree on some rows and gives its pruning path.
    losses
        The loss of each of some rows.
    targets
        Class codes or numbers.
    n_folds
        Folds of the cross-validation.
    random
        Where chance comes from.
    stratified
        Keep the shares of the classes in every fold.
    """
    ends = path.alphas
    candidates = np.append(np.sqrt(ends[:-1] * ends[1:]), ends[-1])
    candidates = np.unique(candidates[_thinned(len(candidates))])
    lost = np.empty((len(candidates), len(targets)))
    for training, validation in folds(targets, n_folds, random, stratified=stratified):
        structure, own = grown(training)
        before = -1
        for place, alpha in enumerate(candidates):
            n_collapsed = int(np.count_nonzero(own.collapsed_at <= alpha))
            if n_collapsed == before:
                lost[place, validation] = lost[place - 1, validation]
                continue
            before = n_collapsed
            lost[place, validation] = losses(prune_to_alpha(structure, own, alpha), validation)
    means = lost.mean(axis=1)
    return float(candidates[means <= means.min() * (1 + 1e-12)][-1])


def _thinned(count: int, most: int = 100) -> NDArray[np.intp]:
    """Return at most so many evenly spread positions, the first and last among them."""
    return np.unique(np.linspace(0, count - 1, min(count, most)).round().astype(np.intp))
