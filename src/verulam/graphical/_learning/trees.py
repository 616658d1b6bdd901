"""Trees of dependence: Chow and Liu's, and the one that augments naive Bayes."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from verulam.base import DataError
from verulam.graphical._graph import DirectedGraph
from verulam.graphical._learning.counts import Scope, Scopes
from verulam.graphical._learning.levels import table_levels


def mutual_information(counts: np.ndarray) -> float:
    r"""Return the mutual information of the last two axes, summed over the first.

    :math:`\sum_c P(c) I(X_i; X_j \mid c)` for counts of shape (classes, states, states).
    """
    total = counts.sum()
    if not total > 0:
        return 0.0
    rows = counts.sum(axis=-1, keepdims=True)
    columns = counts.sum(axis=-2, keepdims=True)
    classes = counts.sum(axis=(-1, -2), keepdims=True)
    positive = counts > 0
    expected = (rows * columns)[positive]
    ratio = counts[positive] * np.broadcast_to(classes, counts.shape)[positive] / expected
    return float((counts[positive] * np.log(ratio)).sum() / total)


def pair_scopes(n_columns: int) -> tuple[Scope, ...]:
    """Return each column alone, and each pair of columns."""
    alone = [(j,) for j in range(n_columns)]
    return (*alone, *((i, j) for i in range(n_columns) for j in range(i + 1, n_columns)))


def tree_parents(tables: Mapping[Scope, np.ndarray], n_columns: int, root: int = 0) -> list[int]:
    """Return each column's parent in the tree of largest information, -1 for the root."""
    information = np.zeros((n_columns, n_columns))
    for scope, counts in tables.items():
        if len(scope) == 2:
            i, j = scope
            information[i, j] = information[j, i] = mutual_information(counts)
    parents = [-1] * n_columns
    outside = [j for j in range(n_columns) if j != root]
    nearest = dict.fromkeys(outside, root)
    while outside:
        # Prim's algorithm; ties go to the first, so that the tree does not depend on chance.
        j = max(outside, key=lambda k: (information[nearest[k], k], -k))
        parents[j] = nearest.pop(j)
        outside.remove(j)
        for k in outside:
            if information[j, k] > information[nearest[k], k]:
                nearest[k] = j
    return parents


def chow_liu(table: Any, *, root: str | None = None) -> DirectedGraph:
    r"""Return the tree of pairwise dependences that is nearest to the data.

    Parameters
    ----------
    table
        A DataFrame of categorical columns; a pair is counted over the rows that have both.
    root
        Column from which the arcs point away; None for the first.

    Notes
    -----
    The spanning tree of largest mutual information has the highest likelihood of all trees (Chow
    and Liu 1968; Alpaydin 14.7).

    Examples
    --------
    >>> from verulam.graphical import asia, chow_liu
    >>> rows = asia().sample(5000, random_state=0)
    >>> tree = chow_liu(rows[["smoking", "cancer", "either", "x-ray"]])
    >>> tree.arcs
    (('smoking', 'cancer'), ('cancer', 'either'), ('either', 'x-ray'))
    """
    levels, codes = table_levels(table)
    names = [level.name for level in levels]
    if root is not None and root not in names:
        raise DataError(f"root: there is no column {root!r}.")
    tables = _pair_tables(levels, codes, None, 1)
    parents = tree_parents(tables, len(names), names.index(root) if root is not None else 0)
    return DirectedGraph(
        {name: () if p < 0 else (names[p],) for name, p in zip(names, parents, strict=True)}
    )


def tree_augmented(table: Any, target: str) -> DirectedGraph:
    r"""Return naive Bayes with a tree of dependences among the inputs.

    Parameters
    ----------
    table
        A DataFrame of categorical columns, the class among them.
    target
        Column of the class, the parent of all others.

    Notes
    -----
    The tree has the largest mutual information given the class (Friedman, Geiger and
    Goldszmidt 1997).

    Examples
    --------
    >>> from verulam.graphical import asia, tree_augmented
    >>> rows = asia().sample(5000, random_state=0)
    >>> tree_augmented(rows[["smoking", "bronchitis", "dyspnoea"]], "dyspnoea").arcs
    (('dyspnoea', 'smoking'), ('dyspnoea', 'bronchitis'), ('smoking', 'bronchitis'))
    """
    levels, codes = table_levels(table)
    names = [level.name for level in levels]
    if target not in names:
        raise DataError(f"target: there is no column {target!r}.")
    place = names.index(target)
    present = codes[:, place] >= 0
    inputs = np.ascontiguousarray(np.delete(codes[present], place, axis=1))
    others = [level for level in levels if level.name != target]
    n_classes = len(levels[place].labels)
    tables = _pair_tables(others, inputs, codes[present, place], n_classes)
    parents = tree_parents(tables, len(others)) if others else []
    arcs: dict[str, tuple[str, ...]] = {target: ()}
    for level, parent in zip(others, parents, strict=True):
        arcs[level.name] = (target,) if parent < 0 else (target, others[parent].name)
    return DirectedGraph(arcs)


def _pair_tables(
    levels: Sequence[Any], codes: np.ndarray, targets: np.ndarray | None, n_classes: int
) -> dict[Scope, np.ndarray]:
    scopes = Scopes.over(pair_scopes(len(levels)), [len(level.labels) for level in levels])
    return scopes.tables(scopes.count(codes, targets, None, n_classes).counts)
