"""One pass of Baum-Welch over data in memory: groups of sequences, and long ones from both ends."""

from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from functools import reduce
from operator import add
from typing import Any

import numpy as np

from verulam.base import DataError, SumRecord, thread_map
from verulam.sequence._data.sequences import Sequences
from verulam.sequence._model.emission import column_sums
from verulam.sequence._model.inference import (
    Emissions,
    Forward,
    Smoothed,
    run_backward,
    run_forward,
)
from verulam.sequence._model.initial_and_transition import TransitionMatrix, TransitionSums
from verulam.sequence._model.parameters import Model, ModelSums, by_emission, refuse_impossible
from verulam.sequence._model.transitions import Transitions
from verulam.sequence._recursions.inference_loops import DIAGONALS, Layout
from verulam.sequence._recursions.scratch import SCRATCH, Scratch, fresh_or_scratch
from verulam.sequence._recursions.symbol_loops import shares_shape, sum_symbols

#: Numbers per array (steps times states) that are worked on at a time, where sequences are short.
GROUP_NUMBERS = 2**17
#: The same where symbols are looked up, for which only the shares of one sequence are kept.
SYMBOL_GROUP_NUMBERS = 2**19
#: Below this many numbers in all, threads cost more than they save.
THREADED_NUMBERS = 2**18


def expected_sums(model: Model, sequences: Sequences) -> ModelSums:
    """Return the expected sums over the sequences: the E-step of Baum-Welch.

    Groups of sequences are shared out to threads; a long sequence is worked through from both
    ends at once. What is added to what depends on the data alone.
    """
    if not len(sequences):
        raise DataError("There are no sequences to learn from.")
    table = symbol_table(model, sequences)
    if table is not None:
        return _symbol_sums(model, sequences, table)
    groups = sequences.groups(max(1, GROUP_NUMBERS // model.n_states))
    small = sequences.n_steps * model.n_states < THREADED_NUMBERS
    # Where there are groups enough, each is left to one thread.
    halves = 2 if not small and len(groups) == 1 else 1

    def sums(place: int) -> ModelSums:
        return _group_sums(model, groups[place], halves)

    return reduce(add, thread_map(sums, range(len(groups)), 1 if small else 0))


def _group_sums(model: Model, group: Sequences, threads: int = 1) -> ModelSums:
    if _can_be_halved(model, group):
        found = _sums_from_both_ends(model, group, threads)
        if found is not None:
            return found
    with SCRATCH.borrowed() as scratch:
        smoothed = model.smooth(group, scratch)
        refuse_impossible(smoothed, group)
        sums = part_sums(model, group, smoothed)
        firsts = smoothed.probabilities[group.starts[:-1]].sum(axis=0)
        return replace(sums, firsts=firsts, log_likelihood=float(smoothed.log_likelihoods.sum()))


def symbol_table(model: Model, sequences: Sequences) -> np.ndarray | None:
    """Return the emissions by symbol, the last for a missing one, or None.

    There is none unless the sums can be made at once in compiled loops: symbols, transitions
    along diagonals, and not one long sequence, which two threads work through from its ends.
    """
    parts = model.parts
    if not isinstance(parts.transitions, TransitionMatrix) or model.transitions.kind != DIAGONALS:
        return None
    if _can_be_halved(model, sequences):
        return None
    table = parts.emission.lookup(model.emission)
    if table is None or len(table) > sequences.n_steps:
        return None
    table = np.vstack([table, np.ones(table.shape[1])])
    return table if parts.shared is None else np.ascontiguousarray(table[:, parts.shared])


@dataclass(frozen=True)
class _SymbolRecord(SumRecord):
    counts: np.ndarray
    firsts: np.ndarray
    products: np.ndarray
    log_likelihood: float
    n_steps: int


def _symbol_sums(model: Model, sequences: Sequences, table: np.ndarray) -> ModelSums:
    """Return the sums from the emissions by symbol; where shares underflow, without them."""
    moves, parts = model.transitions, model.parts
    layouts = moves.layouts
    groups = sequences.groups(max(1, SYMBOL_GROUP_NUMBERS // model.n_states))
    small = sequences.n_steps * model.n_states < THREADED_NUMBERS

    def sums(place: int) -> _SymbolRecord | None:
        return symbol_record(model.initial, layouts, groups[place], table)

    records = thread_map(sums, range(len(groups)), 1 if small else 0)
    rest = [
        _group_sums(model, group)
        for group, record in zip(groups, records, strict=True)
        if record is None
    ]
    done = [record for record in records if record is not None]
    if not done:
        return reduce(add, rest)
    total = reduce(add, done)
    shares = by_emission(total.counts[:-1], parts.shared)
    at_once = ModelSums(
        model,
        total.log_likelihood,
        total.n_steps,
        total.firsts,
        total.counts.sum(axis=0),
        TransitionSums(moves.edge_sums(total.products[::-1].ravel())),
        parts.emission.statistics(model.emission, np.arange(len(shares)), shares),
    )
    return reduce(add, rest, at_once)


def symbol_record(
    initial: np.ndarray, layouts: tuple[Layout, Layout], group: Sequences, table: np.ndarray
) -> _SymbolRecord | None:
    """Return what is known of a group from the emissions by symbol, or None."""
    counts, firsts = np.zeros_like(table), np.zeros(len(initial))
    products, scales = np.zeros_like(layouts[1].diagonals), np.ones(group.n_steps)
    with SCRATCH.borrowed() as scratch:
        room = scratch.array("alpha", shares_shape(group.starts, layouts[0]))
        given = group.values, table, group.starts, initial, *layouts
        if not sum_symbols(*given, room, counts, firsts, products, scales):
            return None
    return _SymbolRecord(counts, firsts, products, float(np.log(scales).sum()), group.n_steps)


def part_sums(model: Model, piece: Sequences, smoothed: Smoothed) -> ModelSums:
    """Return the sums of some steps, but for their log-likelihood and their first states.

    Parameters
    ----------
    model
        The model that the posteriors were computed under.
    piece
        The steps.
    smoothed
        Their posteriors.
    """
    gamma, parts = smoothed.probabilities, model.parts
    shares = by_emission(gamma, parts.shared)
    return ModelSums(
        model,
        0.0,
        piece.n_steps,
        np.zeros(model.n_states),
        column_sums(gamma),
        parts.transitions.statistics(model.transitions, smoothed, piece),
        parts.emission.statistics(model.emission, piece.values, shares),
    )


def _can_be_halved(model: Model, group: Sequences) -> bool:
    """Return whether a group is one long sequence that can be read backwards."""
    long = len(group) == 1 and group.n_steps * model.n_states >= GROUP_NUMBERS
    return long and group.inputs is None and isinstance(group.values, np.ndarray)


@dataclass(frozen=True)
class _Half:
    """One half of a sequence, read from its outer end to the middle.

    Attributes
    ----------
    piece
        Its steps in that order.
    transitions
        As they look in that direction.
    first
        Weight of each state at the outer end.
    scratch
        Memory to use.
    """

    piece: Sequences
    transitions: Transitions
    first: np.ndarray
    scratch: Scratch


def _sums_from_both_ends(model: Model, sequence: Sequences, threads: int) -> ModelSums | None:
    """Return the sums of one sequence, or None where shares underflow.

    The second half backwards in time is a chain, too, whose transitions are transposed: its
    forward shares are what the first half looks ahead to, and the other way round. So each half
    runs to the middle by itself, and back with the help of the other.
    """
    moves = model.moves(sequence)
    if not isinstance(moves, Transitions):
        return None
    middle = sequence.n_steps // 2
    early, late = sequence.values[:middle], np.ascontiguousarray(sequence.values[middle:][::-1])
    with ExitStack() as stack:
        scratches = [stack.enter_context(SCRATCH.borrowed()) for _ in range(2)]
        halves = (
            _Half(_one(early), moves, model.initial, scratches[0]),
            _Half(_one(late), moves.transposed, np.ones(model.n_states), scratches[1]),
        )

        def to_middle(place: int) -> tuple[Emissions, Forward]:
            half = halves[place]
            emissions = model.emissions(half.piece, half.scratch)
            starts = half.piece.starts
            return emissions, run_forward(
                emissions, starts, half.first, half.transitions, half.scratch
            )

        found = thread_map(to_middle, range(2), threads)
        if any((forward.failures >= 0).any() for _, forward in found):
            return None
        tails = [forward.alpha[-1] / forward.scales[-1] for _, forward in found]
        meeting = float(moves.step(tails[0]) @ tails[1])

        def back(place: int) -> ModelSums | None:
            return _back_from_middle(model, halves[place], *found[place], tails, moves, place)

        parts = thread_map(back, range(2), threads)
        if meeting <= 0 or parts[0] is None or parts[1] is None:
            return None
        log_likelihood = np.log(meeting) + sum(f.log_likelihoods[0] for _, f in found)
        return replace(parts[0] + parts[1], log_likelihood=float(log_likelihood))


def _back_from_middle(
    model: Model,
    half: _Half,
    emissions: Emissions,
    forward: Forward,
    tails: Sequence[np.ndarray],
    moves: Transitions,
    place: int,
) -> ModelSums | None:
    """Return the sums of one half, or None where shares underflow."""
    gamma = fresh_or_scratch("gamma", forward.alpha.shape, half.scratch)
    # Both halves know the transition between them; the first one counts it.
    backward = run_backward(
        emissions,
        half.piece.starts,
        half.transitions,
        forward,
        gamma,
        tails[1 - place],
        count_tail=place == 0,
    )
    if (forward.failures >= 0).any():
        return None
    transition_sums = moves.from_transposed(backward.sums) if place else backward.sums
    smoothed = Smoothed(gamma, transition_sums, forward.log_likelihoods, np.array([-1]))
    sums = part_sums(model, half.piece, smoothed)
    return sums if place else replace(sums, firsts=gamma[0].copy())


def _one(values: Any) -> Sequences:
    return Sequences(values, np.array([0, len(values)]))
