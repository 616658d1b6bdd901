"""Consensus of clusterings: rows that most solutions put together belong together."""

from numbers import Integral
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.cluster.hierarchy import cut_tree, fcluster, linkage
from scipy.spatial.distance import squareform
from sklearn.base import BaseEstimator, ClusterMixin
from sklearn.cluster import KMeans

from verulam.base import (
    RANDOM_STATE,
    DataError,
    Interval,
    Seed,
    StrOptions,
    checked_fit_with_parts,
    clone,
    generator,
    validate_data,
)
from verulam.ensemble._members.members import seeded

#: Rows of which a square matrix is made.
MOST_ROWS = 20_000


def co_association(solutions: ArrayLike) -> NDArray[np.float64]:
    r"""Return the share of solutions that put two rows together.

    Parameters
    ----------
    solutions
        Labels of the clusters, one row for each solution; a label below 0 means that the row is in
        no cluster of that solution.

    Notes
    -----
    .. math:: C_{ij} = \frac{1}{S} \sum_s 1(\text{solution } s \text{ has } i, j \text{ together})

    with 1 on the diagonal. See Alpaydin 17.12 and exercise 9 of 17.13 (Kuncheva 2004).

    Examples
    --------
    >>> from verulam.ensemble import co_association
    >>> co_association([[0, 0, 1], [1, 1, 1]])
    array([[1. , 1. , 0.5],
           [1. , 1. , 0.5],
           [0.5, 0.5, 1. ]])
    """
    labels = np.asarray(solutions)
    if labels.ndim != 2 or not labels.size:
        raise DataError(
            f"solutions must have the shape (solutions, rows), one or more of either; got "
            f"{labels.shape}."
        )
    if labels.shape[1] > MOST_ROWS:
        raise DataError(
            f"solutions have {labels.shape[1]:,} rows; a square matrix is made of up to "
            f"{MOST_ROWS:,}: take a sample."
        )
    total = np.zeros((labels.shape[1], labels.shape[1]))
    for solution in labels:
        names, codes = np.unique(solution, return_inverse=True)
        members = (codes[:, None] == np.arange(len(names))).astype(np.float64)
        if names.dtype.kind in "if":
            members = members[:, names >= 0]
        total += members @ members.T
    total /= len(labels)
    np.fill_diagonal(total, 1.0)
    return total


class ClusterEnsemble(ClusterMixin, BaseEstimator):
    r"""Cut several clusterings of the same rows into one.

    Parameters
    ----------
    estimators
        Clusterers with `fit_predict`; each is run `n_solutions` times with seeds of its own. None
        takes k-means with numbers of clusters that are drawn.
    n_clusters
        Clusters of the consensus; None cuts where rows are together less than half of the time.
    n_solutions
        Runs of each clusterer.
    linkage
        How clusters are merged by their rows: "average", "single" or "complete".
    random_state
        Seed.

    Attributes
    ----------
    labels_ : ndarray of shape (n_rows,)
        Cluster of each row.
    co_association_ : ndarray of shape (n_rows, n_rows)
        Share of the solutions that put two rows together.
    solutions_ : ndarray of shape (n_solutions, n_rows)
        All solutions.

    Notes
    -----
    The co-association matrix is a similarity like any other, and is cut by hierarchical
    clustering. Solutions may differ in algorithm, number of clusters and start. See Alpaydin 17.12
    and exercise 9 of 17.13.

    Examples
    --------
    >>> from verulam.data import dataset
    >>> from verulam.ensemble import ClusterEnsemble
    >>> iris = dataset("iris")
    >>> ensemble = ClusterEnsemble(n_clusters=3, random_state=0).fit(iris.inputs)
    >>> ensemble.solutions_.shape, len(set(ensemble.labels_))
    ((10, 150), 3)
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "estimators": [list, tuple, None],
        "n_clusters": [Interval(Integral, 1, None, closed="left"), None],
        "n_solutions": [Interval(Integral, 1, None, closed="left")],
        "linkage": [StrOptions({"average", "single", "complete"})],
        "random_state": RANDOM_STATE,
    }
    _skipped_checks: ClassVar[dict[str, str]] = {}

    def __init__(
        self,
        estimators: list[Any] | None = None,
        *,
        n_clusters: int | None = None,
        n_solutions: int = 10,
        linkage: Any = "average",
        random_state: Seed = None,
    ) -> None:
        self.estimators = estimators
        self.n_clusters = n_clusters
        self.n_solutions = n_solutions
        self.linkage = linkage
        self.random_state = random_state

    @checked_fit_with_parts
    def fit(self, X: ArrayLike, y: Any = None) -> Self:
        """Run the clusterers and cut what they agree on."""
        inputs = validate_data(self, X, dtype=np.float64, ensure_min_samples=2)
        random = generator(self.random_state)
        self.solutions_ = np.array(
            [
                np.asarray(learner.fit_predict(inputs), dtype=np.int64)
                for learner in self._clusterers(len(inputs), random)
            ]
        )
        self.co_association_ = co_association(self.solutions_)
        self.labels_ = self._cut(len(inputs))
        return self

    def _clusterers(self, n_rows: int, random: np.random.Generator) -> list[Any]:
        if self.estimators is None:
            fewest = min(self.n_clusters or 2, n_rows)
            most = min(max(2 * fewest, int(np.sqrt(n_rows))), n_rows)
            counts = random.integers(fewest, most + 1, size=self.n_solutions)
            return [
                KMeans(int(count), n_init=1, random_state=int(random.integers(2**31 - 1)))
                for count in counts
            ]
        if not len(self.estimators):
            raise DataError("estimators is empty: an ensemble needs one clusterer or more.")
        for learner in self.estimators:
            if not hasattr(learner, "fit_predict"):
                raise DataError(
                    f"estimators: {type(learner).__name__} cannot cluster, it has no fit_predict."
                )
        return [
            seeded(clone(learner), int(random.integers(2**31 - 1)), all_of_them=True)
            for learner in self.estimators
            for _ in range(self.n_solutions)
        ]

    def _cut(self, n_rows: int) -> NDArray[np.int64]:
        apart = 1.0 - self.co_association_
        tree = linkage(squareform(apart, checks=False), method=self.linkage)
        labels: NDArray[Any]
        if self.n_clusters is None:
            labels = fcluster(tree, 0.5, criterion="distance")
        else:
            if self.n_clusters > n_rows:
                raise DataError(f"n_clusters={self.n_clusters}, but there are {n_rows} rows.")
            # Many merges are at one height here, of which a cut by height takes all or none.
            labels = cut_tree(tree, [self.n_clusters]).ravel()
        # Clusters are numbered in the order of their first rows.
        _, first, codes = np.unique(labels, return_index=True, return_inverse=True)
        ranks = np.empty(len(first), dtype=np.int64)
        ranks[np.argsort(first)] = np.arange(len(first))
        return ranks[codes]
