"""A classifier with a mixture for each class."""

from numbers import Integral, Real
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike

from verulam.base import (
    RANDOM_STATE,
    Classifier,
    DataError,
    Interval,
    Seed,
    StrOptions,
    check_is_fitted,
    check_weights,
    checked_fit,
    encode_classes,
    spawn_seeds,
    validate_data,
)
from verulam.cluster._mixture.components import COVARIANCE_TYPES
from verulam.cluster._mixture.gaussian_mixture import GaussianMixture
from verulam.numerics import PosteriorMixin


class MixtureClassifier(PosteriorMixin, Classifier):
    r"""Model each class as a mixture of Gaussians and choose the most probable class.

    Parameters
    ----------
    n_components
        Number of Gaussians of each class, or a list with one for each class in the order of the
        sorted labels.
    covariance_type
        As in `GaussianMixture`.
    n_init
        Number of starts of each mixture, the best of which is taken.
    max_iter
        Most passes over the data.
    tol
        Stop when a pass raises the mean log-likelihood of a row by no more than this.
    variance_floor
        Least variance in any direction, as a fraction of that of a column within the class.
    random_state
        Seed of the starts.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        Sorted class labels.
    priors_ : ndarray of shape (n_classes,)
        Shares of the classes.
    mixtures_ : list of GaussianMixture
        The density of each class.
    n_iter_ : int
        Most passes that one of them took.

    Notes
    -----
    .. math:: P(C_k \mid x) = \frac{P(C_k) \sum_j P_{kj}\, p_{kj}(x)}
              {\sum_l P(C_l) \sum_j P_{lj}\, p_{lj}(x)}

    With the true densities no classifier errs less; with one Gaussian for each class it is
    quadratic discriminant analysis. Missing values are allowed, as in the mixtures. See
    Bartkowiak 6.

    Examples
    --------
    >>> from verulam.cluster import MixtureClassifier
    >>> X = [[0.0], [0.2], [0.4], [9.0], [9.2], [9.4], [4.0], [4.5], [5.0], [5.5]]
    >>> classifier = MixtureClassifier(n_components=[2, 1], random_state=0)
    >>> classifier.fit(X, list("aaaaaabbbb")).predict([[0.3], [4.7], [9.1]])
    array(['a', 'b', 'a'], dtype='<U1')
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "n_components": [Interval(Integral, 1, None, closed="left"), "array-like"],
        "covariance_type": [StrOptions(set(COVARIANCE_TYPES))],
        "n_init": [Interval(Integral, 1, None, closed="left")],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "tol": [Interval(Real, 0, None, closed="left")],
        "variance_floor": [Interval(Real, 0, 1, closed="neither")],
        "random_state": RANDOM_STATE,
    }

    def __init__(
        self,
        n_components: Any = 2,
        *,
        covariance_type: str = "tied",
        n_init: int = 1,
        max_iter: int = 500,
        tol: float = 1e-5,
        variance_floor: float = 1e-3,
        random_state: Seed = None,
    ) -> None:
        self.n_components = n_components
        self.covariance_type = covariance_type
        self.n_init = n_init
        self.max_iter = max_iter
        self.tol = tol
        self.variance_floor = variance_floor
        self.random_state = random_state

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        return tags

    def _check_inputs(self, X: ArrayLike, reset: bool) -> np.ndarray:
        return validate_data(
            self, X, reset=reset, dtype=np.float64, order="C", ensure_all_finite="allow-nan"
        )

    @checked_fit
    def fit(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Fit a mixture to the rows of each class.

        Parameters
        ----------
        X
            Rows.
        y
            Label of each row.
        sample_weight
            Weight of each row.
        """
        inputs = self._check_inputs(X, reset=True)
        codes, self.classes_ = encode_classes(self, y)
        if len(codes) != len(inputs):
            raise DataError(f"X has {len(inputs)} rows and y has {len(codes)}.")
        if len(self.classes_) < 2:
            raise DataError(
                "MixtureClassifier: y needs at least two classes, and there is only one class: "
                f"{self.classes_[0]}."
            )
        weights = check_weights(sample_weight, inputs)
        totals = np.bincount(codes, weights, minlength=len(self.classes_))
        if not totals.all():
            empty = self.classes_[totals == 0]
            raise DataError(f"sample_weight: class {empty[0]} has no row with a weight above zero.")
        self.priors_ = totals / totals.sum()
        self.mixtures_ = []
        seeds = spawn_seeds(self.random_state, len(self.classes_))
        sizes = self._sizes()
        for k, (label, seed) in enumerate(zip(self.classes_, seeds, strict=True)):
            mine = codes == k
            if sizes[k] > mine.sum():
                raise DataError(
                    f"n_components={sizes[k]} is more than class {label} has rows: {mine.sum()}; "
                    "choose fewer for it."
                )
            mixture = GaussianMixture(
                sizes[k],
                covariance_type=self.covariance_type,
                n_init=self.n_init,
                max_iter=self.max_iter,
                tol=self.tol,
                variance_floor=self.variance_floor,
                random_state=seed,
            )
            mixture.fit(inputs[mine], sample_weight=None if weights is None else weights[mine])
            self.mixtures_.append(mixture)
        self.n_iter_ = max(mixture.n_iter_ for mixture in self.mixtures_)
        return self

    def _sizes(self) -> list[int]:
        if np.ndim(self.n_components) == 0:
            return [int(self.n_components)] * len(self.classes_)
        sizes = np.asarray(self.n_components)
        if sizes.shape != self.classes_.shape or sizes.dtype.kind not in "iu" or sizes.min() < 1:
            raise DataError(
                f"n_components={self.n_components}; expected a number, or one for each of the "
                f"{len(self.classes_)} classes, from 1 up."
            )
        return sizes.tolist()

    def class_log_density(self, X: ArrayLike) -> np.ndarray:
        """Return the log-density of each row under each class."""
        check_is_fitted(self)
        inputs = self._check_inputs(X, reset=False)
        return np.column_stack([mixture.score_samples(inputs) for mixture in self.mixtures_])

    def _joint_log_likelihood(self, X: ArrayLike) -> np.ndarray:
        return self.class_log_density(X) + np.log(self.priors_)
