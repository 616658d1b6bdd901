"""Fisher's discriminants: projections that keep classes apart."""

from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
import scipy.linalg
from numpy.typing import ArrayLike
from sklearn.base import ClassNamePrefixFeaturesOutMixin

from verulam.base import (
    LABELS,
    TABLE,
    TEXT,
    ByClass,
    Chunk,
    Classifier,
    DataError,
    DataWarning,
    Interval,
    OnePassClassifier,
    StrOptions,
    Transformer,
    check_is_fitted,
    checked_arguments,
    encode_classes,
    validate_data,
    warn_caller,
)
from verulam.numerics import PooledMoments, column_signs, pooled_moments

#: Spread within classes below this share of the largest, for each column, is rounding.
NEGLIGIBLE = 1e-12
CENTRES = {"weighted", "class-means"}


@dataclass(frozen=True)
class Scatters:
    r"""Scatter within and between classes.

    Attributes
    ----------
    within : ndarray of shape (n_columns, n_columns)
        :math:`S_W = \sum_i \sum_{t \in C_i} (x^t - m_i)(x^t - m_i)^T`.
    between : ndarray of shape (n_columns, n_columns)
        :math:`S_B = \sum_i N_i (m_i - m)(m_i - m)^T`.
    centre : ndarray of shape (n_columns,)
        The point :math:`m`.
    """

    within: np.ndarray
    between: np.ndarray
    centre: np.ndarray

    @property
    def total(self) -> np.ndarray:
        """Their sum, which is the scatter about the mean of all rows if that is the centre."""
        return self.within + self.between

    def ratio(self, direction: ArrayLike) -> float:
        r"""Return Fisher's criterion :math:`J(w) = w^T S_B w / w^T S_W w` of a direction."""
        w = np.asarray(direction, dtype=np.float64)
        if w.shape != self.centre.shape or not w.any():
            raise DataError(
                f"direction: expected {len(self.centre)} numbers, one for each column, not all "
                f"zero; got shape {w.shape}."
            )
        inside = float(w @ self.within @ w)
        return float(w @ self.between @ w) / inside if inside > 0.0 else float("inf")


@checked_arguments(X=TABLE, y=LABELS, centre=TEXT)
def class_scatters(X: ArrayLike, y: ArrayLike, *, centre: str = "weighted") -> Scatters:
    r"""Return the scatter of rows within classes and of class means.

    Parameters
    ----------
    X
        Rows of numbers.
    y
        Class of each row.
    centre
        Point that class means are compared with: the mean of all rows ("weighted"), or the mean
        of the "class-means", as in the notes. Only with the first is
        :math:`S_T = S_W + S_B` where classes are not equally large.

    Examples
    --------
    >>> from verulam.reduction import class_scatters
    >>> scatters = class_scatters([[1.0], [3.0], [6.0]], ["a", "a", "b"])
    >>> scatters.within.item(), round(scatters.between.item(), 3)
    (2.0, 10.667)
    >>> round(scatters.ratio([1.0]), 3)
    5.333
    """
    if centre not in CENTRES:
        raise DataError(f"centre={centre!r}; accepted are {', '.join(sorted(CENTRES))}.")
    learner = DiscriminantProjection(centre=centre)
    inputs = validate_data(learner, X, dtype=np.float64, order="C")
    codes, classes = encode_classes(learner, y)
    if len(codes) != len(inputs):
        raise DataError(f"X has {len(inputs)} rows and y has {len(codes)}.")
    return _scatters(pooled_moments(inputs, codes, None, len(classes)), centre)


@dataclass(frozen=True)
class DiscriminantParameters:
    """The fitted parameters, named as the attributes of the learner."""

    components: np.ndarray
    eigenvalues: np.ndarray
    explained_variance_ratio: np.ndarray
    canonical_correlations: np.ndarray
    means: np.ndarray
    scatters: Scatters
    n_components: int


class DiscriminantProjection(
    ClassNamePrefixFeaturesOutMixin, OnePassClassifier, Classifier, Transformer
):
    r"""Project to where the classes are far apart for their spread (canonical discriminants).

    Parameters
    ----------
    n_components
        Number of directions; None for as many as there can be, one less than classes.
    centre
        What class means are compared with: the mean of all rows ("weighted"), or the mean of the
        "class-means", which gives small classes the same say about the centre.
    shrinkage
        Share, from 0 to 1, of a sphere of the same total spread that is mixed into the spread
        within classes; it is needed where columns are many for the rows. None for none.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        Sorted class labels.
    components_ : ndarray of shape (n_components_, n_features)
        Directions :math:`w_j`, scaled so that the pooled variance within classes is one, each with
        its largest entry positive.
    eigenvalues_ : ndarray of shape (n_components_,)
        Fisher's criterion :math:`J(w_j)` of each direction.
    explained_variance_ratio_ : ndarray of shape (n_components_,)
        Its share of the sum over all directions.
    canonical_correlations_ : ndarray of shape (n_components_,)
        Correlations :math:`\sqrt{J/(1+J)}` of each direction with the classes.
    means_ : ndarray of shape (n_classes, n_features)
        Class means.
    scatters_ : Scatters
        Scatter within and between classes.
    n_components_ : int
        Number of directions.
    statistics_ : ByClass
        Sums over the training data, to which `partial_fit` adds.

    Notes
    -----
    .. math:: \max_W \frac{|W^T S_B W|}{|W^T S_W W|}

    is reached at the leading eigenvectors of :math:`S_W^{-1} S_B`, of which at most
    :math:`K - 1` have eigenvalues above zero; for two classes
    :math:`w \propto S_W^{-1}(m_1 - m_2)`. `predict` takes the class whose mean is nearest in the
    projection, which is the rule for Gaussian classes of equal covariance and equal priors. See
    SIT1305 II (where :math:`s_1^2 + s_1^2` is a slip for :math:`s_1^2 + s_2^2`) and Bartkowiak 8.

    Examples
    --------
    >>> from verulam.data import dataset
    >>> from verulam.reduction import DiscriminantProjection
    >>> iris = dataset("iris")
    >>> projection = DiscriminantProjection().fit(iris.inputs, iris.target_values)
    >>> projection.canonical_correlations_.round(3)
    array([0.985, 0.471])
    >>> projection.transform(iris.inputs).shape
    (150, 2)
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "n_components": [Interval(Integral, 1, None, closed="left"), None],
        "centre": [StrOptions(CENTRES)],
        "shrinkage": [Interval(Real, 0, 1, closed="both"), None],
    }

    def __init__(
        self,
        n_components: int | None = None,
        *,
        centre: str = "weighted",
        shrinkage: float | None = None,
    ) -> None:
        self.n_components = n_components
        self.centre = centre
        self.shrinkage = shrinkage

    @classmethod
    def _example_learners(cls) -> list["DiscriminantProjection"]:
        return [cls(), cls(centre="class-means", shrinkage=0.1)]

    def _statistics(self, chunk: Chunk, parameters: None) -> ByClass[PooledMoments]:
        assert chunk.classes is not None
        assert chunk.targets is not None
        moments = pooled_moments(chunk.inputs, chunk.targets, chunk.weights, len(chunk.classes))
        return ByClass(chunk.classes, moments)

    def _update(self, statistics: ByClass[PooledMoments]) -> DiscriminantParameters:
        moments = statistics.statistics
        scatters = _scatters(moments, self.centre)
        freedom = max(float(moments.weight.sum()) - len(moments.weight), 1.0)
        ratios, directions = _directions(scatters, self.shrinkage or 0.0)
        most = min(len(statistics.classes) - 1, len(ratios))
        count = most if self.n_components is None else self.n_components
        if count > most:
            raise DataError(
                f"n_components={count}: {len(statistics.classes)} classes in "
                f"n_features={len(scatters.centre)} columns lie along {most} directions at most."
            )
        # Unit spread within classes: rows then compare by ordinary distances.
        components = (directions[:, :count] * np.sqrt(freedom)).T
        total = float(ratios[:most].sum())
        return DiscriminantParameters(
            components=components * column_signs(components.T)[:, None],
            eigenvalues=ratios[:count],
            explained_variance_ratio=ratios[:count] / total if total > 0 else np.zeros(count),
            canonical_correlations=np.sqrt(ratios[:count] / (1.0 + ratios[:count])),
            means=moments.mean,
            scatters=scatters,
            n_components=count,
        )

    @property
    def _n_features_out(self) -> int:
        return self.n_components_

    def transform(self, X: ArrayLike) -> np.ndarray:
        """Return the projection of each row, about the centre of the classes."""
        check_is_fitted(self)
        inputs = validate_data(self, X, dtype=np.float64, order="C", reset=False)
        return (inputs - self.scatters_.centre) @ self.components_.T

    def predict(self, X: ArrayLike) -> np.ndarray:
        """Return the class with the nearest mean in the projection."""
        nearest = self._squared_distances(X).argmin(axis=1)
        return self.classes_[nearest]

    def decision_function(self, X: ArrayLike) -> np.ndarray:
        """Return minus half the squared distance to each class mean, or their difference for two.

        Between Gaussian classes of equal covariance differences of these are log-odds.
        """
        scores = -0.5 * self._squared_distances(X)
        return scores[:, 1] - scores[:, 0] if len(self.classes_) == 2 else scores

    def _squared_distances(self, X: ArrayLike) -> np.ndarray:
        projected = self.transform(X)
        centres = (self.means_ - self.scatters_.centre) @ self.components_.T
        return ((projected[:, None] - centres) ** 2).sum(axis=2)


def _scatters(moments: PooledMoments, centre: str) -> Scatters:
    weight, mean = moments.weight, moments.mean
    present = weight > 0.0
    point = (
        mean[0] + weight @ (mean - mean[0]) / weight.sum()
        if centre == "weighted"
        else mean[present].mean(axis=0)
    )
    deviations = mean - point
    return Scatters(moments.scatter, (deviations * weight[:, None]).T @ deviations, point)


def _directions(scatters: Scatters, shrinkage: float) -> tuple[np.ndarray, np.ndarray]:
    """Return Fisher's criterion and the directions of unit scatter within, the best first."""
    within = scatters.within
    size = len(within)
    sphere = np.trace(within) / size * np.eye(size)
    spreads, axes = scipy.linalg.eigh((1.0 - shrinkage) * within + shrinkage * sphere)
    present = spreads > NEGLIGIBLE * size * max(float(spreads[-1]), 0.0)
    if not present.any():
        raise DataError(
            "X does not vary within the classes, so that no direction can be compared with the "
            "spread there; give more rows."
        )
    if not present.all():
        lost = axes[:, ~present]
        if np.trace(lost.T @ scatters.between @ lost) > NEGLIGIBLE * np.trace(scatters.between):
            warn_caller(
                "Columns of X are linearly dependent within the classes; directions without spread "
                "there are left out. Set shrinkage, or leave columns out.",
                DataWarning,
            )
    # With unit scatter within, the eigenvectors of what is between are the directions.
    whitening = axes[:, present] / np.sqrt(spreads[present])
    ratios, turned = scipy.linalg.eigh(whitening.T @ scatters.between @ whitening)
    return np.maximum(ratios[::-1], 0.0), whitening @ turned[:, ::-1]
