"""Additive models: a sum of smooth functions of one input each, by backfitting."""

import warnings
from collections.abc import Mapping
from dataclasses import replace
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
from verulam.nonparametric._additive.additive_bands import additive_weights, check_linear
from verulam.nonparametric._neighbours.inputs import checked_targets
from verulam.nonparametric._smoothing.bands import (
    Band,
    Coverage,
    band_factor,
    check_band,
    estimate_noise,
)
from verulam.nonparametric._smoothing.loess import Loess


class AdditiveModel(Regressor):
    r"""Predict a sum of smooth functions, one of each input.

    Parameters
    ----------
    smoother
        Any regressor, fitted to one input at a time. None stands for loess with half of the data
        in each neighbourhood, without robust iterations.
    smoothers
        Other regressors for some inputs, by position or column name.
    n_iterations
        Largest number of rounds over the inputs.
    tolerance
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
        "n_iterations": [Interval(Integral, 1, None, closed="left")],
        "tolerance": [Interval(Real, 0, None, closed="left")],
    }

    def __init__(
        self,
        *,
        smoother: Any = None,
        smoothers: Mapping[Any, Any] | None = None,
        n_iterations: int = 100,
        tolerance: float = 1e-4,
    ) -> None:
        self.smoother = smoother
        self.smoothers = smoothers
        self.n_iterations = n_iterations
        self.tolerance = tolerance

    @classmethod
    def _example_learners(cls) -> list["AdditiveModel"]:
        return [cls(tolerance=0.01)]

    @checked_fit_with_parts
    def fit(self, X: ArrayLike, y: ArrayLike) -> Self:
        """Smooth the inputs in turn until nothing moves."""
        names = list(getattr(X, "columns", []))
        inputs, targets = validate_data(self, X, y, dtype=np.float64, y_numeric=True)
        targets = checked_targets(targets)
        chosen = self._choose(names, inputs.shape[1])
        self.inputs_, self.targets_ = inputs.copy(), targets
        self.intercept_ = float(targets.mean())
        parts = np.zeros(inputs.shape)
        scale = float(targets.std()) or 1.0
        self.change_curve_ = []
        for _ in range(self.n_iterations):
            before = parts.copy()
            self.smoothers_, self.offsets_ = backfit_once(
                chosen, inputs, targets - self.intercept_, parts
            )
            self.change_curve_.append(float(np.abs(parts - before).max()) / scale)
            if self.change_curve_[-1] <= self.tolerance:
                break
        else:
            if self.tolerance > 0:
                warnings.warn(
                    f"Backfitting still moved by {self.change_curve_[-1]:.2g} standard deviations "
                    f"after n_iterations={self.n_iterations}.",
                    ConvergenceWarning,
                    stacklevel=2,
                )
        self.n_iter_ = len(self.change_curve_)
        self.effective_degrees_ = 1.0 + sum(
            _effective_degrees(smoother) - 1.0 for smoother in self.smoothers_
        )
        return self

    def _choose(self, names: list[Any], n_columns: int) -> list[Any]:
        """Return the unfitted smoother of each input."""
        common = Loess(span=0.5, n_iterations=0) if self.smoother is None else self.smoother
        chosen = [common] * n_columns
        for key, smoother in (self.smoothers or {}).items():
            place = names.index(key) if key in names else key
            if not isinstance(place, int) or not 0 <= place < n_columns:
                raise DataError(
                    f"smoothers names the input {key!r}; accepted are 0 to {n_columns - 1}"
                    + (f" and {', '.join(map(str, names))}." if names else ".")
                )
            chosen[place] = smoother
        return chosen

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
        found = additive_weights(self.smoothers_, self.inputs_, self.n_iter_)
        fit = found.weights(self.inputs_)
        residuals = self.targets_ - self._predicted(self.inputs_)
        noise, degrees = estimate_noise(
            float(np.square(residuals).mean()), len(fit), np.trace(fit), float(np.sum(fit**2))
        )
        factor = band_factor(
            found.weights,
            self.inputs_,
            queries,
            level=level,
            coverage=coverage,
            degrees=degrees,
            random_state=random_state,
        )
        errors = noise * np.linalg.norm(found.weights(queries), axis=1)
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
        left = centred - total + parts[:, place]
        column = inputs[:, [place]]
        fitted.append(clone(smoother).fit(column, left))
        smooth = fitted[-1].predict(column)
        offsets[place] = smooth.mean()
        total += smooth - offsets[place] - parts[:, place]
        parts[:, place] = smooth - offsets[place]
    return fitted, offsets


def _effective_degrees(smoother: Any) -> float:
    if not hasattr(smoother, "training_smooth"):
        return np.nan
    return float(smoother.training_smooth().effective_degrees)
