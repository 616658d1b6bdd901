"""Hierarchical models: states that are models themselves, flattened to one chain of leaves."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from verulam.base import DataError
from verulam.sequence._chains.structured_transitions import (
    StructuredModel,
    StructuredPart,
    StructuredTransitions,
    shares,
)
from verulam.sequence._learners.hidden_markov import HiddenMarkovModel
from verulam.sequence._model.emission import Emission
from verulam.sequence._model.parameters import InitialProbabilities
from verulam.sequence._model.transitions import check_distribution


@dataclass(frozen=True)
class HierarchyLevel:
    """A state that is a model of its own: children that follow one another, and an end.

    Attributes
    ----------
    initial : ndarray of shape (n_children,)
        Probability that the child is the first, where the level is entered.
    transitions : ndarray of shape (n_children, n_children + 1)
        Probability of the next child, and last of leaving the level, after each child.
    children
        For each child its own `HierarchyLevel`, or None for a leaf, which shows something; empty
        where all are leaves.

    Examples
    --------
    >>> from verulam.sequence import HierarchyLevel, flatten_hierarchy
    >>> word = HierarchyLevel([1.0, 0.0], [[0.5, 0.5, 0.0], [0.0, 0.5, 0.5]])
    >>> text = HierarchyLevel([0.5, 0.5], [[0.0, 1.0, 0.0], [1.0, 0.0, 0.0]], (word, None))
    >>> flatten_hierarchy(text).transitions
    array([[0.5, 0.5, 0. ],
           [0. , 0.5, 0.5],
           [1. , 0. , 0. ]])
    """

    initial: Any
    transitions: Any
    children: Sequence["HierarchyLevel | None"] = field(default=())

    def child(self, place: int) -> "HierarchyLevel | None":
        """Return a child."""
        return self.children[place] if self.children else None


@dataclass(frozen=True)
class FlatHierarchy:
    """The chain of leaves that a hierarchy comes to.

    Attributes
    ----------
    initial : ndarray of shape (n_leaves,)
        Probability of each first leaf.
    transitions : ndarray of shape (n_leaves, n_leaves)
        Transition matrix between leaves.
    paths : list of tuple
        Place of each leaf: the child taken at each level, from the root.
    """

    initial: np.ndarray
    transitions: np.ndarray
    paths: list[tuple[int, ...]]


def flatten_hierarchy(root: HierarchyLevel) -> FlatHierarchy:
    """Return a hierarchy as one chain of leaves.

    Parameters
    ----------
    root
        The top level, which never ends.
    """
    part = HierarchicalTransitions(root)
    tables = part.first_tables()
    first = np.array([_descent(part.frame, tables, path, 0) for path in part.frame.leaves])
    return FlatHierarchy(first, part.assembled(tables).matrix, list(part.frame.leaves))


@dataclass(frozen=True)
class Frame:
    """The shape of a hierarchy.

    Attributes
    ----------
    levels
        Place of each level, in the order of the tables.
    leaves
        Place of each leaf.
    """

    levels: tuple[tuple[int, ...], ...]
    leaves: tuple[tuple[int, ...], ...]

    def tables_of(self, level: tuple[int, ...]) -> tuple[int, int]:
        """Return where a level's first children and its transitions are among the tables."""
        place = self.levels.index(level)
        return 2 * place, 2 * place + 1


def _walk(
    level: HierarchyLevel, place: tuple[int, ...]
) -> Iterator[tuple[tuple[int, ...], HierarchyLevel | None]]:
    if not isinstance(level, HierarchyLevel):
        raise DataError(
            f"A level is {type(level).__name__}; expected a HierarchyLevel, or None for a leaf."
        )
    yield place, level
    for number in range(len(np.asarray(level.initial))):
        child = level.child(number)
        if child is None:
            yield (*place, number), None
        else:
            yield from _walk(child, (*place, number))


def _descent(
    frame: Frame, tables: Sequence[np.ndarray], path: tuple[int, ...], depth: int
) -> float:
    """Return how probable it is to go from the level at a depth of the path down to its leaf."""
    chance = 1.0
    for step in range(depth, len(path)):
        chance *= float(tables[frame.tables_of(path[:step])[0]][path[step]])
    return chance


@dataclass(frozen=True)
class HierarchicalTransitions(StructuredPart):
    r"""Transitions between the leaves of a hierarchy.

    Parameters
    ----------
    root
        The top level, with the probabilities to start from.
    fixed
        Whether to hold them.

    Notes
    -----
    After a leaf, its level takes another child or ends; where it ends, the level above decides,
    and so on; a child that is a level is entered at one of its own first children. All ways
    from leaf to leaf are added up, and expected transitions are shared out among those ways, so
    that every level's probabilities are learned (Alpaydin 15.11; [fine1998]_).

    References
    ----------
    .. [fine1998] S. Fine, Y. Singer and N. Tishby, "The hierarchical hidden Markov model: analysis
       and applications", Machine Learning 32, 1998.

    Examples
    --------
    >>> from verulam.sequence import HierarchicalTransitions, HierarchyLevel
    >>> pair = HierarchyLevel([1, 0], [[0, 1, 0], [0, 0, 1]])
    >>> root = HierarchyLevel([0.5, 0.5], [[0, 1, 0], [1, 0, 0]], (pair, pair))
    >>> HierarchicalTransitions(root).n_states
    4
    """

    root: HierarchyLevel
    fixed: bool = False

    @property
    def frame(self) -> Frame:
        """The shape of the hierarchy."""
        nodes = list(_walk(self.root, ()))
        return Frame(
            tuple(place for place, level in nodes if level is not None),
            tuple(place for place, level in nodes if level is None),
        )

    @property
    def n_states(self) -> int:
        """Number of leaves."""
        return len(self.frame.leaves)

    def first_tables(self) -> tuple[np.ndarray, ...]:
        """Return the first children and the transitions of each level, checked."""
        tables: list[np.ndarray] = []
        for place, level in _walk(self.root, ()):
            if level is None:
                continue
            name = f"level {list(place)}" if place else "the root"
            size = len(np.asarray(level.initial))
            if level.children and len(level.children) != size:
                raise DataError(f"{name} has {len(level.children)} children; expected {size}.")
            tables.append(check_distribution(level.initial, f"initial of {name}", (size,)))
            tables.append(
                check_distribution(level.transitions, f"transitions of {name}", (size, size + 1))
            )
        if tables[1][:, -1].any():
            raise DataError(
                "The root must not end: set the last column of its transitions to zero."
            )
        return tuple(tables)

    def _ways(self, tables: tuple[np.ndarray, ...]) -> Iterator[tuple[int, int, int, float]]:
        """Yield source, target, the depth at which the path turns, and the chance of that way."""
        frame = self.frame
        for i, source in enumerate(frame.leaves):
            # From the leaf upwards: the chance that all levels below this depth have ended.
            left = 1.0
            for depth in range(len(source) - 1, -1, -1):
                moves = tables[frame.tables_of(source[:depth])[1]][source[depth]]
                for j, target in enumerate(frame.leaves):
                    if target[:depth] == source[:depth]:
                        down = _descent(frame, tables, target, depth + 1)
                        yield i, j, depth, left * float(moves[target[depth]]) * down
                left *= float(moves[-1])
                if left == 0.0:
                    break

    def assembled(self, tables: tuple[np.ndarray, ...]) -> StructuredTransitions:
        """Return the sum over all ways between leaves."""
        matrix = np.zeros((self.n_states, self.n_states))
        for i, j, _, chance in self._ways(tables):
            matrix[i, j] += chance
        return StructuredTransitions.from_tables(matrix, tables)

    def updated_tables(
        self, parameters: StructuredTransitions, sums: np.ndarray
    ) -> tuple[np.ndarray, ...]:
        """Return the shares of what happened at each level."""
        tables = parameters.tables
        if self.fixed:
            return tables
        frame, whole = self.frame, np.zeros((self.n_states, self.n_states))
        whole[parameters.sources, parameters.targets] = sums / np.maximum(
            parameters.weights, 1e-300
        )
        counts = [np.zeros_like(table) for table in tables]
        for i, j, depth, chance in self._ways(tables):
            # Expected transitions are shared out among the ways in proportion to their chances.
            count = whole[i, j] * chance
            if count == 0.0:
                continue
            source, target = frame.leaves[i], frame.leaves[j]
            for above in range(len(source) - 1, depth, -1):
                counts[frame.tables_of(source[:above])[1]][source[above], -1] += count
            counts[frame.tables_of(source[:depth])[1]][source[depth], target[depth]] += count
            for below in range(depth + 1, len(target)):
                counts[frame.tables_of(target[:below])[0]][target[below]] += count
        return tuple(shares(count, old) for count, old in zip(counts, tables, strict=True))

    def n_parameters(self, parameters: StructuredTransitions) -> int:
        """Return the number of free probabilities."""
        if self.fixed:
            return 0
        # The root's first children are where sequences begin, which is another part.
        allowed = [(table > 0).astype(int) for table in parameters.tables[1:]]
        return int(sum((rows.sum(axis=-1) - 1).sum() for rows in allowed))


def hierarchical_model(
    root: HierarchyLevel, emission: Emission | None = None, *, fixed: bool = False, **options: Any
) -> HiddenMarkovModel:
    """Return a hidden Markov model of the leaves of a hierarchy.

    Parameters
    ----------
    root
        The top level, with the probabilities to start from; zeros stay zero.
    emission
        What leaves show; None for Gaussians.
    fixed
        Whether to hold the hierarchy and learn emissions alone.
    options
        Further arguments of `HiddenMarkovModel`; `shared_emissions` where leaves show the same.

    Notes
    -----
    Where sequences begin is learned apart from how levels are entered later.

    Examples
    --------
    >>> from verulam.sequence import GaussianEmission, HierarchyLevel, hierarchical_model
    >>> rise = HierarchyLevel([1, 0], [[0.5, 0.5, 0], [0, 0.5, 0.5]])
    >>> root = HierarchyLevel([0.5, 0.5], [[0.5, 0.5, 0], [0.5, 0.5, 0]], (rise, None))
    >>> emission = GaussianEmission(means=[[1.0], [2.0], [9.0]], covariances=[[1.0]] * 3)
    >>> series = [1.0, 1.1, 2.2, 1.9, 9.0, 8.8, 1.2, 2.1, 9.3, 0.9, 1.0, 2.0]
    >>> hierarchical_model(root, emission).fit(series).predict(series)
    array([0, 0, 1, 1, 2, 2, 0, 1, 2, 0, 0, 1])
    """
    flat = flatten_hierarchy(root)
    settings = {"initial": InitialProbabilities(flat.initial), **options}
    return StructuredModel(
        len(flat.paths), emission, transitions=HierarchicalTransitions(root, fixed), **settings
    )
