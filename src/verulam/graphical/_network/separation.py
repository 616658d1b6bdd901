"""What depends on what: connections, d-separation with its reasons, explaining away."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import combinations, pairwise
from typing import Any

import numpy as np

from verulam.base import DataError
from verulam.graphical._graph import DirectedGraph, as_graph
from verulam.graphical._network.network import BayesianNetwork, check_network

#: Paths that an explanation lists at most.
MOST_PATHS = 20
#: So many beginnings of paths are followed; a dense graph has more than there is time for.
MOST_STEPS = 5000


@dataclass(frozen=True)
class PathReport:
    """One path between two nodes, and where it is blocked.

    Attributes
    ----------
    nodes
        The nodes along it.
    text
        The path with its arrows.
    is_blocked
        Whether no influence passes.
    reason
        Which node blocks it, or why every node lets it pass.
    """

    nodes: tuple[str, ...]
    text: str
    is_blocked: bool
    reason: str


@dataclass(frozen=True)
class Separation:
    """Whether two sets of nodes are d-separated, and path by path why.

    Attributes
    ----------
    is_separated
        Whether all paths are blocked.
    paths
        The paths between them, open ones first; at most twenty.
    """

    is_separated: bool
    paths: tuple[PathReport, ...]

    def __bool__(self) -> bool:
        return self.is_separated

    def __str__(self) -> str:
        head = "d-separated" if self.is_separated else "not d-separated"
        lines = [
            f"  {path.text}: {'blocked' if path.is_blocked else 'open'}, {path.reason}"
            for path in self.paths
        ]
        return "\n".join([f"{head}:" if lines else f"{head}: no path.", *lines])


def connection(graph: Any, first: str, middle: str, last: str) -> str:
    """Return the kind of connection that two nodes have through a third.

    Parameters
    ----------
    graph
        A network, a dictionary of parents, or a list of arcs.
    first, middle, last
        The three nodes; the middle one has an arc with each of the others.

    Notes
    -----
    "chain" is head-to-tail (case 1 of Alpaydin 14.3), "fork" tail-to-tail (case 2) and "collider"
    head-to-head (case 3).

    Examples
    --------
    >>> from verulam.graphical import connection, sprinkler
    >>> connection(sprinkler(), "sprinkler", "wet", "rain")
    'collider'
    """
    dag = as_graph(graph)
    for name in (first, middle, last):
        dag.check_node(name)
    into = [name in dag.parents[middle] for name in (first, last)]
    outof = [middle in dag.parents[name] for name in (first, last)]
    for name, there in zip((first, last), (into[0] or outof[0], into[1] or outof[1]), strict=True):
        if not there:
            raise DataError(f"There is no arc between {name!r} and {middle!r}.")
    if all(into):
        return "collider"
    return "fork" if all(outof) else "chain"


def d_separated(
    graph: Any,
    first: str | Iterable[str],
    second: str | Iterable[str],
    condition: str | Iterable[str] = (),
) -> Separation:
    """Tell whether two sets of nodes are independent given a third in every such network.

    Parameters
    ----------
    graph
        A network, a dictionary of parents, or a list of arcs.
    first, second
        A node each, or several.
    condition
        What is observed.

    Notes
    -----
    A path is blocked by a chain or fork whose middle is observed, and by a collider of which
    neither the middle nor any descendant is (Alpaydin 14.4). The answer comes from the moral
    graph of the ancestors (Lauritzen et al. 1990), which is quick for any graph; the paths
    explain it.

    Examples
    --------
    >>> from verulam.graphical import d_separated, sprinkler
    >>> print(d_separated(sprinkler(), "sprinkler", "rain", "cloudy"))
    d-separated:
      sprinkler <- cloudy -> rain: blocked, by cloudy, a fork that is observed
      sprinkler -> wet <- rain: blocked, by wet, a collider without observed descendants
    """
    dag = as_graph(graph)
    sets = [_node_set(dag, part) for part in (first, second, condition)]
    for a, b in combinations(sets, 2):
        if a & b:
            raise DataError(f"{min(a & b)!r} is in two of the three sets.")
    blocked = _is_separated(dag, *sets)
    paths = [
        _report(dag, path, sets[2])
        for start in sorted(sets[0])
        for path in _paths(dag, start, sets[1])
    ]
    paths.sort(key=lambda path: path.is_blocked)
    return Separation(blocked, tuple(paths[:MOST_PATHS]))


def _node_set(dag: DirectedGraph, names: str | Iterable[str]) -> set[str]:
    listed = [names] if isinstance(names, str) else list(names)
    return {dag.check_node(name) for name in listed}


def _is_separated(dag: DirectedGraph, first: set[str], second: set[str], known: set[str]) -> bool:
    # d-separated is separated in the moral graph of the ancestors of all that are named; of paths
    # there may be more than anybody can list.
    relevant = dag.ancestors(first | second | known)
    neighbours: dict[str, set[str]] = {name: set() for name in relevant}
    for name in relevant:
        for a, b in combinations((name, *dag.parents[name]), 2):
            neighbours[a].add(b)
            neighbours[b].add(a)
    waiting, seen = list(first), set(known)
    while waiting:
        name = waiting.pop()
        if name in second:
            return False
        if name not in seen:
            seen.add(name)
            waiting += neighbours[name] - seen
    return True


def _paths(dag: DirectedGraph, start: str, ends: set[str]) -> Iterator[tuple[str, ...]]:
    """Yield paths without repeated nodes, the shortest first, up to a limit."""
    waiting: list[tuple[str, ...]] = [(start,)]
    count = steps = 0
    for path in waiting:
        steps += 1
        if path[-1] in ends:
            count += 1
            yield path
            if count == MOST_PATHS:
                return
            continue
        if steps > MOST_STEPS:
            return
        near = (*dag.parents[path[-1]], *dag.children[path[-1]])
        waiting += [(*path, name) for name in near if name not in path]


def _report(dag: DirectedGraph, path: tuple[str, ...], known: set[str]) -> PathReport:
    arrows = [
        f"{' -> ' if first in dag.parents[second] else ' <- '}{second}"
        for first, second in pairwise(path)
    ]
    text = path[0] + "".join(arrows)
    passes = []
    active = dag.ancestors(known)  # these nodes have an observed descendant, or are observed
    for first, middle, last in zip(path, path[1:], path[2:], strict=False):
        kind = connection(dag, first, middle, last)
        if kind == "collider":
            if middle not in active:
                reason = f"by {middle}, a collider without observed descendants"
                return PathReport(path, text, True, reason)
            seen = "observed" if middle in known else "with an observed descendant"
            passes.append(f"{middle} is a collider {seen}")
        elif middle in known:
            return PathReport(path, text, True, f"by {middle}, a {kind} that is observed")
        else:
            passes.append(f"{middle} is a {kind} that is not observed")
    return PathReport(path, text, False, "; ".join(passes) or "an arc joins them")


def independences(
    graph: Any, *, max_condition: int = 1
) -> tuple[tuple[str, str, tuple[str, ...]], ...]:
    """Return the independences that the graph implies, as (first, second, observed).

    Parameters
    ----------
    graph
        A network, a dictionary of parents, or a list of arcs.
    max_condition
        Most nodes that are observed; a triple is left out where fewer of them do as well.

    Examples
    --------
    >>> from verulam.graphical import independences
    >>> independences([("rain", "wet"), ("sprinkler", "wet"), ("wet", "slip")])
    (('rain', 'sprinkler', ()), ('rain', 'slip', ('wet',)), ('sprinkler', 'slip', ('wet',)))
    """
    dag = as_graph(graph)
    triples = []
    for first, second in combinations(dag.nodes, 2):
        others = [name for name in dag.nodes if name not in (first, second)]
        settled: list[set[str]] = []
        for size in range(max_condition + 1):
            for condition in combinations(others, size):
                # What is apart by fewer is listed once, with the fewest.
                if any(smaller <= set(condition) for smaller in settled):
                    continue
                if _is_separated(dag, {first}, {second}, set(condition)):
                    settled.append(set(condition))
                    triples.append((first, second, condition))
    return tuple(triples)


@dataclass(frozen=True)
class ExplainingAway:
    """How the probability of one cause changes as the effect and the other cause become known.

    Attributes
    ----------
    cause, effect, other
        Names of the three nodes.
    before
        P(cause) before anything is known.
    with_effect
        P(cause | effect).
    with_other
        P(cause | effect, other).
    """

    cause: str
    effect: str
    other: str
    before: float
    with_effect: float
    with_other: float

    @property
    def explains_away(self) -> bool:
        """Whether the other cause takes back some of what the effect had added."""
        return self.with_effect > self.before and self.with_other < self.with_effect

    def __str__(self) -> str:
        return (
            f"P({self.cause}) = {self.before:.4f}; given {self.effect} {self.with_effect:.4f}; "
            f"given {self.effect} and {self.other} {self.with_other:.4f}"
        )


def explaining_away(
    network: BayesianNetwork,
    cause: str,
    effect: str,
    other: str,
    states: Mapping[str, Any] | None = None,
) -> ExplainingAway:
    """Return the probability of a cause before and after its effect and another cause are known.

    Parameters
    ----------
    network
        The network.
    cause, effect, other
        Names of a cause, of the common effect, and of the other cause.
    states
        The state of each of the three that is meant; the last one unless it is named.

    Examples
    --------
    >>> from verulam.graphical import explaining_away, sprinkler
    >>> print(explaining_away(sprinkler(), "sprinkler", "wet", "rain"))
    P(sprinkler) = 0.3000; given wet 0.4196; given wet and rain 0.1513
    """
    check_network(network)
    meant = {
        name: network.states[network.model.check_name(name)][-1] for name in (cause, effect, other)
    }
    meant |= dict(states or {})
    steps: list[dict[str, Any]] = [
        {},
        {effect: meant[effect]},
        {effect: meant[effect], other: meant[other]},
    ]
    values = [network.query(cause, known)[meant[cause]] for known in steps]
    return ExplainingAway(cause, effect, other, *np.round(values, 15).tolist())
