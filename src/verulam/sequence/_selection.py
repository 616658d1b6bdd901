"""How many states: by likelihood on held-out sequences, by criteria, by adding one at a time."""

import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from verulam.base import DataError, DataWarning, Seed, clone, generator
from verulam.sequence._hidden_markov import HiddenMarkovModel
from verulam.sequence._model import Model
from verulam.sequence._sequences import Sequences, read_sequences
from verulam.sequence._transitions import Transitions

CRITERIA = ("validation", "bic", "aic")


@dataclass(frozen=True)
class StateCurve:
    """Models of several numbers of states.

    Attributes
    ----------
    n_states
        Numbers of states that were tried.
    training
        Log-likelihood per step of the training sequences.
    validation
        Log-likelihood per step of the held-out sequences.
    bic, aic
        Criteria on the training sequences; lower is better.
    models
        The fitted models.
    criterion
        What the choice was made by.
    chosen
        The number of states chosen.
    """

    n_states: tuple[int, ...]
    training: tuple[float, ...]
    validation: tuple[float, ...]
    bic: tuple[float, ...]
    aic: tuple[float, ...]
    models: tuple[HiddenMarkovModel, ...]
    criterion: str
    chosen: int

    @property
    def best(self) -> HiddenMarkovModel:
        """The model chosen."""
        return self.models[self.n_states.index(self.chosen)]

    def to_frame(self) -> pd.DataFrame:
        """Return the curve as a table."""
        columns = {name: getattr(self, name) for name in ("training", "validation", "bic", "aic")}
        return pd.DataFrame(columns, index=pd.Index(self.n_states, name="n_states"))


def select_states(
    model: HiddenMarkovModel,
    X: Any,
    n_states: Sequence[int],
    *,
    lengths: Any = None,
    validation: float = 0.3,
    criterion: str = "validation",
    random_state: Seed = None,
) -> StateCurve:
    """Fit models of several numbers of states and choose one.

    Parameters
    ----------
    model
        The model, apart from its number of states.
    X
        Sequences: a list, or one array with lengths. A single sequence is cut in two: the
        last part is held out.
    n_states
        Numbers of states to try.
    lengths
        Steps of each sequence, where X is one array.
    validation
        Share of the sequences to hold out.
    criterion
        "validation", "bic" or "aic".
    random_state
        Seed of the split and of the starts.

    Notes
    -----
    More states always fit the training sequences better; the likelihood of held-out sequences
    peaks near the true number (Alpaydin 15.10, exercise 15.6).

    Examples
    --------
    >>> import numpy as np
    >>> from verulam.sequence import HiddenMarkovModel, select_states
    >>> random = np.random.default_rng(0)
    >>> X = [np.repeat([0.0, 5.0, 0.0], 20) + random.normal(size=60) for _ in range(9)]
    >>> select_states(HiddenMarkovModel(), X, [1, 2], criterion="bic", random_state=0).chosen
    2
    """
    if criterion not in CRITERIA:
        raise DataError(f"criterion is {criterion!r}; expected one of {', '.join(CRITERIA)}.")
    random = generator(random_state)
    train, held_out = split_sequences(read_sequences(X, lengths), validation, random)
    fitted = []
    with _candidates():
        for count in n_states:
            candidate = clone(model).set_params(n_states=int(count))
            fitted.append(candidate.set_params(random_state=int(random.integers(2**31))).fit(train))
    return _curve(fitted, train, held_out, criterion)


def add_states(
    model: HiddenMarkovModel,
    X: Any,
    *,
    most: int = 10,
    lengths: Any = None,
    validation: float = 0.3,
    random_state: Seed = None,
) -> StateCurve:
    """Add one state at a time while the likelihood of held-out sequences rises.

    Parameters
    ----------
    model
        The model to begin with, with a Gaussian or categorical emission; its number of states is
        the first tried.
    X
        Sequences: a list, or one array with lengths.
    most
        Most states.
    lengths
        Steps of each sequence, where X is one array.
    validation
        Share of the sequences to hold out.
    random_state
        Seed of the split and the starts.

    Notes
    -----
    A forward search (Alpaydin, exercise 15.10): the state with the most data is split in two,
    the rest of the model is kept as the start.
    """
    random = generator(random_state)
    train, held_out = split_sequences(read_sequences(X, lengths), validation, random)
    with _candidates():
        first = clone(model).set_params(random_state=int(random.integers(2**31))).fit(train)
    fitted, scores = [first], [first.score(held_out)]
    while fitted[-1].n_states_ < most:
        with _candidates():
            grown = _with_one_more(fitted[-1], train, random)
        score = grown.score(held_out)
        fitted.append(grown)
        scores.append(score)
        if score <= scores[-2]:
            break
    return _curve(fitted, train, held_out, "validation")


@contextmanager
def _candidates() -> Iterator[None]:
    """Hold back the warning that a variance is at its floor: it matters for the chosen one."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "States .* variance at variance_floor", DataWarning)
        yield


def _with_one_more(
    model: HiddenMarkovModel, train: list[np.ndarray], random: np.random.Generator
) -> HiddenMarkovModel:
    sequences = model._read(train, None)
    smoothed = model.model_.smooth(sequences)
    busiest = int(smoothed.probabilities.sum(axis=0).argmax())
    # The new state begins with a random half of the busiest one's steps, in runs.
    runs = np.repeat(random.random(sequences.n_steps // 10 + 1) < 0.5, 10)[: sequences.n_steps]
    shares = np.column_stack([smoothed.probabilities, np.zeros(sequences.n_steps)])
    shares[runs, -1] = shares[runs, busiest]
    shares[runs, busiest] = 0.0
    old = model.model_
    parts = old.parts
    order = np.append(np.arange(old.n_states), busiest)
    blank = parts.emission.take(old.emission, order)
    emission = parts.emission.update(
        blank, parts.emission.statistics(blank, sequences.values, shares)
    )
    matrix = old.transitions.matrix[np.ix_(order, order)]
    matrix[:, [busiest, -1]] /= 2
    matrix[[busiest, -1]] = matrix[[busiest, -1]].mean(axis=0)
    initial = old.initial[order]
    initial[[busiest, -1]] /= 2
    matrix /= matrix.sum(axis=1, keepdims=True)
    start = Model(parts, initial, Transitions.from_matrix(matrix), emission)
    grown = clone(model).set_params(n_states=old.n_states + 1)
    return grown.fit_from(start, train)


def _curve(
    fitted: list[HiddenMarkovModel],
    train: list[np.ndarray],
    held_out: list[np.ndarray],
    criterion: str,
) -> StateCurve:
    n_train, n_held_out = (sum(map(len, part)) for part in (train, held_out))
    counts = tuple(model.n_states_ for model in fitted)
    validation = tuple(model.score(held_out) / n_held_out for model in fitted)
    bic = tuple(model.bic(train) for model in fitted)
    aic = tuple(model.aic(train) for model in fitted)
    places = {"validation": np.argmax(validation), "bic": np.argmin(bic), "aic": np.argmin(aic)}
    place = int(places[criterion])
    chosen = fitted[place].model_
    for concern in chosen.parts.emission.concerns(chosen.emission):
        warnings.warn(concern, DataWarning, stacklevel=3)
    return StateCurve(
        counts,
        tuple(model.score(train) / n_train for model in fitted),
        validation,
        bic,
        aic,
        tuple(fitted),
        criterion,
        counts[place],
    )


def split_sequences(
    sequences: Sequences, validation: float, random: np.random.Generator
) -> tuple[list[np.ndarray], list[np.ndarray]]:
    """Return sequences to learn from and sequences to hold out; a single one is cut in two."""
    pieces = [
        sequences.values[a:b]
        for a, b in zip(sequences.starts[:-1], sequences.starts[1:], strict=True)
    ]
    if len(pieces) == 1:
        cut = round(len(pieces[0]) * (1 - validation))
        if not 0 < cut < len(pieces[0]):
            raise DataError("X is too short to hold any steps out.")
        return [pieces[0][:cut]], [pieces[0][cut:]]
    order = random.permutation(len(pieces))
    count = min(max(1, round(validation * len(pieces))), len(pieces) - 1)
    return [pieces[place] for place in order[count:]], [pieces[place] for place in order[:count]]
