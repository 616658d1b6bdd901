"""Generalised linear models by iteratively reweighted least squares, through statsmodels."""

import warnings
from collections.abc import Callable
from numbers import Integral
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import expit, logit

from verulam.base import (
    DataError,
    DataWarning,
    Interval,
    Regressor,
    StrOptions,
    check_is_fitted,
    check_weights,
    checked_fit,
    validate_data,
    warn_caller,
)

_FAMILIES = {
    "gaussian": "Gaussian",
    "bernoulli": "Binomial",
    "poisson": "Poisson",
    "gamma": "Gamma",
}
#: Whether a family can give some values, and which it can, in words.
_SUPPORTS: dict[str, tuple[Callable[[np.ndarray], Any], str]] = {
    "gaussian": (lambda targets: np.isfinite(targets).all(), "any number"),
    "bernoulli": (lambda targets: ((targets >= 0) & (targets <= 1)).all(), "from 0 to 1"),
    "poisson": (lambda targets: (targets >= 0).all(), "not negative"),
    "gamma": (lambda targets: (targets > 0).all(), "positive"),
}
_MEANS: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    "gaussian": lambda values: values,
    "bernoulli": expit,
    "poisson": np.exp,
    "gamma": np.exp,
}
_LINKS: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    "gaussian": lambda means: means,
    "bernoulli": logit,
    "poisson": np.log,
    "gamma": np.log,
}


class GeneralisedLinear(Regressor):
    r"""Regress the mean of a distribution on a linear function, through its canonical link.

    Parameters
    ----------
    family
        "gaussian" (identity), "bernoulli" (logit), "poisson" (logarithm) or "gamma", whose link is
        the logarithm here, for the canonical reciprocal allows negative means.
    max_iter
        Most steps of iteratively reweighted least squares.

    Attributes
    ----------
    coef_ : ndarray of shape (n_features,)
        Weights.
    intercept_ : float
        Bias.
    standard_errors_ : ndarray of shape (n_features + 1,)
        Standard error of the bias and of each weight.
    deviance_ : float
        Twice the log-likelihood lost against a model with one parameter for each row.
    n_iter_ : int
        Steps taken.

    Notes
    -----
    .. math:: E[r|x] = h(w^T x + w_0)

    Logistic discrimination is the Bernoulli member of this family, and softmax its multinomial one
    (`LogisticDiscriminant`). See Alpaydin 10.10.

    Examples
    --------
    >>> from verulam.linear import GeneralisedLinear
    >>> counts = GeneralisedLinear(family="poisson").fit([[0.0], [1.0], [2.0]], [1, 3, 8])
    >>> counts.predict([[1.0]]).round(2)
    array([2.9])
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "family": [StrOptions(set(_FAMILIES))],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
    }

    def __init__(self, *, family: str = "gaussian", max_iter: int = 100) -> None:
        self.family = family
        self.max_iter = max_iter

    @checked_fit
    def fit(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Train on rows `X` with targets `y`, which may have weights."""
        inputs, targets = validate_data(
            self, X, y, dtype=np.float64, y_numeric=True, ensure_min_samples=2
        )
        weights = check_weights(sample_weight, inputs)
        self._check(targets, weights)
        if np.ptp(targets) == 0:
            return self._keep_constant(float(targets[0]), inputs.shape[1])
        found = self._solve(inputs, targets, weights)
        self.coef_, self.intercept_ = found.params[1:], float(found.params[0])
        self.standard_errors_ = found.bse
        self.deviance_ = float(found.deviance)
        self.n_iter_ = max(1, int(found.fit_history.get("iteration", 1)))
        return self

    def _check(self, targets: np.ndarray, weights: np.ndarray | None) -> None:
        allowed, words = _SUPPORTS[self.family]
        if not allowed(targets):
            raise DataError(
                f"y must be {words} for the {self.family} family; it has values from "
                f"{targets.min():.4g} to {targets.max():.4g}."
            )
        if weights is not None and not weights.any():
            raise DataError("sample_weight is zero for every row; at least one must count.")

    def _keep_constant(self, value: float, n_columns: int) -> Self:
        """Predict the only value that the targets have, which fits them without a residual."""
        with np.errstate(divide="ignore"):
            bias = float(_LINKS[self.family](np.array([value]))[0])
        if not np.isfinite(bias):
            raise DataError(
                f"y is {value:g} in every row; the {self.family} family reaches it only with a "
                "bias without bound. Other values are needed too."
            )
        self.coef_, self.intercept_ = np.zeros(n_columns), bias
        self.standard_errors_ = np.zeros(n_columns + 1)
        self.deviance_, self.n_iter_ = 0.0, 1
        return self

    def _solve(self, inputs: np.ndarray, targets: np.ndarray, weights: np.ndarray | None) -> Any:
        import statsmodels.api as sm
        from statsmodels.tools.sm_exceptions import (
            PerfectSeparationWarning,
            SingularMatrixWarning,
        )

        family = getattr(sm.families, _FAMILIES[self.family])
        link = {"link": sm.families.links.Log()} if self.family == "gamma" else {}
        design = np.column_stack([np.ones(len(inputs)), inputs])
        model = sm.GLM(targets, design, family=family(**link), freq_weights=weights)
        with warnings.catch_warnings():
            # A fit without any residual is no fault of a family that is not for classes.
            if self.family != "bernoulli":
                warnings.simplefilter("ignore", PerfectSeparationWarning)
            warnings.simplefilter("ignore", SingularMatrixWarning)
            found = model.fit(maxiter=self.max_iter)
        if model.df_model + 1 < design.shape[1]:
            warn_caller(
                "some inputs depend on one another: the shortest of many equal solutions is "
                "taken, and their standard errors mean little.",
                DataWarning,
            )
        return found

    def predict(self, X: ArrayLike) -> np.ndarray:
        """Return the mean of the distribution at each row."""
        check_is_fitted(self)
        inputs = validate_data(self, X, dtype=np.float64, reset=False)
        return _MEANS[self.family](inputs @ self.coef_ + self.intercept_)
