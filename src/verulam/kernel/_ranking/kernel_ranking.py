"""Ranking machines (RankSVM) with kernels: the better of two rows should lead by a margin."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils import Tags

from verulam.base import checked_fit
from verulam.kernel._kernels.base import Kernel
from verulam.kernel._kernels.general import Function
from verulam.kernel._kernels.inputs import read_training
from verulam.kernel._kernels.polynomial import Linear
from verulam.kernel._ranking.cutting_planes import ListedPreferences, Preferences, rank_by_planes
from verulam.kernel._solvers.row_cache import RowCache
from verulam.kernel._svm.base import COST, SHARED_CONSTRAINTS, SupportVectorMachine


@dataclass(frozen=True, eq=False)
class PreferenceKernel(Kernel):
    r"""The kernel of two preferences, given as pairs of rows side by side.

    Attributes
    ----------
    kernel
        Kernel :math:`K` of rows.

    Notes
    -----
    For "u before v" and "k before l" it is :math:`K(u, k) - K(u, l) - K(v, k) + K(v, l)`: the
    inner product of the differences in the space of the kernel, where the kernel of the
    differences of the inputs themselves would not score single rows. See Alpaydin 13 exercise 7.
    """

    kernel: Kernel

    def _values(self, left: np.ndarray, right: np.ndarray) -> np.ndarray:
        half = left.shape[1] // 2
        better, worse = left[:, :half], left[:, half:]
        others = np.vstack([right[:, :half], right[:, half:]])
        # All four kernels by one call, as it has a cost of its own.
        values = self.kernel._values(np.vstack([better, worse]), others)
        difference = values[: len(left)] - values[len(left) :]
        return difference[:, : len(right)] - difference[:, len(right) :]

    def diagonal(self, X: Any) -> np.ndarray:
        pairs = self.inputs(X)
        half = pairs.shape[1] // 2
        cross = [self.kernel._values(pair[None, :half], pair[None, half:])[0, 0] for pair in pairs]
        lengths = self.kernel.diagonal(pairs[:, :half]) + self.kernel.diagonal(pairs[:, half:])
        return lengths - 2.0 * np.array(cross)


class RankingMachine(SupportVectorMachine):
    r"""Learn a score from preferences, with a kernel.

    Parameters
    ----------
    kernel
        Name of a kernel, a kernel, or a function of two tables.
    C
        Cost :math:`C` of the slack of a pair.
    tol
        Largest gap between the objective and its lower bound, as a share of the objective.
    max_iter
        Most planes of the solver, see `rank_by_planes`.
    cache_size
        Megabytes for kernel values and for what the solver works with.

    Attributes
    ----------
    kernel_ : Kernel
        The kernel with what it took from the data.
    support_ : ndarray of shape (n_support,)
        Positions of the rows that take part in the score.
    support_vectors_ : ndarray
        Those rows.
    dual_coef_ : ndarray of shape (n_support,)
        Coefficient of each, the sum over its pairs.
    objective_, gap_ : float
        Value of the program, and how far at most it is from the least.
    n_pairs_ : int
        Pairs that were compared.
    n_iter_ : int
        Planes used.

    Notes
    -----
    .. math:: \min \tfrac{1}{2} \|w\|^2 + C \sum_{u \succ v} \xi^{uv}, \qquad
              w^T (\phi(x^u) - \phi(x^v)) \ge 1 - \xi^{uv}

    The dual has :math:`0 \le \alpha \le C` and no equality, and any slack has :math:`\alpha = C`.
    Pairs are counted and never listed, so that ten thousand rows, with fifty million pairs, take
    seconds. See Alpaydin 13.11 (13.52)-(13.55), where smaller numbers are better; here higher ones
    are.

    Examples
    --------
    >>> import numpy as np
    >>> from verulam.kernel import RankingMachine
    >>> X = np.linspace(-2, 2, 9)[:, None]
    >>> ranker = RankingMachine(C=10.0).fit(X, -np.abs(X[:, 0]))
    >>> round(ranker.score(X, -np.abs(X[:, 0])), 2)
    1.0

    Preferences alone, without numbers: the middle before both ends.

    >>> ranker.fit_pairs(X, [[4, 0], [4, 8]]).n_pairs_
    2
    >>> bool(ranker.predict([[0.1]]) > ranker.predict([[1.9]]))
    True
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = SHARED_CONSTRAINTS | {"C": COST}
    _skipped_checks: ClassVar[dict[str, str]] = {}

    def __init__(
        self,
        *,
        kernel: str | Kernel | Function = "rbf",
        C: float = 1.0,
        tol: float = 1e-3,
        max_iter: int = 1000,
        cache_size: float = 200.0,
    ) -> None:
        self.kernel = kernel
        self.C = C
        self.tol = tol
        self.max_iter = max_iter
        self.cache_size = cache_size

    @classmethod
    def _example_data(cls) -> tuple[np.ndarray, np.ndarray]:
        random = np.random.default_rng(0)
        inputs = random.normal(size=(30, 3))
        return inputs, np.round(inputs @ [1.0, -2.0, 0.5] + random.normal(size=30))

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        return tags

    @checked_fit
    def fit(self, X: ArrayLike, y: ArrayLike, groups: ArrayLike | None = None) -> Self:
        """Train on rows with relevances, higher is better; only rows of one group are compared."""
        kernel, inputs, relevances = read_training(self, self.kernel, X, y, y_numeric=True)
        preferences = Preferences(np.asarray(relevances, dtype=np.float64), groups)
        return self._train(kernel, inputs, preferences)

    @checked_fit
    def fit_pairs(self, X: ArrayLike, pairs: ArrayLike) -> Self:
        """Train on given preferences: each row of `pairs` has the better and the worse position."""
        kernel, inputs, _ = read_training(self, self.kernel, X, supervised=False)
        return self._train(kernel, inputs, ListedPreferences(pairs, len(inputs)))

    def _train(
        self, kernel: Kernel, inputs: np.ndarray, preferences: Preferences | ListedPreferences
    ) -> Self:
        solution = rank_by_planes(
            preferences,
            gram_product(kernel, inputs, self.cache_size),
            float(self.C),
            float(self.tol),
            int(self.max_iter),
        )
        self._store_support(kernel, inputs, solution.coefficients)
        self.objective_, self.gap_ = solution.objective, solution.gap
        self.n_pairs_ = preferences.n_pairs
        self.n_iter_ = solution.n_iter
        return self

    def predict(self, X: ArrayLike) -> np.ndarray:
        """Return the score of each row, higher is better."""
        return self._expansion(self._read_queries(X))[:, 0]

    def score(self, X: ArrayLike, y: ArrayLike, groups: ArrayLike | None = None) -> float:
        """Return the share of pairs in the right order."""
        scores = self.predict(X)
        return Preferences(np.asarray(y, dtype=np.float64), groups).share_in_order(scores)

    def score_pairs(self, X: ArrayLike, pairs: ArrayLike) -> float:
        """Return the share of given preferences in the right order."""
        scores = self.predict(X)
        return ListedPreferences(pairs, len(scores)).share_in_order(scores)


def gram_product(
    kernel: Kernel, inputs: np.ndarray, cache_size: float
) -> Callable[[np.ndarray], np.ndarray]:
    """Return a function that multiplies a vector by the Gram matrix.

    The linear kernel needs no matrix; of others, rows are kept as far as the memory goes.
    """
    if isinstance(kernel, Linear):
        return lambda vector: inputs @ (inputs.T @ vector)
    cache = RowCache(kernel, inputs, cache_size)

    def product(vector: np.ndarray) -> np.ndarray:
        sums = np.zeros(cache.size)
        used = np.flatnonzero(vector)
        cache.add_products(used, vector[used], sums)
        return sums

    return product
