"""Comparing fitted models: how many states to have, and which states of two fits are the same.

The number of states is selected by the likelihood of held-out sequences, by information criteria,
or by a forward search that adds one at a time.
"""

import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd
from scipy.optimize import linear_sum_assignment

from verulam.base import DataError, DataWarning, Seed, clone, generator
from verulam.sequence._data.sequences import Sequences, named_table, read_sequences
from verulam.sequence._learners.hidden_markov import HiddenMarkovModel
from verulam.sequence._model.parameters import HMMParameters
from verulam.sequence._model.transitions import Transitions

CRITERIA = ("validation", "bic", "aic")


@dataclass(frozen=True)
class StateCurve:
    """Models of several numbers of states.

    Attributes
    ----------
    n_states
        Numbers of states that were tried.
    training
        Log-likelihood per step of the sequences that the models learned from.
    validation
        Log-likelihood per step of the held-out sequences; NaN where none were held out.
    bic, aic
        Criteria on the sequences that the models learned from; lower is better.
    models
        The fitted models.
    criterion
        What the choice was made by.
    best_n_states
        The number of states that the criterion prefers.
    """

    n_states: tuple[int, ...]
    training: tuple[float, ...]
    validation: tuple[float, ...]
    bic: tuple[float, ...]
    aic: tuple[float, ...]
    models: tuple[HiddenMarkovModel, ...]
    criterion: str
    best_n_states: int

    @property
    def best(self) -> HiddenMarkovModel:
        """The model with that number of states."""
        return self.models[self.n_states.index(self.best_n_states)]

    def to_frame(self) -> pd.DataFrame:
        """Return the curve as a table."""
        columns = {name: getattr(self, name) for name in ("training", "validation", "bic", "aic")}
        return pd.DataFrame(columns, index=pd.Index(self.n_states, name="n_states"))


@dataclass(frozen=True)
class Part:
    """Some of the sequences, with what is known at their steps."""

    values: list[Any]
    inputs: list[np.ndarray] | None

    @property
    def n_steps(self) -> int:
        """Steps of all sequences together."""
        return sum(map(len, self.values))

    def score(self, model: HiddenMarkovModel) -> float:
        """Return the log-likelihood under a model."""
        return model.score(self.values, inputs=self.inputs)


def select_states(
    model: HiddenMarkovModel,
    X: Any,
    n_states: Sequence[int],
    *,
    lengths: Any = None,
    inputs: Any = None,
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
        Sequences: a list, or one array with lengths.
    n_states
        Numbers of states to try.
    lengths
        Steps of each sequence, where X is one array.
    inputs
        What is known at each step beside the observations, in the form of X.
    validation
        Share of the sequences to hold out, where they are the criterion; the last part of a
        single sequence.
    criterion
        "validation" for the likelihood of sequences that are held out; "bic" or "aic" for
        criteria on all sequences, with none held out.
    random_state
        Seed of the split and of the starts.

    Notes
    -----
    More states always fit the sequences better that they learn from; the likelihood of held-out
    ones peaks near the true number (Alpaydin 15.10, exercise 15.6), and BIC and AIC charge for
    each parameter. Only "validation" leaves the best model without a part of the data: fit it
    again to all of it.

    Examples
    --------
    >>> import numpy as np
    >>> from verulam.sequence import HiddenMarkovModel, select_states
    >>> random = np.random.default_rng(0)
    >>> X = [np.repeat([0.0, 5.0, 0.0], 20) + random.normal(size=60) for _ in range(9)]
    >>> select_states(HiddenMarkovModel(), X, [1, 2], criterion="bic", random_state=0).best_n_states
    2
    """
    if criterion not in CRITERIA:
        raise DataError(f"criterion is {criterion!r}; expected one of {', '.join(CRITERIA)}.")
    if len(n_states) == 0:
        raise DataError("n_states is empty; give the numbers of states to try.")
    random = generator(random_state)
    sequences = read_sequences(X, lengths, inputs)
    names = _names(X, sequences)
    train, held_out = _part(sequences, range(len(sequences)), names), None
    if criterion == "validation":
        train, held_out = split_sequences(sequences, validation, random, names)
    fitted = []
    with _candidates():
        for count in n_states:
            candidate = clone(model).set_params(n_states=int(count))
            candidate.set_params(random_state=int(random.integers(2**31)))
            fitted.append(candidate.fit(train.values, inputs=train.inputs))
    return _curve(fitted, train, held_out, criterion)


def add_states(
    model: HiddenMarkovModel,
    X: Any,
    *,
    most: int = 10,
    lengths: Any = None,
    inputs: Any = None,
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
    inputs
        What is known at each step beside the observations, in the form of X.
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
    sequences = read_sequences(X, lengths, inputs)
    train, held_out = split_sequences(sequences, validation, random, _names(X, sequences))
    with _candidates():
        first = clone(model).set_params(random_state=int(random.integers(2**31)))
        first.fit(train.values, inputs=train.inputs)
    fitted, scores = [first], [held_out.score(first)]
    while fitted[-1].n_states_ < most:
        with _candidates():
            grown = _with_one_more(fitted[-1], train, random)
        score = held_out.score(grown)
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
    model: HiddenMarkovModel, train: Part, random: np.random.Generator
) -> HiddenMarkovModel:
    sequences = model._read(train.values, None, train.inputs)
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
    # Who went to the busiest state goes to either half of it alike, and both go on as it did.
    matrix[:, [busiest, -1]] /= 2
    matrix[[busiest, -1]] = matrix[[busiest, -1]].mean(axis=0)
    initial = old.initial[order]
    initial[[busiest, -1]] /= 2
    matrix /= matrix.sum(axis=1, keepdims=True)
    start = HMMParameters(parts, initial, Transitions.from_matrix(matrix), emission)
    grown = clone(model).set_params(n_states=old.n_states + 1)
    return grown.fit_from(start, train.values, inputs=train.inputs)


def _curve(
    fitted: list[HiddenMarkovModel],
    train: Part,
    held_out: Part | None,
    criterion: str,
) -> StateCurve:
    counts = tuple(model.n_states_ for model in fitted)
    validation = (np.nan,) * len(fitted)
    if held_out is not None:
        validation = tuple(held_out.score(model) / held_out.n_steps for model in fitted)
    bic = tuple(model.bic(train.values, inputs=train.inputs) for model in fitted)
    aic = tuple(model.aic(train.values, inputs=train.inputs) for model in fitted)
    places = {"validation": np.argmax(validation), "bic": np.argmin(bic), "aic": np.argmin(aic)}
    place = int(places[criterion])
    best = fitted[place].model_
    for concern in best.parts.emission.concerns(best.emission):
        warnings.warn(concern, DataWarning, stacklevel=3)
    return StateCurve(
        counts,
        tuple(train.score(model) / train.n_steps for model in fitted),
        validation,
        bic,
        aic,
        tuple(fitted),
        criterion,
        counts[place],
    )


def split_sequences(
    sequences: Sequences,
    validation: float,
    random: np.random.Generator,
    names: pd.Index | None = None,
) -> tuple[Part, Part]:
    """Return sequences to learn from and sequences to hold out; a single one is cut in two."""
    if not 0 < validation < 1:
        raise DataError(f"validation is {validation!r}; expected a share between 0 and 1.")
    if len(sequences) == 1:
        # The later part is held out: neighbouring steps are too alike to be divided at random.
        cut = round(sequences.n_steps * (1 - validation))
        if not 0 < cut < sequences.n_steps:
            raise DataError("X is too short to hold any steps out.")
        both = replace(sequences, starts=np.array([0, cut, sequences.n_steps]))
        return _part(both, [0], names), _part(both, [1], names)
    order = random.permutation(len(sequences))
    count = min(max(1, round(validation * len(sequences))), len(sequences) - 1)
    return _part(sequences, order[count:], names), _part(sequences, order[:count], names)


def _names(X: Any, sequences: Sequences) -> pd.Index | None:
    """Return the names of the columns, where the data has any."""
    return getattr(named_table(X, sequences.values), "columns", None)


def _part(sequences: Sequences, places: Any, names: pd.Index | None) -> Part:
    pieces = [sequences[place : place + 1] for place in places]
    known = [piece.inputs for piece in pieces if piece.inputs is not None] or None
    values = [piece.values for piece in pieces]
    if names is not None:
        values = [pd.DataFrame(rows, columns=names) for rows in values]
    return Part(values, known)


@dataclass(frozen=True)
class Alignment:
    """Which state of one path stands for which state of another.

    Attributes
    ----------
    order : ndarray of shape (n_states,)
        ``order[k]`` is the state of the second that agrees best with state k of the first.
    agreement
        Share of the steps on which both agree after renaming.
    """

    order: np.ndarray
    agreement: float

    def rename(self, states: Any) -> np.ndarray:
        """Return the second's states under the first's names."""
        places = np.empty(len(self.order), dtype=np.int64)
        places[self.order] = np.arange(len(self.order))
        return places[np.asarray(states)]


def align_states(first: Any, second: Any) -> Alignment:
    """Match the states of two paths over the same steps, so that they agree most often.

    Parameters
    ----------
    first, second
        States as whole numbers, one per step; several sequences may be concatenated.

    Examples
    --------
    >>> from verulam.sequence import align_states
    >>> alignment = align_states([0, 0, 1, 2], [2, 2, 0, 1])
    >>> alignment.order
    array([2, 0, 1])
    >>> alignment.agreement
    1.0
    """
    one, two = np.asarray(first, dtype=np.int64), np.asarray(second, dtype=np.int64)
    if one.shape != two.shape or one.ndim != 1 or not len(one):
        raise DataError("first and second need one state per step, over the same steps.")
    n_states = int(max(one.max(), two.max())) + 1
    together = np.zeros((n_states, n_states))
    np.add.at(together, (one, two), 1.0)
    # One to one: two states of a path never stand for one of the other.
    rows, columns = linear_sum_assignment(-together)
    return Alignment(columns, float(together[rows, columns].sum() / len(one)))
