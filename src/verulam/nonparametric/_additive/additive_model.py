"""Additive models: a sum of smooth functions of one input each, by backfitting, with bands."""

import warnings
from collections.abc import Mapping
from dataclasses import dataclass, replace
from numbers import Integral, Real
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.exceptions import ConvergenceWarning

from verulam.base import (
    DataError,
    HasMethods,
    Interval,
    Regressor,
    Seed,
    check_is_fitted,
    checked_fit_with_parts,
    clone,
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
from verulam.nonparametric._smoothing.base import Smoother
from verulam.nonparametric._smoothing.loess import Loess

#: With more rows, the weights of all targets in all fitted values take too long to find.
MOST_ROWS = 2_000


class AdditiveModel(Regressor):
    r"""Predict a sum of smooth functions, one of each input.

    Parameters
    ----------
    smoother
        Any regressor, fitted to one input at a time. None stands for loess with half of the data
        in each neighbourhood, without robust iterations.
    smoothers
        Other regressors for some inputs, by position or column name.
    max_iter
        Largest number of rounds over the inputs.
    tol
        The rounds end when no component moves by more than this share of the targets' standard
        deviation.

    Attributes
    ----------
    inputs_ : ndarray of shape (n_samples, n_features)
        Training inputs.
    targets_ : ndarray of shape (n_samples,)
        Training targets.
    intercept_ : float
        Mean target :math:`\alpha`.
    smoothers_ : list of regressors
        The fitted smoother of each input.
    offsets_ : ndarray of shape (n_features,)
        Mean of each smoother at the training inputs, which is taken away.
    effective_degrees_ : float
        One for the intercept, and the smoothers' effective degrees of freedom less one each; NaN
        where a smoother does not tell.
    change_curve_ : list of float
        Largest move of a component in each round, in standard deviations of the targets.
    n_iter_ : int
        Number of rounds.

    Notes
    -----
    .. math:: \hat g(x) = \alpha + \sum_j \hat g_j(x_j), \qquad \sum_t \hat g_j(x_j^t) = 0

    Backfitting smooths, for one input after the other, what the others leave of the targets,
    until nothing moves [hastie1990]_. See Alpaydin 8.10.

    References
    ----------
    .. [hastie1990] T. Hastie, R. Tibshirani, Generalized Additive Models, Chapman and Hall, 1990.

    Examples
    --------
    >>> import numpy as np
    >>> from verulam.nonparametric import AdditiveModel
    >>> X = np.random.default_rng(0).uniform(-1, 1, size=(200, 2))
    >>> model = AdditiveModel().fit(X, X[:, 0] ** 2 + np.sin(3 * X[:, 1]))
    >>> round(model.score(X, X[:, 0] ** 2 + np.sin(3 * X[:, 1])), 2)
    0.97
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "smoother": [HasMethods(["fit", "predict"]), None],
        "smoothers": [dict, None],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "tol": [Interval(Real, 0, None, closed="left")],
    }

    def __init__(
        self,
        *,
        smoother: Any = None,
        smoothers: Mapping[Any, Any] | None = None,
        max_iter: int = 100,
        tol: float = 1e-4,
    ) -> None:
        self.smoother = smoother
        self.smoothers = smoothers
        self.max_iter = max_iter
        self.tol = tol

    @classmethod
    def _example_learners(cls) -> list["AdditiveModel"]:
        return [cls(tol=0.01)]

    @checked_fit_with_parts
    def fit(self, X: ArrayLike, y: ArrayLike) -> Self:
        """Smooth the inputs in turn until nothing moves."""
        names = list(getattr(X, "columns", []))
        inputs, targets = validate_data(self, X, y, dtype=np.float64, y_numeric=True)
        targets = checked_targets(targets)
        smoothers = self._unfitted(names, inputs.shape[1])
        self.inputs_, self.targets_ = inputs.copy(), targets
        self.intercept_ = float(targets.mean())
        parts = np.zeros(inputs.shape)
        scale = float(targets.std()) or 1.0
        self.change_curve_ = []
        for _ in range(self.max_iter):
            before = parts.copy()
            self.smoothers_, self.offsets_ = backfit_once(
                smoothers, inputs, targets - self.intercept_, parts
            )
            self.change_curve_.append(float(np.abs(parts - before).max()) / scale)
            if self.change_curve_[-1] <= self.tol:
                break
        else:
            if self.tol > 0:
                warnings.warn(
                    f"Backfitting still moved by {self.change_curve_[-1]:.2g} standard deviations "
                    f"after max_iter={self.max_iter}.",
                    ConvergenceWarning,
                    stacklevel=2,
                )
        self.n_iter_ = len(self.change_curve_)
        self.effective_degrees_ = 1.0 + sum(
            _effective_degrees(smoother) - 1.0 for smoother in self.smoothers_
        )
        return self

    def _unfitted(self, names: list[Any], n_columns: int) -> list[Any]:
        """Return the unfitted smoother of each input."""
        common = Loess(span=0.5, n_iter=0) if self.smoother is None else self.smoother
        smoothers = [common] * n_columns
        for key, smoother in (self.smoothers or {}).items():
            place = names.index(key) if key in names else key
            if not isinstance(place, int) or not 0 <= place < n_columns:
                raise DataError(
                    f"smoothers names the input {key!r}; accepted are 0 to {n_columns - 1}"
                    + (f" and {', '.join(map(str, names))}." if names else ".")
                )
            smoothers[place] = smoother
        return smoothers

    def components(self, X: ArrayLike) -> np.ndarray:
        """Return the value of each input's function at each row, one column per input."""
        check_is_fitted(self)
        inputs = validate_data(self, X, dtype=np.float64, reset=False)
        return self._components(inputs)

    def _components(self, inputs: np.ndarray) -> np.ndarray:
        columns = [
            smoother.predict(inputs[:, [place]]) for place, smoother in enumerate(self.smoothers_)
        ]
        return np.column_stack(columns) - self.offsets_

    def component_bands(
        self, X: ArrayLike, *, level: float = 0.95, coverage: Coverage = "pointwise"
    ) -> list[Band]:
        """Return each input's function with confidence limits, the others taken as known.

        Parameters
        ----------
        X
            Inputs.
        level, coverage
            As in the `predict_band` of linear smoothers, which all must be.
        """
        check_is_fitted(self)
        inputs = validate_data(self, X, dtype=np.float64, reset=False)
        bands = []
        for place, smoother in enumerate(self.smoothers_):
            check_linear(smoother, place)
            band = smoother.predict_band(inputs[:, [place]], level=level, coverage=coverage)
            offset = self.offsets_[place]
            moved = {name: getattr(band, name) - offset for name in ("values", "lower", "upper")}
            bands.append(replace(band, **moved))
        return bands

    def predict_band(
        self,
        X: ArrayLike,
        *,
        level: float = 0.95,
        coverage: Coverage = "pointwise",
        random_state: Seed = 0,
    ) -> Band:
        r"""Return the sum of the functions with confidence limits.

        Parameters
        ----------
        X
            Inputs.
        level, coverage, random_state
            As in the `predict_band` of linear smoothers, which all must be.

        Notes
        -----
        Each prediction is a weighted sum of the targets, as one smoother's is, with the weights
        that the rounds of backfitting make: unlike in `component_bands`, no function is taken as
        known. What smoothers chose by the targets, such as robust weights or a penalty, is. Each
        input and round costs :math:`N^3`: seconds for 1000 rows, and no more than 2000 are taken.
        """
        check_is_fitted(self)
        check_band(level, coverage)
        queries = validate_data(self, X, dtype=np.float64, reset=False)
        # As many rounds as the fit took, so that the weights are those of its components.
        linear = additive_weights(self.smoothers_, self.inputs_, self.n_iter_)
        hat = linear.weights(self.inputs_)
        residuals = self.targets_ - self._predicted(self.inputs_)
        noise, degrees = estimate_noise(
            float(np.square(residuals).mean()), len(hat), np.trace(hat), float(np.sum(hat**2))
        )
        factor = band_factor(
            linear.weights,
            self.inputs_,
            queries,
            level=level,
            coverage=coverage,
            degrees=degrees,
            random_state=random_state,
        )
        errors = noise * np.linalg.norm(linear.weights(queries), axis=1)
        return Band.around(self._predicted(queries), errors, noise, degrees, factor, coverage)

    def predict(self, X: ArrayLike) -> np.ndarray:
        """Return the sum of the functions at each row."""
        check_is_fitted(self)
        inputs = validate_data(self, X, dtype=np.float64, reset=False)
        return self._predicted(inputs)

    def _predicted(self, inputs: np.ndarray) -> np.ndarray:
        return self.intercept_ + self._components(inputs).sum(axis=1)


def backfit_once(
    smoothers: list[Any], inputs: np.ndarray, centred: np.ndarray, parts: np.ndarray
) -> tuple[list[Any], np.ndarray]:
    """Smooth what the other inputs leave, for each input in turn, and update `parts` in place.

    Parameters
    ----------
    smoothers
        Unfitted smoother of each input.
    inputs
        Training inputs.
    centred
        Training targets less their mean.
    parts
        Value of each input's function at each row.

    Returns
    -------
    tuple
        The fitted smoothers, and their means at the training inputs.
    """
    fitted, offsets = [], np.zeros(inputs.shape[1])
    total = parts.sum(axis=1)
    for place, smoother in enumerate(smoothers):
        # Partial residuals: what the other components leave of the targets.
        left = centred - total + parts[:, place]
        column = inputs[:, [place]]
        fitted.append(clone(smoother).fit(column, left))
        smooth = fitted[-1].predict(column)
        # Centred, or a constant could move between components and the intercept for ever.
        offsets[place] = smooth.mean()
        total += smooth - offsets[place] - parts[:, place]
        parts[:, place] = smooth - offsets[place]
    return fitted, offsets


def _effective_degrees(smoother: Any) -> float:
    if not hasattr(smoother, "training_smooth"):
        return np.nan
    return float(smoother.training_smooth().effective_degrees)


@dataclass(frozen=True)
class AdditiveWeights:
    """What backfitting does to any targets, with smoothers as they came out.

    Attributes
    ----------
    smoothers
        The fitted smoother of each input.
    means
        For each input, the mean over rows of its smoother's weights of what it smooths.
    left
        For each input, the weights of the targets in what it smooths, which the others leave.
    """

    smoothers: list[Smoother]
    means: list[np.ndarray]
    left: list[np.ndarray]

    def weights(self, queries: np.ndarray) -> np.ndarray:
        """Return the weight of each training target in the prediction at some inputs."""
        total = np.full((len(queries), len(self.left[0])), 1.0 / len(self.left[0]))
        for place, smoother in enumerate(self.smoothers):
            smoothed = smoother.weights(queries[:, [place]])
            total += (smoothed - self.means[place]) @ self.left[place]
        return total


def additive_weights(smoothers: list[Any], inputs: np.ndarray, n_rounds: int) -> AdditiveWeights:
    """Return the weights of the targets after some rounds of backfitting from nothing.

    Parameters
    ----------
    smoothers
        The fitted smoother of each input.
    inputs
        Training inputs.
    n_rounds
        Rounds over the inputs.
    """
    n_rows = len(inputs)
    for place, smoother in enumerate(smoothers):
        check_linear(smoother, place)
    if n_rows > MOST_ROWS:
        raise DataError(
            f"The band of an additive model needs the weights of all {n_rows} targets in each "
            f"other's fit, which is done up to {MOST_ROWS} rows; `component_bands` has no limit."
        )
    hats = [smoother.weights(inputs[:, [place]]) for place, smoother in enumerate(smoothers)]
    means = [hat.mean(axis=0) for hat in hats]
    # The rounds of `backfit_once`, done to matrices that map the targets to each component.
    centred = np.eye(n_rows) - 1.0 / n_rows
    parts = [np.zeros((n_rows, n_rows)) for _ in smoothers]
    left = list(parts)
    total = np.zeros((n_rows, n_rows))
    for _ in range(n_rounds):
        for place, hat in enumerate(hats):
            total -= parts[place]
            left[place] = centred - total
            parts[place] = (hat - means[place]) @ left[place]
            total += parts[place]
    return AdditiveWeights(smoothers, means, left)


def check_linear(smoother: Any, place: int) -> None:
    """Raise where the smoother of an input is no weighted sum of targets that can be asked for."""
    if not (isinstance(smoother, Smoother) and hasattr(smoother, "weights")):
        raise DataError(
            f"{type(smoother).__name__}, the smoother of input {place}, has no "
            "weights of the targets; linear smoothers of this package do."
        )
