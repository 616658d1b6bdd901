"""Structure by search: scores of graphs, tabu search over arcs, and K2's greedy choice."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import prod
from typing import Any

import numpy as np

from verulam.base import DataError, DataWarning, nearest_names, warn_caller
from verulam.graphical._graph import DirectedGraph, as_graph
from verulam.graphical._learning.count_loops import (
    best_move,
    count_additions,
    pack_configurations,
    score_additions,
)
from verulam.graphical._learning.levels import table_levels

SCORES = ("bic", "bde", "aic", "k2", "loglik")
#: Cells of the tables of a family's additions, from which on it is not counted.
MOST_CELLS = 2**23
#: Moves that may not undo one of the last so many, and those without progress that end a search.
TABU_LENGTH, PATIENCE = 15, 30


class FamilyScorer:
    """Scores of a child with its parents on one data set.

    Parameters
    ----------
    codes
        State numbers, without gaps.
    sizes
        Number of states of each column.
    score
        Name of the score.
    weights
        Weight of each row; None for one each.
    mass
        Rows that the prior of "bde" is worth.
    """

    def __init__(
        self,
        codes: np.ndarray,
        sizes: Sequence[int],
        score: str,
        weights: np.ndarray | None = None,
        mass: float = 1.0,
    ) -> None:
        self.columns = np.ascontiguousarray(codes.T, dtype=np.int32)
        self.sizes = np.asarray(sizes, dtype=np.int64)
        # A last variable of one state stands for none: the family as it is.
        self.starts = np.concatenate([[0], np.cumsum(self.sizes), [self.sizes.sum() + 1]])
        self.nothing = np.zeros((len(codes), 1), dtype=np.int32)
        places = np.hstack([codes, self.nothing]) + self.starts[:-1]
        self.places = np.ascontiguousarray(places, dtype=np.int32)
        # Whole numbers where rows count alike: half the memory to be counted in.
        self.weights = np.ones(len(codes), dtype=np.int32) if weights is None else weights
        n_rows = float(self.weights.sum())
        penalties = {"bic": 0.5 * np.log(n_rows), "aic": 1.0}
        self.penalty = float(penalties.get(score, 0.0))
        self.bayesian = score in ("bde", "k2")
        self.mass = float(mass) if score == "bde" else 0.0
        self.configurations = np.empty(len(codes), dtype=np.int64)
        self._families: dict[tuple[int, tuple[int, ...]], np.ndarray] = {}

    def additions(self, child: int, parents: Iterable[int]) -> np.ndarray:
        """Return the family's score with each variable added, and last as it is."""
        key = (child, tuple(sorted(map(int, parents))))
        # A search comes back to many families.
        if key not in self._families:
            self._families[key] = self._score(*key, self.places, self.starts)
        return self._families[key]

    def _score(
        self, child: int, parents: tuple[int, ...], places: np.ndarray, starts: np.ndarray
    ) -> np.ndarray:
        n_states = int(self.sizes[child])
        n_cells = n_states * prod(int(self.sizes[p]) for p in parents)
        scores = np.full(len(starts) - 1, -np.inf)
        if n_cells * starts[-1] > MOST_CELLS:
            return scores
        pack_configurations(
            self.columns,
            self.sizes,
            np.int64(child),
            np.array(parents, dtype=np.int64),
            self.configurations,
        )
        counts = np.zeros((n_cells, starts[-1]), dtype=self.weights.dtype)
        count_additions(places, self.configurations, self.weights, counts)
        score_additions(
            counts, starts, np.int64(n_states), self.bayesian, self.mass, self.penalty, scores
        )
        return scores

    def family(self, child: int, parents: Iterable[int]) -> float:
        """Return the score of a child with these parents."""
        key = (child, tuple(sorted(map(int, parents))))
        if key not in self._families:
            return float(self._score(*key, self.nothing, np.array([0, 1]))[0])
        return float(self._families[key][-1])


@dataclass(frozen=True, eq=False)
class LearnedStructure:
    """A graph that a search ended in.

    Attributes
    ----------
    graph
        The graph.
    score
        Its score; higher is better.
    measure
        Name of the score.
    n_moves
        Arcs that were added, removed or reversed on the way.
    trace
        Score after each move.
    """

    graph: DirectedGraph
    score: float
    measure: str
    n_moves: int
    trace: tuple[float, ...]


def structure_score(graph: Any, table: Any, score: str = "bic", *, mass: float = 1.0) -> float:
    r"""Return how well a graph fits a table, complexity charged.

    Parameters
    ----------
    graph
        A network, a dictionary of parents, or arcs.
    table
        A DataFrame of categorical columns without gaps.
    score
        "bic", "aic", "bde" (BDeu), "k2" or "loglik".
    mass
        Rows that the prior of "bde" is worth.

    Notes
    -----
    Log-likelihood less a charge for parameters, :math:`\frac{1}{2} k \log N` (BIC) or :math:`k`
    (AIC), as Alpaydin 14.7 asks; or the log marginal likelihood with Dirichlet priors (BDeu:
    Heckerman, Geiger and Chickering 1995; K2: Cooper and Herskovits 1992). All but K2 give graphs
    that imply the same independences the same score.

    Examples
    --------
    >>> from verulam.graphical import sprinkler, structure_score
    >>> rows = sprinkler().sample(2000, random_state=0)
    >>> true = structure_score(sprinkler(), rows)
    >>> true > structure_score({name: () for name in rows}, rows)
    True
    """
    levels, codes = _complete(table)
    dag = as_graph(graph)
    names = [level.name for level in levels]
    for name in dag.nodes:
        if name not in names:
            nearest = nearest_names(str(name), names)
            raise DataError(f"The table has no column {name!r}. Nearest: {', '.join(nearest)}.")
    sizes = [len(level.labels) for level in levels]
    scorer = FamilyScorer(codes, sizes, _checked_score(score), None, mass)
    return sum(
        scorer.family(names.index(name), [names.index(p) for p in dag.parents[name]])
        for name in dag.nodes
    )


def learn_structure(
    table: Any,
    *,
    method: str = "tabu",
    score: str = "bic",
    max_parents: int = 8,
    required: Iterable[tuple[str, str]] = (),
    forbidden: Iterable[tuple[str, str]] = (),
    order: Sequence[str] | None = None,
    mass: float = 1.0,
    max_iter: int = 10_000,
) -> LearnedStructure:
    """Search for the graph that scores best on a table.

    Parameters
    ----------
    table
        A DataFrame of categorical columns. Rows with gaps are left out, with a warning that
        counts them.
    method
        "tabu": arcs are added, removed and reversed, the best move first, also through worse graphs
        for a while; "greedy": the same up to the first maximum; "k2": parents are added greedily
        to each node from those before it in `order`.
    score
        "bic", "aic", "bde" or "k2".
    max_parents
        Most parents of a node.
    required, forbidden
        Arcs, as pairs of parent and child, that must or must not be there.
    order
        Order of the nodes for "k2"; None for that of the columns.
    mass
        Rows that the prior of "bde" is worth.
    max_iter
        Most moves.

    Notes
    -----
    Alpaydin 14.7 and exercise 14.8. Of a move only the families it changes are scored again, and
    all candidates for a family share one packing of its parents' states.

    Examples
    --------
    >>> from verulam.graphical import learn_structure, sprinkler
    >>> rows = sprinkler().sample(5000, random_state=0)
    >>> sorted(learn_structure(rows).graph.parents["wet"])
    ['rain', 'sprinkler']
    """
    levels, codes = _complete(table)
    names = [level.name for level in levels]
    sizes = [len(level.labels) for level in levels]
    return search_codes(
        names, sizes, codes, None, method=method, score=score, max_parents=max_parents,
        required=required, forbidden=forbidden, order=order, mass=mass, max_iter=max_iter,
    )  # fmt: skip


def search_codes(
    names: Sequence[str],
    sizes: Sequence[int],
    codes: np.ndarray,
    weights: np.ndarray | None,
    *,
    method: str = "tabu",
    score: str = "bic",
    max_parents: int = 8,
    required: Iterable[tuple[str, str]] = (),
    forbidden: Iterable[tuple[str, str]] = (),
    order: Sequence[str] | None = None,
    mass: float = 1.0,
    max_iter: int = 10_000,
) -> LearnedStructure:
    """Search on state numbers without gaps, as `learn_structure` does on a table."""
    if method not in ("tabu", "greedy", "k2"):
        raise DataError(f"method is {method!r}; accepted are tabu, greedy and k2.")
    if not isinstance(max_parents, int | np.integer) or max_parents < 0:
        raise DataError(f"max_parents: expected a whole number of at least 0, not {max_parents!r}.")
    scorer = FamilyScorer(codes, sizes, _checked_score(score), weights, mass)
    fixed = _arc_matrix(names, required, "required")
    barred = _arc_matrix(names, forbidden, "forbidden")
    both = np.argwhere(fixed & barred)
    if len(both):
        parent, child = (names[k] for k in both[0])
        raise DataError(f"The arc from {parent!r} to {child!r} is both required and forbidden.")
    if method == "k2":
        places = _checked_order(names, order)
        arcs, trace = _k2(scorer, places, fixed, barred, max_parents)
    else:
        _parents_of(names, fixed)  # a cycle of required arcs is refused
        patience = PATIENCE if method == "tabu" else 0
        arcs, trace = _tabu(scorer, fixed, barred, max_parents, patience, max_iter)
    graph = DirectedGraph(_parents_of(names, arcs))
    return LearnedStructure(graph, max(trace), score, len(trace) - 1, tuple(trace))


class _Gains:
    """What each change of an arc would add to the score, family by family."""

    def __init__(self, scorer: FamilyScorer, arcs: np.ndarray) -> None:
        self.scorer, self.arcs = scorer, arcs
        n_nodes = len(arcs)
        self.values = np.zeros((n_nodes, n_nodes))
        self.scores = np.zeros(n_nodes)
        for child in range(n_nodes):
            self.update(child)

    def update(self, child: int) -> None:
        """Score the family of one child and all its changes by one parent again."""
        parents = np.flatnonzero(self.arcs[:, child])
        scores = self.scorer.additions(child, parents)
        self.scores[child] = scores[-1]
        self.values[:, child] = scores[:-1] - scores[-1]
        for parent in parents:
            rest = parents[parents != parent]
            self.values[parent, child] = self.scorer.family(child, rest) - scores[-1]


def _tabu(
    scorer: FamilyScorer,
    fixed: np.ndarray,
    barred: np.ndarray,
    max_parents: int,
    patience: int,
    max_iter: int,
) -> tuple[np.ndarray, list[float]]:
    """Return the best arcs on the way, and the score after each move."""
    n_nodes = len(fixed)
    arcs = fixed.copy()
    gains = _Gains(scorer, arcs)
    present = gains.scores.sum()
    best, best_arcs, since = present, arcs.copy(), 0
    trace = [float(present)]
    recent: list[tuple[int, int]] = []
    tabu = np.zeros_like(arcs)
    waiting, seen = np.empty(n_nodes * n_nodes, dtype=np.int64), np.empty(n_nodes, dtype=np.bool_)
    move = np.zeros(3, dtype=np.int64)
    while len(trace) <= max_iter:
        gain = best_move(
            arcs, gains.values, fixed, barred, arcs.sum(axis=0), np.int64(max_parents), tabu,
            float(best - present + 1e-9), waiting, seen, move,
        )  # fmt: skip
        if gain == -np.inf or (gain <= 1e-9 and patience == 0):
            break
        parent, child, kind = map(int, move)
        arcs[parent, child] = kind == 0
        arcs[child, parent] = kind == 2
        gains.update(child)
        if kind == 2:
            gains.update(parent)
        present = gains.scores.sum()
        trace.append(float(present))
        recent.append((parent, child))
        if patience:
            tabu[parent, child] = tabu[child, parent] = True
            if len(recent) > TABU_LENGTH:
                old = recent.pop(0)
                if old not in recent and old[::-1] not in recent:
                    tabu[old] = tabu[old[::-1]] = False
        since += 1
        if present > best + 1e-9:
            best, best_arcs, since = present, arcs.copy(), 0
        elif since > patience:
            break
    return best_arcs, trace


def _k2(
    scorer: FamilyScorer,
    order: Sequence[int],
    fixed: np.ndarray,
    barred: np.ndarray,
    max_parents: int,
) -> tuple[np.ndarray, list[float]]:
    arcs = fixed.copy()
    total = 0.0
    for place, child in enumerate(order):
        for parent in np.flatnonzero(fixed[:, child]):
            if int(parent) not in order[:place]:
                raise DataError("order: a required arc points from a later node to an earlier one.")
        open_ = [p for p in order[:place] if not barred[p, child] and not arcs[p, child]]
        score = scorer.family(child, np.flatnonzero(arcs[:, child]))
        while open_ and arcs[:, child].sum() < max_parents:
            scores = scorer.additions(child, np.flatnonzero(arcs[:, child]))[open_]
            best = int(scores.argmax())
            if scores[best] <= score + 1e-9:
                break
            score = float(scores[best])
            arcs[open_.pop(best), child] = True
        total += score
    return arcs, [total]


def _complete(table: Any) -> tuple[Any, np.ndarray]:
    levels, codes = table_levels(table)
    return levels, complete_rows(codes, [level.name for level in levels])[0]


def complete_rows(
    codes: np.ndarray, names: Sequence[str], weights: np.ndarray | None = None
) -> tuple[np.ndarray, np.ndarray | None]:
    """Return the rows without gaps, with a warning that counts the others."""
    gaps = codes < 0
    whole = ~gaps.any(axis=1)
    if whole.all():
        return codes, weights
    if not whole.any():
        worst = names[int(gaps.sum(axis=0).argmax())]
        raise DataError(
            f"Every row has a gap, most of them in {worst!r}: a search for structure needs "
            "complete rows; leave that column out, or fill it."
        )
    count = np.ones(len(codes)) if weights is None else weights
    worst = names[int((gaps * count[:, np.newaxis]).sum(axis=0).argmax())]
    warn_caller(
        f"{count[~whole].sum():.10g} of {count.sum():.10g} rows have gaps, most of them in "
        f"{worst!r}, and are left out of the search for structure.",
        DataWarning,
    )
    return codes[whole], None if weights is None else weights[whole]


def _checked_score(score: str) -> str:
    if score not in SCORES:
        raise DataError(f"score is {score!r}; accepted are {', '.join(SCORES)}.")
    return score


def _arc_matrix(names: Sequence[str], arcs: Iterable[tuple[str, str]], what: str) -> np.ndarray:
    matrix = np.zeros((len(names), len(names)), dtype=np.bool_)
    for arc in arcs:
        if isinstance(arc, str) or len(arc) != 2:
            raise DataError(f"{what}: expected pairs (parent, child), and one is {arc!r}.")
        for name in arc:
            if name not in names:
                nearest = nearest_names(str(name), map(str, names))
                raise DataError(f"{what}: there is no {name!r}. Nearest: {', '.join(nearest)}.")
        matrix[names.index(arc[0]), names.index(arc[1])] = True
    return matrix


def _parents_of(names: Sequence[str], arcs: np.ndarray) -> Mapping[str, tuple[str, ...]]:
    parents = {
        name: tuple(names[int(p)] for p in np.flatnonzero(arcs[:, k]))
        for k, name in enumerate(names)
    }
    return DirectedGraph(parents).parents


def _checked_order(names: Sequence[str], order: Sequence[str] | None) -> list[int]:
    if order is None:
        return list(range(len(names)))
    if sorted(order) != sorted(names):
        raise DataError("order: expected every column once.")
    return [names.index(name) for name in order]
