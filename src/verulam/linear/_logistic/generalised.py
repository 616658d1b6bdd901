"""Generalised linear models by iteratively reweighted least squares, multinomial by Newton."""

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from numbers import Integral
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import expit, logit, rel_entr, softmax
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import Tags

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
from verulam.linear._logistic.logistic_problem import LogisticProblem
from verulam.linear._logistic.newton import maximise_likelihood

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
    "multinomial": partial(softmax, axis=1),
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
        the logarithm here, for the canonical reciprocal allows negative means; "multinomial"
        (softmax) for a table of shares or counts, one column for each category.
    max_iter
        Most steps of iteratively reweighted least squares.

    Attributes
    ----------
    coef_ : ndarray of shape (n_features,) or (n_categories, n_features)
        Weights; those of the first category are zero.
    intercept_ : float or ndarray of shape (n_categories,)
        Bias.
    standard_errors_ : ndarray of shape (n_features + 1,) or (n_categories - 1, n_features + 1)
        Standard error of the bias and of each weight.
    deviance_ : float
        Twice the log-likelihood lost against a model with one parameter for each row.
    n_iter_ : int
        Steps taken.

    Notes
    -----
    .. math:: E[r|x] = h(w^T x + w_0)

    Logistic discrimination (`LogisticDiscriminant`) is the Bernoulli member of this family for
    rows of one class each, and with more classes its multinomial one. See Alpaydin 10.10.

    Examples
    --------
    >>> from verulam.linear import GeneralisedLinear
    >>> counts = GeneralisedLinear(family="poisson").fit([[0.0], [1.0], [2.0]], [1, 3, 8])
    >>> counts.predict([[1.0]]).round(2)
    array([2.9])
    >>> votes = [[6, 3, 1], [4, 4, 2], [2, 4, 4]]
    >>> shares = GeneralisedLinear(family="multinomial").fit([[0.0], [1.0], [2.0]], votes)
    >>> shares.predict([[1.0]]).round(2)
    array([[0.39, 0.39, 0.21]])
    """

    intercept_: float | np.ndarray
    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "family": [StrOptions({*_FAMILIES, "multinomial"})],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
    }

    def __init__(self, *, family: str = "gaussian", max_iter: int = 100) -> None:
        self.family = family
        self.max_iter = max_iter

    @classmethod
    def _example_learners(cls) -> list["GeneralisedLinear"]:
        return [cls()]

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = self.family == "multinomial"
        return tags

    @checked_fit
    def fit(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Train on rows `X` with targets `y`, which may have weights."""
        if self.family == "multinomial":
            return self._fit_shares(X, y, sample_weight)
        inputs, targets = validate_data(
            self, X, y, dtype=np.float64, y_numeric=True, ensure_min_samples=2
        )
        weights = check_weights(sample_weight, inputs)
        targets = targets.astype(np.float64)
        self._check(targets, weights)
        # Nothing to regress: the bias alone fits without a residual.
        if np.ptp(targets) == 0:
            return self._keep_constant(float(targets[0]), inputs.shape[1])
        model = self._solve(inputs, targets, weights)
        self.coef_, self.intercept_ = model.params[1:], float(model.params[0])
        self.standard_errors_ = model.bse
        self.deviance_ = float(model.deviance)
        self.n_iter_ = max(1, int(model.fit_history.get("iteration", 1)))
        return self

    def _fit_shares(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None) -> Self:
        inputs, counts = validate_data(
            self, X, y, dtype=np.float64, multi_output=True, ensure_min_samples=2
        )
        weights = check_weights(sample_weight, inputs)
        amounts = _read_counts(counts, weights)
        fit = fit_multinomial(inputs, amounts, weights, self.max_iter)
        self.coef_, self.intercept_ = fit.coefficients[:, 1:], fit.coefficients[:, 0]
        self.standard_errors_ = fit.standard_errors
        self.deviance_, self.n_iter_ = fit.deviance, max(1, fit.n_iter)
        if fit.separated:
            warn_caller(
                "a plane separates the categories, so the likelihood has no maximum and the "
                "weights would grow without end; they were stopped.",
                ConvergenceWarning,
            )
        elif not fit.converged:
            warn_caller(
                f"GeneralisedLinear stopped after {fit.n_iter} steps without converging; raise "
                "max_iter, or scale the inputs.",
                ConvergenceWarning,
            )
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
            fit = model.fit(maxiter=self.max_iter)
        if model.df_model + 1 < design.shape[1]:
            warn_caller(
                "some inputs depend on one another: the shortest of many equal solutions is "
                "taken, and their standard errors mean little.",
                DataWarning,
            )
        return fit

    def predict(self, X: ArrayLike) -> np.ndarray:
        """Return the mean of the distribution at each row."""
        check_is_fitted(self)
        inputs = validate_data(self, X, dtype=np.float64, reset=False)
        outputs = inputs @ self.coef_.T + self.intercept_
        return _MEANS[self.family](outputs)


def _read_counts(counts: Any, weights: np.ndarray | None) -> np.ndarray:
    table = np.asarray(counts)
    if table.ndim != 2 or table.shape[1] < 2 or not np.issubdtype(table.dtype, np.number):
        raise DataError(
            "y must be a table of numbers for the multinomial family, one column of shares or "
            "counts for each category; for one label a row use LogisticDiscriminant."
        )
    table = table.astype(np.float64)
    if (table < 0).any() or not (table.sum(axis=1) > 0).all():
        raise DataError(
            "y must have shares or counts that are not negative, and in each row one above zero, "
            "for the multinomial family."
        )
    if weights is not None and not weights.any():
        raise DataError("sample_weight is zero for every row; at least one must count.")
    empty = np.flatnonzero((table if weights is None else table[weights > 0]).sum(axis=0) == 0)
    if len(empty):
        raise DataError(f"column {empty[0]} of y is zero in every row; leave the category out.")
    return table


@dataclass(frozen=True)
class MultinomialFit:
    """The maximum of a multinomial likelihood.

    Attributes
    ----------
    coefficients : ndarray of shape (n_categories, n_weights)
        Bias and weights of each category; those of the first are zero.
    standard_errors : ndarray of shape (n_categories - 1, n_weights)
        Standard errors of the others.
    deviance
        Twice the log-likelihood lost against the shares themselves.
    n_iter
        Newton steps.
    converged
        Whether the gradient vanished.
    separated
        Whether every row has its only category as the likeliest, so that no likelihood is the
        largest.
    """

    coefficients: np.ndarray
    standard_errors: np.ndarray
    deviance: float
    n_iter: int
    converged: bool
    separated: bool


def fit_multinomial(
    inputs: np.ndarray, counts: np.ndarray, weights: np.ndarray | None, max_iter: int
) -> MultinomialFit:
    """Return the maximum-likelihood weights against the first category.

    Parameters
    ----------
    inputs
        Rows.
    counts
        Count, or share, of each category in each row.
    weights
        Weight of each row, or None.
    max_iter
        Most Newton steps.
    """
    n_categories = counts.shape[1]
    amounts = counts if weights is None else counts * weights[:, None]
    # A row of counts is one row of each category that it has, with the count as its weight.
    rows, codes = np.nonzero(amounts)
    problem = LogisticProblem(inputs[rows], codes, n_categories, amounts[rows, codes], 0.0)
    zeros = np.zeros(problem.shape)
    maximum = maximise_likelihood(problem, zeros, reference=0, max_iter=max_iter)
    coefficients = maximum.coefficients
    # Two categories have one row of coefficients, more have one each; the first is zero.
    full = np.zeros((n_categories, inputs.shape[1] + 1))
    full[1:] = coefficients[-(n_categories - 1) :]
    means = problem.posterior(inputs, coefficients)
    shares = amounts / np.maximum(amounts.sum(axis=1, keepdims=True), 1e-300)
    deviance = 2.0 * float(amounts.sum(axis=1) @ rel_entr(shares, means).sum(axis=1))
    return MultinomialFit(
        full,
        np.sqrt(np.diag(maximum.covariance.matrix)).reshape(n_categories - 1, -1),
        deviance,
        maximum.n_iter,
        maximum.converged,
        problem.separates(coefficients),
    )
