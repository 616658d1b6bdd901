"""The reduced Coulomb energy network: discs that shrink where classes meet."""

from collections.abc import Iterator
from dataclasses import dataclass
from numbers import Real
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike
from scipy.spatial.distance import cdist

from verulam.base import (
    Classifier,
    DataError,
    Interval,
    check_is_fitted,
    checked_fit,
    encode_classes,
    validate_data,
)
from verulam.nonparametric._tuning import NUMBERS_AT_ONCE
from verulam.nonparametric._window_classifiers.probabilistic_network import unit_rows


@dataclass(frozen=True)
class CoulombAnswers:
    """What the discs say about each row.

    Attributes
    ----------
    outcomes : ndarray of str
        "class" where discs of one class cover the row, "ambiguous" where those of several do,
        "uncovered" where none does.
    covering : ndarray of shape (n_rows, n_classes)
        Whether a disc of each class covers the row.
    """

    outcomes: np.ndarray
    covering: np.ndarray


@dataclass(frozen=True)
class CoulombStage:
    """The discs after some patterns were presented.

    Attributes
    ----------
    centres : ndarray of shape (n_patterns, n_features)
        Patterns presented so far.
    radii : ndarray of shape (n_patterns,)
        Radius of the disc around each.
    codes : ndarray of shape (n_patterns,)
        Class of each.
    """

    centres: np.ndarray
    radii: np.ndarray
    codes: np.ndarray


class ReducedCoulombEnergy(Classifier):
    r"""Cover each class by discs that hold no pattern of another class.

    Parameters
    ----------
    max_radius
        Largest radius :math:`\lambda_{max}` of a disc; None for no limit.
    margin
        What :math:`\epsilon` a disc keeps from the nearest pattern of another class.
    normalise
        Scale rows to length one first, so that closeness is an inner product.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        Sorted class labels.
    centres_ : ndarray of shape (n_patterns, n_features)
        The stored patterns.
    radii_ : ndarray of shape (n_patterns,)
        Radius :math:`\lambda_j` of the disc around each.
    codes_ : ndarray of shape (n_patterns,)
        Class of each, as a position in `classes_`.

    Notes
    -----
    .. math:: \lambda_j = \min(\min_{C(x) \ne C(x_j)} \|x - x_j\| - \epsilon,\ \lambda_{max})

    A disc covers what is nearer than its radius. `answers` tells a class, a conflict or nothing;
    `predict` must name a class, and takes that of the nearest covering pattern, or of the nearest
    pattern where none covers. See Bartkowiak 4.5.

    Examples
    --------
    >>> from verulam.nonparametric import ReducedCoulombEnergy
    >>> network = ReducedCoulombEnergy(max_radius=2.0).fit([[0.0], [3.0], [8.0]], ["a", "b", "b"])
    >>> network.radii_.round(3)
    array([2., 2., 2.])
    >>> network.answers([[0.5], [1.5], [5.5]]).outcomes.tolist()
    ['class', 'ambiguous', 'uncovered']
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "max_radius": [Interval(Real, 0, None, closed="neither"), None],
        "margin": [Interval(Real, 0, None, closed="left")],
        "normalise": ["boolean"],
    }

    def __init__(
        self,
        *,
        max_radius: float | None = None,
        margin: float = 1e-6,
        normalise: bool = False,
    ) -> None:
        self.max_radius = max_radius
        self.margin = margin
        self.normalise = normalise

    @classmethod
    def _example_learners(cls) -> list["ReducedCoulombEnergy"]:
        return [cls(), cls(max_radius=0.5, normalise=True)]

    @checked_fit
    def fit(self, X: ArrayLike, y: ArrayLike) -> Self:
        """Present all patterns."""
        inputs, labels = validate_data(self, X, y, dtype=np.float64, order="C")
        self.codes_, self.classes_ = encode_classes(self, labels)
        self.centres_ = unit_rows(inputs) if self.normalise else inputs.copy()
        gaps = nearest_other_class(self.centres_, self.codes_, self.centres_, self.codes_)
        self.radii_ = self._radii(gaps)
        return self

    @checked_fit
    def partial_fit(self, X: ArrayLike, y: ArrayLike, classes: ArrayLike | None = None) -> Self:
        """Present more patterns; `classes` names, at the first call, those that will come."""
        first = not hasattr(self, "centres_")
        inputs, labels = validate_data(self, X, y, dtype=np.float64, order="C", reset=first)
        if first:
            self.classes_ = encode_classes(self, labels if classes is None else classes)[1]
            self.centres_ = np.empty((0, inputs.shape[1]))
            self.radii_, self.codes_ = np.empty(0), np.empty(0, dtype=np.intp)
        codes = np.searchsorted(self.classes_, labels).clip(max=len(self.classes_) - 1)
        if (self.classes_[codes] != labels).any():
            raise DataError("y has classes that were not named in the first partial_fit.")
        new = unit_rows(inputs) if self.normalise else inputs
        centres = np.concatenate([self.centres_, new])
        every = np.concatenate([self.codes_, codes])
        # Discs only shrink: those of before by the new patterns, new ones by all patterns.
        shrunk = self._radii(nearest_other_class(self.centres_, self.codes_, new, codes))
        added = self._radii(nearest_other_class(new, codes, centres, every))
        self.radii_ = np.concatenate([np.minimum(self.radii_, shrunk), added])
        self.centres_, self.codes_ = centres, every
        return self

    def _radii(self, gaps: np.ndarray) -> np.ndarray:
        limit = np.inf if self.max_radius is None else self.max_radius
        return np.clip(gaps - self.margin, 0.0, limit)

    def stages(self, X: ArrayLike, y: ArrayLike) -> Iterator[CoulombStage]:
        """Yield the discs after each presentation of a pattern, for pictures of the training."""
        network = type(self)(**self.get_params())
        labels = np.asarray(y)
        rows = np.asarray(X, dtype=np.float64)
        for row in range(len(rows)):
            network.partial_fit(rows[[row]], labels[[row]], classes=np.unique(labels))
            yield CoulombStage(network.centres_, network.radii_, network.codes_)

    def answers(self, X: ArrayLike) -> CoulombAnswers:
        """Return what the discs say: a class, a conflict, or nothing."""
        covering = np.isfinite(self._nearest_covering(X)[0])
        count = covering.sum(axis=1)
        outcomes = np.array(["uncovered", "class", "ambiguous"])[np.minimum(count, 2)]
        return CoulombAnswers(outcomes, covering)

    def predict(self, X: ArrayLike) -> np.ndarray:
        """Return the class of the nearest covering pattern, or of the nearest where none covers."""
        covering, nearest = self._nearest_covering(X)
        covered = np.isfinite(covering).any(axis=1)
        best = np.where(covered, covering.argmin(axis=1), nearest.argmin(axis=1))
        return self.classes_[best]

    def _nearest_covering(self, X: ArrayLike) -> tuple[np.ndarray, np.ndarray]:
        """Return the distance to the nearest covering pattern, and to the nearest, by class."""
        check_is_fitted(self)
        inputs = validate_data(self, X, dtype=np.float64, order="C", reset=False)
        queries = unit_rows(inputs) if self.normalise else inputs
        covering = np.full((len(queries), len(self.classes_)), np.inf)
        nearest = covering.copy()
        block_rows = max(1, NUMBERS_AT_ONCE // len(self.centres_))
        for start in range(0, len(queries), block_rows):
            block = slice(start, start + block_rows)
            distances = cdist(queries[block], self.centres_)
            inside = np.where(distances < self.radii_, distances, np.inf)
            for code in np.unique(self.codes_):
                members = self.codes_ == code
                covering[block, code] = inside[:, members].min(axis=1)
                nearest[block, code] = distances[:, members].min(axis=1)
        return covering, nearest


def nearest_other_class(
    points: np.ndarray, codes: np.ndarray, others: np.ndarray, other_codes: np.ndarray
) -> np.ndarray:
    """Return the distance of each point to the nearest row of another class; infinite if none."""
    gaps = np.full(len(points), np.inf)
    block_rows = max(1, NUMBERS_AT_ONCE // max(1, len(others)))
    for start in range(0, len(points), block_rows):
        block = slice(start, start + block_rows)
        distances = cdist(points[block], others)
        distances[codes[block, None] == other_codes] = np.inf
        gaps[block] = distances.min(axis=1, initial=np.inf)
    return gaps
