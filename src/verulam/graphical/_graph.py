"""Graphs under the models: directed ones without cycles, and what becomes of them undirected."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from heapq import heapify, heappop, heappush
from itertools import combinations
from typing import Any

from verulam.base import DataError, nearest_names

#: Neighbours of each node of an undirected graph.
Neighbours = dict[str, set[str]]


@dataclass(frozen=True)
class DirectedGraph:
    """A directed graph without cycles.

    Attributes
    ----------
    parents
        Names of the parents of each node, by its name.

    Examples
    --------
    >>> from verulam.graphical import DirectedGraph
    >>> graph = DirectedGraph.from_arcs([("cloudy", "rain"), ("cloudy", "sprinkler")])
    >>> graph.children["cloudy"]
    ('rain', 'sprinkler')
    """

    parents: Mapping[str, tuple[str, ...]]

    def __post_init__(self) -> None:
        parents = {name: tuple(listed) for name, listed in self.parents.items()}
        for name, listed in parents.items():
            for parent in listed:
                if parent not in parents:
                    nearest = nearest_names(str(parent), map(str, parents))
                    raise DataError(
                        f"{name!r} has the parent {parent!r}, which is no node. Nearest: "
                        f"{', '.join(nearest)}."
                    )
            if len(set(listed)) < len(listed):
                raise DataError(f"{name!r} names a parent twice: {', '.join(listed)}.")
        object.__setattr__(self, "parents", parents)
        _ = self.order  # a cycle is refused here

    @classmethod
    def from_arcs(
        cls, arcs: Iterable[tuple[str, str]], nodes: Iterable[str] = ()
    ) -> "DirectedGraph":
        """Return the graph of some arcs, each from a parent to a child.

        Parameters
        ----------
        arcs
            Pairs of names.
        nodes
            Nodes that need not have an arc; their order comes first.
        """
        parents: dict[str, list[str]] = {name: [] for name in nodes}
        for arc in arcs:
            if isinstance(arc, str) or len(arc) != 2:
                raise DataError(f"arcs: expected pairs (parent, child), and one is {arc!r}.")
            parent, child = arc
            parents.setdefault(parent, [])
            parents.setdefault(child, []).append(parent)
        return cls({name: tuple(listed) for name, listed in parents.items()})

    @cached_property
    def nodes(self) -> tuple[str, ...]:
        """Names of the nodes."""
        return tuple(self.parents)

    @cached_property
    def arcs(self) -> tuple[tuple[str, str], ...]:
        """All arcs, from parent to child."""
        return tuple((parent, name) for name in self.parents for parent in self.parents[name])

    @cached_property
    def children(self) -> dict[str, tuple[str, ...]]:
        """Names of the children of each node."""
        children: dict[str, list[str]] = {name: [] for name in self.parents}
        for parent, child in self.arcs:
            children[parent].append(child)
        return {name: tuple(listed) for name, listed in children.items()}

    @cached_property
    def order(self) -> tuple[str, ...]:
        """The nodes with parents before children."""
        waiting = {name: len(listed) for name, listed in self.parents.items()}
        ready = [name for name, count in waiting.items() if count == 0]
        order = []
        children = self.children
        for name in ready:
            order.append(name)
            for child in children[name]:
                waiting[child] -= 1
                if waiting[child] == 0:
                    ready.append(child)
        if len(order) < len(waiting):
            cycle = self._cycle({name for name, count in waiting.items() if count})
            raise DataError(f"The graph has a cycle: {' -> '.join(cycle)}.")
        return tuple(order)

    def _cycle(self, among: set[str]) -> list[str]:
        path = [min(among)]
        while True:
            parent = next(name for name in self.parents[path[-1]] if name in among)
            if parent in path:
                return [parent, *reversed(path[path.index(parent) :])]
            path.append(parent)

    def check_node(self, name: Any) -> str:
        """Return the name of a node, or raise with the nearest ones."""
        if name not in self.parents:
            nearest = nearest_names(str(name), map(str, self.parents))
            raise DataError(f"There is no node {name!r}. Nearest: {', '.join(nearest)}.")
        return name

    def ancestors(self, names: Iterable[str]) -> set[str]:
        """Return these nodes and all their ancestors."""
        start = [names] if isinstance(names, str) else list(names)
        reached, waiting = set(), [self.check_node(name) for name in start]
        while waiting:
            name = waiting.pop()
            if name not in reached:
                reached.add(name)
                waiting += self.parents[name]
        return reached

    @cached_property
    def moral(self) -> Neighbours:
        """The moral graph: parents married, directions dropped."""
        return undirected(self.nodes, [(name, *self.parents[name]) for name in self.nodes])

    @cached_property
    def is_singly_connected(self) -> bool:
        """Whether there is at most one path between any two nodes (a polytree)."""
        neighbours = undirected(self.nodes, self.arcs)
        return len(self.arcs) == len(self.nodes) - len(components(neighbours))


def as_graph(graph: Any) -> DirectedGraph:
    """Return the directed graph of a network, of a dictionary of parents, or of arcs."""
    if isinstance(graph, DirectedGraph):
        return graph
    inner = getattr(graph, "graph", None)
    if isinstance(inner, DirectedGraph):
        return inner
    if isinstance(graph, Mapping):
        return DirectedGraph(graph)
    if isinstance(graph, Iterable) and not isinstance(graph, str):
        return DirectedGraph.from_arcs(graph)
    raise DataError(
        "graph: expected a network, a DirectedGraph, a dictionary of parents or a list of arcs, "
        f"not {type(graph).__name__}."
    )


def undirected(nodes: Iterable[str], groups: Iterable[Sequence[str]]) -> Neighbours:
    """Return the graph in which all members of each group are neighbours."""
    neighbours: Neighbours = {name: set() for name in nodes}
    for group in groups:
        for first, second in combinations(group, 2):
            neighbours[first].add(second)
            neighbours[second].add(first)
    return neighbours


def components(neighbours: Neighbours) -> list[set[str]]:
    """Return the connected parts of an undirected graph."""
    left, parts = dict.fromkeys(neighbours), []
    while left:
        part, waiting = set(), [next(iter(left))]
        while waiting:
            name = waiting.pop()
            if name not in part:
                part.add(name)
                left.pop(name)
                waiting += neighbours[name]
        parts.append(part)
    return parts


def separated(
    neighbours: Neighbours, first: Iterable[str], second: Iterable[str], removed: Iterable[str]
) -> bool:
    """Tell whether every path between two sets passes through removed nodes."""
    blocked, targets = set(removed), set(second)
    waiting, seen = [name for name in first if name not in blocked], set(blocked)
    while waiting:
        name = waiting.pop()
        if name in targets:
            return False
        if name not in seen:
            seen.add(name)
            waiting += neighbours[name] - seen
    return True


@dataclass(frozen=True)
class Triangulation:
    """The order in which nodes were eliminated, the arcs that this needed, and the cliques.

    Attributes
    ----------
    order
        Nodes as they were eliminated.
    fill
        Arcs that were added.
    cliques
        Maximal cliques of the triangulated graph; none of them is part of another.
    """

    order: tuple[str, ...]
    fill: tuple[tuple[str, str], ...]
    cliques: tuple[tuple[str, ...], ...]


def triangulate(
    neighbours: Neighbours, sizes: Mapping[str, int], heuristic: str = "min-fill"
) -> Triangulation:
    """Eliminate the nodes of an undirected graph one by one, the cheapest first.

    Parameters
    ----------
    neighbours
        The graph, which is not changed.
    sizes
        Number of states of each node.
    heuristic
        "min-fill" takes the node that needs the fewest new arcs, "min-size" the one whose clique
        has the smallest table, "min-neighbours" the one with the fewest neighbours.
    """
    graph = {name: set(near) for name, near in neighbours.items()}
    places = {name: place for place, name in enumerate(neighbours)}
    costs = {name: _cost(graph, sizes, name, heuristic) for name in graph}
    # Costs that have changed since stay in the heap, and are passed over when their turn comes.
    waiting = [(cost, places[name], name) for name, cost in costs.items()]
    heapify(waiting)
    order: list[str] = []
    fill: list[tuple[str, str]] = []
    cliques: list[set[str]] = []
    holders: dict[str, list[set[str]]] = {name: [] for name in graph}
    while graph:
        cost, _, name = heappop(waiting)
        if costs.get(name) != cost:
            continue
        near = graph[name]
        added = list(_missing(graph, near))
        fill += added
        for first, second in added:
            graph[first].add(second)
            graph[second].add(first)
        clique = {name, *near}
        if not any(clique <= other for other in holders[name]):
            cliques.append(clique)
            for other in clique:
                holders[other].append(clique)
        order.append(name)
        changed = set(near)
        for other in near:
            graph[other].discard(name)
        for first, second in added:
            changed |= graph[first] & graph[second]
        del graph[name], costs[name]
        # Only where neighbours have changed, or arcs among them, can the cost have.
        for other in changed:
            costs[other] = _cost(graph, sizes, other, heuristic)
            heappush(waiting, (costs[other], places[other], other))
    arranged = tuple(tuple(sorted(clique, key=places.__getitem__)) for clique in cliques)
    return Triangulation(tuple(order), tuple(fill), arranged)


def _missing(graph: Neighbours, nodes: Iterable[str]) -> Iterator[tuple[str, str]]:
    for first, second in combinations(sorted(nodes), 2):
        if second not in graph[first]:
            yield first, second


def _cost(
    graph: Neighbours, sizes: Mapping[str, int], name: str, heuristic: str
) -> tuple[float, float]:
    near = graph[name]
    size = float(sizes[name])
    for other in near:
        size *= sizes[other]
    if heuristic == "min-size":
        return size, 0.0
    if heuristic == "min-neighbours":
        return float(len(near)), size
    return float(sum(1 for _ in _missing(graph, near))), size


def maximal_cliques(neighbours: Neighbours) -> list[tuple[str, ...]]:
    """Return all maximal cliques of an undirected graph, by Bron and Kerbosch with pivots."""
    places = {name: place for place, name in enumerate(neighbours)}
    cliques: list[tuple[str, ...]] = []
    waiting = [(frozenset[str](), frozenset(neighbours), frozenset[str]())]
    while waiting:
        clique, candidates, excluded = waiting.pop()
        if not candidates and not excluded:
            cliques.append(tuple(sorted(clique, key=places.__getitem__)))
            continue
        # Every maximal clique has the pivot, or a node that is no neighbour of it.
        pivot = max(candidates | excluded, key=lambda node: len(neighbours[node] & candidates))
        for name in candidates - neighbours[pivot]:
            near = neighbours[name]
            waiting.append((clique | {name}, candidates & near, excluded & near))
            # What has this node is met below; whatever is met later must not be part of it.
            candidates, excluded = candidates - {name}, excluded | {name}
    return sorted(cliques, key=lambda clique: [places[name] for name in clique])
