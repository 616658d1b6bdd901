"""Where Baum-Welch begins: a look at the data, then steps grouped into states.

A state that no data is left for begins anew in the same way, or is taken out.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from verulam.base import Chunk, EMRun
from verulam.sequence._data.sequences import Sequences, joined
from verulam.sequence._model.emission import Emission
from verulam.sequence._model.parameters import HMMParameters, HMMParts, HMMStatistics

#: First steps that starts are computed from, whatever the scale of the data.
HEAD_STEPS = 200_000
#: Steps that k-means looks at: it needs no more to find where states may lie.
GROUPED_STEPS = 10_000
#: Expected steps below which a state counts as having no data.
NO_DATA = 1e-3
#: Resets of a run; a state that is empty again and again is one too many.
MOST_RESETS = 3
#: Steps in a row that a random start puts into the same state.
RUN_LENGTH = 10


@dataclass(frozen=True)
class Survey:
    """A first look at the data.

    Attributes
    ----------
    pieces
        The first sequences, up to about `HEAD_STEPS` steps.
    n_steps, n_sequences
        How much there is.
    n_columns
        Columns of the data as it was given.
    emission
        What the emission asked for.
    """

    pieces: tuple[Sequences, ...]
    n_steps: int
    n_sequences: int
    n_columns: int
    emission: Any

    def __add__(self, other: "Survey") -> "Survey":
        pieces, count = list(self.pieces), sum(piece.n_steps for piece in self.pieces)
        for piece in other.pieces:
            if count < HEAD_STEPS:
                few = int(np.searchsorted(piece.starts, HEAD_STEPS - count))
                pieces.append(piece[: max(1, few)])
                count += pieces[-1].n_steps
        return Survey(
            tuple(pieces),
            self.n_steps + other.n_steps,
            self.n_sequences + other.n_sequences,
            self.n_columns,
            self.emission + other.emission,
        )


def survey_chunk(chunk: Chunk, emission: Emission) -> Survey:
    """Return the first look at one chunk."""
    sequences: Sequences = chunk.inputs
    count = int(np.searchsorted(sequences.starts, HEAD_STEPS))
    width = chunk.targets
    return Survey(
        (sequences[: max(1, count)],),
        sequences.n_steps,
        len(sequences),
        0 if width is None else int(width[0]),
        emission.survey(sequences.values),
    )


def start_model(
    parts: HMMParts, survey: Survey, n_states: int, init: str, random: np.random.Generator
) -> HMMParameters:
    """Return the model that the first pass is made under."""
    emission = parts.emission
    values = joined([piece.values for piece in survey.pieces])
    lengths = np.concatenate([piece.lengths for piece in survey.pieces])
    n_emissions = n_states if parts.shared is None else int(parts.shared.max()) + 1
    blank = emission.first(survey.emission, values, n_emissions, init, random)
    ordered = getattr(parts.transitions, "topology", None)
    in_order = isinstance(ordered, str) and ordered == "left-to-right" and parts.shared is None
    if emission.complete:
        learned = emission.with_start_values(blank)
        return _assembled(parts, n_states, learned, random)
    shares = (
        _by_position(lengths, n_emissions)
        if in_order
        else _grouped(emission.features(values), lengths.sum(), n_emissions, init, random)
    )
    if parts.shared is not None:
        # Which groups belong together is not known: restarts try other ways.
        shares = shares[:, random.permutation(n_emissions)]
    learned = emission.update(blank, emission.statistics(blank, values, shares))
    return _assembled(
        parts, n_states, emission.with_start_values(emission.jitter(learned, random)), random
    )


def _assembled(
    parts: HMMParts, n_states: int, emission: Any, random: np.random.Generator
) -> HMMParameters:
    transitions = parts.transitions.start(n_states, random)
    return HMMParameters(
        parts, parts.initial.start(n_states, parts.transitions), transitions, emission
    )


def empty_states(statistics: HMMStatistics) -> np.ndarray:
    """Return the states that hardly a step was expected to be in."""
    return np.flatnonzero(statistics.visits < NO_DATA)


def reset_empty_state(run: EMRun, survey: Survey, random: np.random.Generator) -> None:
    """Learn the first empty state of a run anew; the passes before count no more."""
    empty = empty_states(run.statistics)
    if len(empty) and len(run.notes) < MOST_RESETS:
        run.notes.append(f"State {empty[0]} had no data and was reset.")
        run.parameters = fresh_state(run.parameters, survey, int(empty[0]), random)
        # The likelihood may fall by a reset, which is no sign of convergence.
        run.curve.clear()


def remove_empty_states(run: EMRun) -> None:
    """Take the empty states out of the model of a run."""
    empty = empty_states(run.statistics)
    if len(empty):
        run.notes.append(f"States without data were removed: {empty.tolist()}.")
        run.parameters = run.parameters.take(np.flatnonzero(run.statistics.visits >= NO_DATA))


def fresh_state(
    model: HMMParameters, survey: Survey, state: int, random: np.random.Generator
) -> HMMParameters:
    """Return the model with one state's emission learned anew from a random run of steps."""
    emission, parts = model.parts.emission, model.parts
    values = joined([piece.values for piece in survey.pieces])
    n_steps = sum(piece.n_steps for piece in survey.pieces)
    place = state if parts.shared is None else int(parts.shared[state])
    n_emissions = emission.n_states(model.emission)
    shares = np.zeros((n_steps, n_emissions))
    length = max(RUN_LENGTH, n_steps // (4 * n_emissions))
    first = int(random.integers(0, max(1, n_steps - length)))
    shares[first : first + length, place] = 1.0
    anew = emission.update(model.emission, emission.statistics(model.emission, values, shares))
    transitions = parts.transitions.start(model.n_states, random)
    initial = 0.9 * model.initial + 0.1 * parts.initial.start(model.n_states, parts.transitions)
    return HMMParameters(parts, initial, transitions, anew)


def _by_position(lengths: np.ndarray, n_states: int) -> np.ndarray:
    """Return each sequence cut into equal stretches, one per state."""
    states = np.concatenate([np.arange(length) * n_states // length for length in lengths])
    return np.eye(n_states)[states]


def _grouped(
    features: np.ndarray | None,
    n_steps: int,
    n_states: int,
    init: str,
    random: np.random.Generator,
) -> np.ndarray:
    if init == "random" or features is None:
        runs = random.integers(n_states, size=n_steps // RUN_LENGTH + 1)
        states = np.repeat(runs, RUN_LENGTH)[:n_steps]
    else:
        from sklearn.cluster import KMeans

        some = features[:: max(1, len(features) // GROUPED_STEPS)]
        if len(np.unique(some, axis=0)) < n_states:
            return _grouped(None, n_steps, n_states, init, random)
        seed = int(random.integers(2**31 - 1))
        states = KMeans(n_states, n_init=1, random_state=seed).fit(some).predict(features)
    return np.eye(n_states)[states]
