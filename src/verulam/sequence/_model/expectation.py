"""The E-step of Baum-Welch: expected sufficient statistics of sequences under a model.

Short sequences are worked through in groups, a long one from both ends at once, and one that is too
long for memory in blocks between checkpoints.
"""

from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from functools import reduce
from operator import add
from typing import Any

import numpy as np

from verulam.base import Chunk, DataError, SumRecord, thread_map
from verulam.sequence._data.sequences import Sequences
from verulam.sequence._model.emission import column_sums
from verulam.sequence._model.inference import (
    NO_TAIL,
    EmissionLikelihoods,
    Forward,
    Smoothed,
    run_backward,
    run_forward,
)
from verulam.sequence._model.parameters import (
    HMMParameters,
    HMMStatistics,
    TransitionMatrix,
    TransitionSums,
    by_emission,
    refuse_impossible,
)
from verulam.sequence._model.transitions import Transitions
from verulam.sequence._recursions.inference_loops import DIAGONALS, Layout
from verulam.sequence._recursions.scratch import SCRATCH, Scratch, fresh_or_scratch
from verulam.sequence._recursions.symbol_loops import shares_shape, sum_symbols
from verulam.sequence._tuning import GROUP_NUMBERS, SYMBOL_GROUP_NUMBERS, THREADED_NUMBERS


def chunk_sums(chunk: Chunk, parameters: HMMParameters, checkpoint: int | None) -> HMMStatistics:
    """Return the expected sums over the sequences of a chunk."""
    if checkpoint is not None:
        return checkpointed_sums(parameters, chunk.inputs, checkpoint)
    return expected_sums(parameters, chunk.inputs)


def expected_sums(model: HMMParameters, sequences: Sequences) -> HMMStatistics:
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

    def sums(place: int) -> HMMStatistics:
        return _group_sums(model, groups[place], halves)

    return reduce(add, thread_map(sums, range(len(groups)), 1 if small else 0))


def _group_sums(model: HMMParameters, group: Sequences, threads: int = 1) -> HMMStatistics:
    if _can_be_halved(model, group):
        sums = _sums_from_both_ends(model, group, threads)
        if sums is not None:
            return sums
    with SCRATCH.borrowed() as scratch:
        smoothed = model.smooth(group, scratch)
        refuse_impossible(smoothed, group)
        sums = part_sums(model, group, smoothed)
        firsts = smoothed.probabilities[group.starts[:-1]].sum(axis=0)
        return replace(sums, firsts=firsts, log_likelihood=float(smoothed.log_likelihoods.sum()))


def symbol_table(model: HMMParameters, sequences: Sequences) -> np.ndarray | None:
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
    # A missing symbol says nothing of the state; its code of -1 is the last row.
    table = np.vstack([table, np.ones(table.shape[1])])
    return table if parts.shared is None else np.ascontiguousarray(table[:, parts.shared])


@dataclass(frozen=True)
class _SymbolRecord(SumRecord):
    counts: np.ndarray
    firsts: np.ndarray
    products: np.ndarray
    log_likelihood: float
    n_steps: int


def _symbol_sums(model: HMMParameters, sequences: Sequences, table: np.ndarray) -> HMMStatistics:
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
    # Counts by symbol are all that categorical emissions need: each symbol stands for one step that
    # is weighted by them.
    at_once = HMMStatistics(
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
        data = group.values, table, group.starts, initial, *layouts
        if not sum_symbols(*data, room, counts, firsts, products, scales):
            return None
    return _SymbolRecord(counts, firsts, products, float(np.log(scales).sum()), group.n_steps)


def part_sums(model: HMMParameters, piece: Sequences, smoothed: Smoothed) -> HMMStatistics:
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
    return HMMStatistics(
        model,
        0.0,
        piece.n_steps,
        np.zeros(model.n_states),
        column_sums(gamma),
        parts.transitions.statistics(model.transitions, smoothed, piece),
        parts.emission.statistics(model.emission, piece.values, shares),
    )


def _can_be_halved(model: HMMParameters, group: Sequences) -> bool:
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


def _sums_from_both_ends(
    model: HMMParameters, sequence: Sequences, threads: int
) -> HMMStatistics | None:
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

        def to_middle(place: int) -> tuple[EmissionLikelihoods, Forward]:
            half = halves[place]
            emissions = model.emissions(half.piece, half.scratch)
            starts = half.piece.starts
            return emissions, run_forward(
                emissions, starts, half.first, half.transitions, half.scratch
            )

        passes = thread_map(to_middle, range(2), threads)
        if any((forward.failures >= 0).any() for _, forward in passes):
            return None
        # P(O) = sum over i, j of alpha_m(i) a_ij b_j(O_m+1) beta_m+1(j): the forward variables of
        # the second half, read backwards, are b times beta.
        tails = [forward.alpha[-1] / forward.scales[-1] for _, forward in passes]
        meeting = float(moves.step(tails[0]) @ tails[1])

        def back(place: int) -> HMMStatistics | None:
            return _back_from_middle(model, halves[place], *passes[place], tails, moves, place)

        parts = thread_map(back, range(2), threads)
        if meeting <= 0 or parts[0] is None or parts[1] is None:
            return None
        log_likelihood = np.log(meeting) + sum(f.log_likelihoods[0] for _, f in passes)
        return replace(parts[0] + parts[1], log_likelihood=float(log_likelihood))


def _back_from_middle(
    model: HMMParameters,
    half: _Half,
    emissions: EmissionLikelihoods,
    forward: Forward,
    tails: Sequence[np.ndarray],
    moves: Transitions,
    place: int,
) -> HMMStatistics | None:
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


def checkpointed_sums(model: HMMParameters, sequences: Sequences, block: int) -> HMMStatistics:
    """Return the expected sums, with no more than `block` steps in memory at a time.

    The forward shares are computed twice: once to note those at the end of each block, and
    again block by block from the end, which keeps ``O(block + n_steps / block)`` rows instead of
    ``O(n_steps)`` and adds about a third to the time.

    Parameters
    ----------
    model
        The model; its transitions must be the same at every step.
    sequences
        The sequences.
    block
        Steps per block.
    """
    parts = (
        _checkpointed_sequence(model, sequences[s : s + 1], block) for s in range(len(sequences))
    )
    return reduce(add, parts)


def _checkpointed_sequence(model: HMMParameters, sequence: Sequences, block: int) -> HMMStatistics:
    transitions = model.moves(sequence)
    if not isinstance(transitions, Transitions):
        raise DataError("Checkpoints need transitions that are the same at every step.")
    n_steps = sequence.n_steps
    firsts = range(0, n_steps, block)
    entries, log_likelihood = [], 0.0
    entry = model.initial
    # The first way forward notes the distribution over states at the beginning of each block.
    for first in firsts:
        entries.append(entry)
        piece = _piece(sequence, first, block)
        forward = run_forward(model.emissions(piece), piece.starts, entry, transitions)
        _refuse_failures(forward.failures, first)
        log_likelihood += float(forward.log_likelihoods[0])
        entry = transitions.step(forward.alpha[-1] / forward.scales[-1])
    # The way back repeats the forward recursion of a block from there, with the block in memory.
    parts = []
    tail = NO_TAIL
    for first, start in zip(reversed(firsts), reversed(entries), strict=True):
        part, tail = _block_sums(
            model, transitions, _piece(sequence, first, block), start, tail, first
        )
        parts.append(part)
    return replace(reduce(add, reversed(parts)), log_likelihood=log_likelihood)


def _piece(sequence: Sequences, first: int, block: int) -> Sequences:
    last = min(first + block, sequence.n_steps)
    inputs = None if sequence.inputs is None else sequence.inputs[first:last]
    return Sequences(sequence.values[first:last], np.array([0, last - first]), inputs)


def _block_sums(
    model: HMMParameters,
    transitions: Transitions,
    piece: Sequences,
    entry: np.ndarray,
    tail: np.ndarray,
    first: int,
) -> tuple[HMMStatistics, np.ndarray]:
    emissions = model.emissions(piece)
    forward = run_forward(emissions, piece.starts, entry, transitions)
    gamma = np.empty_like(forward.alpha)
    backward = run_backward(emissions, piece.starts, transitions, forward, gamma, tail)
    _refuse_failures(forward.failures, first)
    smoothed = Smoothed(gamma, backward.sums, forward.log_likelihoods, np.array([-1]))
    record = part_sums(model, piece, smoothed)
    if first == 0:
        record = replace(record, firsts=gamma[0])
    return record, backward.head


def _refuse_failures(failures: np.ndarray, first: int) -> None:
    if (failures >= 0).any():
        raise DataError(
            f"A sequence is impossible under the model, or its shares underflow, at step "
            f"{first + int(failures.max())}. Without checkpoints it is computed in logarithms."
        )
