"""Observable Markov chains: counts, orders, the long run."""

from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any, ClassVar, Self

import numpy as np
import pandas as pd
from scipy.stats import chi2

from verulam.base import (
    DataError,
    Density,
    Interval,
    Seed,
    check_is_fitted,
    checked_fit,
    generator,
)
from verulam.sequence._data.sequences import Sequences, check_count, read_sequences, warn_of_words
from verulam.sequence._model.transitions import ROW_TOLERANCE, check_distribution

#: Largest table of transitions, 1 GB.
MOST_ENTRIES = 2**27


@dataclass(frozen=True)
class OrderTest:
    """A likelihood-ratio test of the order of a chain.

    Attributes
    ----------
    order
        The order that is tested against the next higher one.
    statistic
        Twice the gain in log-likelihood.
    degrees_of_freedom
        Free probabilities that the higher order adds.
    p_value
        Probability of as large a gain where the lower order is true.
    """

    order: int
    statistic: float
    degrees_of_freedom: int
    p_value: float


class MarkovChain(Density):
    r"""States that can be seen, each depending on the few before it.

    Parameters
    ----------
    order
        How many states before matter.
    states
        Labels of the states; None for those in the data, sorted.
    alpha
        Pseudo-count of each first state and each transition.

    Attributes
    ----------
    states_ : ndarray of shape (n_states,)
        Label of each state.
    initial_ : list of ndarray
        Probabilities of the first state, of the second given the first, and so on, up to `order`
        of them.
    transitions_ : ndarray of shape (n_states, ..., n_states)
        Probability of each state, the last axis, after each history.
    n_features_in_ : int
        Columns of the data, which is 1.

    Notes
    -----
    :math:`P(Q) = \pi_{q_1} \prod_{t \ge 2} a_{q_{t-1} q_t}`, estimated by proportions: sequences
    that start in a state, and departures from it (the last step departs nowhere), Alpaydin
    15.2 (15.6-15.9). Of second order, :math:`a_{ijk} = P(q_t = k \mid q_{t-1} = j, q_{t-2} = i)`,
    with indices in the order of time (exercise 15.3 reverses them in its product). A history
    that never departs gives equal probabilities.

    Examples
    --------
    >>> import numpy as np
    >>> from verulam.sequence import MarkovChain
    >>> colours = ["red", "blue", "green"]
    >>> chain = MarkovChain.from_parameters(
    ...     [0.5, 0.2, 0.3], [[0.4, 0.3, 0.3], [0.2, 0.6, 0.2], [0.1, 0.1, 0.8]], colours
    ... )
    >>> float(np.exp(chain.score(["red", "red", "green", "green"])).round(3))
    0.048
    >>> (11 * chain.stationary_distribution()).round(6)
    array([2., 3., 6.])
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "order": [Interval(Integral, 1, None, closed="left")],
        "states": ["array-like", None],
        "alpha": [Interval(Real, 0, None, closed="left")],
    }
    _takes_sequences: ClassVar[bool] = True
    _takes_one_column: ClassVar[bool] = True
    _skipped_checks: ClassVar[dict[str, str]] = {
        "check_estimators_nan_inf": "puts NaN and infinity into three columns; one is refused, too",
        "check_fit1d": "a one-dimensional X is a sequence of states",
        "check_n_features_in_after_fitting": "takes a column away, and one alone leaves none",
    }

    def __init__(self, order: int = 1, *, states: Any = None, alpha: float = 0.0) -> None:
        self.order = order
        self.states = states
        self.alpha = alpha

    @classmethod
    def _example_data(cls) -> tuple[np.ndarray, None]:
        random = np.random.default_rng(0)
        sequences = np.empty(12, dtype=object)
        for place in range(12):
            sequences[place] = random.integers(3, size=15)
        return sequences, None

    @classmethod
    def from_parameters(cls, initial: Any, transitions: Any, states: Any = None) -> "MarkovChain":
        """Return a chain of first order with known probabilities.

        Parameters
        ----------
        initial
            Probability of each first state.
        transitions
            Transition matrix.
        states
            Labels; None for whole numbers from 0.
        """
        n_states = len(initial)
        chain = cls(1, states=states)
        chain.states_ = np.arange(n_states) if states is None else np.asarray(states)
        chain.initial_ = [check_distribution(initial, "initial", (n_states,))]
        chain.transitions_ = check_distribution(transitions, "transitions", (n_states, n_states))
        chain.n_features_in_ = 1
        return chain

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.string = True
        return tags

    @checked_fit
    def fit(self, X: Any, y: Any = None, *, lengths: Any = None) -> Self:
        """Learn from sequences of states.

        Parameters
        ----------
        X
            A list of sequences, or one array. A list of words is one sequence of labels; for
            letters, split each word by ``list(word)``.
        y
            Ignored.
        lengths
            Steps of each sequence, where X is one array.
        """
        sequences = _one_column(read_sequences(X, lengths))
        if self.states is None:
            warn_of_words(sequences, stacklevel=4)
        column = sequences.values[:, 0]
        self.states_ = _sorted_states(column)[0] if self.states is None else np.asarray(self.states)
        self.n_features_in_ = 1
        codes = self._codes(column)
        n_states = len(self.states_)
        shape = (n_states,)
        _check_table(n_states, self.order + 1)
        self.initial_ = [
            _proportions(_tally(codes, sequences, length, shape, True) + self.alpha)
            for length in range(1, self.order + 1)
        ]
        counts = _tally(codes, sequences, self.order + 1, shape, False)
        self.transitions_ = _proportions(counts + self.alpha)
        return self

    def _codes(self, column: np.ndarray) -> np.ndarray:
        codes = pd.Index(self.states_).get_indexer(pd.Index(column))
        if (codes < 0).any():
            step = int(np.argmax(codes < 0))
            shown = ", ".join(map(repr, self.states_[:5].tolist()))
            strange = column[step]
            named = repr(str(strange)) if isinstance(strange, str) else str(strange)
            raise DataError(f"X has the unknown state {named} at step {step}; known are {shown}.")
        return codes

    def _read(self, X: Any, lengths: Any) -> tuple[np.ndarray, Sequences]:
        check_is_fitted(self)
        sequences = _one_column(read_sequences(X, lengths))
        return self._codes(sequences.values[:, 0]), sequences

    def score_sequences(self, X: Any, lengths: Any = None) -> np.ndarray:
        """Return the log-probability of each sequence."""
        codes, sequences = self._read(X, lengths)
        with np.errstate(divide="ignore"):
            logs = [np.log(table) for table in (*self.initial_, self.transitions_)]
        place = np.arange(len(codes)) - np.repeat(sequences.starts[:-1], sequences.lengths)
        steps = np.empty(len(codes))
        for before, table in enumerate(logs):
            is_last = before == self._order
            here = np.flatnonzero(place >= before if is_last else place == before)
            steps[here] = table[tuple(codes[here - lag] for lag in range(before, -1, -1))]
        return np.add.reduceat(steps, sequences.starts[:-1])

    def score(self, X: Any, y: Any = None, *, lengths: Any = None) -> float:
        """Return the log-probability of all sequences together."""
        return float(self.score_sequences(X, lengths).sum())

    @property
    def _order(self) -> int:
        return self.transitions_.ndim - 1

    def sample(
        self, n_steps: int, n_sequences: int = 1, *, random_state: Seed = None
    ) -> list[np.ndarray]:
        """Return sequences of states drawn from the chain.

        Parameters
        ----------
        n_steps
            Steps of each sequence.
        n_sequences
            Number of sequences.
        random_state
            Seed of the draws.
        """
        check_is_fitted(self)
        check_count(n_steps, "n_steps")
        check_count(n_sequences, "n_sequences")
        uniforms = generator(random_state).random((n_sequences, n_steps))
        tables = [np.cumsum(table, axis=-1) for table in (*self.initial_, self.transitions_)]
        paths = np.empty((n_sequences, n_steps), dtype=np.int64)
        for t in range(n_steps):
            history = paths[:, max(0, t - self._order) : t]
            rows = tables[history.shape[1]][tuple(history.T)]
            rows = np.broadcast_to(rows, (n_sequences, len(self.states_)))
            paths[:, t] = (uniforms[:, t, None] * rows[:, -1:] >= rows).sum(axis=1)
        return list(self.states_[np.minimum(paths, len(self.states_) - 1)])

    def stationary_distribution(self) -> np.ndarray:
        """Return the share of time in each state in the long run, for a chain of first order."""
        check_is_fitted(self)
        if self._order != 1:
            raise DataError("Turn the chain into one of pairs first: to_first_order().")
        return stationary_distribution(self.transitions_)

    def to_first_order(self) -> "MarkovChain":
        """Return the chain of first order over histories, which has the same probabilities.

        States become tuples of `order` states; a sequence of T states becomes one of
        T - order + 1 tuples (Alpaydin, exercise 15.4).
        """
        check_is_fitted(self)
        n_states, order = len(self.states_), self._order
        histories = list(np.ndindex(*(n_states,) * order))
        initial = np.array(
            [
                np.prod([self.initial_[place][h[: place + 1]] for place in range(order)])
                for h in histories
            ]
        )
        matrix = np.zeros((len(histories), len(histories)))
        places = {history: place for place, history in enumerate(histories)}
        for place, history in enumerate(histories):
            for state in range(n_states):
                target = places[(*history, state)[1:]]
                matrix[place, target] = self.transitions_[(*history, state)]
        labels = np.empty(len(histories), dtype=object)
        for place, history in enumerate(histories):
            labels[place] = tuple(self.states_[list(history)].tolist())
        return MarkovChain.from_parameters(initial, matrix, labels)

    def pairs(self, X: Any, lengths: Any = None) -> list[np.ndarray]:
        """Return the sequences as histories, the states of `to_first_order`."""
        codes, sequences = self._read(X, lengths)
        result = []
        for s in range(len(sequences)):
            part = codes[sequences.starts[s] : sequences.starts[s + 1]]
            rows = np.empty(max(0, len(part) - self._order + 1), dtype=object)
            for t in range(len(rows)):
                rows[t] = tuple(self.states_[part[t : t + self._order]].tolist())
            result.append(rows)
        return result


def stationary_distribution(transitions: Any) -> np.ndarray:
    r"""Return :math:`p` with :math:`p = pA`; the one of least norm where there are several.

    Parameters
    ----------
    transitions
        Transition matrix :math:`A`.

    Examples
    --------
    >>> from verulam.sequence import stationary_distribution
    >>> stationary_distribution([[0.9, 0.1], [0.3, 0.7]])
    array([0.75, 0.25])
    """
    matrix = check_distribution(transitions, "transitions", np.shape(transitions))
    n_states = len(matrix)
    # p (A - I) = 0 leaves the length of p free: that it sums to one is a further equation.
    equations = np.vstack([matrix.T - np.eye(n_states), np.ones(n_states)])
    solution = np.linalg.lstsq(equations, np.eye(n_states + 1)[-1], rcond=None)[0]
    positive = np.where(solution > ROW_TOLERANCE, solution, 0.0)
    return positive / positive.sum()


def order_test(X: Any, order: int, lengths: Any = None) -> OrderTest:
    r"""Test a chain of some order against the next higher one.

    Parameters
    ----------
    X
        A list of sequences, or one array.
    order
        The lower order; 0 for steps that do not depend on one another.
    lengths
        Steps of each sequence, where X is one array.

    Notes
    -----
    Both orders are fitted to the same steps, those with a full history of the higher one; twice
    the gain in log-likelihood is about :math:`\chi^2` with
    :math:`(N-1)^2 N^{\text{order}}` degrees of freedom where the lower order is true.

    Examples
    --------
    >>> from verulam.sequence import order_test
    >>> order_test([0, 1] * 50, order=0).p_value < 0.001
    True
    """
    check_count(order, "order", 0)
    sequences = _one_column(read_sequences(X, lengths))
    warn_of_words(sequences, stacklevel=3)
    states, codes = _sorted_states(sequences.values[:, 0])
    n_states = len(states)
    _check_table(n_states, order + 2)
    counts = _tally(codes.ravel(), sequences, order + 2, (n_states,), False)
    # The lower order forgets the oldest state of each history; both see the same steps.
    higher = _log_likelihood(counts)
    lower = _log_likelihood(counts.sum(axis=0))
    freedom = (n_states - 1) ** 2 * n_states**order
    statistic = 2.0 * (higher - lower)
    return OrderTest(order, statistic, freedom, float(chi2.sf(statistic, freedom)))


def _check_table(n_states: int, axes: int) -> None:
    """Raise where a table of all histories is too large to hold."""
    if n_states**axes > MOST_ENTRIES:
        raise DataError(
            f"Histories of {axes - 1} states out of {n_states} need a table of "
            f"{n_states**axes:.1e} numbers; take a lower order, or join states."
        )


def _one_column(sequences: Sequences) -> Sequences:
    values = sequences.values
    if values.shape[1] == 0:
        raise DataError(
            f"X has 0 feature(s) (shape={values.shape}) while a minimum of 1 is required: one "
            "state per step."
        )
    if values.shape[1] != 1:
        raise DataError(f"A chain takes one state per step; X has {values.shape[1]} columns.")
    if values.dtype.kind == "c":
        raise DataError("Complex data not supported: a state is a label or a real number.")
    if values.dtype.kind == "f" and np.isinf(values).any():
        raise DataError(f"X has an infinite state at step {int(np.argmax(np.isinf(values)))}.")
    missing = pd.isna(values[:, 0])
    if missing.any():
        raise DataError(
            f"X has a missing state at step {int(np.argmax(missing))}. A chain counts states that "
            "are seen; a HiddenMarkovModel whose states show themselves integrates gaps out."
        )
    return sequences


def _sorted_states(column: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the states that occur, and the place of each step's state among them."""
    try:
        return np.unique(column, return_inverse=True)
    except TypeError:
        kinds = ", ".join(sorted({type(state).__name__ for state in column}))
        raise DataError(
            f"X has states of kinds that cannot be sorted together ({kinds}); take labels of one "
            "kind, or name all of them by `states`."
        ) from None


def _tally(
    codes: np.ndarray, sequences: Sequences, length: int, shape: tuple[int], first_only: bool
) -> np.ndarray:
    """Return how often each run of `length` states occurs, at the start or anywhere."""
    lengths = sequences.lengths
    place = np.arange(len(codes)) - np.repeat(sequences.starts[:-1], lengths)
    left = np.repeat(lengths, lengths) - place
    begins = np.flatnonzero((left >= length) & ((place == 0) if first_only else True))
    runs = tuple(codes[begins + step] for step in range(length))
    counts = np.zeros(shape * length)
    np.add.at(counts, runs, 1.0)
    return counts


def _proportions(counts: np.ndarray) -> np.ndarray:
    totals = counts.sum(axis=-1, keepdims=True)
    equal = np.full_like(counts, 1.0 / counts.shape[-1])
    return np.divide(counts, totals, out=equal, where=totals > 0)


def _log_likelihood(counts: np.ndarray) -> float:
    shares = _proportions(counts)
    return float((counts * np.log(np.where(counts > 0, shares, 1.0))).sum())
