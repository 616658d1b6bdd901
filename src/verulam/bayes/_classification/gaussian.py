"""Classes with Gaussian densities whose parameters are averaged out."""

from dataclasses import dataclass
from numbers import Real
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from verulam.base import (
    ByClass,
    Chunk,
    Classifier,
    DataError,
    Interval,
    OnePassClassifier,
    StrOptions,
    check_is_fitted,
    validate_data,
)
from verulam.bayes._families.conjugate import Conjugate
from verulam.bayes._families.gaussian import GaussianMean, NormalGamma
from verulam.bayes._families.wishart import NormalWishart
from verulam.numerics import (
    DiagonalMoments,
    FullMoments,
    PosteriorMixin,
    diagonal_moments,
    full_moments,
    overall_moments,
)

#: Variances are taken to be no less than this share of the mean variance of all columns.
_LEAST_VARIANCE = 1e-9


@dataclass(frozen=True, eq=False)
class BayesianClasses:
    """The fitted parameters, named as the attributes of the classifier."""

    priors: np.ndarray
    prior_means: np.ndarray
    prior_variances: np.ndarray
    densities: list[list[Any]]


class BayesianGaussianClassifier(PosteriorMixin, OnePassClassifier, Classifier):
    r"""Choose the class under whose Gaussian, averaged over its posterior, a row is likeliest.

    Parameters
    ----------
    estimate
        "full" takes the predictive density of each class; "map" plugs in the likeliest parameters;
        "ml" those of maximum likelihood, without a prior.
    density
        What is unknown of a class: "gaussian": the mean of each column, whose variance within
        classes is taken as known, so that predictive densities are Gaussian; "t": mean and variance
        of each column (Student's t); "multivariate_t": mean vector and covariance matrix.
    kappa
        Imaginary rows behind the prior mean of each class, which is the mean of all rows.
    df
        Imaginary rows behind the prior variances; with "multivariate_t" as many more as there are
        columns less one.
    priors
        Prior of each class in the order of the sorted labels, "equal", or None for the shares in
        the training data.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        Sorted class labels.
    priors_ : ndarray of shape (n_classes,)
        Class priors.
    prior_means_ : ndarray of shape (n_features,)
        Prior mean of each column: the mean of all rows.
    prior_variances_ : ndarray of shape (n_features,)
        Prior variance of each column: that within classes.
    densities_ : list of lists
        Density of each class: one for each column, or one for all.
    statistics_ : ByClass
        Sums over the training data, to which `partial_fit` adds.

    Notes
    -----
    .. math:: P(C_i \mid x, X) \propto p(x \mid X_i)\, P(C_i), \qquad
        p(x \mid X_i) = \int p(x \mid \theta_i)\, p(\theta_i \mid X_i)\, d\theta_i

    With many rows this comes to naive Bayes or quadratic discriminants; with few, a class of which
    little is known has wide tails. See Alpaydin 16.3.1.

    Examples
    --------
    >>> from verulam.bayes import BayesianGaussianClassifier
    >>> X, y = [[0.0], [1.0], [5.0], [6.0], [7.0]], list("aabbb")
    >>> BayesianGaussianClassifier().fit(X, y).predict_proba([[2.0], [3.2]]).round(2)
    array([[0.93, 0.07],
           [0.48, 0.52]])
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "estimate": [StrOptions({"ml", "map", "full"})],
        "density": [StrOptions({"gaussian", "t", "multivariate_t"})],
        "kappa": [Interval(Real, 0, None, closed="neither")],
        "df": [Interval(Real, 0, None, closed="neither")],
        "priors": ["array-like", StrOptions({"equal"}), None],
    }

    def __init__(
        self,
        *,
        estimate: str = "full",
        density: str = "t",
        kappa: float = 0.1,
        df: float = 1.0,
        priors: ArrayLike | str | None = None,
    ) -> None:
        self.estimate = estimate
        self.density = density
        self.kappa = kappa
        self.df = df
        self.priors = priors

    def _statistics(self, chunk: Chunk, parameters: None) -> ByClass[Any]:
        assert chunk.targets is not None
        assert chunk.classes is not None
        moments = full_moments if self.density == "multivariate_t" else diagonal_moments
        return ByClass(
            chunk.classes, moments(chunk.inputs, chunk.targets, chunk.weights, len(chunk.classes))
        )

    def _update(self, statistics: ByClass[Any]) -> BayesianClasses:
        moments = statistics.statistics
        full = isinstance(moments, FullMoments)
        weight = moments.weight[:, None] if full else moments.weight
        mean, _ = overall_moments(weight, moments.mean)
        scatter = np.einsum("kii->i", moments.scatter) if full else moments.scatter.sum(axis=0)
        variances = scatter / weight.sum(axis=0)
        # A column that is constant within classes has no variance to learn from.
        floor = _LEAST_VARIANCE * max(float(variances.mean()), float(np.abs(mean).max()) ** 2)
        variances = np.maximum(variances, max(floor, 1e-200))
        self._joint = full
        densities = [self._class_densities(moments, k, mean, variances) for k in range(len(weight))]
        return BayesianClasses(self._shares(weight[:, 0]), mean, variances, densities)

    def _class_densities(
        self,
        moments: FullMoments | DiagonalMoments,
        k: int,
        mean: np.ndarray,
        variances: np.ndarray,
    ) -> list[Any]:
        """Return the densities of a class: one for each column, or one for all."""
        if isinstance(moments, FullMoments):
            family = NormalWishart.from_covariance(
                mean, self.kappa, self.df + len(mean) - 1.0, np.diag(variances)
            )
            record = FullMoments(
                moments.weight[k : k + 1], moments.mean[k : k + 1], moments.scatter[k : k + 1]
            )
            return [self._learned(family, record)]
        return [
            self._learned(
                self._column_family(mean[j], variances[j]),
                FullMoments(
                    moments.weight[k : k + 1, j],
                    moments.mean[k : k + 1, j : j + 1],
                    moments.scatter[k : k + 1, j : j + 1, None],
                ),
            )
            for j in range(len(mean))
        ]

    def _column_family(self, mean: float, variance: float) -> Conjugate:
        if self.density == "gaussian":
            return GaussianMean(float(mean), float(variance) / self.kappa, float(variance))
        return NormalGamma.from_variance(float(mean), self.kappa, self.df, float(variance))

    def _learned(self, family: Conjugate, record: FullMoments) -> Any:
        """Return the distribution of a row of the class, as `estimate` has it."""
        return family.predict(record, estimate=self.estimate)

    def _shares(self, weights: np.ndarray) -> np.ndarray:
        n_classes = len(weights)
        if self.priors is None:
            return np.asarray(weights / weights.sum())
        if isinstance(self.priors, str):
            return np.full(n_classes, 1.0 / n_classes)
        shares = np.asarray(self.priors, dtype=np.float64)
        if shares.shape != (n_classes,) or not (shares >= 0).all():
            raise DataError(
                f"priors must be a number of at least 0 for each of the {n_classes} classes; got "
                f"{np.asarray(self.priors).tolist()}."
            )
        if not np.isclose(shares.sum(), 1.0):
            raise DataError(f"priors must sum to 1; they sum to {shares.sum():.6g}.")
        return shares

    def class_log_density(self, X: ArrayLike) -> np.ndarray:
        """Return the log-density of each row under each class."""
        check_is_fitted(self)
        inputs = validate_data(self, X, dtype=np.float64, order="C", reset=False)
        columns = [
            parts[0].log_density(inputs)
            if self._joint
            else sum(part.log_density(inputs[:, j]) for j, part in enumerate(parts))
            for parts in self.densities_
        ]
        return np.column_stack(columns)

    def _joint_log_likelihood(self, X: ArrayLike) -> np.ndarray:
        with np.errstate(divide="ignore"):
            return np.asarray(self.class_log_density(X) + np.log(self.priors_))
