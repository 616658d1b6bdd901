"""After clustering, learn: clusters as inputs of another learner, or a learner for each cluster."""

from numbers import Integral
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.linear_model import LinearRegression, LogisticRegression

from verulam.base import (
    Classifier,
    DataError,
    HasMethods,
    Interval,
    MetaEstimatorMixin,
    Regressor,
    StrOptions,
    Transformer,
    check_is_fitted,
    checked_fit_with_parts,
    clone,
    encode_classes,
    numeric_targets,
    validate_data,
)
from verulam.cluster._partition.k_means import KMeans


def memberships(clusterer: Any, X: np.ndarray, n_clusters: int) -> np.ndarray:
    """Return how much each row belongs to each cluster: probabilities, or ones and zeros."""
    if hasattr(clusterer, "predict_proba"):
        return clusterer.predict_proba(X)
    return np.eye(n_clusters)[clusterer.predict(X)]


class ClusterFeatures(MetaEstimatorMixin, Transformer):
    """Describe rows by the clusters they belong to, for a learner that comes after.

    Parameters
    ----------
    clusterer
        Clusters that can predict, such as `KMeans` or `GaussianMixture`; None for `KMeans`.
    coding
        "memberships": probabilities where the clusterer has them, otherwise a 1 for the cluster
        and 0 for the others; "distances" from the centres, as the clusterer's `transform` has
        them; "both".
    passthrough
        Whether the inputs themselves come first.

    Attributes
    ----------
    clusterer_ : estimator
        The fitted clusters.
    n_clusters_ : int
        Their number.

    Notes
    -----
    Clusters are found without labels, of which there may be few, and the learner after them has
    local inputs: near a centre one of them is large and the others small. See SIT1305 III.

    Examples
    --------
    >>> from sklearn.linear_model import LogisticRegression
    >>> from sklearn.pipeline import make_pipeline
    >>> from verulam.cluster import ClusterFeatures, KMeans
    >>> X, y = [[0.0], [0.2], [5.0], [5.2], [9.0], [9.2]], list("aabbaa")
    >>> features = ClusterFeatures(KMeans(n_clusters=3, random_state=0))
    >>> classifier = make_pipeline(features, LogisticRegression(C=100.0)).fit(X, y)
    >>> classifier.predict([[0.1], [5.1], [9.1]])
    array(['a', 'b', 'a'], dtype='<U1')
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "clusterer": [HasMethods(["fit", "predict"]), None],
        "coding": [StrOptions({"memberships", "distances", "both"})],
        "passthrough": ["boolean"],
    }

    def __init__(
        self, clusterer: Any = None, *, coding: str = "memberships", passthrough: bool = False
    ) -> None:
        self.clusterer = clusterer
        self.coding = coding
        self.passthrough = passthrough

    @classmethod
    def _example_learners(cls) -> list["ClusterFeatures"]:
        clusters = KMeans(n_clusters=3, random_state=0)
        return [cls(clusters), cls(clusters, coding="both", passthrough=True)]

    @checked_fit_with_parts
    def fit(self, X: ArrayLike, y: Any = None) -> Self:
        """Find the clusters.

        Parameters
        ----------
        X
            Rows.
        y
            Not used: clusters are found without labels.
        """
        rows = validate_data(self, X, dtype=np.float64, order="C")
        self.clusterer_ = _fitted_clusters(self.clusterer, rows)
        if self.coding != "memberships" and not hasattr(self.clusterer_, "transform"):
            raise DataError(
                f"coding={self.coding!r} needs a clusterer with transform, and "
                f"{type(self.clusterer_).__name__} has none; choose coding='memberships'."
            )
        self.n_clusters_ = _cluster_count(self.clusterer_, rows)
        return self

    def transform(self, X: ArrayLike) -> np.ndarray:
        """Return the clusters of each row as numbers."""
        check_is_fitted(self)
        rows = validate_data(self, X, dtype=np.float64, order="C", reset=False)
        parts = [rows] if self.passthrough else []
        if self.coding != "distances":
            parts.append(memberships(self.clusterer_, rows, self.n_clusters_))
        if self.coding != "memberships":
            parts.append(self.clusterer_.transform(rows))
        return np.hstack(parts)

    def get_feature_names_out(self, input_features: ArrayLike | None = None) -> np.ndarray:
        """Return the names of the columns that `transform` gives.

        Parameters
        ----------
        input_features
            Names of the inputs; None for those that `fit` saw.
        """
        check_is_fitted(self)
        names: list[str] = []
        if self.passthrough:
            seen = getattr(self, "feature_names_in_", None)
            if input_features is not None:
                seen = input_features
            if seen is None:
                seen = [f"x{place}" for place in range(self.n_features_in_)]
            names += [str(name) for name in np.asarray(seen)]
        for kind in ("membership", "distance"):
            if self.coding in (f"{kind}s", "both"):
                names += [f"{kind}{place}" for place in range(self.n_clusters_)]
        return np.array(names, dtype=object)


class _Clusterwise(MetaEstimatorMixin):
    """A learner for each cluster, and predictions by those of the row's clusters."""

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "clusterer": [HasMethods(["fit", "predict"]), None],
        "estimator": [HasMethods(["fit", "predict"]), None],
        "min_samples": [Interval(Integral, 1, None, closed="left")],
    }

    clusterer: Any
    estimator: Any
    min_samples: int

    def _fit_parts(self, rows: np.ndarray, targets: np.ndarray, default: Any) -> None:
        if len(targets) != len(rows):
            raise DataError(f"X has {len(rows)} rows and y has {len(targets)}.")
        self.clusterer_ = _fitted_clusters(self.clusterer, rows)
        self.n_clusters_ = _cluster_count(self.clusterer_, rows)
        labels = self.clusterer_.predict(rows)
        learner = default if self.estimator is None else self.estimator
        self.estimators_: list[Any] = []
        # Where rows are too few, or all of one class, the learner of all rows stands in.
        self.global_estimator_ = clone(learner).fit(rows, targets)
        for k in range(self.n_clusters_):
            mine = labels == k
            few = mine.sum() < self.min_samples
            one_class = isinstance(self, Classifier) and len(np.unique(targets[mine])) < 2
            if one_class and not few:
                self.estimators_.append(Constant(targets[mine][0]))
            elif few:
                self.estimators_.append(self.global_estimator_)
            else:
                self.estimators_.append(clone(learner).fit(rows[mine], targets[mine]))

    def _shares(self, X: ArrayLike) -> tuple[np.ndarray, np.ndarray]:
        check_is_fitted(self)
        rows = validate_data(self, X, dtype=np.float64, order="C", reset=False)
        return rows, memberships(self.clusterer_, rows, self.n_clusters_)


class Constant:
    """A learner that has seen one class alone.

    Parameters
    ----------
    value
        The class.
    """

    def __init__(self, value: Any) -> None:
        self.value = value
        self.classes_ = np.array([value])

    def predict(self, X: np.ndarray) -> np.ndarray:
        """Return the class for each row."""
        return np.full(len(X), self.value)

    def predict_proba(self, X: np.ndarray) -> np.ndarray:
        """Return certainty."""
        return np.ones((len(X), 1))


class ClusterwiseClassifier(_Clusterwise, Classifier):
    r"""Find clusters, and let a classifier of its own decide in each.

    Parameters
    ----------
    clusterer
        Clusters that can predict; None for `KMeans`.
    estimator
        The classifier that is trained in each cluster; None for logistic regression.
    min_samples
        A cluster with fewer rows uses the classifier of all rows.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        Sorted class labels.
    clusterer_ : estimator
        The fitted clusters.
    n_clusters_ : int
        Their number.
    estimators_ : list
        The classifier of each cluster.
    global_estimator_ : estimator
        The classifier of all rows.

    Notes
    -----
    .. math:: P(C \mid x) = \sum_j h_j(x)\, P_j(C \mid x)

    where :math:`h_j` are the memberships of the row: 0 and 1 for k-means, probabilities for a
    mixture. See SIT1305 III.

    Examples
    --------
    >>> from verulam.cluster import ClusterwiseClassifier, KMeans
    >>> X, y = [[0.0], [1.0], [2.0], [9.0], [10.0], [11.0]], list("aabbaa")
    >>> learner = ClusterwiseClassifier(KMeans(2, random_state=0), min_samples=2).fit(X, y)
    >>> learner.predict([[-1.0], [3.0], [8.0], [12.0]])
    array(['a', 'b', 'b', 'a'], dtype='<U1')
    """

    def __init__(
        self, clusterer: Any = None, estimator: Any = None, *, min_samples: int = 10
    ) -> None:
        self.clusterer = clusterer
        self.estimator = estimator
        self.min_samples = min_samples

    @classmethod
    def _example_learners(cls) -> list["ClusterwiseClassifier"]:
        return [cls(KMeans(n_clusters=2, random_state=0))]

    @checked_fit_with_parts
    def fit(self, X: ArrayLike, y: ArrayLike) -> Self:
        """Find the clusters, and train a classifier in each.

        Parameters
        ----------
        X
            Rows.
        y
            Label of each row.
        """
        rows = validate_data(self, X, dtype=np.float64, order="C")
        codes, self.classes_ = encode_classes(self, y)
        if len(self.classes_) < 2:
            raise DataError(
                f"ClusterwiseClassifier: y needs at least two classes, and there is only one "
                f"class: {self.classes_[0]}."
            )
        self._fit_parts(rows, codes, LogisticRegression(max_iter=1000))
        return self

    def predict_proba(self, X: ArrayLike) -> np.ndarray:
        """Return the probability of each class, averaged over the row's clusters."""
        rows, shares = self._shares(X)
        result = np.zeros((len(rows), len(self.classes_)))
        for k, estimator in enumerate(self.estimators_):
            mine = shares[:, k] > 0
            if mine.any():
                columns = estimator.classes_.astype(int)
                result[np.ix_(mine, columns)] += shares[mine, k, None] * _probabilities(
                    estimator, rows[mine]
                )
        return result

    def predict(self, X: ArrayLike) -> np.ndarray:
        """Return the most probable class of each row."""
        best = self.predict_proba(X).argmax(axis=1)
        return self.classes_[best]


class ClusterwiseRegressor(_Clusterwise, Regressor):
    r"""Find clusters, and fit a regression of its own in each.

    Parameters
    ----------
    clusterer
        Clusters that can predict; None for `KMeans`.
    estimator
        The regression that is fitted in each cluster; None for a linear one.
    min_samples
        A cluster with fewer rows uses the regression of all rows.

    Attributes
    ----------
    clusterer_ : estimator
        The fitted clusters.
    n_clusters_ : int
        Their number.
    estimators_ : list
        The regression of each cluster.
    global_estimator_ : estimator
        The regression of all rows.

    Notes
    -----
    The prediction is :math:`\sum_j h_j(x)\, g_j(x)` with the memberships :math:`h_j`, 0 and 1 for
    k-means, probabilities for a mixture. See SIT1305 III.

    Examples
    --------
    >>> from verulam.cluster import ClusterwiseRegressor, KMeans
    >>> X, y = [[0.0], [1.0], [2.0], [9.0], [10.0], [11.0]], [0, 1, 2, 3, 2, 1]
    >>> learner = ClusterwiseRegressor(KMeans(2, random_state=0), min_samples=2).fit(X, y)
    >>> learner.predict([[1.5], [8.0]]).round(6)
    array([1.5, 4. ])
    """

    def __init__(
        self, clusterer: Any = None, estimator: Any = None, *, min_samples: int = 10
    ) -> None:
        self.clusterer = clusterer
        self.estimator = estimator
        self.min_samples = min_samples

    @classmethod
    def _example_learners(cls) -> list["ClusterwiseRegressor"]:
        return [cls(KMeans(n_clusters=2, random_state=0))]

    @checked_fit_with_parts
    def fit(self, X: ArrayLike, y: ArrayLike) -> Self:
        """Find the clusters, and fit a regression in each.

        Parameters
        ----------
        X
            Rows.
        y
            Target of each row.
        """
        rows = validate_data(self, X, dtype=np.float64, order="C")
        self._fit_parts(rows, numeric_targets(self, y), LinearRegression())
        return self

    def predict(self, X: ArrayLike) -> np.ndarray:
        """Return the prediction for each row, averaged over its clusters."""
        rows, shares = self._shares(X)
        result = np.zeros(len(rows))
        for k, estimator in enumerate(self.estimators_):
            mine = shares[:, k] > 0
            if mine.any():
                result[mine] += shares[mine, k] * estimator.predict(rows[mine])
        return result


def _probabilities(estimator: Any, rows: np.ndarray) -> np.ndarray:
    if hasattr(estimator, "predict_proba"):
        return estimator.predict_proba(rows)
    return (estimator.predict(rows)[:, None] == estimator.classes_).astype(float)


def _fitted_clusters(clusterer: Any, rows: np.ndarray) -> Any:
    if clusterer is None:
        return KMeans(n_clusters=min(8, len(rows)), random_state=0).fit(rows)
    return clone(clusterer).fit(rows)


def _cluster_count(clusterer: Any, rows: np.ndarray) -> int:
    # A cluster may be empty of training rows, so that labels alone do not tell how many there are.
    for name in ("cluster_centers_", "means_"):
        if hasattr(clusterer, name):
            return len(getattr(clusterer, name))
    return int(clusterer.predict(rows).max()) + 1
