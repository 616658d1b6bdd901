"""What local learners share: reading rows, training by descent, watching it, predicting."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any, ClassVar, Self

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import check_array

from verulam.base import (
    RANDOM_STATE,
    DataError,
    Interval,
    Seed,
    StrOptions,
    check_is_fitted,
    check_weights,
    checked_fit,
    column_or_1d,
    encode_classes,
    map_rows,
    one_blas_thread,
    spawn_seeds,
    validate_data,
    warn_caller,
)
from verulam.local._radial.mixing import Targets
from verulam.local._radial.objective import LocalError, LocalModel
from verulam.local._radial.units import FloatArray
from verulam.numerics import (
    SEARCHES,
    AdaptiveRate,
    Epoch,
    History,
    RuleMemory,
    Schedule,
    Stopping,
    rule_of,
    train,
    train_by_search,
)

POSITIVE = Interval(Real, 0, None, closed="neither")
COUNT = Interval(Integral, 1, None, closed="left")
#: Rows of a step where nothing else is said.
BATCH = 32


@dataclass(frozen=True, eq=False)
class TrainingRows:
    """Rows as a model sees them.

    Attributes
    ----------
    inputs
        Columns moved to the origin and divided by their scale.
    targets
        Classes, or numbers with mean 0 and deviation 1.
    weights
        Weights of the rows, or None.
    """

    inputs: FloatArray
    targets: Targets
    weights: FloatArray | None


def mean_and_spread(X: FloatArray, weights: FloatArray | None) -> tuple[FloatArray, FloatArray]:
    """Return the means of columns and their standard deviations, 1 where a column is constant."""
    mean = np.average(X, axis=0, weights=weights)
    spread = np.sqrt(np.average((X - mean) ** 2, axis=0, weights=weights))
    # Rounding leaves a hair of deviation in equal numbers.
    return mean, np.where(spread <= 1e-12 * np.abs(mean), 1.0, spread)


def usable_weights(sample_weight: Any, rows: FloatArray) -> FloatArray | None:
    """Return the weights of the rows, or None where all count alike."""
    weights = check_weights(sample_weight, rows)
    if weights is not None and not weights.sum() > 0:
        raise DataError("sample_weight: all weights are zero; at least one must be positive.")
    return weights


def check_lengths(targets: NDArray[Any], rows: FloatArray) -> None:
    """Raise where there is not one target for each row."""
    if len(targets) != len(rows):
        raise DataError(f"y has {len(targets)} entries for {len(rows)} rows of X.")


class LocalLearner:
    """A local model trained by descent or by expectation-maximisation.

    Subclasses set `_epochs_of`, which trains on rows while somebody watches.
    """

    _training_constraints: ClassVar[dict[str, Any]] = {
        "alpha": [Interval(Real, 0, None, closed="left")],
        "noise_scale": [POSITIVE, StrOptions({"learned"})],
        "solver": [StrOptions({"adam", "sgd", *SEARCHES})],
        "learning_rate": [POSITIVE, Schedule, AdaptiveRate],
        "momentum": [Interval(Real, 0, 1, closed="left")],
        "batch_size": [COUNT, StrOptions({"all"})],
        "max_iter": [COUNT],
        "tol": [Interval(Real, 0, None, closed="left")],
        "n_iter_no_change": [COUNT],
        "n_init": [COUNT],
        "random_state": RANDOM_STATE,
    }

    alpha: float
    noise_scale: float | str
    solver: str
    learning_rate: float | Schedule | AdaptiveRate
    momentum: float
    batch_size: int | str
    max_iter: int
    tol: float
    n_iter_no_change: int
    n_init: int
    random_state: Seed

    model_: LocalModel
    parameters_: FloatArray

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "model_")

    def _frame(self, X: FloatArray, weights: FloatArray | None) -> tuple[FloatArray, Any]:
        """Return where columns begin and what they are divided by, for training."""
        raise NotImplementedError

    def _epochs_of(self, rows: TrainingRows, seed: int) -> Iterator[Epoch]:
        """Start a model on rows, train it, and yield after each epoch."""
        raise NotImplementedError

    def _read_targets(self, y: Any, rows: FloatArray, weights: FloatArray | None) -> Targets:
        """Return the targets as a model takes them, and remember their scale or classes."""
        raise NotImplementedError

    def _read(self, X: Any, *, reset: bool) -> FloatArray:
        rows: FloatArray = validate_data(self, X, dtype=np.float64, order="C", reset=reset)
        return rows

    def _training_rows(self, X: Any, y: Any, sample_weight: Any) -> TrainingRows:
        for name in ("model_", "_history", "_joint_curve"):
            vars(self).pop(name, None)
        rows = self._read(X, reset=True)
        weights = usable_weights(sample_weight, rows)
        targets = self._read_targets(y, rows, weights)
        self._origin, self._scale = self._frame(rows, weights)
        return TrainingRows((rows - self._origin) / self._scale, targets, weights)

    @checked_fit
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Train the model: the best of `n_init` starts.

        Parameters
        ----------
        X
            Rows of numbers.
        y
            Their classes, or numbers to predict: one for each row, or a column for each target.
        sample_weight
            Weights of the rows.
        """
        rows = self._training_rows(X, y, sample_weight)
        best: dict[str, Any] | None = None
        with one_blas_thread():
            for seed in spawn_seeds(self.random_state, int(self.n_init)):
                for _ in self._epochs_of(rows, seed):
                    pass
                if best is None or self.loss_ < best["loss_"]:
                    best = dict(vars(self))
        vars(self).update(best or {})
        if self._settled is False:
            warn_caller(
                f"Training ended at max_iter={self.max_iter} before the error had settled; raise "
                "max_iter, or tol.",
                ConvergenceWarning,
            )
        return self

    def epochs(self, X: Any, y: Any, sample_weight: Any = None) -> Iterator[Epoch]:
        """Train while somebody watches: yield after each epoch or step.

        The learner can be used between epochs; ending the loop ends the training. Only the first
        of `n_init` starts is trained. Solvers that use all rows at once run to their end first.

        Parameters
        ----------
        X, y, sample_weight
            As for `fit`.
        """
        self._validate_params()  # type: ignore[attr-defined]
        rows = self._training_rows(X, y, sample_weight)
        yield from self._epochs_of(rows, spawn_seeds(self.random_state, 1)[0])

    @contextmanager
    def _kept(self, error: LocalError, theta: FloatArray) -> Iterator[None]:
        """Hold a model from the first epoch on, and conclude when training ends or is ended."""
        self.model_, self.parameters_ = error.model, theta
        self._history, self._settled = History(), True
        self._joint_curve: list[float] = []
        try:
            yield
        finally:
            if error.bounds is not None:
                np.clip(theta, *error.bounds, out=theta)
            # What is solved for takes one step.
            self.n_iter_ = max(1, len(self._history) + len(self._joint_curve))
            self.loss_ = error.value_and_gradient(theta)[0]

    def _descend(self, error: LocalError, theta: FloatArray, seed: int) -> Iterator[Epoch]:
        """Train by descent, in place."""
        stopping = Stopping(int(self.max_iter), float(self.tol), int(self.n_iter_no_change))
        if self.solver in SEARCHES:
            yield from train_by_search(error, theta, self.solver, stopping, None, self._history)
        else:
            rule = rule_of(self.solver, self.learning_rate, self.momentum, False)
            batch = error.n_rows if self.batch_size == "all" else int(self.batch_size)
            yield from train(
                error,
                theta,
                RuleMemory.of(rule, theta),
                batch_size=min(batch, error.n_rows),
                stopping=stopping,
                shuffle=np.random.default_rng(seed),
                learning_rate=self.learning_rate,
                history=self._history,
            )
        losses, idle = self._history.losses, int(self.n_iter_no_change)
        # A search may creep along a valley whose floor is level.
        level = len(losses) > idle and losses[-1 - idle] - losses[-1] <= idle * float(self.tol)
        self._settled = len(losses) < int(self.max_iter) or level

    def _expect(self, maximiser: Any, theta: FloatArray, start: FloatArray) -> Iterator[Epoch]:
        """Train by expectation-maximisation, in place."""
        mass = float(start.shape[0])
        for objective in maximiser.steps(theta, start, int(self.max_iter), float(self.tol)):
            self._joint_curve.append(objective)
            norm = float(np.linalg.norm(theta))
            yield Epoch(len(self._joint_curve), -objective / mass, np.nan, np.nan, norm)
        self._settled = len(self._joint_curve) < int(self.max_iter)

    def _first_noise(self) -> float:
        """Return the logarithm of the noise at the start, for targets with deviation 1."""
        if isinstance(self.noise_scale, str):
            return 0.0
        return float(np.log(self.noise_scale / getattr(self, "_target_scale", np.ones(1)).mean()))

    def _decay(self, model: LocalModel, mass: float, penalised: NDArray[np.bool_]) -> Any:
        """Return the factors of the penalty on some parameters."""
        return penalised * (float(self.alpha) / mass) if self.alpha else None

    @property
    def history_(self) -> pd.DataFrame:
        """A row for each epoch of descent: error, learning rate, length of the parameters."""
        check_is_fitted(self)
        return self._history.to_frame().drop(columns="validation_loss")

    @property
    def log_likelihoods_(self) -> NDArray[np.float64]:
        """What each step of expectation-maximisation reached."""
        check_is_fitted(self)
        return np.array(self._joint_curve, dtype=np.float64)

    @property
    def n_parameters_(self) -> int:
        """Numbers that training has chosen."""
        check_is_fitted(self)
        return self.model_.n_parameters - self._n_idle

    #: Parameters of the model that are held fixed.
    _n_idle = 0

    def _mapped(self, X: Any, function: Any, shape: tuple[int, ...]) -> FloatArray:
        """Return a function of rows as the model sees them, part by part."""
        check_is_fitted(self)
        rows = self._read(X, reset=False)

        def of_part(part: FloatArray) -> FloatArray:
            return function((part - self._origin) / self._scale)

        return map_rows(of_part, rows, (len(rows), *shape))

    def _predictions(self, X: Any) -> FloatArray:
        check_is_fitted(self)
        n_outputs = self.model_.n_outputs
        return self._mapped(
            X, lambda part: self.model_.predictions(self.parameters_, part), (n_outputs,)
        )


class ClassTargets:
    """Targets that are classes."""

    classes_: NDArray[Any]

    def _read_targets(self, y: Any, rows: FloatArray, weights: FloatArray | None) -> Targets:
        codes, self.classes_ = encode_classes(self, y)
        if len(self.classes_) < 2:
            (label,) = self.classes_.tolist()
            raise ValueError(f"y has one class alone, {label!r}: there is nothing to tell apart.")
        check_lengths(codes, rows)
        return Targets(np.eye(len(self.classes_))[codes], True)

    def predict_proba(self, X: Any) -> FloatArray:
        """Return the probability of each class for each row."""
        return self._predictions(X)  # type: ignore[attr-defined]

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the most probable class of each row."""
        most_probable = np.argmax(self.predict_proba(X), axis=1)
        return self.classes_[most_probable]


class NumberTargets:
    """Targets that are numbers: one for each row, or several."""

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()  # type: ignore[misc]
        tags.target_tags.multi_output = True
        return tags

    def _read_targets(self, y: Any, rows: FloatArray, weights: FloatArray | None) -> Targets:
        if y is None:
            raise ValueError(
                f"{type(self).__name__} requires y to be passed, but the target y is None."
            )
        numbers = check_array(
            y, dtype=np.float64, ensure_2d=False, input_name="y", ensure_min_samples=0
        )
        if numbers.ndim == 2 and numbers.shape[1] == 1:
            column_or_1d(y, warn=True)
        self._single = numbers.ndim == 1 or numbers.shape[1] == 1
        numbers = numbers.reshape(len(numbers), -1)
        check_lengths(numbers, rows)
        self._target_origin, self._target_scale = mean_and_spread(numbers, weights)
        return Targets((numbers - self._target_origin) / self._target_scale, False)

    def predict(self, X: Any) -> FloatArray:
        """Return the numbers for each row; a table where there are several targets."""
        scaled = self._predictions(X)  # type: ignore[attr-defined]
        numbers = scaled * self._target_scale + self._target_origin
        return numbers[:, 0] if self._single else numbers
