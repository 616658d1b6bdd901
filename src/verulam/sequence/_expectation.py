"""One pass of Baum-Welch over data in memory: groups of sequences, and long ones from both ends."""

from collections.abc import Callable, Sequence
from concurrent.futures import Future
from contextlib import ExitStack
from dataclasses import dataclass, replace
from functools import reduce
from operator import add
from threading import Thread
from typing import Any, TypeVar

import numpy as np

from verulam.base import DataError, in_threads, thread_count
from verulam.sequence._emission import column_sums
from verulam.sequence._inference import (
    Emissions,
    Forward,
    Smoothed,
    run_backward,
    run_forward,
)
from verulam.sequence._model import Model, ModelSums, by_emission, refuse_impossible
from verulam.sequence._scratch import SCRATCH, Scratch, fresh_or_scratch
from verulam.sequence._sequences import Sequences
from verulam.sequence._transitions import Transitions

ResultT = TypeVar("ResultT")

#: Numbers per array (steps times states) that are worked on at a time, where sequences are short.
GROUP_NUMBERS = 2**17
#: Below this many numbers in all, threads cost more than they save.
THREADED_NUMBERS = 2**18


def expected_sums(model: Model, sequences: Sequences) -> ModelSums:
    """Return the expected sums over the sequences: the E-step of Baum-Welch.

    Groups of sequences are shared out to threads; a long sequence is worked through from both
    ends at once. What is added to what depends on the data alone.
    """
    if not len(sequences):
        raise DataError("There are no sequences to learn from.")
    groups = sequences.groups(max(1, GROUP_NUMBERS // model.n_states))
    small = sequences.n_steps * model.n_states < THREADED_NUMBERS
    # Where there are groups enough, each is left to one thread.
    at_once = not small and len(groups) == 1 and thread_count() > 1

    def sums(place: int) -> ModelSums:
        group = groups[place]
        found = None
        if _can_be_halved(model, group):
            found = _sums_from_both_ends(model, group, at_once)
        return _group_sums(model, group) if found is None else found

    return reduce(add, in_threads(sums, range(len(groups)), 1 if small else 0))


def _group_sums(model: Model, group: Sequences) -> ModelSums:
    with SCRATCH.borrowed() as scratch:
        smoothed = model.smooth(group, scratch)
        refuse_impossible(smoothed, group)
        sums = part_sums(model, group, smoothed)
        firsts = smoothed.probabilities[group.starts[:-1]].sum(axis=0)
        return replace(sums, firsts=firsts, log_likelihood=float(smoothed.log_likelihoods.sum()))


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


def _sums_from_both_ends(model: Model, sequence: Sequences, at_once: bool) -> ModelSums | None:
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

        found = _both(to_middle, at_once)
        if any((forward.failures >= 0).any() for _, forward in found):
            return None
        tails = [forward.alpha[-1] / forward.scales[-1] for _, forward in found]
        meeting = float(moves.step(tails[0]) @ tails[1])

        def back(place: int) -> ModelSums | None:
            return _back_from_middle(model, halves[place], *found[place], tails, moves, place)

        parts = _both(back, at_once)
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


def _both(function: Callable[[int], ResultT], at_once: bool) -> list[ResultT]:
    """Return the function of 0 and of 1; at once, the second of them in a thread of its own."""
    if not at_once:
        return [function(0), function(1)]
    other: Future[ResultT] = Future()

    def second() -> None:
        try:
            other.set_result(function(1))
        except Exception as error:
            other.set_exception(error)

    thread = Thread(target=second)
    thread.start()
    try:
        mine = function(0)
    finally:
        thread.join()
    return [mine, other.result()]


def _one(values: Any) -> Sequences:
    return Sequences(values, np.array([0, len(values)]))
