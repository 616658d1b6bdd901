"""Metalearners: few uncorrelated combinations of all outputs, and a classifier on top."""

from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from verulam.base import (
    NONE,
    NUMBER,
    RANDOM_STATE,
    TABLE,
    DataError,
    HasMethods,
    Interval,
    Seed,
    checked_arguments,
    checked_fit_with_parts,
    spawn_seeds,
)
from verulam.ensemble._members.base import (
    REPEATED_ROWS,
    EnsembleClassifier,
    example_classifiers,
    unit_rows,
)
from verulam.ensemble._members.members import (
    FloatArray,
    check_weighted,
    class_outputs,
    cross_outputs,
    fit_member,
    fit_members,
    fold_numbers,
    outputs_of,
    prepared_members,
    seeded,
    weight_argument,
)
from verulam.ensemble._members.tables import prepared_member
from verulam.linear import LogisticDiscriminant
from verulam.numerics import distances
from verulam.parametric import NaiveBayes

_SHARED: dict[str, Any] = {
    "estimators": [list, tuple, None],
    "n_components": [
        Interval(Integral, 1, None, closed="left"),
        Interval(Real, 0, 1, closed="neither"),
        None,
    ],
    "folds": [Interval(Integral, 2, None, closed="left")],
    "random_state": RANDOM_STATE,
}


class EigenLearners(EnsembleClassifier):
    r"""Combine classifiers by the principal components of their outputs.

    Parameters
    ----------
    estimators
        Classifiers, or pairs of name and classifier; None takes naive Bayes, a tree and nearest
        neighbours.
    n_components
        Number of components, or the share of the variance that they should have.
    final_estimator
        Classifier of the components; None for logistic discrimination.
    extractor
        Another learner with `fit_transform` and `transform` that makes features of the outputs;
        None for principal components.
    folds
        Folds in which members speak about rows that they were not taught with.
    random_state
        Seed of the folds, and of learners that have none.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        Sorted class labels.
    estimators_ : list of tuple
        Name and learner of each member, taught with all rows.
    final_estimator_ : learner
        The classifier of the components.
    variances_ : ndarray
        Variance of each component.
    loadings_ : ndarray of shape (n_members * n_classes, n_components) or None
        Weight of each output of each member in each component; None with an `extractor`.
    output_names_ : list of str
        Member and class of each output.
    evaluations_ : float
        Members that a prediction asks.

    Notes
    -----
    The :math:`K \cdot L` outputs are mapped to few uncorrelated combinations, the eigenlearners of
    Ulas, Yildiz and Alpaydin (2012), and their coefficients show what each member contributes. The
    components are found on outputs for rows that the members were not taught with; the classifier
    of the components sees the same rows, which are new to both. See Alpaydin 17.10.2.

    Examples
    --------
    >>> from verulam.data import dataset
    >>> from verulam.ensemble import EigenLearners
    >>> wine = dataset("wine")
    >>> eigen = EigenLearners(n_components=0.95, random_state=0)
    >>> eigen.fit(wine.inputs, wine.target_values).loadings_.shape
    (9, 3)
    """

    _skipped_checks: ClassVar[dict[str, str]] = REPEATED_ROWS
    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **_SHARED,
        "final_estimator": [HasMethods(["fit", "predict"]), None],
        "extractor": [HasMethods(["fit_transform", "transform"]), None],
    }

    @classmethod
    def _example_learners(cls) -> list[Any]:
        return [cls(example_classifiers(), folds=2, final_estimator=NaiveBayes())]

    def __init__(
        self,
        estimators: list[Any] | None = None,
        *,
        n_components: int | float | None = 0.95,
        final_estimator: Any = None,
        extractor: Any = None,
        folds: int = 5,
        random_state: Seed = None,
    ) -> None:
        self.estimators = estimators
        self.n_components = n_components
        self.final_estimator = final_estimator
        self.extractor = extractor
        self.folds = folds
        self.random_state = random_state

    @checked_fit_with_parts
    def fit(self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Find components of held-out outputs and train the classifier of them.

        `sample_weight` says how often each row counts; all learners must take it.
        """
        table, codes, weights = self._read_weighted(X, y, sample_weight)
        labels = self.classes_[codes]
        seeds = spawn_seeds(self.random_state, 3)
        members = prepared_members(self._members(), table, seeds[1], weights)
        numbers = fold_numbers(codes, len(codes), self.folds, seeds[0])
        responses = cross_outputs(members, table, labels, numbers, self.classes_, weights=weights)
        self.output_names_ = responses.feature_names
        components = self._found_components(responses.features, seeds[2], weights)
        base = self.final_estimator or LogisticDiscriminant(alpha=1e-3)
        final = seeded(prepared_member(base, components), seeds[2])
        if weights is not None:
            check_weighted([("final_estimator", base)])
        self.final_estimator_ = fit_member(("final_estimator", final), components, labels, weights)
        self.estimators_ = fit_members(members, table, labels, weights)
        self.evaluations_ = float(len(members))
        return self

    def _found_components(
        self, features: FloatArray, seed: int, weights: FloatArray | None
    ) -> FloatArray:
        """Store what makes components of outputs; return those of some outputs."""
        if self.extractor is None:
            counts = np.ones(len(features)) if weights is None else weights
            self._mean = np.average(features, axis=0, weights=counts)
            # Squares of the rows are added up as often as each counts.
            roots = np.sqrt(counts)[:, None]
            _, lengths, axes = np.linalg.svd((features - self._mean) * roots, full_matrices=False)
            count = _component_count(lengths**2, self.n_components)
            self.variances_ = lengths[:count] ** 2 / counts.sum()
            self.loadings_: Any = _signed(axes[:count]).T
            return (features - self._mean) @ self.loadings_
        if weights is not None:
            check_weighted([("extractor", self.extractor)])
        self.loadings_ = None
        self.extractor_ = seeded(prepared_member(self.extractor, features), seed)
        argument = weight_argument(self.extractor_, weights)
        components = np.asarray(self.extractor_.fit_transform(features, **argument))
        centre = np.average(components, axis=0, weights=weights)
        self.variances_ = np.average((components - centre) ** 2, axis=0, weights=weights)
        return components

    def components(self, X: Any) -> FloatArray:
        """Return the outputs of the metalearners."""
        table = self._checked(X)
        features = outputs_of(self.estimators_, table, self.classes_).features
        if self.loadings_ is None:
            return np.asarray(self.extractor_.transform(features))
        return (features - self._mean) @ self.loadings_

    def predict_proba(self, X: Any) -> FloatArray:
        """Return what the classifier makes of the components."""
        components = self.components(X)
        return class_outputs(self.final_estimator_, components, self.classes_)


def _component_count(squares: FloatArray, size: int | float | None) -> int:
    present = int((squares > 1e-12 * max(squares.max(), 1e-300)).sum())
    if size is None:
        return max(present, 1)
    if isinstance(size, int):
        return max(min(size, present), 1)
    shares = np.cumsum(squares) / max(squares.sum(), 1e-300)
    return max(min(int((shares < size - 1e-12).sum()) + 1, present), 1)


def _signed(axes: FloatArray) -> FloatArray:
    """Return directions whose largest coefficient is positive, which makes them unique."""
    largest = np.take_along_axis(axes, np.abs(axes).argmax(axis=1)[:, None], axis=1)
    return axes * np.where(largest < 0, -1.0, 1.0)


@dataclass(frozen=True, eq=False)
class Correspondence:
    """Rows and columns of a table of counts in one space.

    Attributes
    ----------
    rows : ndarray of shape (n_rows, n_components)
        Principal coordinates of the rows.
    columns : ndarray of shape (n_columns, n_components)
        Standard coordinates of the columns: a row lies at the mean of its columns.
    inertias : ndarray
        Inertia of each component.
    """

    rows: FloatArray
    columns: FloatArray
    inertias: FloatArray


@checked_arguments(table=TABLE, n_components=NUMBER | NONE)
def correspondence_analysis(
    table: ArrayLike, n_components: int | float | None = None
) -> Correspondence:
    r"""Place rows and columns of a table of counts where their profiles differ most.

    Parameters
    ----------
    table
        Counts, or indicators, of 0 or more.
    n_components
        Number of components, or the share of the inertia that they should have; None for all.

    Notes
    -----
    .. math:: S = D_r^{-1/2} (P - r c^T) D_c^{-1/2} = U \Sigma V^T, \quad
              F = D_r^{-1/2} U \Sigma, \quad G = D_c^{-1/2} V

    with :math:`P` the table over its sum and :math:`r, c` its margins. Columns without counts have
    coordinates 0. See Bartkowiak 7.5 (Merz 1999).

    Examples
    --------
    >>> from verulam.ensemble import correspondence_analysis
    >>> correspondence_analysis([[10, 0], [0, 10]]).inertias.round(6)
    array([1.])
    """
    counts = np.asarray(table, dtype=np.float64)
    if counts.ndim != 2 or (counts < 0).any() or not (counts.sum(axis=1) > 0).all():
        raise DataError("table must hold numbers of 0 or more, with some in every row.")
    shares = counts / counts.sum()
    rows, columns = shares.sum(axis=1), shares.sum(axis=0)
    expected = np.outer(rows, columns)
    root = np.sqrt(expected)
    standard = np.divide(shares - expected, root, out=np.zeros_like(shares), where=root > 0)
    left, lengths, right = np.linalg.svd(standard, full_matrices=False)
    count = _component_count(lengths**2, n_components)
    scale = np.divide(1.0, np.sqrt(columns), out=np.zeros_like(columns), where=columns > 0)
    return Correspondence(
        left[:, :count] * lengths[:count] / np.sqrt(rows)[:, None],
        right[:count].T * scale[:, None],
        lengths[:count] ** 2,
    )


class CorrespondenceClassifier(EnsembleClassifier):
    r"""Combine labels of classifiers by correspondence analysis and the nearest class.

    Parameters
    ----------
    estimators
        Classifiers, or pairs of name and classifier; None takes naive Bayes, a tree and nearest
        neighbours.
    n_components
        Number of components, or the share of the inertia that they should have.
    folds
        Folds in which members speak about rows that they were not taught with.
    random_state
        Seed of the folds, and of learners that have none.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        Sorted class labels.
    estimators_ : list of tuple
        Name and learner of each member, taught with all rows.
    columns_ : ndarray of shape (n_members * n_classes, n_components)
        Coordinates of each answer of each member.
    output_names_ : list of str
        Member and class of each answer.
    centres_ : ndarray of shape (n_classes, n_components)
        Coordinates of the true classes.
    evaluations_ : float
        Members that a prediction asks.

    Notes
    -----
    SCANN: the labels that members give to held-out rows, and the true ones, are indicators in a
    table; correspondence analysis places rows and labels in one space; a new row lies at the mean
    of its members' labels and gets the class that is nearest. See Alpaydin 17.10.2 and Bartkowiak
    7.5 (Merz 1999).

    Examples
    --------
    >>> from verulam.data import dataset
    >>> from verulam.ensemble import CorrespondenceClassifier
    >>> wine = dataset("wine")
    >>> scann = CorrespondenceClassifier(random_state=0).fit(wine.inputs, wine.target_values)
    >>> scann.centres_.shape
    (3, 2)
    """

    _skipped_checks: ClassVar[dict[str, str]] = REPEATED_ROWS
    _parameter_constraints: ClassVar[dict[str, Any]] = _SHARED

    @classmethod
    def _example_learners(cls) -> list[Any]:
        return [cls(example_classifiers(), folds=2)]

    def __init__(
        self,
        estimators: list[Any] | None = None,
        *,
        n_components: int | float | None = 0.8,
        folds: int = 5,
        random_state: Seed = None,
    ) -> None:
        self.estimators = estimators
        self.n_components = n_components
        self.folds = folds
        self.random_state = random_state

    @checked_fit_with_parts
    def fit(self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Analyse the labels that members give to held-out rows.

        `sample_weight` says how often each row counts; all learners must take it.
        """
        table, codes, weights = self._read_weighted(X, y, sample_weight)
        labels = self.classes_[codes]
        seeds = spawn_seeds(self.random_state, 2)
        members = prepared_members(self._members(), table, seeds[1], weights)
        numbers = fold_numbers(codes, len(codes), self.folds, seeds[0])
        responses = cross_outputs(members, table, labels, numbers, self.classes_, "labels", weights)
        indicators = np.hstack([responses.features, np.eye(len(self.classes_))[codes]])
        if weights is not None:
            indicators *= weights[:, None]
        places = correspondence_analysis(indicators, self.n_components).columns
        self.output_names_ = responses.feature_names
        self.columns_ = places[: len(responses.feature_names)]
        self.centres_ = places[len(responses.feature_names) :]
        self.estimators_ = fit_members(members, table, labels, weights)
        self.evaluations_ = float(len(members))
        return self

    def coordinates(self, X: Any) -> FloatArray:
        """Return where each row lies: at the mean of its members' labels."""
        table = self._checked(X)
        features = outputs_of(self.estimators_, table, self.classes_, "labels").features
        votes = np.maximum(features.sum(axis=1, keepdims=True), 1.0)
        return features @ self.columns_ / votes

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """Return votes that fall with the squared distance from each class."""
        squares = distances(self.coordinates(X), self.centres_) ** 2
        return unit_rows(np.exp(-(squares - squares.min(axis=1, keepdims=True))))
