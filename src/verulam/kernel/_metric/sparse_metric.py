"""A sparse metric for neighbours: near in class, far across, and few columns together."""

from numbers import Integral, Real
from typing import Any, ClassVar, Self

import numpy as np
import scipy.linalg
from numpy.typing import ArrayLike
from sklearn.base import ClassNamePrefixFeaturesOutMixin
from sklearn.covariance import graphical_lasso
from sklearn.neighbors import NearestNeighbors
from sklearn.utils import Tags

from verulam.base import (
    DataError,
    Interval,
    Transformer,
    check_is_fitted,
    checked_fit,
    validate_data,
)
from verulam.kernel._kernels.inputs import read_classes

#: Added to the variances, of one each, so that columns which repeat each other can be told apart.
RIDGE = 1e-4
#: The pairs may take away at most this share of the variance in any direction.
MOST = 0.9


class SparseMetric(ClassNamePrefixFeaturesOutMixin, Transformer):
    r"""Learn a metric from classes whose matrix has few entries off its diagonal.

    Parameters
    ----------
    n_neighbors
        Nearest rows of the same class, and of others, that each row makes pairs with.
    balance
        Weight :math:`\eta` of the pairs against the covariance of all rows. It is lowered where the
        sum would not be positive definite.
    alpha
        Price :math:`\lambda` of entries off the diagonal, in units of standardised columns; zero
        leaves none out, and one all.
    max_iter
        Most rounds of the solver.
    tol
        Its duality gap at the end.

    Attributes
    ----------
    metric_ : ndarray of shape (n_features, n_features)
        Matrix :math:`M` of the squared distance :math:`(x - y)^T M (x - y)`.
    components_ : ndarray of shape (n_features, n_features)
        Projection :math:`L` with :math:`M = L^T L`.
    balance_ : float
        Weight of the pairs that was used.
    n_interactions_ : int
        Pairs of columns that the distance knows together: entries above the diagonal.
    n_iter_ : int
        Rounds of the solver.

    Notes
    -----
    .. math:: \min_{M \succ 0} \mathrm{tr}(P M) - \log |M| + \lambda \sum_{i \ne j} |M_{ij}|,
              \qquad P = \Sigma + \eta \left(\overline{\delta \delta^T}_{same}
              - \overline{\delta \delta^T}_{other}\right)

    with :math:`\delta` the differences of near rows of the same and of other classes, after all
    columns are divided by their deviation. Without pairs and penalty it is Mahalanobis' distance.
    See Alpaydin 8.5 (8.20); the method is that of [qi2009]_.

    References
    ----------
    .. [qi2009] G.-J. Qi, J. Tang, Z.-J. Zha, T.-S. Chua and H.-J. Zhang, "An efficient sparse
       metric learning in high-dimensional space via l1-penalized log-determinant regularization",
       International Conference on Machine Learning, 2009.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from sklearn.pipeline import make_pipeline
    >>> from verulam.kernel import SparseMetric
    >>> from verulam.nonparametric import KNeighborsClassifier
    >>> X, y = load_wine(return_X_y=True)
    >>> learner = make_pipeline(SparseMetric(alpha=0.3), KNeighborsClassifier(n_neighbors=3))
    >>> bool(learner.fit(X[::2], y[::2]).score(X[1::2], y[1::2]) > 0.9)
    True
    >>> bool(learner[0].n_interactions_ < 13 * 12 / 4)
    True
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "n_neighbors": [Interval(Integral, 1, None, closed="left")],
        "balance": [Interval(Real, 0, None, closed="left")],
        "alpha": [Interval(Real, 0, None, closed="left")],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "tol": [Interval(Real, 0, None, closed="neither")],
    }

    def __init__(
        self,
        n_neighbors: int = 3,
        *,
        balance: float = 0.5,
        alpha: float = 0.05,
        max_iter: int = 200,
        tol: float = 1e-4,
    ) -> None:
        self.n_neighbors = n_neighbors
        self.balance = balance
        self.alpha = alpha
        self.max_iter = max_iter
        self.tol = tol

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        return tags

    @checked_fit
    def fit(self, X: ArrayLike, y: ArrayLike) -> Self:
        """Learn the metric."""
        rows = validate_data(self, X, dtype=np.float64, ensure_min_samples=2)
        _, codes = read_classes(y, len(rows))
        deviations = rows.std(axis=0)
        scales = np.where(deviations > 0, deviations, 1.0)
        # In units of the deviations one price fits all entries.
        standard = (rows - rows.mean(axis=0)) / scales
        covariance = standard.T @ standard / len(rows) + RIDGE * np.eye(rows.shape[1])
        pairs = pair_scatter(standard, codes, self.n_neighbors)
        self.balance_ = feasible_balance(covariance, pairs, float(self.balance))
        matrix, self.n_iter_ = sparse_inverse(
            covariance + self.balance_ * pairs, float(self.alpha), self.max_iter, self.tol
        )
        # Back in units of the columns.
        self.metric_ = matrix / np.outer(scales, scales)
        # The upper factor L of M = L^T L: distances after the projection are those of the metric.
        self.components_ = scipy.linalg.cholesky(matrix) / scales
        self.n_interactions_ = int(np.count_nonzero(np.triu(matrix, 1)))
        return self

    @property
    def _n_features_out(self) -> int:
        return len(self.components_)

    def transform(self, X: ArrayLike) -> np.ndarray:
        """Return the rows in the space where the Euclidean distance is the learned one."""
        check_is_fitted(self)
        rows = validate_data(self, X, dtype=np.float64, reset=False)
        return rows @ self.components_.T


def pair_scatter(rows: np.ndarray, codes: np.ndarray, n_neighbors: int) -> np.ndarray:
    """Return the mean square of differences to near rows of the same class minus that to others."""
    scatter = np.zeros((rows.shape[1], rows.shape[1]))
    for same, sign in ((True, 1.0), (False, -1.0)):
        squares, n_pairs = np.zeros_like(scatter), 0
        for code in np.unique(codes):
            members = rows[codes == code]
            others = members if same else rows[codes != code]
            count = min(n_neighbors, len(others) - same)
            if count < 1:
                continue
            finder = NearestNeighbors(n_neighbors=count).fit(others)
            # Without queries a row is not its own neighbour.
            near = finder.kneighbors(None if same else members, return_distance=False)
            differences = (members[:, None] - others[near]).reshape(-1, rows.shape[1])
            squares += differences.T @ differences
            n_pairs += len(differences)
        scatter += sign * squares / max(n_pairs, 1)
    return scatter


def feasible_balance(covariance: np.ndarray, pairs: np.ndarray, balance: float) -> float:
    """Return the weight of the pairs, lowered where their sum would lose a direction."""
    # The generalised eigenvalue: the largest share of the variance that the pairs take away.
    taken = -float(scipy.linalg.eigh(pairs, covariance, eigvals_only=True)[0])
    return balance if taken * balance <= MOST else MOST / taken


def sparse_inverse(
    matrix: np.ndarray, alpha: float, max_iter: int, tol: float
) -> tuple[np.ndarray, int]:
    """Return the inverse by the graphical lasso, and the rounds it took."""
    if alpha == 0.0 or len(matrix) == 1:
        return np.asarray(np.linalg.inv(matrix)), 1
    try:
        _, inverse, n_iter = graphical_lasso(
            matrix, alpha, tol=tol, max_iter=max_iter, return_n_iter=True
        )
    except FloatingPointError as error:
        raise DataError(
            f"the sparse metric could not be solved ({error}). Raise alpha, or lower balance."
        ) from None
    return 0.5 * (inverse + inverse.T), int(n_iter)
