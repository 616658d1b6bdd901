"""Averages over models: over their kinds, or over the parameters of their priors."""

from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike

from verulam.base import (
    DataError,
    MetaEstimatorMixin,
    StrOptions,
    check_is_fitted,
    checked_fit_with_parts,
    clone,
    validate_data,
)
from verulam.bayes._evidence.evidence import model_posterior
from verulam.bayes._regression.linear import BayesianLinearRegression
from verulam.bayes._regression.predictions import Predictions, PredictsDistributions

#: Degrees of the polynomials that are averaged where no models are named.
_DEGREES = (1, 2, 3)


class BayesianModelAverage(MetaEstimatorMixin, PredictsDistributions):
    r"""Average the predictions of several models, each with its posterior probability.

    Parameters
    ----------
    estimators
        Regressors with a `log_evidence_` and `predict_distribution`: models of several kinds, such
        as polynomials of several degrees, or one with several values of a parameter of its prior
        (Level II). None takes `BayesianLinearRegression` of degrees 1 to 3.
    priors
        Prior probability of each model, "uniform", or "simple" for :math:`2^{-s}` with the number
        of weights as size.

    Attributes
    ----------
    estimators_ : list
        The fitted models.
    probabilities_ : ndarray of shape (n_models,)
        Posterior probability of each model.
    log_evidence_ : float
        Log-evidence of the average, that is of the models together.

    Notes
    -----
    .. math:: p(r' \mid x', X) = \sum_i p(r' \mid x', X, M_i)\, P(M_i \mid X)

    is a mixture, whose variance is the mean of the variances and the variance of the means. For a
    parameter :math:`\alpha` of a prior the weights must be :math:`p(\alpha \mid X) \propto p(X \mid
    \alpha)\, p(\alpha)`, where the text prints :math:`p(\alpha)`. See Alpaydin 16.5 and 16.6
    (16.33-16.34).

    Examples
    --------
    >>> import numpy as np
    >>> from verulam.bayes import BayesianModelAverage
    >>> rng = np.random.default_rng(0)
    >>> X = rng.uniform(-1.0, 1.0, size=(30, 1))
    >>> y = X[:, 0] ** 2 + rng.normal(scale=0.1, size=30)
    >>> average = BayesianModelAverage().fit(X, y)
    >>> average.probabilities_.round(2)
    array([0.  , 0.81, 0.19])
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "estimators": [list, tuple, None],
        "priors": ["array-like", StrOptions({"uniform", "simple"})],
    }

    def __init__(
        self, estimators: list[Any] | None = None, *, priors: ArrayLike | str = "uniform"
    ) -> None:
        self.estimators = estimators
        self.priors = priors

    @checked_fit_with_parts
    def fit(self, X: ArrayLike, y: ArrayLike) -> Self:
        """Fit every model, and weigh them by their evidence."""
        inputs, targets = validate_data(self, X, y, dtype=np.float64, order="C", y_numeric=True)
        models = (
            [BayesianLinearRegression(degree=degree) for degree in _DEGREES]
            if self.estimators is None
            else list(self.estimators)
        )
        if not models:
            raise DataError("estimators must have one model or more.")
        for model in models:
            if isinstance(model, type) or not hasattr(model, "fit"):
                raise DataError(
                    f"estimators: expected regressors, such as BayesianLinearRegression(), and one "
                    f"of them is {model!r}."
                )
        self.estimators_ = [clone(model).fit(inputs, targets) for model in models]
        heights = []
        for model in self.estimators_:
            if not (hasattr(model, "log_evidence_") and hasattr(model, "predict_distribution")):
                raise DataError(
                    f"estimators: {type(model).__name__} has no log_evidence_ or no "
                    "predict_distribution, and cannot be averaged."
                )
            heights.append(float(model.log_evidence_))
        if np.isnan(heights).any():
            raise DataError('estimators: models with estimate="ml" have no evidence.')
        sizes = [np.size(getattr(model, "coef_", 0)) for model in self.estimators_]
        self.probabilities_ = model_posterior(heights, self.priors, sizes)
        # Prior shares are what the posterior has when all models foretell alike.
        shares = model_posterior(np.zeros(len(heights)), self.priors, sizes)
        self.log_evidence_ = float(np.logaddexp.reduce(np.array(heights) + np.log(shares)))
        return self

    def predict_distribution(self, X: ArrayLike) -> Predictions:
        """Return the mixture of the models' distributions for each row."""
        check_is_fitted(self)
        inputs = validate_data(self, X, dtype=np.float64, order="C", reset=False)
        parts = [model.predict_distribution(inputs) for model in self.estimators_]
        weights = [
            part.weights * share for part, share in zip(parts, self.probabilities_, strict=True)
        ]
        return Predictions(
            np.concatenate([part.locations for part in parts]),
            np.concatenate([part.scales for part in parts]),
            np.concatenate([part.df for part in parts]),
            np.concatenate(weights),
        )
