"""Several chains side by side, as one chain whose states are combinations of theirs."""

from dataclasses import dataclass
from math import prod
from typing import Any

import numpy as np

from verulam.base import DataError
from verulam.sequence._chains.structured_transitions import (
    StructuredPart,
    StructuredTransitions,
    shares,
)
from verulam.sequence._model.parameters import InitialProbabilities
from verulam.sequence._model.transitions import check_distribution

#: More combined states than this make a matrix that is too large to multiply out.
MOST_STATES = 4096


def chain_sizes(sizes: Any) -> tuple[int, ...]:
    """Return whole numbers of states, one per chain, or raise."""
    counts = np.atleast_1d(sizes)
    if counts.ndim != 1 or counts.dtype.kind not in "iu" or not len(counts) or counts.min() < 1:
        raise DataError(f"sizes is {sizes!r}; expected the number of states of each chain.")
    return tuple(int(count) for count in counts)


def check_sizes(sizes: Any) -> tuple[int, ...]:
    """Return the numbers of states of the chains, or raise."""
    counts = chain_sizes(sizes)
    if prod(counts) > MOST_STATES:
        raise DataError(
            f"The chains have {prod(counts)} combined states, more than the {MOST_STATES} that "
            "are multiplied out. Use VariationalFactorial, which keeps chains apart."
        )
    return counts


def split_states(states: Any, sizes: tuple[int, ...]) -> np.ndarray:
    """Return the state of each chain, one column per chain, from combined states.

    Parameters
    ----------
    states
        Combined states: the first chain varies slowest.
    sizes
        Number of states of each chain.

    Examples
    --------
    >>> from verulam.sequence import split_states
    >>> split_states([0, 1, 5], (2, 3)).tolist()
    [[0, 0], [0, 1], [1, 2]]
    """
    return np.column_stack(np.unravel_index(np.asarray(states), sizes))


def chain_posteriors(probabilities: np.ndarray, sizes: tuple[int, ...]) -> list[np.ndarray]:
    """Return the posterior of each chain's states from that of the combined ones.

    Parameters
    ----------
    probabilities
        One row per step, one column per combined state.
    sizes
        Number of states of each chain.

    Examples
    --------
    >>> import numpy as np
    >>> from verulam.sequence import chain_posteriors
    >>> chain_posteriors(np.array([[0.1, 0.2, 0.3, 0.4]]), (2, 2))[0].round(1)
    array([[0.3, 0.7]])
    """
    whole = probabilities.reshape(-1, *sizes)
    return [_marginal(whole, (0, chain + 1)) for chain in range(len(sizes))]


def _marginal(array: np.ndarray, axes: tuple[int, ...]) -> np.ndarray:
    """Return sums over all axes but some."""
    return array.sum(axis=tuple(axis for axis in range(array.ndim) if axis not in axes))


@dataclass(frozen=True)
class ChainInitial(InitialProbabilities):
    """Where several chains begin, each by itself.

    Parameters
    ----------
    values
        Probabilities of the combined states to start from; None for equal ones.
    prior
        Pseudo-count of each combined state.
    fixed
        Whether to hold them.
    sizes
        Number of states of each chain.

    Examples
    --------
    >>> import numpy as np
    >>> from verulam.sequence import ChainInitial
    >>> ChainInitial(sizes=(2, 2)).update(np.full(4, 0.25), np.array([1.0, 1.0, 2.0, 0.0]))
    array([0.375, 0.125, 0.375, 0.125])
    """

    sizes: tuple[int, ...] = ()

    def update(self, old: np.ndarray, sums: np.ndarray) -> np.ndarray:
        """Return the product of the chains' shares."""
        plain = super().update(old, sums)
        if self.fixed:
            return plain
        return _product([part[0] for part in chain_posteriors(plain[None], self.sizes)])

    def n_parameters(self, probabilities: np.ndarray) -> int:
        """Return the number of free probabilities."""
        return 0 if self.fixed else sum(self.sizes) - len(self.sizes)


def _product(parts: list[np.ndarray]) -> np.ndarray:
    combined = np.ones(1)
    for part in parts:
        combined = np.outer(combined, part).ravel()
    return combined


@dataclass(frozen=True)
class ChainTransitions(StructuredPart):
    r"""Transitions of several chains, each of which looks back at some of them.

    Parameters
    ----------
    sizes
        Number of states of each chain.
    parents
        For each chain, the chains whose last states it depends on, in order; None where each
        depends on itself alone, "all" where each depends on all.
    tables
        For each chain, probabilities to start from: one axis per parent, then its own next state.
    prior
        Pseudo-count of each entry of the tables.
    fixed
        Whether to hold the tables.

    Notes
    -----
    :math:`P(q_t \mid q_{t-1}) = \prod_k P(q_t^k \mid q_{t-1}^{\text{parents of } k})`. Expected
    transitions of the combined chain are summed to expected entries of each table, which is
    exact (Alpaydin 15.9, fig. 15.6).

    Examples
    --------
    >>> import numpy as np
    >>> from verulam.sequence import ChainTransitions
    >>> moves = ChainTransitions((2, 2), tables=([[0.9, 0.1], [0.2, 0.8]], [[0.5, 0.5], [0, 1]]))
    >>> moves.start(4, np.random.default_rng(0)).matrix[0]
    array([0.45, 0.45, 0.05, 0.05])
    """

    sizes: tuple[int, ...]
    parents: Any = None
    tables: Any = None
    prior: float = 0.0
    fixed: bool = False

    @property
    def n_states(self) -> int:
        """Number of combined states."""
        return prod(check_sizes(self.sizes))

    @property
    def looks_back(self) -> list[tuple[int, ...]]:
        """Parents of each chain."""
        chains = range(len(self.sizes))
        if self.parents is None:
            return [(chain,) for chain in chains]
        if isinstance(self.parents, str):
            if self.parents != "all":
                raise DataError(f"parents is {self.parents!r}; expected None, 'all' or a list.")
            return [tuple(chains) for _ in chains]
        parents = [tuple(int(chain) for chain in parts) for parts in self.parents]
        known = all(set(parts) <= set(chains) and list(parts) == sorted(parts) for parts in parents)
        if len(parents) != len(self.sizes) or not known:
            raise DataError(
                f"parents needs, for each of the {len(self.sizes)} chains, chains in order."
            )
        return parents

    def first_tables(self) -> tuple[np.ndarray, ...]:
        """Return the tables given, or some that mostly stay."""
        shapes = [
            (*(self.sizes[parent] for parent in parents), self.sizes[chain])
            for chain, parents in enumerate(self.looks_back)
        ]
        if self.tables is not None:
            return tuple(
                check_distribution(table, f"table {chain} of ChainTransitions", shape)
                for chain, (table, shape) in enumerate(zip(self.tables, shapes, strict=True))
            )
        return tuple(
            self._sticky(chain, parents, shape)
            for chain, (parents, shape) in enumerate(zip(self.looks_back, shapes, strict=True))
        )

    def _sticky(self, chain: int, parents: tuple[int, ...], shape: tuple[int, ...]) -> np.ndarray:
        size = shape[-1]
        table = np.full(shape, 0.5 / size)
        if chain in parents:
            stay = np.eye(size).reshape(
                [size if parent == chain else 1 for parent in parents] + [size]
            )
            return table + 0.5 * np.broadcast_to(stay, shape)
        return 2.0 * table

    def assembled(self, tables: tuple[np.ndarray, ...]) -> StructuredTransitions:
        """Return the product of the tables."""
        n_chains = len(self.sizes)
        operands: list[Any] = []
        for chain, (table, parents) in enumerate(zip(tables, self.looks_back, strict=True)):
            operands += [table, [*parents, n_chains + chain]]
        # Chains that nothing looks back at still are part of the combined state.
        for chain, size in enumerate(self.sizes):
            operands += [np.ones(size), [chain]]
        whole = np.einsum(*operands, list(range(2 * n_chains)))
        n_states = prod(self.sizes)
        return StructuredTransitions.from_tables(whole.reshape(n_states, n_states), tables)

    def updated_tables(
        self, parameters: StructuredTransitions, sums: np.ndarray
    ) -> tuple[np.ndarray, ...]:
        """Return the shares of the expected entries of each table."""
        if self.fixed:
            return parameters.tables
        whole = np.zeros((parameters.n_states, parameters.n_states))
        whole[parameters.sources, parameters.targets] = sums
        whole = whole.reshape(*self.sizes, *self.sizes)
        n_chains = len(self.sizes)
        new = []
        for chain, (parents, old) in enumerate(
            zip(self.looks_back, parameters.tables, strict=True)
        ):
            # Expected transitions of the combined chain, summed over all chains but those that this
            # table is about, are exact expected counts of its entries.
            counts = _marginal(whole, (*parents, n_chains + chain))
            new.append(shares(counts + self.prior * (old > 0), old))
        return tuple(new)

    def occupied(self, visits: np.ndarray) -> np.ndarray:
        """Return the expected steps in each state of each chain."""
        return np.concatenate([part[0] for part in chain_posteriors(visits[None], self.sizes)])

    def log_prior(self, parameters: StructuredTransitions) -> float:
        """Return the logarithm of the prior, up to a constant."""
        if not self.prior:
            return 0.0
        return float(sum(self.prior * np.log(part[part > 0]).sum() for part in parameters.tables))

    def n_parameters(self, parameters: StructuredTransitions) -> int:
        """Return the number of free probabilities."""
        if self.fixed:
            return 0
        return sum(table.size - table[..., 0].size for table in parameters.tables)
