"""Cascade correlation: hidden units added one by one, each frozen once it is trained."""

from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any, ClassVar, Self

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.optimize import minimize
from sklearn.exceptions import ConvergenceWarning

from verulam.base import (
    RANDOM_STATE,
    Classifier,
    DataError,
    DataWarning,
    Interval,
    Regressor,
    Seed,
    check_is_fitted,
    checked_fit,
    encode_classes,
    generator,
    may_end_early,
    numeric_targets,
    one_blas_thread,
    validate_data,
    warn_caller,
)
from verulam.neural._scale import check_scale, scale_advice
from verulam.numerics import log_sum_exp, softmax

Array = NDArray[np.float64]
COUNT = Interval(Integral, 1, None, closed="left")
NOT_NEGATIVE = Interval(Real, 0, None, closed="left")


class CascadeCorrelation:
    """Growing a cascade; learners say what its outputs are."""

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "max_units": [Interval(Integral, 0, None, closed="left")],
        "n_candidates": [COUNT],
        "max_iter": [COUNT],
        "alpha": [NOT_NEGATIVE],
        "goal": [NOT_NEGATIVE],
        "tol": [NOT_NEGATIVE],
        "random_state": RANDOM_STATE,
    }

    max_units: int
    n_candidates: int
    max_iter: int
    alpha: float
    goal: float
    tol: float
    random_state: Seed

    def _errors(self, outputs: Array) -> tuple[float, Array]:
        """Return the mean error of outputs, and its derivative by the outputs of each row."""
        raise NotImplementedError

    # Products of small matrices, one after the other: threads would only wait for one another.
    @one_blas_thread()
    def _grow(self, rows: Array, n_outputs: int) -> None:
        check_scale(self, rows)
        random = generator(self.random_state)
        inputs = np.column_stack([np.ones(len(rows)), rows])
        self.outputs_ = self._trained_outputs(inputs, np.zeros((inputs.shape[1], n_outputs)))
        self.hidden_: list[Array] = []
        loss, residuals = self._errors(inputs @ self.outputs_)
        path, interrupted = [(0, loss, np.nan)], False
        try:
            while loss > self.goal and len(self.hidden_) < self.max_units:
                candidate = self._best_candidate(inputs, residuals, random)
                grown = np.column_stack([inputs, np.tanh(inputs @ candidate.weights)])
                start = np.vstack([self.outputs_, np.zeros((1, n_outputs))])
                outputs = self._trained_outputs(grown, start)
                new_loss, residuals = self._errors(grown @ outputs)
                if loss - new_loss <= self.tol:
                    break
                self.hidden_.append(candidate.weights)
                path.append((len(self.hidden_), new_loss, candidate.covariance))
                inputs, self.outputs_, loss = grown, outputs, new_loss
        except KeyboardInterrupt:
            if not may_end_early():
                raise
            interrupted = True
            # A unit counts once the outputs have learned to use it.
            del self.hidden_[len(self.outputs_) - 1 - rows.shape[1] :]
        self.n_units_ = len(self.hidden_)
        self._path = np.array(path[: self.n_units_ + 1])
        if interrupted:
            words = f"Growing was interrupted; the network is what it was with {self.n_units_} unit"
            warn_caller(f"{words}{'s' * (self.n_units_ != 1)}.", DataWarning)
        elif advice := scale_advice(self, self._rows_of(rows), self._path[-1, 1], settled=True):
            warn_caller(f"The network has hardly learned. {advice}", ConvergenceWarning)

    def _rows_of(self, rows: Array) -> "_Rows":
        """Return the training rows with what they are to give."""
        raise NotImplementedError

    @property
    def path_(self) -> pd.DataFrame:
        """For each number of units: training error, and the covariance of the last one."""
        check_is_fitted(self)
        table = pd.DataFrame(self._path, columns=["units", "loss", "covariance"])
        return table.astype({"units": int})

    def _trained_outputs(self, inputs: Array, start: Array) -> Array:
        """Return the output weights of least error, the hidden units being what they are."""
        shape = start.shape

        def value_and_gradient(flat: Array) -> tuple[float, Array]:
            weights = flat.reshape(shape)
            value, slopes = self._errors(inputs @ weights)
            penalised = weights.copy()
            penalised[0] = 0.0
            share = self.alpha / len(inputs)
            value += 0.5 * share * float((penalised**2).sum())
            return value, (inputs.T @ slopes + share * penalised).ravel()

        options: Any = {"maxiter": self.max_iter}
        end = minimize(
            value_and_gradient, start.ravel(), jac=True, method="L-BFGS-B", options=options
        )
        self.n_iter_ = max(1, int(end.nit))
        return np.asarray(end.x).reshape(shape)

    def _best_candidate(
        self, inputs: Array, residuals: Array, random: np.random.Generator
    ) -> "_Candidate":
        """Return the unit whose output goes most with what is left of the error."""
        centred = residuals - residuals.mean(axis=0)

        def value_and_gradient(weights: Array) -> tuple[float, Array]:
            values = np.tanh(inputs @ weights)
            covariances = (values - values.mean()) @ centred
            signs = np.sign(covariances)
            slopes = (1.0 - values**2) * (centred @ signs)
            return -float(np.abs(covariances).sum()), -(inputs.T @ slopes)

        candidates = []
        for _ in range(self.n_candidates):
            start = random.uniform(-1.0, 1.0, inputs.shape[1])
            end = minimize(
                value_and_gradient, start, jac=True, method="L-BFGS-B",
                options={"maxiter": self.max_iter},
            )  # fmt: skip
            candidates.append(_Candidate(np.asarray(end.x), -float(end.fun)))
        return max(candidates, key=lambda candidate: candidate.covariance)

    def _outputs_for(self, X: Any) -> Array:
        check_is_fitted(self)
        rows = validate_data(self, X, dtype=np.float64, reset=False)
        inputs = np.column_stack([np.ones(len(rows)), rows])
        for weights in self.hidden_:
            inputs = np.column_stack([inputs, np.tanh(inputs @ weights)])
        return inputs @ self.outputs_


@dataclass(frozen=True)
class _Rows:
    """What was learned from, as `scale_advice` asks for it."""

    inputs: Array
    targets: NDArray[Any]
    mass: float
    weights: None = None


@dataclass(frozen=True)
class _Candidate:
    weights: Array
    covariance: float


class CascadeCorrelationClassifier(CascadeCorrelation, Classifier):
    r"""Network for classes that grows unit by unit, each fed by the inputs and all units before.

    A new unit's weights are trained to maximise the covariance of its output :math:`v` with what
    is left of the error at each output :math:`o`,

    .. math:: S = \sum_o \Bigl| \sum_t (v^t - \bar v)(e_o^t - \bar e_o) \Bigr| ,

    then frozen for good; only the weights to the outputs are trained again.

    Parameters
    ----------
    max_units
        Most hidden units.
    n_candidates
        Units that are trained for each place, of which the best is taken.
    max_iter
        Most steps of the search for each unit, and for the outputs.
    alpha
        Weight decay of the output weights.
    goal
        Training error at which growing ends.
    tol
        Growing ends, too, when a unit lowers the training error by no more than this.
    random_state
        Seed of the candidates.

    Attributes
    ----------
    classes_ : ndarray
        Labels, sorted.
    hidden_ : list of ndarray
        Weights of each hidden unit: bias, inputs, units before it.
    outputs_ : ndarray
        Weights to the outputs.
    path_ : DataFrame
        For each number of units: training error, and the covariance of the last one.
    n_units_ : int
        Hidden units.
    n_iter_ : int
        Steps of the last search for the weights to the outputs.

    Notes
    -----
    See Alpaydin 11.9, fig. 11.17, and Fahlman and Lebiere (1990). Units are hyperbolic tangents;
    the error is the cross-entropy of softmax outputs.

    Examples
    --------
    >>> import numpy as np
    >>> from verulam.neural import CascadeCorrelationClassifier
    >>> xor = np.array([[0, 0], [0, 1], [1, 0], [1, 1]])
    >>> net = CascadeCorrelationClassifier(goal=0.01, alpha=0.0, random_state=0)
    >>> net.fit(xor, [0, 1, 1, 0]).predict(xor), net.n_units_
    (array([0, 1, 1, 0]), 1)
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = CascadeCorrelation._parameter_constraints

    def __init__(
        self,
        *,
        max_units: int = 20,
        n_candidates: int = 8,
        max_iter: int = 200,
        alpha: float = 0.001,
        goal: float = 0.05,
        tol: float = 1e-4,
        random_state: Seed = None,
    ) -> None:
        self.max_units = max_units
        self.n_candidates = n_candidates
        self.max_iter = max_iter
        self.alpha = alpha
        self.goal = goal
        self.tol = tol
        self.random_state = random_state

    @classmethod
    def _example_learners(cls) -> list["CascadeCorrelationClassifier"]:
        return [cls(max_units=3, n_candidates=2, max_iter=50)]

    @checked_fit
    def fit(self, X: Any, y: Any) -> Self:
        """Grow and train the network.

        Parameters
        ----------
        X
            Rows of numbers, on a common scale.
        y
            Their classes.
        """
        rows = validate_data(self, X, dtype=np.float64, ensure_min_samples=2)
        codes, self.classes_ = encode_classes(self, y)
        if len(codes) != len(rows):
            raise DataError(f"y has {len(codes)} labels for {len(rows)} rows of X.")
        if len(self.classes_) < 2:
            (label,) = self.classes_.tolist()
            raise ValueError(f"y has one class alone, {label!r}: there is nothing to tell apart.")
        self._indicators = np.eye(len(self.classes_))[codes]
        self._grow(rows, len(self.classes_))
        del self._indicators
        return self

    def _errors(self, outputs: Array) -> tuple[float, Array]:
        n_rows = len(outputs)
        likelihoods = (outputs * self._indicators).sum(axis=1) - log_sum_exp(outputs, axis=1)
        return -float(likelihoods.mean()), (softmax(outputs, axis=1) - self._indicators) / n_rows

    def _rows_of(self, rows: Array) -> _Rows:
        return _Rows(rows, self._indicators.argmax(axis=1), float(len(rows)))

    def predict_proba(self, X: Any) -> Array:
        """Return the probability of each class for each row."""
        return softmax(self._outputs_for(X), axis=1)

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the most probable class of each row."""
        most_probable = np.argmax(self._outputs_for(X), axis=1)
        return self.classes_[most_probable]


class CascadeCorrelationRegressor(CascadeCorrelation, Regressor):
    r"""Network for numbers that grows unit by unit, each fed by the inputs and all units before.

    Units are found as in `CascadeCorrelationClassifier`; the error is
    :math:`\frac{1}{2N} \sum_t (r^t - y^t)^2`.

    Parameters
    ----------
    max_units
        Most hidden units.
    n_candidates
        Units that are trained for each place, of which the best is taken.
    max_iter
        Most steps of the search for each unit, and for the outputs.
    alpha
        Weight decay of the output weights.
    goal
        Training error, as a share of that of the mean, at which growing ends.
    tol
        Growing ends, too, when a unit lowers that share by no more than this.
    random_state
        Seed of the candidates.

    Attributes
    ----------
    hidden_ : list of ndarray
        Weights of each hidden unit: bias, inputs, units before it.
    outputs_ : ndarray
        Weights to the output.
    path_ : DataFrame
        For each number of units: training error as a share, and the covariance of the last one.
    n_units_ : int
        Hidden units.
    n_iter_ : int
        Steps of the last search for the weights to the outputs.

    Examples
    --------
    >>> import numpy as np
    >>> from verulam.neural import CascadeCorrelationRegressor
    >>> x = np.linspace(-3, 3, 80)[:, None]
    >>> net = CascadeCorrelationRegressor(random_state=0).fit(x, np.sin(x[:, 0]))
    >>> bool(net.score(x, np.sin(x[:, 0])) > 0.99)
    True
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = CascadeCorrelation._parameter_constraints

    def __init__(
        self,
        *,
        max_units: int = 20,
        n_candidates: int = 8,
        max_iter: int = 200,
        alpha: float = 0.001,
        goal: float = 0.001,
        tol: float = 1e-4,
        random_state: Seed = None,
    ) -> None:
        self.max_units = max_units
        self.n_candidates = n_candidates
        self.max_iter = max_iter
        self.alpha = alpha
        self.goal = goal
        self.tol = tol
        self.random_state = random_state

    @classmethod
    def _example_learners(cls) -> list["CascadeCorrelationRegressor"]:
        return [cls(max_units=3, n_candidates=2, max_iter=50)]

    @checked_fit
    def fit(self, X: Any, y: Any) -> Self:
        """Grow and train the network.

        Parameters
        ----------
        X
            Rows of numbers, on a common scale.
        y
            Numbers to predict.
        """
        rows = validate_data(self, X, dtype=np.float64)
        targets = numeric_targets(self, y)
        if len(targets) != len(rows):
            raise DataError(f"y has {len(targets)} numbers for {len(rows)} rows of X.")
        self._mean, self._scale = float(targets.mean()), float(targets.std()) or 1.0
        self._targets = ((targets - self._mean) / self._scale)[:, None]
        self._grow(rows, 1)
        del self._targets
        return self

    def _errors(self, outputs: Array) -> tuple[float, Array]:
        # Of standardised targets, so that the error is a share.
        differences = outputs - self._targets
        return float((differences**2).mean()), 2.0 * differences / len(differences)

    def _rows_of(self, rows: Array) -> _Rows:
        # The error is not halved here.
        return _Rows(rows, np.sqrt(2.0) * self._targets, float(len(rows)))

    def predict(self, X: Any) -> Array:
        """Return the number for each row."""
        outputs = self._outputs_for(X)[:, 0]
        return self._mean + self._scale * outputs
