"""Gaussian discriminant analysis: linear, quadratic and regularised, by kind of covariance."""

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
from verulam.numerics import (
    GaussianFactor,
    PosteriorMixin,
    factorise,
    gaussian_log_density,
    largest_linear_function,
    linear_functions,
)
from verulam.parametric._class_parameters import (
    COVARIANCE_TYPES,
    PRIORS,
    class_moments,
    class_priors,
    class_weights,
    covariance_shape,
    estimate_covariances,
    is_tied,
    log_priors,
    mix_covariances,
    parameter_count,
    raise_to_floor,
    total_variances,
)


@dataclass(frozen=True)
class LinearDiscriminants:
    r"""Weights of :math:`g_k(x) = w_k^T x + w_{k0}`.

    Attributes
    ----------
    weights : ndarray of shape (n_classes, n_features)
        :math:`w_k = S^{-1} m_k`.
    intercepts : ndarray of shape (n_classes,)
        :math:`w_{k0} = -\frac12 m_k^T S^{-1} m_k + \ln P_k`.
    """

    weights: np.ndarray
    intercepts: np.ndarray

    def __call__(self, X: ArrayLike) -> np.ndarray:
        """Return the discriminants of each row."""
        return np.asarray(X) @ self.weights.T + self.intercepts


@dataclass(frozen=True)
class QuadraticDiscriminants:
    r"""Weights of :math:`g_k(x) = x^T W_k x + w_k^T x + w_{k0}`.

    Attributes
    ----------
    matrices : ndarray of shape (n_classes, n_features, n_features)
        :math:`W_k = -\frac12 S_k^{-1}`.
    weights : ndarray of shape (n_classes, n_features)
        :math:`w_k = S_k^{-1} m_k`.
    intercepts : ndarray of shape (n_classes,)
        :math:`w_{k0} = -\frac12 m_k^T S_k^{-1} m_k - \frac12 \ln|S_k| + \ln P_k`.
    """

    matrices: np.ndarray
    weights: np.ndarray
    intercepts: np.ndarray

    def __call__(self, X: ArrayLike) -> np.ndarray:
        """Return the discriminants of each row."""
        rows = np.asarray(X)
        squares = np.einsum("ni,kij,nj->nk", rows, self.matrices, rows, optimize=True)
        return squares + rows @ self.weights.T + self.intercepts


@dataclass(frozen=True)
class GaussianClasses:
    """The fitted parameters, named as the attributes of the classifier."""

    priors: np.ndarray
    means: np.ndarray
    covariances: np.ndarray
    n_parameters: int


class GaussianClassifier(PosteriorMixin, OnePassClassifier, Classifier):
    r"""Model each class as a Gaussian and choose the most probable class.

    Parameters
    ----------
    covariance_type
        Which covariances the classes have, four of them named as in scikit-learn's mixtures:

        | covariance | one for each class | one for all classes |
        |---|---|---|
        | any matrix | "full": quadratic discriminant analysis | "tied": linear |
        | diagonal | "diag": Gaussian naive Bayes | "tied_diag" |
        | multiple of the identity | "spherical" | "tied_spherical" |

        Tied covariances make the boundaries linear.
    shared_weight
        Share :math:`\beta` of the pooled covariance mixed into each class's own.
    spherical_weight
        Share :math:`\alpha` of a sphere mixed into each covariance.
    priors
        Prior of each class in the order of the sorted labels, "equal", or None for the
        shares in the training data.
    unbiased
        Divide scatters by the rows less the estimated means, instead of the maximum
        likelihood's number of rows.
    variance_floor
        Least variance, as a fraction of a column's total variance. Degenerate covariances are
        raised to it with a warning.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        Sorted class labels.
    priors_ : ndarray of shape (n_classes,)
        Class priors :math:`P_k`.
    means_ : ndarray of shape (n_classes, n_features)
        Class means :math:`m_k`.
    covariances_ : ndarray
        Matrices, vectors of variances or single variances as `covariance_type` has them, with
        a leading axis over classes where they are not tied.
    n_parameters_ : int
        Number of free numbers in means, covariances and priors.
    statistics_ : ByClass
        Sums over the training data, to which `partial_fit` adds.

    Notes
    -----
    .. math:: g_k(x) = -\tfrac12 (x - m_k)^T S_k^{-1} (x - m_k) - \tfrac12 \ln|S_k| + \ln P_k

    The regularised family replaces :math:`S_k` by
    :math:`\alpha s^2 I + \beta S + (1 - \alpha - \beta) S_k` [friedman1989]_. See SIT1305 II,
    Alpaydin 10.3 (10.11), Bartkowiak 2.

    References
    ----------
    .. [friedman1989] J. H. Friedman, "Regularized discriminant analysis", Journal of the
       American Statistical Association 84, 1989.

    Examples
    --------
    >>> from verulam.parametric import GaussianClassifier
    >>> X, y = [[-1.0], [-1.5], [-0.5], [1.0], [1.5], [0.5]], list("aaabbb")
    >>> classifier = GaussianClassifier(covariance_type="tied").fit(X, y)
    >>> classifier.predict_proba([[0.0], [0.1]]).round(3)
    array([[0.5  , 0.5  ],
           [0.231, 0.769]])
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "covariance_type": [StrOptions(set(COVARIANCE_TYPES))],
        "shared_weight": [Interval(Real, 0, 1, closed="both")],
        "spherical_weight": [Interval(Real, 0, 1, closed="both")],
        "priors": PRIORS,
        "unbiased": ["boolean"],
        "variance_floor": [Interval(Real, 0, 1, closed="neither")],
    }

    def __init__(
        self,
        *,
        covariance_type: str = "tied",
        shared_weight: float = 0.0,
        spherical_weight: float = 0.0,
        priors: ArrayLike | str | None = None,
        unbiased: bool = False,
        variance_floor: float = 1e-7,
    ) -> None:
        self.covariance_type = covariance_type
        self.shared_weight = shared_weight
        self.spherical_weight = spherical_weight
        self.priors = priors
        self.unbiased = unbiased
        self.variance_floor = variance_floor

    @classmethod
    def _example_learners(cls) -> list["GaussianClassifier"]:
        return [cls(covariance_type=kind) for kind in ("tied", "full", "diag")]

    def _statistics(self, chunk: Chunk, parameters: None) -> ByClass[Any]:
        return class_moments(chunk, self.covariance_type)

    def _update(self, statistics: ByClass[Any]) -> GaussianClasses:
        moments = statistics.statistics
        weights = class_weights(moments)
        n_classes, n_columns = moments.mean.shape
        return GaussianClasses(
            priors=class_priors(self.priors, weights),
            means=moments.mean,
            covariances=self._covariances(moments, statistics.classes),
            n_parameters=parameter_count(self.covariance_type, n_columns, n_classes)
            + n_classes * n_columns
            + (n_classes - 1 if self.priors is None else 0),
        )

    def _covariances(self, moments: Any, classes: np.ndarray) -> np.ndarray:
        if self.shared_weight + self.spherical_weight > 1.0:
            raise DataError(
                "shared_weight and spherical_weight are shares of one whole; their sum is "
                f"{self.shared_weight + self.spherical_weight:.6g}, above 1."
            )
        estimated = estimate_covariances(moments, self.covariance_type, unbiased=self.unbiased)
        if self.shared_weight or self.spherical_weight:
            estimated = self._regularised(estimated, moments)
        floors = self.variance_floor * total_variances(moments)
        return raise_to_floor(estimated, self.covariance_type, floors, classes)

    def _regularised(self, estimated: np.ndarray, moments: Any) -> np.ndarray:
        shared = estimated
        if not is_tied(self.covariance_type):
            tied_type = {"full": "tied"}.get(self.covariance_type, f"tied_{self.covariance_type}")
            shared = estimate_covariances(moments, tied_type, unbiased=self.unbiased)
        return mix_covariances(estimated, shared, self.shared_weight, self.spherical_weight)

    def _store(self, parameters: GaussianClasses) -> None:
        super()._store(parameters)
        self._covariance_type = self.covariance_type
        self._factor = self._factorise()

    @property
    def _is_linear(self) -> bool:
        # The fitted kind, which a later `set_params` does not change.
        return is_tied(self._covariance_type)

    def _factorise(self) -> GaussianFactor:
        if covariance_shape(self._covariance_type) == "full":
            return factorise(self.means_, self.covariances_, self._covariance_type)
        # Spheres are diagonals of equal entries, and a tied one is repeated for each class.
        variances = self.covariances_
        if self._covariance_type == "spherical":
            variances = variances[:, None]
        return factorise(self.means_, np.broadcast_to(variances, self.means_.shape), "diagonal")

    def _centred_discriminants(self) -> tuple[np.ndarray, LinearDiscriminants]:
        """Return a point amid the means, and the discriminants of deviations from it."""
        # Far from the origin the terms of a discriminant are large and cancel; deviations are not.
        origin = self.means_.mean(axis=0)
        return origin, self._linear_discriminants(self.means_ - origin)

    def _linear_discriminants(self, means: np.ndarray) -> LinearDiscriminants:
        # The quadratic term is the same for all classes and cancels.
        weights = means @ _precisions(self._factor)[0]
        squares = np.einsum("ki,ki->k", weights, means)
        return LinearDiscriminants(weights, -0.5 * squares + log_priors(self.priors_))

    def discriminants(self) -> LinearDiscriminants | QuadraticDiscriminants:
        """Return the discriminant functions as weights: linear where the covariance is shared."""
        check_is_fitted(self)
        if self._is_linear:
            return self._linear_discriminants(self.means_)
        precisions = _precisions(self._factor)
        weights = np.einsum("kij,kj->ki", precisions, self.means_)
        squares = np.einsum("ki,ki->k", weights, self.means_) + self._factor.log_determinants
        return QuadraticDiscriminants(
            -0.5 * precisions, weights, -0.5 * squares + log_priors(self.priors_)
        )

    def predict(self, X: ArrayLike) -> np.ndarray:
        """Return the most probable class of each row."""
        check_is_fitted(self)
        if not self._is_linear:
            return super().predict(X)
        inputs = validate_data(self, X, dtype=np.float64, order="C", reset=False)
        # The largest of linear functions needs no posteriors.
        origin, linear = self._centred_discriminants()
        best = largest_linear_function(inputs, linear.weights, linear.intercepts, origin)
        return self.classes_[best]

    def _joint_log_likelihood(self, X: ArrayLike) -> np.ndarray:
        check_is_fitted(self)
        inputs = validate_data(self, X, dtype=np.float64, order="C", reset=False)
        if self._is_linear:
            origin, linear = self._centred_discriminants()
            return linear_functions(inputs, linear.weights, linear.intercepts, origin)
        return gaussian_log_density(inputs, self._factor) + log_priors(self.priors_)

    def class_log_density(self, X: ArrayLike) -> np.ndarray:
        """Return the log-density of each row under each class."""
        check_is_fitted(self)
        inputs = validate_data(self, X, dtype=np.float64, order="C", reset=False)
        return gaussian_log_density(inputs, self._factor)

    def decision_function(self, X: ArrayLike) -> np.ndarray:
        """Return the log-odds of the second class, or all discriminants if there are more."""
        joint = self._joint_log_likelihood(X)
        return joint[:, 1] - joint[:, 0] if len(self.classes_) == 2 else joint


def _precisions(factor: GaussianFactor) -> np.ndarray:
    """Return the inverse covariances, one along the first axis where all share it."""
    if factor.family == "tied":
        return (factor.roots @ factor.roots.T)[None]
    if factor.family == "full":
        return factor.roots @ factor.roots.transpose(0, 2, 1)
    return np.einsum("ki,ij->kij", factor.roots, np.eye(factor.roots.shape[1]))
