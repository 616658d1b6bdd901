"""Time-delay networks: a window slides over a sequence and turns time into space."""

from itertools import pairwise
from numbers import Integral
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.metrics import r2_score

from verulam.base import (
    RANDOM_STATE,
    Classifier,
    DataError,
    HasMethods,
    Interval,
    MetaEstimatorMixin,
    Regressor,
    Seed,
    check_is_fitted,
    checked_fit_with_parts,
    clone,
    encode_classes,
)
from verulam.neural._images.windows import window_layer
from verulam.neural._perceptron.classifier import MLPClassifier
from verulam.neural._perceptron.perceptron import MultilayerPerceptron
from verulam.neural._perceptron.regressor import MLPRegressor
from verulam.neural._time.tasks import StepTargets, read_series, read_targets, step_numbers
from verulam.sequence import Sequences, input_windows

_COUNT = Interval(Integral, 1, None, closed="left")


class _TimeDelay(MetaEstimatorMixin):
    """Windows over sequences as rows of a table, for any learner that takes tables."""

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "estimator": [HasMethods(["fit", "predict"]), None],
        "window_size": [_COUNT],
        "patch_size": [_COUNT, None],
        "n_maps": [_COUNT],
        "random_state": RANDOM_STATE,
    }
    _takes_sequences: ClassVar[bool] = True

    estimator: Any
    window_size: int
    patch_size: int | None
    n_maps: int
    random_state: Seed

    def __init__(
        self,
        estimator: Any = None,
        *,
        window_size: int = 5,
        patch_size: int | None = None,
        n_maps: int = 4,
        random_state: Seed = None,
    ) -> None:
        self.estimator = estimator
        self.window_size = window_size
        self.patch_size = patch_size
        self.n_maps = n_maps
        self.random_state = random_state

    def _default(self) -> Any:
        raise NotImplementedError

    def _learner(self, n_inputs: int) -> Any:
        """Return the learner of windows, with weights shared in time where they are to be."""
        learner = self._default() if self.estimator is None else clone(self.estimator)
        if self.random_state is not None and "random_state" in learner.get_params():
            learner.set_params(random_state=self.random_state)
        if self.patch_size is None:
            return learner
        if not isinstance(learner, MultilayerPerceptron):
            raise DataError(
                "patch_size: weights that are shared in time belong to a perceptron of "
                f"verulam.neural, not to {type(learner).__name__}."
            )
        shape = (n_inputs, int(self.window_size))
        layer = window_layer(shape, int(self.patch_size), n_maps=int(self.n_maps))

        # Windows have step after step, layers of windows column after column.
        def by_step(array: NDArray[Any]) -> NDArray[Any]:
            return array.reshape(*shape, -1).swapaxes(0, 1).reshape(len(array), -1)

        others = learner._hidden_sizes()
        free = [None] * (len(others) + 1)
        shared: Any = learner
        return shared.set_params(
            hidden_layer_sizes=(layer.n_units, *others),
            masks=[by_step(layer.mask), *free],
            tied=[by_step(layer.tied), *free],
        )

    def _windows(self, sequences: Sequences) -> tuple[NDArray[np.floating], NDArray[np.int64]]:
        """Return the rows of all windows, and which steps end one that counts.

        Of a sequence with one target all whole windows count, of a short one the last.
        """
        rows = input_windows(sequences.values, int(self.window_size) - 1, lengths=sequences.lengths)
        if self._by_step:
            return rows, np.arange(sequences.n_steps)
        lengths = sequences.lengths
        place = np.arange(sequences.n_steps) - np.repeat(sequences.starts[:-1], lengths)
        # A sequence that is shorter than the window has one, in which its first step is repeated.
        needed = np.minimum(lengths, int(self.window_size)) - 1
        ends = np.flatnonzero(place >= np.repeat(needed, lengths))
        return rows[ends], ends

    def _fit_windows(self, sequences: Sequences, targets: StepTargets) -> None:
        self._by_step = targets.by_step
        rows, ends = self._windows(sequences)
        self.estimator_ = self._learner(sequences.values.shape[1])
        counts = targets.mask[ends] if self._by_step else np.ones(len(ends), dtype=bool)
        values = targets.values[ends][counts]
        # Steps with one number each: a column for whoever gave them, numbers for the learner.
        is_column = self._by_step and values.ndim == 2 and values.shape[1] == 1
        self.estimator_.fit(rows[counts], values[:, 0] if is_column else values)

    def _answers(self, X: Any, lengths: Any, method: str) -> Any:
        """Return answers of the learner by step, or their means over each sequence's windows."""
        check_is_fitted(self)
        sequences = read_series(self, X, lengths, reset=False)
        rows, ends = self._windows(sequences)
        answers = getattr(self.estimator_, method)(rows)
        if not self._by_step:
            firsts = np.searchsorted(ends, sequences.starts[:-1])
            counts = np.diff(np.append(firsts, len(ends)))
            totals = np.add.reduceat(answers, firsts, axis=0)
            return totals / (counts if totals.ndim == 1 else counts[:, None])
        if sequences.form == "rows":
            return answers
        return [answers[begin:end] for begin, end in pairwise(sequences.starts)]


class TimeDelayClassifier(_TimeDelay, Classifier):
    r"""Classify sequences or their steps by the last inputs, delayed and seen all together.

    Parameters
    ----------
    estimator
        What classifies windows: any classifier with probabilities; None stands for
        `MLPClassifier`.
    window_size
        Steps :math:`T` of a window: :math:`x_{t-T+1}, \ldots, x_t`.
    patch_size : int or None
        Where it is set, the first hidden layer of a perceptron sees so many steps of the window at
        a time, with weights that are shared in time.
    n_maps
        Units that look at each of these parts.
    random_state
        Seed of the estimator, where it has one.

    Attributes
    ----------
    classes_ : ndarray
        Labels, sorted.
    estimator_
        The fitted classifier of windows.
    n_features_in_ : int
        Columns of the sequences, or steps where rows of a table are sequences.

    Notes
    -----
    See Alpaydin 11.12.1, fig. 11.20. Before the first step, windows repeat it. A sequence with one
    label is as probable of a class as its whole windows are on average, wherever in it they stand.
    Sequences come as in `RecurrentClassifier`.

    Examples
    --------
    A pair of pulses, close together or apart, anywhere in a sequence:

    >>> import numpy as np
    >>> from verulam.neural import MLPClassifier, TimeDelayClassifier
    >>> signals = [np.roll([1.0, 0, 1, 0, 0, 0, 0, 0], n) for n in range(5)]
    >>> signals += [np.roll([1.0, 0, 0, 1, 0, 0, 0, 0], n) for n in range(5)]
    >>> net = MLPClassifier(8, solver="lbfgs", tol=1e-3, random_state=0)
    >>> delayed = TimeDelayClassifier(net, window_size=4)
    >>> delayed.fit(signals, ["near"] * 5 + ["far"] * 5).predict([[0, 0, 0, 0, 0, 0, 1, 0, 1, 0]])
    array(['near'], dtype='<U4')
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **_TimeDelay._parameter_constraints,
        "estimator": [HasMethods(["fit", "predict_proba"]), None],
    }
    _skipped_checks: ClassVar[dict[str, str]] = {
        "check_classifiers_train": "a list of lists is a list of sequences, of any length",
    }

    @classmethod
    def _example_learners(cls) -> list["TimeDelayClassifier"]:
        return [cls(MLPClassifier(30, solver="lbfgs", max_iter=500, tol=1e-2))]

    @classmethod
    def _example_data(cls) -> tuple[np.ndarray, np.ndarray]:
        random = np.random.default_rng(0)
        sequences, labels = np.empty(16, dtype=object), np.array(["rise", "fall"] * 8)
        for place, label in enumerate(labels):
            steps = np.linspace(0.0, 2.0, 9)[:: 1 if label == "rise" else -1]
            sequences[place] = steps[:, None] + random.normal(0.0, 0.1, size=(9, 1))
        return sequences, labels

    def _default(self) -> Any:
        return MLPClassifier()

    @checked_fit_with_parts
    def fit(self, X: Any, y: Any, *, lengths: Any = None, mask: Any = None) -> Self:
        """Learn from labelled sequences.

        Parameters
        ----------
        X
            A list of sequences of numbers, or one array with lengths.
        y
            One label for each sequence, or a list with the labels of each sequence's steps.
        lengths
            Steps of each sequence, where X is one array.
        mask
            In the form of labels by step, which of them count.
        """
        if y is None:
            raise ValueError(
                "TimeDelayClassifier requires y to be passed, but the target y is None."
            )
        sequences = read_series(self, X, lengths, reset=True)
        targets = read_targets(y, sequences, mask)
        used = targets.values if targets.by_step else targets.values[sequences.starts[1:] - 1]
        codes, self.classes_ = encode_classes(self, used)
        if len(self.classes_) < 2:
            (label,) = self.classes_.tolist()
            raise ValueError(f"y has one class alone, {label!r}: there is nothing to tell apart.")
        self._fit_windows(
            sequences,
            targets.taken(codes if targets.by_step else np.repeat(codes, sequences.lengths)),
        )
        return self

    def predict_proba(self, X: Any, lengths: Any = None) -> Any:
        """Return the probability of each class: for each sequence, or for each of its steps.

        Parameters
        ----------
        X, lengths
            Sequences as in `fit`.
        """
        return self._answers(X, lengths, "predict_proba")

    def predict(self, X: Any, lengths: Any = None) -> Any:
        """Return the most probable class of each sequence, or of each of its steps.

        Parameters
        ----------
        X, lengths
            Sequences as in `fit`.
        """
        shares = self.predict_proba(X, lengths)
        if isinstance(shares, list):
            return [self.classes_[part.argmax(axis=1)] for part in shares]
        return self.classes_[shares.argmax(axis=1)]

    def score(self, X: Any, y: Any, *, lengths: Any = None, mask: Any = None) -> float:
        """Return the share of right labels: of sequences, or of their steps that count.

        Parameters
        ----------
        X, y, lengths, mask
            As in `fit`.
        """
        answers = self.predict(X, lengths)
        sequences = read_series(self, X, lengths, reset=False)
        targets = read_targets(y, sequences, mask)
        if not self._by_step:
            return float(np.mean(answers == targets.values[sequences.starts[1:] - 1]))
        flat = np.concatenate(answers) if isinstance(answers, list) else answers
        return float(np.mean((flat == targets.values)[targets.mask]))


class TimeDelayRegressor(_TimeDelay, Regressor):
    r"""Predict numbers by the last inputs of a sequence, delayed and seen all together.

    Parameters
    ----------
    estimator
        What predicts from windows: any regressor; None stands for `MLPRegressor`.
    window_size
        Steps :math:`T` of a window: :math:`x_{t-T+1}, \ldots, x_t`.
    patch_size : int or None
        Where it is set, the first hidden layer of a perceptron sees so many steps of the window at
        a time, with weights that are shared in time.
    n_maps
        Units that look at each of these parts.
    random_state
        Seed of the estimator, where it has one.

    Attributes
    ----------
    estimator_
        The fitted regressor of windows.
    n_features_in_ : int
        Columns of the sequences, or steps where rows of a table are sequences.

    Notes
    -----
    See Alpaydin 11.12.1, fig. 11.20. Before the first step, windows repeat it. The number of a
    whole sequence is the mean over its windows. Sequences come as in `RecurrentRegressor`. Inputs
    and targets are taken as they are: divide those that are far from the unit scale first.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.linear_model import LinearRegression
    >>> from verulam.neural import TimeDelayRegressor, next_steps
    >>> wave = np.sin(np.arange(40) / 3)[:, None]
    >>> net = TimeDelayRegressor(LinearRegression(), window_size=2)
    >>> inputs, targets = next_steps([wave])
    >>> net.fit(inputs, targets, mask=[np.arange(39) > 0])  # the first window is not whole
    TimeDelayRegressor(estimator=LinearRegression(), window_size=2)
    >>> bool(np.isclose(net.predict(inputs)[0][-1], wave[-1]))
    True
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {**_TimeDelay._parameter_constraints}

    @classmethod
    def _example_learners(cls) -> list["TimeDelayRegressor"]:
        return [cls(MLPRegressor(20, max_iter=1000, tol=0.001, learning_rate=0.01), window_size=10)]

    @classmethod
    def _example_data(cls) -> tuple[np.ndarray, np.ndarray]:
        random = np.random.default_rng(0)
        sequences = np.empty(16, dtype=object)
        for place in range(16):
            sequences[place] = random.normal(size=(int(random.integers(3, 8)), 1))
        return sequences, np.array([float(steps.mean()) for steps in sequences])

    def _default(self) -> Any:
        return MLPRegressor()

    @checked_fit_with_parts
    def fit(self, X: Any, y: Any, *, lengths: Any = None, mask: Any = None) -> Self:
        """Learn from sequences with numbers.

        Parameters
        ----------
        X
            A list of sequences of numbers, or one array with lengths.
        y
            One number or row of numbers for each sequence, or a list with those of each sequence's
            steps.
        lengths
            Steps of each sequence, where X is one array.
        mask
            In the form of targets by step, which of them count; others may be missing.
        """
        if y is None:
            raise ValueError(
                "TimeDelayRegressor requires y to be passed, but the target y is None."
            )
        sequences = read_series(self, X, lengths, reset=True)
        targets = step_numbers(read_targets(y, sequences, mask))
        self._fit_windows(sequences, targets)
        return self

    def predict(self, X: Any, lengths: Any = None) -> Any:
        """Return the numbers for each sequence, or for each of its steps.

        Parameters
        ----------
        X, lengths
            Sequences as in `fit`.
        """
        return self._answers(X, lengths, "predict")

    def score(self, X: Any, y: Any, *, lengths: Any = None, mask: Any = None) -> float:
        """Return the share of the variance that is explained, over targets that count.

        Parameters
        ----------
        X, y, lengths, mask
            As in `fit`.
        """
        answers = self.predict(X, lengths)
        sequences = read_series(self, X, lengths, reset=False)
        targets = read_targets(y, sequences, mask)
        counts = targets.mask
        if self._by_step:
            flat = np.concatenate(answers) if isinstance(answers, list) else answers
            answers = flat[counts]
        return float(r2_score(targets.values[counts], answers))
