"""One pass of Baum-Welch in bounded memory: forward shares are kept at checkpoints only."""

from dataclasses import replace
from functools import reduce
from operator import add

import numpy as np

from verulam.base import DataError
from verulam.sequence import _inference_loops as loops
from verulam.sequence._inference import NO_TAIL, Smoothed, run_forward
from verulam.sequence._inference_loops import DENSE
from verulam.sequence._model import Model, ModelSums, by_emission
from verulam.sequence._sequences import Sequences
from verulam.sequence._transitions import Transitions


def checkpointed_sums(model: Model, sequences: Sequences, block: int) -> ModelSums:
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
    parts = (_sequence_sums(model, sequences[s : s + 1], block) for s in range(len(sequences)))
    return reduce(add, parts)


def _sequence_sums(model: Model, sequence: Sequences, block: int) -> ModelSums:
    transitions = model.moves(sequence)
    if not isinstance(transitions, Transitions):
        raise DataError("Checkpoints need transitions that are the same at every step.")
    n_steps = sequence.n_steps
    firsts = range(0, n_steps, block)
    entries, log_likelihood = [], 0.0
    entry = model.initial
    for first in firsts:
        entries.append(entry)
        piece = _piece(sequence, first, block)
        forward = run_forward(model.emissions(piece), piece.starts, entry, transitions)
        _refuse(forward.failures, first)
        log_likelihood += float(forward.log_likelihoods[0])
        entry = _step(transitions, forward.alpha[-1] / forward.scales[-1])
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


def _step(transitions: Transitions, shares: np.ndarray) -> np.ndarray:
    """Return the shares of the next step before its observation."""
    layout = transitions.layouts[0]
    row = np.empty_like(shares)
    if layout.kind == DENSE:
        return shares @ layout.dense[0]
    kind, _, offsets, diagonals, sources, targets, weights, _ = layout
    loops.push_sparse(kind, offsets, diagonals, sources, targets, weights, shares, row)
    return row


def _block_sums(
    model: Model,
    transitions: Transitions,
    piece: Sequences,
    entry: np.ndarray,
    tail: np.ndarray,
    first: int,
) -> tuple[ModelSums, np.ndarray]:
    emissions = model.emissions(piece)
    forward = run_forward(emissions, piece.starts, entry, transitions)
    alpha, failures = forward.alpha, forward.failures
    gamma = np.empty_like(alpha)
    layout, transposed = transitions.layouts
    sums = np.zeros(max(layout.diagonals.size, len(layout.weights)))
    ahead = emissions.relative
    if layout.kind == DENSE:
        head = loops.backward_dense(
            ahead, piece.starts, transposed.dense, alpha, gamma, failures, tail
        )
        sums = alpha.T @ ahead
    else:
        head = loops.backward_sparse(
            ahead, piece.starts, layout, transposed, alpha, gamma, sums, failures, tail
        )
    _refuse(failures, first)
    smoothed = Smoothed(gamma, transitions.edge_sums(sums), forward.log_likelihoods, np.array([-1]))
    parts = model.parts
    shares = by_emission(gamma, parts.shared)
    record = ModelSums(
        model,
        0.0,
        piece.n_steps,
        gamma[0] if first == 0 else np.zeros(len(entry)),
        gamma.sum(axis=0),
        parts.transitions.statistics(model.transitions, smoothed, piece),
        parts.emission.statistics(model.emission, piece.values, shares),
    )
    return record, head


def _refuse(failures: np.ndarray, first: int) -> None:
    if (failures >= 0).any():
        raise DataError(
            f"A sequence is impossible under the model, or its shares underflow, at step "
            f"{first + int(failures.max())}. Without checkpoints it is computed in logarithms."
        )
