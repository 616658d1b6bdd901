"""Evidence of models: exact where a learner has it, by draws otherwise; what follows from it."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike
from scipy.special import logsumexp, softmax

from verulam.base import (
    COUNT,
    FUNCTION,
    LEARNER,
    NONE,
    NUMBER,
    NUMBERS,
    POSITIVE,
    SEED,
    TABLE,
    VECTOR,
    DataError,
    Seed,
    checked_arguments,
    clone,
    generator,
)

#: Words for a Bayes factor, by the least logarithm (Kass and Raftery 1995).
_WORDS = (
    (np.log(150.0), "very strong"),
    (np.log(20.0), "strong"),
    (np.log(3.0), "positive"),
    (0.0, "hardly worth a mention"),
)


@dataclass(frozen=True)
class BayesFactor:
    """How much better one model foretold the data than another.

    Attributes
    ----------
    log_ratio : float
        Logarithm of the ratio of the evidence of the first to that of the second.
    """

    log_ratio: float

    @property
    def ratio(self) -> float:
        """The ratio."""
        return float(np.exp(self.log_ratio))

    @property
    def words(self) -> str:
        """What the ratio amounts to, in words."""
        side = "first" if self.log_ratio >= 0 else "second"
        word = next(word for least, word in _WORDS if abs(self.log_ratio) >= least)
        return f"{word}, for the {side} model"


@checked_arguments(first=NUMBER, second=NUMBER)
def bayes_factor(first: float, second: float) -> BayesFactor:
    """Return the Bayes factor of two models from the logarithms of their evidence.

    Parameters
    ----------
    first, second
        Log-evidence of each model.

    Examples
    --------
    Was the coin fair that showed eight ones in ten? Against a uniform prior of the probability:

    >>> import numpy as np
    >>> from verulam.bayes import BetaBernoulli, bayes_factor
    >>> factor = bayes_factor(BetaBernoulli().log_evidence([1] * 8 + [0] * 2), 10 * np.log(0.5))
    >>> round(factor.ratio, 2), factor.words
    (2.07, 'hardly worth a mention, for the first model')
    """
    if not (np.isfinite(first) and np.isfinite(second)):
        raise DataError(f"both logarithms must be finite; got {first!r} and {second!r}.")
    return BayesFactor(float(first) - float(second))


def model_posterior(
    log_evidence: ArrayLike, priors: ArrayLike | str = "uniform", sizes: ArrayLike | None = None
) -> np.ndarray:
    r"""Return the posterior probability of each model.

    Parameters
    ----------
    log_evidence
        Log-evidence of each model.
    priors
        Prior probability of each model; "uniform", or "simple" for :math:`2^{-s}` with the sizes
        of the models.
    sizes
        Size of each model, such as a number of parameters, for "simple".

    Notes
    -----
    .. math:: P(M_i \mid X) = \frac{p(X \mid M_i)\, P(M_i)}{\sum_j p(X \mid M_j)\, P(M_j)}

    See Alpaydin 16.6 (16.33-16.34).

    Examples
    --------
    >>> from verulam.bayes import model_posterior
    >>> model_posterior([-10.0, -11.0, -14.0]).round(3)
    array([0.721, 0.265, 0.013])
    """
    try:
        heights = np.asarray(log_evidence, dtype=np.float64)
    except (TypeError, ValueError):
        raise DataError(f"log_evidence must be a list of numbers; got {log_evidence!r}.") from None
    if heights.ndim != 1 or not len(heights) or np.isnan(heights).any():
        raise DataError("log_evidence must have a number for each of one model or more.")
    if not np.isfinite(heights.max()):
        raise DataError(
            f"log_evidence must be finite for one model or more, and below infinity for all; "
            f"its largest value is {heights.max()}."
        )
    return np.asarray(softmax(heights + np.log(_prior_shares(priors, sizes, len(heights)))))


@checked_arguments(log_likelihood=FUNCTION, draw_prior=FUNCTION, n_draws=COUNT, random_state=SEED)
def monte_carlo_evidence(
    log_likelihood: Callable[[Any], float],
    draw_prior: Callable[[np.random.Generator], Any],
    *,
    n_draws: int = 10_000,
    random_state: Seed = None,
) -> float:
    r"""Return the log-evidence of any model as an average over its prior.

    Parameters
    ----------
    log_likelihood
        Log-likelihood of a value of the parameter.
    draw_prior
        Function of a generator that draws a parameter from the prior.
    n_draws
        Number of draws.
    random_state
        Seed.

    Notes
    -----
    :math:`p(X) \approx \frac1n \sum_i p(X \mid \theta_i)`; few of many draws count where the data
    say much more than the prior, so that this is for small problems.

    Examples
    --------
    >>> import numpy as np
    >>> from verulam.bayes import BetaBernoulli, monte_carlo_evidence
    >>> data = [1, 1, 0, 1]
    >>> value = monte_carlo_evidence(
    ...     lambda q: 3 * np.log(q) + np.log(1 - q), lambda rng: rng.uniform(), random_state=0
    ... )
    >>> round(value, 1), round(BetaBernoulli().log_evidence(data), 1)
    (-3.0, -3.0)
    """
    if not isinstance(n_draws, int | np.integer) or n_draws < 1:
        raise DataError(f"n_draws must be a whole number above 0; got {n_draws!r}.")
    rng = generator(random_state)
    heights = [float(log_likelihood(draw_prior(rng))) for _ in range(n_draws)]
    return float(logsumexp(heights)) - float(np.log(n_draws))


@checked_arguments(log_likelihood=NUMBER, n_parameters=NUMBER, n_samples=NUMBER)
def bic(log_likelihood: float, n_parameters: float, n_samples: int) -> float:
    r"""Return Schwarz's criterion :math:`\log L - \frac{|M|}{2} \log N`; higher is better.

    Parameters
    ----------
    log_likelihood
        Log-likelihood at its maximum.
    n_parameters
        Number of parameters, or of effective degrees of freedom.
    n_samples
        Number of rows.

    Notes
    -----
    Minus half of what some libraries call BIC. It is Laplace's approximation of the log-evidence
    with all that does not grow with the data left out. See Alpaydin 16.6 (16.35).

    Examples
    --------
    >>> from verulam.bayes import bic
    >>> round(bic(-100.0, n_parameters=3, n_samples=50), 3)
    -105.868
    """
    _check_counts(n_parameters, n_samples)
    return float(log_likelihood - 0.5 * n_parameters * np.log(n_samples))


@checked_arguments(log_likelihood=NUMBER, n_parameters=NUMBER)
def aic(log_likelihood: float, n_parameters: float) -> float:
    r"""Return Akaike's criterion :math:`\log L - |M|`; higher is better.

    Parameters
    ----------
    log_likelihood
        Log-likelihood at its maximum.
    n_parameters
        Number of parameters, or of effective degrees of freedom.

    Notes
    -----
    Minus half of what some libraries call AIC. See Alpaydin 16.6 (16.36).

    Examples
    --------
    >>> from verulam.bayes import aic
    >>> aic(-100.0, n_parameters=3)
    -103.0
    """
    _check_counts(n_parameters, 1)
    return float(log_likelihood - n_parameters)


@checked_arguments(curvature=NUMBERS, alpha=NUMBER)
def effective_degrees(curvature: ArrayLike, alpha: float) -> float:
    r"""Return how many parameters of a shrunken model the data determine.

    Parameters
    ----------
    curvature
        Symmetric matrix of the problem without its penalty: :math:`X^T X` of ridge regression, the
        Gram matrix of a kernel machine, or the Hessian of the error of a network by its weights.
    alpha
        Factor of the penalty, in the same units.

    Notes
    -----
    :math:`\sum_i \lambda_i / (\lambda_i + \alpha)` over the eigenvalues: the trace of the matrix
    that makes predictions of the targets. See Alpaydin 16.6; MacKay (1992).

    Examples
    --------
    >>> from verulam.bayes import effective_degrees
    >>> effective_degrees([[9.0, 0.0], [0.0, 1.0]], alpha=1.0)
    1.4
    """
    matrix = np.asarray(curvature, dtype=np.float64)
    if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1] or not np.isfinite(matrix).all():
        raise DataError(f"curvature must be a square matrix; got shape {matrix.shape}.")
    if not (np.isfinite(alpha) and alpha >= 0):
        raise DataError(f"alpha must be a number of at least 0; got {alpha!r}.")
    values = np.maximum(np.linalg.eigvalsh(0.5 * (matrix + matrix.T)), 0.0)
    # Directions without curvature are not determined, whatever the penalty.
    shares = np.divide(values, values + alpha, out=np.zeros_like(values), where=values > 0)
    return float(shares.sum())


@checked_arguments(learner=LEARNER, X=TABLE, y=VECTOR, step=POSITIVE | NONE)
def generalised_degrees(
    learner: Any, X: ArrayLike, y: ArrayLike, *, step: float | None = None
) -> float:
    r"""Return the degrees of freedom of any regressor: how far predictions follow their targets.

    Parameters
    ----------
    learner
        A regressor, which is fitted once for every row.
    X, y
        Rows and targets.
    step
        How far a target is moved; None for a tenth of their standard deviation.

    Notes
    -----
    :math:`\sum_t \partial \hat y^t / \partial y^t` [ye1998]_, by differences; the trace of the
    smoother where predictions are linear in the targets.

    References
    ----------
    .. [ye1998] J. Ye, "On measuring and correcting the effects of data mining and model selection",
       Journal of the American Statistical Association 93, 1998.

    Examples
    --------
    >>> from sklearn.linear_model import LinearRegression
    >>> from verulam.bayes import generalised_degrees
    >>> X, y = [[0.0], [1.0], [2.0], [5.0]], [0.0, 1.5, 1.0, 4.0]
    >>> round(generalised_degrees(LinearRegression(), X, y), 6)
    2.0
    """
    rows, targets = np.asarray(X, dtype=np.float64), np.asarray(y, dtype=np.float64)
    if targets.ndim != 1 or len(rows) != len(targets) or not len(rows):
        raise DataError("y must have a target for each row of X.")
    width = float(0.1 * targets.std() or 1.0) if step is None else float(step)
    total = 0.0
    for t in range(len(targets)):
        ends = []
        for sign in (-0.5, 0.5):
            moved = targets.copy()
            moved[t] += sign * width
            ends.append(float(clone(learner).fit(rows, moved).predict(rows[t : t + 1])[0]))
        total += (ends[1] - ends[0]) / width
    return total


@checked_arguments(X=TABLE, y=VECTOR)
def compare_models(models: Mapping[Any, Any], X: ArrayLike, y: ArrayLike) -> pd.DataFrame:
    """Fit models and return a table of their likelihoods, criteria and evidence.

    Parameters
    ----------
    models
        Regressors with `log_evidence_`, by name, such as `BayesianLinearRegression` of several
        degrees.
    X, y
        Training data.

    Returns
    -------
    DataFrame
        A row for each model: the log-likelihood at the likeliest weights without a prior, which
        always prefers the richer of two models; AIC, BIC and log-evidence, which need not; and the
        posterior probability of the model.

    Notes
    -----
    See Alpaydin 16.6 and figure 16.8, Bartkowiak 7.8.

    Examples
    --------
    >>> import numpy as np
    >>> from verulam.bayes import BayesianLinearRegression, compare_models
    >>> rng = np.random.default_rng(0)
    >>> X = rng.uniform(-1.0, 1.0, size=(30, 1))
    >>> y = 1.0 + X[:, 0] - 2.0 * X[:, 0] ** 2 + rng.normal(scale=0.3, size=30)
    >>> models = {degree: BayesianLinearRegression(degree=degree) for degree in (1, 2, 3, 6)}
    >>> table = compare_models(models, X, y)
    >>> int(table["log_likelihood"].idxmax()), int(table["log_evidence"].idxmax())
    (6, 2)
    """
    if not isinstance(models, Mapping) or not models:
        raise DataError("models must map one name or more to regressors.")
    rows = {}
    for name, model in models.items():
        fitted = clone(model).fit(X, y)
        if not hasattr(fitted, "log_evidence_"):
            raise DataError(f"the model {name!r} has no evidence; take one with log_evidence_.")
        plain = clone(model).set_params(estimate="ml").fit(X, y)
        # One more is the variance of the noise.
        n_parameters = len(np.ravel(plain.coef_)) + int(model.fit_intercept) + 1
        likelihood = float(plain_log_likelihood(plain, X, y))
        rows[name] = {
            "n_parameters": n_parameters,
            "log_likelihood": likelihood,
            "aic": aic(likelihood, n_parameters),
            "bic": bic(likelihood, n_parameters, len(np.asarray(y))),
            "log_evidence": fitted.log_evidence_,
        }
    table = pd.DataFrame.from_dict(rows, orient="index")
    table["posterior"] = model_posterior(table["log_evidence"].to_numpy())
    return table


def plain_log_likelihood(fitted: Any, X: ArrayLike, y: ArrayLike) -> float:
    """Return the Gaussian log-likelihood of targets, with the variance that makes it highest."""
    residual = np.asarray(y, dtype=np.float64) - fitted.predict(X)
    variance = max(float(residual @ residual) / len(residual), 1e-300)
    return -0.5 * len(residual) * (np.log(2.0 * np.pi * variance) + 1.0)


def _prior_shares(
    priors: ArrayLike | str, sizes: ArrayLike | Sequence[int] | None, n_models: int
) -> np.ndarray:
    if isinstance(priors, str):
        if priors == "uniform":
            return np.full(n_models, 1.0 / n_models)
        if priors == "simple":
            if sizes is None or np.shape(sizes) != (n_models,):
                raise DataError(f'priors "simple" needs the size of each of the {n_models} models.')
            weights = 0.5 ** (np.asarray(sizes, dtype=np.float64) - np.min(sizes))
            return np.asarray(weights / weights.sum())
        raise DataError(f'priors must be "uniform", "simple" or numbers; got {priors!r}.')
    shares = np.asarray(priors, dtype=np.float64)
    if shares.shape != (n_models,) or not (shares > 0).all():
        raise DataError(f"priors must have a number above 0 for each of the {n_models} models.")
    return np.asarray(shares / shares.sum())


def _check_counts(n_parameters: float, n_samples: int) -> None:
    if not n_parameters >= 0:
        raise DataError(f"n_parameters must be at least 0; got {n_parameters!r}.")
    if not n_samples >= 1:
        raise DataError(f"n_samples must be at least 1; got {n_samples!r}.")
