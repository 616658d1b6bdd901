"""Structured mean field for factorial models, and Gibbs sampling of their chains."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod
from typing import Any

import numpy as np

from verulam.base import DataError
from verulam.numerics import softmax
from verulam.sequence._data.sequences import Sequences
from verulam.sequence._emissions.gaussian import LOG_TWO_PI
from verulam.sequence._learners.markov_chain import stationary_distribution
from verulam.sequence._model.inference import (
    Smoothed,
    best_paths,
    draw_paths,
    emissions_from_logarithms,
    smooth_states,
)
from verulam.sequence._model.transitions import Transitions, check_distribution
from verulam.sequence._tuning import COMBINED_BLOCK_STEPS

#: Shares of the evidence that the first sweeps go by.
WARM_UP = (0.05, 0.1, 0.2, 0.35, 0.5, 0.7, 0.85)
#: Combined states of a group of chains that are compared at a step.
MOST_COMBINED = 256
#: Sweeps over groups, where there are several.
GROUP_SWEEPS = 5


@dataclass(frozen=True)
class FactorialParameters:
    """Parameters of chains that add up.

    Attributes
    ----------
    initial : tuple of ndarray
        Probability of each first state, one array per chain.
    transitions : tuple of ndarray
        Transition matrix of each chain.
    contributions : tuple of ndarray of shape (size, n_columns)
        What each state adds to the mean, one array per chain.
    covariance : ndarray of shape (n_columns, n_columns)
        Covariance of the noise.
    """

    initial: tuple[np.ndarray, ...]
    transitions: tuple[np.ndarray, ...]
    contributions: tuple[np.ndarray, ...]
    covariance: np.ndarray

    @property
    def sizes(self) -> tuple[int, ...]:
        """Number of states of each chain."""
        return tuple(len(part) for part in self.initial)


def check_factorial(parameters: FactorialParameters) -> None:
    """Raise where the parameters do not fit together."""
    width = len(parameters.covariance)
    for chain, size in enumerate(parameters.sizes):
        check_distribution(parameters.initial[chain], f"initial of chain {chain}", (size,))
        matrix = parameters.transitions[chain]
        check_distribution(matrix, f"transitions of chain {chain}", (size, size))
        shape = np.shape(parameters.contributions[chain])
        if shape != (size, width):
            raise DataError(
                f"contributions of chain {chain} has shape {shape}; expected {(size, width)}."
            )


@dataclass(frozen=True)
class ChainBeliefs:
    """Posteriors of chains that are taken as independent of one another.

    Attributes
    ----------
    smoothed : tuple of Smoothed
        Posterior of each chain.
    bound
        A lower bound of the log-likelihood.
    curve : list of float
        The bound after each sweep over the chains; it never falls.
    """

    smoothed: tuple[Smoothed, ...]
    bound: float
    curve: list[float]

    @property
    def probabilities(self) -> list[np.ndarray]:
        """Probability of each state at each step, one table per chain."""
        return [part.probabilities for part in self.smoothed]


def _complete(sequences: Sequences) -> np.ndarray:
    return ~np.isnan(sequences.values).any(axis=1)


def _chain_logarithms(
    parameters: FactorialParameters, chain: int, rest: np.ndarray, known: np.ndarray
) -> np.ndarray:
    """Return the logarithm of a chain's emissions, given what the others leave to explain."""
    rows = parameters.contributions[chain]
    # ln N(rest; w_j, C) up to what is the same for all states: w_j' C^-1 rest - w_j' C^-1 w_j / 2.
    pulled = np.linalg.solve(parameters.covariance, rows.T)
    logarithms = rest @ pulled - 0.5 * np.einsum("jp,pj->j", rows, pulled)
    return np.where(known[:, None], logarithms, 0.0)


def believe(
    parameters: FactorialParameters,
    sequences: Sequences,
    start: list[np.ndarray] | None = None,
    max_iter: int = 50,
    tol: float = 1e-6,
) -> ChainBeliefs:
    """Return the best independent posteriors of the chains.

    Parameters
    ----------
    parameters
        Parameters of the chains.
    sequences
        Sequences of numbers; a step with a missing number counts as missing.
    start
        Posteriors to begin from; None for equal ones.
    max_iter
        Most sweeps over the chains.
    tol
        Stop when a sweep raises the bound by no more than this.
    """
    known = _complete(sequences)
    values = np.where(known[:, None], sequences.values, 0.0)
    if start is not None:
        return _settled(parameters, sequences, values, known, start, max_iter, tol)
    # Both ways to begin may get stuck, at different places.
    ways = (
        _hardened(parameters, sequences, values, known),
        beliefs_by_step(parameters, values, known),
    )
    optima = [_settled(parameters, sequences, values, known, way, max_iter, tol) for way in ways]
    return max(optima, key=lambda beliefs: beliefs.bound)


def _hardened(
    parameters: FactorialParameters, sequences: Sequences, values: np.ndarray, known: np.ndarray
) -> list[np.ndarray]:
    """Return beliefs that harden slowly, so as not to follow the first chain's view."""
    pairs = zip(parameters.sizes, parameters.contributions, strict=True)
    expected = [np.full((len(values), size), 1.0 / size) @ rows for size, rows in pairs]
    # Deterministic annealing: the evidence comes in little by little.
    for heat in WARM_UP:
        smoothed, _ = _sweep(parameters, sequences, values, known, expected, heat)
    return [part.probabilities for part in smoothed]


def beliefs_by_step(
    parameters: FactorialParameters, values: np.ndarray, known: np.ndarray
) -> list[np.ndarray]:
    """Return what each step says by itself, groups of chains being combined exactly.

    Parameters
    ----------
    parameters
        Parameters of the chains.
    values
        What was seen, with any numbers where something is missing.
    known
        Which steps are complete.
    """
    usual = [stationary_distribution(matrix) for matrix in parameters.transitions]
    beliefs = [np.repeat(shares[None], len(values), axis=0) for shares in usual]
    groups = _chain_groups(parameters.sizes)
    pairs = zip(beliefs, parameters.contributions, strict=True)
    expected = [belief @ rows for belief, rows in pairs]
    for _ in range(GROUP_SWEEPS if len(groups) > 1 else 1):
        for group in groups:
            rest = values - (sum(expected) - sum(expected[chain] for chain in group))
            posteriors = _group_beliefs(parameters, usual, group, rest)
            for chain, posterior in zip(group, posteriors, strict=True):
                beliefs[chain] = np.where(known[:, None], posterior, usual[chain])
                expected[chain] = beliefs[chain] @ parameters.contributions[chain]
    return beliefs


def _chain_groups(sizes: tuple[int, ...]) -> list[list[int]]:
    """Return chains in groups that are small enough to be combined."""
    groups: list[list[int]] = [[]]
    for chain, size in enumerate(sizes):
        if groups[-1] and size * prod(sizes[other] for other in groups[-1]) > MOST_COMBINED:
            groups.append([])
        groups[-1].append(chain)
    return groups


def _group_beliefs(
    parameters: FactorialParameters,
    usual: list[np.ndarray],
    group: list[int],
    rest: np.ndarray,
) -> list[np.ndarray]:
    """Return the posteriors of a group of chains at each step, given what is left to explain."""
    # One after the other, all combinations of states: their means add up, and their logarithms.
    means, log_prior = np.zeros((1, rest.shape[1])), np.zeros(1)
    for chain in group:
        rows = parameters.contributions[chain]
        means = (means[:, None] + rows[None]).reshape(-1, rest.shape[1])
        with np.errstate(divide="ignore"):
            log_prior = (log_prior[:, None] + np.log(usual[chain])[None]).ravel()
    pulled = np.linalg.solve(parameters.covariance, means.T)
    # The square of what is left to explain is the same for all of them, and cancels.
    constant = log_prior - 0.5 * np.einsum("jp,pj->j", means, pulled)
    shape = [parameters.sizes[chain] for chain in group]
    posteriors = [np.empty((len(rest), size)) for size in shape]
    for first in range(0, len(rest), COMBINED_BLOCK_STEPS):
        block = slice(first, first + COMBINED_BLOCK_STEPS)
        joint = softmax(rest[block] @ pulled + constant, axis=1).reshape(-1, *shape)
        for place in range(len(group)):
            others = tuple(axis + 1 for axis in range(len(group)) if axis != place)
            posteriors[place][block] = joint.sum(axis=others)
    return posteriors


def _settled(
    parameters: FactorialParameters,
    sequences: Sequences,
    values: np.ndarray,
    known: np.ndarray,
    start: Sequence[np.ndarray],
    max_iter: int,
    tol: float,
) -> ChainBeliefs:
    """Return beliefs after sweeps from a start, until the bound rises no more."""
    pairs = zip(start, parameters.contributions, strict=True)
    expected = [belief @ rows for belief, rows in pairs]
    curve: list[float] = []
    for _ in range(max_iter):
        smoothed, gains = _sweep(parameters, sequences, values, known, expected, 1.0)
        curve.append(gains + _expected_density(parameters, values[known], smoothed, known))
        if len(curve) > 1 and curve[-1] - curve[-2] <= tol:
            break
    return ChainBeliefs(tuple(smoothed), curve[-1], curve)


def _sweep(
    parameters: FactorialParameters,
    sequences: Sequences,
    values: np.ndarray,
    known: np.ndarray,
    expected: list[np.ndarray],
    heat: float,
) -> tuple[list[Smoothed], float]:
    """Return each chain's posterior given the others, and their part of the bound.

    What the chains are expected to add, `expected`, is brought up to date on the way.
    """
    smoothed, gains = [], 0.0
    for chain, rows in enumerate(parameters.contributions):
        rest = values - (sum(expected) - expected[chain])
        logarithms = heat * _chain_logarithms(parameters, chain, rest, known)
        posterior = smooth_states(
            emissions_from_logarithms(logarithms),
            sequences.starts,
            parameters.initial[chain],
            Transitions.from_matrix(parameters.transitions[chain]),
        )
        expected[chain] = posterior.probabilities @ rows
        # ln Z of a chain is its entropy plus the expectation of all its log-factors; without those
        # of the emissions, prior and entropy are left, which is the chain's part of the bound.
        gains += float(posterior.log_likelihoods.sum())
        gains -= float((posterior.probabilities * logarithms).sum())
        smoothed.append(posterior)
    return smoothed, gains


def _expected_density(
    parameters: FactorialParameters,
    values: np.ndarray,
    smoothed: list[Smoothed],
    known: np.ndarray,
) -> float:
    """Return the expected log-density of what is seen."""
    inverse = np.linalg.inv(parameters.covariance)
    mean, spread = np.zeros_like(values), 0.0
    for part, rows in zip(smoothed, parameters.contributions, strict=True):
        shares = part.probabilities[known]
        contribution = shares @ rows
        mean += contribution
        squares = np.einsum("jp,pq,jq->j", rows, inverse, rows)
        around = np.einsum("tp,pq,tq->", contribution, inverse, contribution)
        spread += float((shares @ squares).sum() - around)
    gaps = values - mean
    fit = float(np.einsum("tp,pq,tq->", gaps, inverse, gaps)) + spread
    size = np.linalg.slogdet(parameters.covariance)[1] + values.shape[1] * LOG_TWO_PI
    return -0.5 * (fit + len(values) * float(size))


def improved(
    parameters: FactorialParameters, sequences: Sequences, beliefs: ChainBeliefs, floor: np.ndarray
) -> FactorialParameters:
    """Return the parameters that raise the bound most for given beliefs.

    Parameters
    ----------
    parameters
        The parameters so far.
    sequences
        The sequences.
    beliefs
        Posteriors of the chains.
    floor
        Least variance of each column.
    """
    known = _complete(sequences)
    values = sequences.values[known]
    shares = [table[known] for table in beliefs.probabilities]
    design = np.hstack(shares)
    products = design.T @ design
    ends = np.cumsum(parameters.sizes)
    for table, end in zip(shares, ends, strict=True):
        # Within a chain one state excludes the others: E[s s'] is diagonal.
        block = slice(end - table.shape[1], end)
        products[block, block] = np.diag(table.sum(axis=0))
    # Least squares of least norm: a constant may move between chains without changing the sum.
    rows = np.linalg.lstsq(products, design.T @ values, rcond=1e-10)[0]
    cross = rows.T @ (design.T @ values)
    scatter = values.T @ values - cross - cross.T + rows.T @ products @ rows
    covariance = scatter / max(1, len(values))
    covariance += np.diag(np.maximum(floor - np.diag(covariance), 0.0))
    matrices, initial = [], []
    for chain, part in enumerate(beliefs.smoothed):
        moves = Transitions.from_matrix(parameters.transitions[chain])
        matrices.append(moves.with_weights(moves.normalised(part.transition_sums)).matrix)
        firsts = part.probabilities[sequences.starts[:-1]].sum(axis=0)
        initial.append(firsts / firsts.sum())
    contributions = tuple(np.split(rows, ends[:-1]))
    return FactorialParameters(tuple(initial), tuple(matrices), contributions, covariance)


def draw_chains(
    parameters: FactorialParameters,
    sequences: Sequences,
    n_iter: int,
    burn_in: int,
    random: np.random.Generator,
) -> list[np.ndarray]:
    """Return posteriors of the chains from paths drawn chain by chain: Gibbs sampling.

    Parameters
    ----------
    parameters
        Parameters of the chains.
    sequences
        Sequences of numbers; a step with a missing number counts as missing.
    n_iter
        Number of sweeps over the chains.
    burn_in
        Sweeps that are not counted.
    random
        Generator of the draws.
    """
    known = _complete(sequences)
    values = np.where(known[:, None], sequences.values, 0.0)
    paths = [random.integers(size, size=len(values)) for size in parameters.sizes]
    counts = [np.zeros((len(values), size)) for size in parameters.sizes]
    shown = [rows[path] for rows, path in zip(parameters.contributions, paths, strict=True)]
    steps = np.arange(len(values))
    for sweep in range(n_iter):
        for chain, rows in enumerate(parameters.contributions):
            rest = values - (sum(shown) - shown[chain])
            logarithms = _chain_logarithms(parameters, chain, rest, known)
            path = draw_paths(
                emissions_from_logarithms(logarithms),
                sequences.starts,
                parameters.initial[chain],
                Transitions.from_matrix(parameters.transitions[chain]),
                random,
            )
            shown[chain] = rows[path]
            if sweep >= burn_in:
                counts[chain][steps, path] += 1.0
    return [count / (n_iter - burn_in) for count in counts]


def best_chain_paths(
    parameters: FactorialParameters, sequences: Sequences, beliefs: list[np.ndarray]
) -> np.ndarray:
    """Return the best path of each chain given what is believed of the others."""
    known = _complete(sequences)
    values = np.where(known[:, None], sequences.values, 0.0)
    pairs = zip(beliefs, parameters.contributions, strict=True)
    expected = [belief @ rows for belief, rows in pairs]
    paths: list[Any] = []
    for chain in range(len(parameters.sizes)):
        rest = values - (sum(expected) - expected[chain])
        best = best_paths(
            _chain_logarithms(parameters, chain, rest, known),
            sequences.starts,
            parameters.initial[chain],
            Transitions.from_matrix(parameters.transitions[chain]),
        )
        paths.append(best.states)
    return np.column_stack(paths)
