"""The tree of cliques before it is asked: triangulated, joined, and laid out as flat arrays."""

from collections.abc import Sequence
from dataclasses import dataclass
from heapq import heapify, heappop, heappush
from math import prod

import numpy as np

from verulam.base import DataError
from verulam.graphical._factor import FactorModel
from verulam.graphical._graph import Triangulation, triangulate, undirected
from verulam.graphical._inference.junction_loops import (
    CHILD_MAP,
    FIRST,
    LENGTH,
    N_MEMBERS,
    N_STATES,
    OFFSET,
    PARENT_MAP,
    PLACE,
    SIZE,
)

HEURISTICS = ("min-fill", "min-size", "min-neighbours")


@dataclass(frozen=True, eq=False)
class TreePlan:
    """What a junction tree would look like, and cost, before any of its tables is made.

    Attributes
    ----------
    triangulation
        Order of elimination, arcs added, and cliques.
    n_entries
        Numbers in the tables of all cliques.
    largest
        The clique with the largest table.
    largest_size
        Numbers in that table.
    """

    triangulation: Triangulation
    n_entries: int
    largest: tuple[str, ...]
    largest_size: int

    def text(self) -> str:
        """Return the size in words."""
        names = ", ".join(self.largest[:6]) + (", ..." if len(self.largest) > 6 else "")
        return (
            f"a clique of {len(self.largest)} variables ({names}) with {self.largest_size:,} "
            f"entries, {self.n_entries:,} in all cliques"
        )


def plan_tree(model: FactorModel, heuristic: str | None = None) -> TreePlan:
    """Return the cheapest triangulation that the heuristics give, with its cost."""
    sizes = {name: len(labels) for name, labels in model.states.items()}
    neighbours = undirected(sizes, [factor.variables for factor in model.factors])
    names = HEURISTICS[:2] if heuristic is None else (heuristic,)
    plans = []
    for name in names:
        if name not in HEURISTICS:
            raise DataError(f"heuristic is {name!r}; accepted are {', '.join(HEURISTICS)}.")
        triangulation = triangulate(neighbours, sizes, name)
        tables = [prod(sizes[node] for node in clique) for clique in triangulation.cliques]
        largest = max(range(len(tables)), key=tables.__getitem__)
        plans.append(
            TreePlan(triangulation, sum(tables), triangulation.cliques[largest], tables[largest])
        )
    return min(plans, key=lambda plan: plan.n_entries)


@dataclass(frozen=True, eq=False)
class TreeArrays:
    """A tree as the compiled passes read it.

    Attributes
    ----------
    layout, members
        Where the parts of each clique are, as `junction_loops` says.
    maps
        For each entry of a table the entry of a smaller one that it adds to.
    homes
        Where each variable's marginal is read, as `junction_loops` says.
    home_cliques
        Number of the clique of that table, or of the clique below that separator.
    base
        Potentials of all cliques before any evidence.
    """

    layout: np.ndarray
    members: np.ndarray
    maps: np.ndarray
    homes: np.ndarray
    home_cliques: np.ndarray
    base: np.ndarray


def shapes_of(model: FactorModel, scopes: Sequence[Sequence[str]]) -> tuple[tuple[int, ...], ...]:
    return tuple(tuple(len(model.states[name]) for name in scope) for scope in scopes)


def join_cliques(
    cliques: Sequence[tuple[str, ...]], model: FactorModel
) -> tuple[tuple[tuple[str, ...], ...], tuple[int, ...]]:
    """Return the cliques along the tree of largest separators, and the parent of each."""
    sizes = [prod(shape) for shape in shapes_of(model, cliques)]
    sets = [set(clique) for clique in cliques]
    root = max(range(len(cliques)), key=sizes.__getitem__)
    order, parents = [root], [-1]
    holders = clique_holders(cliques)
    # Prim's algorithm: the widest separator between the tree and what is outside of it; of
    # equal ones that with the fewest entries, which is the cheapest to pass. What shares nothing
    # with any other clique hangs on the root.
    waiting = [(-len(sets[k] & sets[root]), sizes[root], k, 0) for k in range(len(cliques))]
    heapify(waiting)
    outside = set(range(len(cliques))) - {root}
    while outside:
        _, _, number, parent = heappop(waiting)
        if number not in outside:
            continue
        outside.remove(number)
        parents.append(parent)
        order.append(number)
        for k in {k for name in cliques[number] for k in holders[name]} & outside:
            heappush(waiting, (-len(sets[k] & sets[number]), sizes[number], k, len(order) - 1))
    return tuple(cliques[k] for k in order), tuple(parents)


def clique_holders(cliques: Sequence[tuple[str, ...]]) -> dict[str, list[int]]:
    """Return the numbers of the cliques that hold each variable."""
    holders: dict[str, list[int]] = {}
    for number, clique in enumerate(cliques):
        for name in clique:
            holders.setdefault(name, []).append(number)
    return holders


def smallest_home(
    variables: Sequence[str],
    holders: dict[str, list[int]],
    sets: Sequence[set[str] | frozenset[str]],
    sizes: np.ndarray,
) -> int:
    """Return the number of the smallest clique that holds all of the variables, or -1."""
    places = holders.get(variables[0], []) if variables else range(len(sets))
    homes = [k for k in places if sets[k].issuperset(variables)]
    return min(homes, key=sizes.__getitem__, default=-1)


def entry_map(shape: Sequence[int], axes: Sequence[int]) -> np.ndarray:
    """Return for each entry of a flat table the entry of the table of some axes that it adds to."""
    index = np.zeros(shape, dtype=np.int32)
    stride = 1
    for axis in reversed(axes):
        index += (np.arange(shape[axis], dtype=np.int32) * stride).reshape(
            [-1 if k == axis else 1 for k in range(len(shape))]
        )
        stride *= shape[axis]
    return index.ravel()


def tree_arrays(
    model: FactorModel,
    cliques: tuple[tuple[str, ...], ...],
    parents: tuple[int, ...],
    separators: tuple[tuple[str, ...], ...],
) -> TreeArrays:
    """Return a tree as the loops read it."""
    shapes = shapes_of(model, cliques)
    layout = np.zeros((len(cliques), N_MEMBERS + 1), dtype=np.int64)
    members: list[tuple[int, int, int]] = []
    maps: list[np.ndarray] = []
    at = offset = place = 0

    def add_map(scope: Sequence[str], shape: Sequence[int], part: Sequence[str]) -> int:
        nonlocal at
        maps.append(entry_map(shape, [scope.index(name) for name in part]))
        at += len(maps[-1])
        return at - len(maps[-1])

    for k, (clique, shape, shared) in enumerate(zip(cliques, shapes, separators, strict=True)):
        size = prod(shape)
        length = prod(len(model.states[name]) for name in shared)
        layout[k, OFFSET:CHILD_MAP] = offset, size, parents[k], place, length if k else 0
        if k:
            layout[k, CHILD_MAP] = add_map(clique, shape, shared)
            layout[k, PARENT_MAP] = add_map(cliques[parents[k]], shapes[parents[k]], shared)
            place += length
        layout[k, FIRST:] = len(members), len(clique)
        stride = size
        for name, n_states in zip(clique, shape, strict=True):
            stride //= n_states
            members.append((model.positions[name], stride, n_states))
        offset += size
    holders, sets = clique_holders(cliques), [set(clique) for clique in cliques]
    homes = np.zeros((len(model.states), N_STATES + 1), dtype=np.int64)
    home_cliques = np.zeros(len(model.states), dtype=np.int64)
    result = 0
    for v, (name, labels) in enumerate(model.states.items()):
        # The fewer entries a table has, the fewer are summed for each row.
        tables = [(layout[k, SIZE], False, k) for k in holders[name]]
        tables += [(layout[k, LENGTH], True, k) for k in holders[name] if name in separators[k]]
        _, in_separator, k = min(tables)
        scope = separators[k] if in_separator else cliques[k]
        state_map = add_map(scope, shapes_of(model, [scope])[0], [name])
        table, start = (LENGTH, PLACE) if in_separator else (None, OFFSET)
        number, home_cliques[v] = k if table is None else layout[k, table], k
        homes[v] = in_separator, number, layout[k, start], state_map, result, len(labels)
        result += len(labels)
    base = np.ones(offset)
    for factor in model.factors:
        # A triangulation has a clique for every factor; one of them takes it, or it would count
        # more than once.
        k = smallest_home(factor.variables, holders, sets, layout[:, SIZE])
        part = entry_map(shapes[k], [cliques[k].index(name) for name in factor.variables])
        start = layout[k, OFFSET]
        base[start : start + layout[k, SIZE]] *= factor.values.ravel()[part]
    return TreeArrays(
        layout,
        np.array(members, dtype=np.int64).reshape(-1, 3),
        np.concatenate(maps).astype(np.uint32),
        homes,
        home_cliques,
        base,
    )
