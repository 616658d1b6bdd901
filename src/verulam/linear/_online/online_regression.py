"""Linear regression one instance at a time."""

from numbers import Integral, Real
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils import Tags

from verulam.base import (
    RANDOM_STATE,
    Interval,
    Regressor,
    Seed,
    StrOptions,
    check_is_fitted,
    checked_fit,
    generator,
    validate_data,
)
from verulam.linear._logistic.gradient_logistic_loops import LINEAR
from verulam.linear._logistic.output_training import (
    DescentPlan,
    loss_value,
    stream_outputs,
    train_outputs,
    warn_unsettled,
)
from verulam.linear._training.perceptrons import RATE, RECORD
from verulam.linear._training.scaling import warn_far_from_line
from verulam.linear._training.single_sample import as_schedule
from verulam.linear._training.tables import row_squares
from verulam.numerics import Schedule, search_then_converge


class OnlineRegression(Regressor):
    r"""Fit a linear function by the least-mean-squares rule, without storing the sample.

    Parameters
    ----------
    learning_rate
        Step size, or a schedule :math:`\eta(k)` of the rows; "auto" is one over the largest squared
        length of a row at first, and falls as :math:`1/k`.
    max_iter
        Most passes over the rows in `fit`.
    tol
        Stop where a pass changes the weights by less than this part of their length; zero takes
        all `max_iter` passes.
    record
        "passes" or "steps" keeps the weights on the way in `trajectory_`.
    random_state
        Seed of the orders of the passes.

    Attributes
    ----------
    coef_ : ndarray of shape (n_features,) or (n_targets, n_features)
        Weights.
    intercept_ : float or ndarray of shape (n_targets,)
        Bias.
    n_iter_ : int
        Passes over the rows.
    converged_ : bool
        Whether the weights settled.
    loss_curve_ : ndarray of shape (n_iter,)
        Half the mean squared residual after each pass; of a stream, that of its last rows.
    trajectory_ : Trajectory or None
        Weights of shape (n_recorded, n_targets, n_features + 1), half the sum of squared
        residuals, and as errors their root mean square.

    Notes
    -----
    .. math:: \Delta w = \eta\, (r - y)\, x

    A constant rate follows a drifting function; a falling one converges to least squares. See
    Alpaydin 11.3 (11.7).

    Examples
    --------
    >>> from verulam.linear import OnlineRegression
    >>> line = OnlineRegression(random_state=0).fit([[0.0], [1.0], [2.0]], [1.0, 3.0, 5.0])
    >>> line.predict([[3.0]]).round(1)
    array([7.])
    """

    _coefficients: np.ndarray
    _plan: DescentPlan
    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "learning_rate": [*RATE, StrOptions({"auto"})],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "tol": [Interval(Real, 0, None, closed="left")],
        "record": RECORD,
        "random_state": RANDOM_STATE,
    }

    def __init__(
        self,
        *,
        learning_rate: float | str | Schedule = "auto",
        max_iter: int = 1000,
        tol: float = 1e-5,
        record: str | None = None,
        random_state: Seed = None,
    ) -> None:
        self.learning_rate = learning_rate
        self.max_iter = max_iter
        self.tol = tol
        self.record = record
        self.random_state = random_state

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = True
        tags.input_tags.sparse = True
        return tags

    @checked_fit
    def fit(self, X: ArrayLike, y: ArrayLike) -> Self:
        """Take passes over the rows in random order until the weights settle."""
        inputs, targets = self._read(X, y, first=True)
        trained = train_outputs(
            inputs, targets, self._coefficients, self._plan, generator(self.random_state)
        )
        self._coefficients, self._seen = trained.coefficients, trained.n_rows
        self.n_iter_, self.converged_ = len(trained.curves), trained.settled
        self.loss_curve_, self.trajectory_ = trained.curves[:, 0], trained.trajectory
        self._set_weights()
        warn_unsettled(self, trained.settled, self._plan)
        warn_far_from_line("OnlineRegression", inputs, targets, 2.0 * self.loss_curve_[-1])
        return self

    @checked_fit
    def partial_fit(self, X: ArrayLike, y: ArrayLike) -> Self:
        """Go once through the rows in their order, from the weights reached so far."""
        inputs, targets = self._read(X, y, first=not hasattr(self, "_coefficients"))
        stream_outputs(inputs, targets, self._coefficients, self._plan, self._seen)
        self._seen += len(targets)
        self.n_iter_ = getattr(self, "n_iter_", 0) + 1
        self.converged_, self.trajectory_ = False, None
        self.loss_curve_ = np.array([loss_value(inputs, targets, self._coefficients, LINEAR)])
        self.loss_curve_ /= len(targets)
        self._set_weights()
        return self

    def _read(self, X: ArrayLike, y: ArrayLike, first: bool) -> tuple[Any, np.ndarray]:
        inputs, targets = validate_data(
            self,
            X,
            y,
            accept_sparse="csr",
            dtype=np.float64,
            order="C",
            y_numeric=True,
            multi_output=True,
            reset=first,
        )
        table = np.asarray(targets, dtype=np.float64).reshape(inputs.shape[0], -1)
        if first:
            self._one_target = targets.ndim == 1
            self._coefficients = np.zeros((table.shape[1], inputs.shape[1] + 1))
            self._seen = 0
            self._plan = DescentPlan(
                kind=LINEAR,
                rate=self._rate(inputs),
                max_iter=self.max_iter,
                tol=self.tol,
                record=self.record,
            )
        return inputs, table

    def _rate(self, inputs: Any) -> Schedule:
        if not isinstance(self.learning_rate, str):
            return as_schedule(self.learning_rate)
        # At this rate a single step brings the longest row onto its target and no further.
        largest = 1.0 + float(row_squares(inputs).max())
        return search_then_converge(1.0 / largest, 2.0 * inputs.shape[0])

    def _set_weights(self) -> None:
        coefficients = self._coefficients
        self.coef_, self.intercept_ = coefficients[:, 1:].copy(), coefficients[:, 0].copy()
        if self._one_target:
            self.coef_, self.intercept_ = self.coef_[0], self.intercept_[0]

    def predict(self, X: ArrayLike) -> np.ndarray:
        """Return the value of the linear function at each row."""
        check_is_fitted(self)
        inputs = validate_data(self, X, accept_sparse="csr", dtype=np.float64, reset=False)
        return inputs @ self.coef_.T + self.intercept_
