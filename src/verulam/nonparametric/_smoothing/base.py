"""What all smoothers share: fitting stores, predicting smooths; curves, criteria and bands."""

from dataclasses import dataclass
from typing import Any, Protocol, Self, cast

import numpy as np
from numpy.typing import ArrayLike

from verulam.base import (
    Regressor,
    Seed,
    available_if,
    check_is_fitted,
    checked_fit,
    validate_data,
)
from verulam.nonparametric._neighbours.inputs import checked_targets
from verulam.nonparametric._smoothing.bands import (
    Band,
    Coverage,
    band_factor,
    check_band,
    estimate_noise,
)
from verulam.nonparametric._smoothing.neighbourhoods import LocalValues


@dataclass(frozen=True)
class TrainingSmooth:
    """A smooth at its own training points, with and without each of them.

    Attributes
    ----------
    targets
        Training targets.
    fitted
        The smooth at the training inputs.
    leverage
        Weight of each target in its own fitted value.
    leave_one_out
        The smooth at each training input when its own point is left out.
    """

    targets: np.ndarray
    fitted: np.ndarray
    leverage: np.ndarray
    leave_one_out: np.ndarray

    @property
    def effective_degrees(self) -> float:
        """The sum of the leverages: how many parameters a fit as flexible would have."""
        return float(self.leverage.sum())

    @property
    def training_error(self) -> float:
        """Mean squared residual."""
        return float(np.square(self.targets - self.fitted).mean())

    @property
    def leave_one_out_error(self) -> float:
        """Mean squared error at points left out."""
        return float(np.square(self.targets - self.leave_one_out).mean())

    @property
    def generalised_error(self) -> float:
        """Generalised cross-validation: each leverage replaced by their mean."""
        # A fit with as many degrees as points tells nothing about others.
        free = 1.0 - self.effective_degrees / len(self.targets)
        return np.inf if free < 1e-10 else self.training_error / free**2

    @property
    def corrected_aic(self) -> float:
        """Akaike's criterion with Hurvich, Simonoff and Tsai's correction for smoothers."""
        count, degrees = len(self.targets), self.effective_degrees
        if count - degrees - 2.0 <= 0:
            return np.inf
        penalty = 2.0 * (degrees + 1.0) / (count - degrees - 2.0)
        return float(np.log(max(self.training_error, 1e-300))) + 1.0 + penalty


class SmootherEngine(Protocol):
    """How a smoother computes, once it has its training points."""

    def values(self, queries: np.ndarray, *, with_squares: bool = False) -> LocalValues:
        """Return the smooth at some inputs."""

    def training(self) -> TrainingSmooth:
        """Return the smooth at the training inputs, with and without each point."""


class LinearEngine(SmootherEngine, Protocol):
    """The same where every value is a weighted sum of the targets."""

    def squares(self) -> np.ndarray:
        """Return the sum of squared weights at each training input."""

    def weights(self, queries: np.ndarray) -> np.ndarray:
        """Return the weight of each training target at some inputs."""


def left_out_values(
    targets: np.ndarray, fitted: np.ndarray, leverage: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Return what a linear smoother says without each point, and where it cannot be told.

    Leaving out a point leaves the weights of the others in proportion, so nothing is fitted
    again. Where a point makes up its own fit, this says nothing.
    """
    free = 1.0 - leverage
    unknown = free < 1e-6
    value = (fitted - leverage * targets) / np.where(unknown, 1.0, free)
    return value, unknown


class Smoother(Regressor):
    """A regressor that stores its training points and smooths their targets when asked."""

    #: Whether every value is a weighted sum of the targets.
    _is_linear = True

    @checked_fit
    def fit(self, X: ArrayLike, y: ArrayLike) -> Self:
        """Store the training points."""
        inputs, targets = self._validated(X, y)
        # Copies: later changes to the caller's arrays must not change the model.
        self.inputs_ = inputs.copy()
        self.targets_ = checked_targets(targets)
        self._prepare()
        return self

    def _validated(self, X: Any, y: Any) -> tuple[np.ndarray, np.ndarray]:
        return validate_data(self, X, y, dtype=np.float64, order="C", y_numeric=True)

    def _queries(self, X: ArrayLike) -> np.ndarray:
        check_is_fitted(self)
        return validate_data(self, X, dtype=np.float64, order="C", reset=False)

    def _prepare(self) -> None:
        """Check the parameters against the data, and choose those that are left to the data."""

    def _engine(self) -> SmootherEngine:
        raise NotImplementedError

    def predict(self, X: ArrayLike) -> np.ndarray:
        """Return the smooth at each row."""
        queries = self._queries(X)
        return self._answer(self._engine().values(queries))

    def _answer(self, smooth: LocalValues) -> np.ndarray:
        """Return the values, or NaN where a window is empty and that was asked for."""
        if getattr(self, "empty", "nearest") == "nan":
            return np.where(smooth.empty, np.nan, smooth.values)
        return smooth.values

    def training_smooth(self) -> TrainingSmooth:
        """Return the smooth at the training inputs, with and without each point."""
        check_is_fitted(self)
        return self._engine().training()

    @available_if(lambda smoother: smoother._is_linear)
    def weights(self, X: ArrayLike) -> np.ndarray:
        """Return the weight of each training target (columns) in the smooth at each row."""
        queries = self._queries(X)
        return cast(LinearEngine, self._engine()).weights(queries)

    @available_if(lambda smoother: smoother._is_linear)
    def predict_band(
        self,
        X: ArrayLike,
        *,
        level: float = 0.95,
        coverage: Coverage = "pointwise",
        random_state: Seed = 0,
    ) -> Band:
        r"""Return the smooth with confidence limits.

        Parameters
        ----------
        X
            Inputs.
        level
            Probability with which the limits enclose the mean of the smooth.
        coverage
            Where they enclose it: "pointwise", at each row for itself; "curve", along the whole
            range of one input, by the tube formula; "rows", at all rows of `X` at once, from
            simulated noise and with any number of inputs.
        random_state
            Seed of the noise that is simulated for "rows".

        Notes
        -----
        With weights :math:`l_t(x)` and smoothing matrix :math:`S`, the standard error is
        :math:`\hat\sigma \|l(x)\|`, where :math:`\hat\sigma^2` is the sum of squared residuals
        over :math:`N - 2\,\mathrm{tr}\,S + \mathrm{tr}\,SS^T`. The bias of the smooth is not part
        of it. See Alpaydin 8.11 (exercise 12); for a whole curve [sun1994]_. Where windows have
        edges the weights jump, and the limits of a curve are on the safe side.

        References
        ----------
        .. [sun1994] J. Sun, C. R. Loader, "Simultaneous confidence bands for linear regression
           and smoothing", Annals of Statistics 22, 1994.
        """
        check_band(level, coverage)
        queries = self._queries(X)
        engine = cast(LinearEngine, self._engine())
        smooth = engine.values(queries, with_squares=True)
        noise, degrees = self._noise(engine)
        factor = band_factor(
            engine.weights,
            self.inputs_,
            queries,
            level=level,
            coverage=coverage,
            degrees=degrees,
            random_state=random_state,
        )
        errors = noise * np.sqrt(smooth.squares)
        return Band.around(self._answer(smooth), errors, noise, degrees, factor, coverage)

    def _noise(self, engine: LinearEngine) -> tuple[float, float]:
        """Return the standard deviation of the targets around the smooth, and its degrees."""
        training = engine.training()
        return estimate_noise(
            self._mean_square(training.targets - training.fitted),
            len(training.targets),
            training.effective_degrees,
            float(engine.squares().sum()),
        )

    def _mean_square(self, residuals: np.ndarray) -> float:
        """Return the mean squared residual, or what stands for it where some are outliers."""
        return float(np.square(residuals).mean())
