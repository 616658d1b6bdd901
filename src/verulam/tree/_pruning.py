"""Post-pruning: reduced error, C4.5's pessimistic error, and cost-complexity (weakest link).

The cost of a leaf of cost-complexity pruning is chosen by cross-validation.
"""

from collections.abc import Callable
from dataclasses import dataclass
from heapq import heapify, heappop, heappush

import numpy as np
from numpy.typing import NDArray
from scipy.special import betaincinv

from verulam.tree._structure.tree import LEAF, TreeStructure, collapse
from verulam.tree._structure.validation_rows import folds

#: Candidates for the cost of a leaf that are compared at most.
MOST_ALPHAS = 100


@dataclass(frozen=True, eq=False)
class PruningPath:
    """The trees of cost-complexity pruning, from the whole tree to its root.

    Attributes
    ----------
    alphas : ndarray
        Cost of a leaf from which on each tree is the best, ascending from 0.
    n_leaves : ndarray
        Leaves of each tree.
    collapsed_at : ndarray of shape (n_nodes,)
        Cost of a leaf from which on each inner node is one; infinite for the leaves.
    """

    alphas: NDArray[np.float64]
    n_leaves: NDArray[np.int64]
    collapsed_at: NDArray[np.float64]


def sum_below(structure: TreeStructure, at_leaves: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return for each node the sum over the leaves below it; a leaf's is its own."""
    return _passed_up(structure, np.where(structure.kind == LEAF, at_leaves, 0.0))


def _passed_up(structure: TreeStructure, sums: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the sums with those of all nodes below added to each node's own."""
    for nodes in reversed(list(structure.levels())[1:]):
        np.add.at(sums, structure.parent[nodes], sums[nodes])
    return sums


def prune_where(
    structure: TreeStructure, as_leaf: NDArray[np.float64], *, tol: float
) -> TreeStructure:
    """Return the tree with a leaf for each subtree that is no better than one.

    The arguments are those of `no_better_than_leaves`.
    """
    return collapse(structure, no_better_than_leaves(structure, as_leaf, tol=tol))


def no_better_than_leaves(
    structure: TreeStructure, as_leaf: NDArray[np.float64], *, tol: float
) -> NDArray[np.bool_]:
    """Return the inner nodes below which a leaf would do as well, from the leaves upwards.

    Parameters
    ----------
    structure
        The tree.
    as_leaf
        Error of each node as a leaf, in units that add up.
    tol
        By how much a leaf may be worse.
    """
    error = as_leaf.copy()
    below = np.zeros(len(structure))
    to_leaf = np.zeros(len(structure), dtype=bool)
    # From the leaves upwards, so that the error below a node is that of the subtree already pruned.
    for nodes in reversed(list(structure.levels())):
        inner = nodes[structure.kind[nodes] != LEAF]
        to_leaf[inner] = as_leaf[inner] <= below[inner] + tol
        error[inner] = np.where(to_leaf[inner], as_leaf[inner], below[inner])
        if nodes[0]:
            np.add.at(below, structure.parent[nodes], error[nodes])
    return to_leaf


def reach_counts(
    structure: TreeStructure, rows: NDArray[np.float64], contributions: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Return the sum of the rows' contributions in each node that they pass."""
    sums = np.zeros((len(structure), contributions.shape[1]))
    np.add.at(sums, structure.apply(rows), contributions)
    return _passed_up(structure, sums)


def pessimistic_errors(
    weight: NDArray[np.float64], errors: NDArray[np.float64], confidence: float
) -> NDArray[np.float64]:
    r"""Return the upper bound of each node's number of errors, as C4.5 estimates it.

    The bound is the error rate at which so few errors would still have probability
    `confidence`; between whole numbers of errors C4.5 interpolates, which the incomplete beta
    function does by itself.
    """
    rates = np.ones_like(weight)
    partial = errors < weight - 1e-12
    # The one-sided Clopper-Pearson bound is a quantile of the beta distribution.
    rates[partial] = betaincinv(
        errors[partial] + 1.0, weight[partial] - errors[partial], 1.0 - confidence
    )
    return weight * rates


def cost_complexity(structure: TreeStructure, costs: NDArray[np.float64]) -> PruningPath:
    """Return the sequence of trees by weakest-link pruning.

    Parameters
    ----------
    structure
        The tree.
    costs
        Cost of each node as a leaf, in units that add up.
    """
    below = sum_below(structure, costs)
    leaves = sum_below(structure, np.ones(len(structure)))
    inner = structure.kind != LEAF
    collapsed_at = np.full(len(structure), np.inf)
    alphas, counts, alpha = [0.0], [int(leaves[0])], 0.0
    alive = inner.copy()
    # The link of a node is what each leaf below it saves: the cost of a leaf at which the subtree
    # no longer pays. The weakest link is cut first (Breiman et al., 1984).
    links = np.full(len(structure), np.inf)
    links[inner] = (costs[inner] - below[inner]) / np.maximum(leaves[inner] - 1, 1)
    heap = [(float(links[node]), int(node)) for node in np.flatnonzero(inner)]
    heapify(heap)
    while heap:
        link, node = heappop(heap)
        # A link that has changed since then is in the heap once more.
        if not alive[node] or link != links[node]:
            continue
        # In exact arithmetic links never fall; rounding must not turn the path back.
        alpha = max(alpha, float(links[node]))
        saved, lost = leaves[node] - 1.0, costs[node] - below[node]
        waiting = [node]
        while waiting:
            inside = waiting.pop()
            if alive[inside]:
                alive[inside] = False
                collapsed_at[inside] = alpha
                waiting.extend(structure.children(inside))
        leaves[node], below[node] = 1.0, costs[node]
        # Cutting changes the links of the ancestors alone.
        above = int(structure.parent[node])
        while above >= 0:
            leaves[above] -= saved
            below[above] += lost
            links[above] = (costs[above] - below[above]) / max(leaves[above] - 1.0, 1.0)
            heappush(heap, (float(links[above]), above))
            above = int(structure.parent[above])
        if alpha <= alphas[-1] * (1 + 1e-12):
            counts[-1] = int(leaves[0])
        else:
            alphas.append(alpha)
            counts.append(int(leaves[0]))
    return PruningPath(np.array(alphas), np.array(counts), collapsed_at)


def prune_to_alpha(structure: TreeStructure, path: PruningPath, alpha: float) -> TreeStructure:
    """Return the tree that is best where each leaf costs `alpha`."""
    return collapse(structure, path.collapsed_at <= alpha * (1 + 1e-12) + 1e-15)


#: Grows a tree on some rows, and gives its pruning path.
Grow = Callable[[NDArray[np.intp]], tuple[TreeStructure, PruningPath]]
#: The loss of a tree for each of some rows.
Losses = Callable[[TreeStructure, NDArray[np.intp]], NDArray[np.float64]]


def choose_alpha(
    path: PruningPath,
    grow_on: Grow,
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
    grow_on
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
        structure, fold_path = grow_on(training)
        n_before = -1
        for place, alpha in enumerate(candidates):
            n_collapsed = int(np.count_nonzero(fold_path.collapsed_at <= alpha))
            # Neighbouring candidates often prune alike: what nothing changes is not judged again.
            if n_collapsed == n_before:
                lost[place, validation] = lost[place - 1, validation]
                continue
            n_before = n_collapsed
            lost[place, validation] = losses(
                prune_to_alpha(structure, fold_path, alpha), validation
            )
    means = lost.mean(axis=1)
    return float(candidates[means <= means.min() * (1 + 1e-12)][-1])


def _thinned(count: int) -> NDArray[np.intp]:
    """Return at most `MOST_ALPHAS` evenly spread positions, the first and last among them."""
    return np.unique(np.linspace(0, count - 1, min(count, MOST_ALPHAS)).round().astype(np.intp))


def best_first(structure: TreeStructure) -> list[int]:
    """Return the inner nodes, always the next one of largest weighted gain."""
    order: list[int] = []
    heap: list[tuple[float, int]] = []

    def offer(node: int) -> None:
        if structure.kind[node] != LEAF:
            heappush(heap, (-float(structure.gain[node] * structure.weight[node]), node))

    offer(0)
    while heap:
        _, node = heappop(heap)
        order.append(node)
        for child in structure.children(node):
            offer(child)
    return order


def beyond_leaves(structure: TreeStructure, most: int) -> NDArray[np.bool_]:
    """Return the inner nodes that would be leaves had the tree been grown best-first.

    The next split is always the one with the largest weighted gain, which depends only on the
    nodes that are there already, so it can be found after growing.
    """
    to_leaf = structure.kind != LEAF
    n_leaves = 1
    for node in best_first(structure):
        more = int(structure.n_children[node]) - 1
        if n_leaves + more <= most and (node == 0 or not to_leaf[structure.parent[node]]):
            to_leaf[node] = False
            n_leaves += more
    return to_leaf
