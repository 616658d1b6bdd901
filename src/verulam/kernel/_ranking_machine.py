"""Ranking with a kernel: the better of two rows should score higher by a margin."""

from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator
from sklearn.utils import Tags

from verulam.base import DataError, checked_fit
from verulam.kernel._dual import DualProblem, solve_dual
from verulam.kernel._general_kernels import Function
from verulam.kernel._kernel import Kernel
from verulam.kernel._machine import expansion, read_queries, read_training
from verulam.kernel._row_cache import RowCache
from verulam.kernel._support_options import COST, SHARED_OPTIONS


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
        values = self.kernel._values(np.vstack([better, worse]), others)
        difference = values[: len(left)] - values[len(left) :]
        return difference[:, : len(right)] - difference[:, len(right) :]

    def diagonal(self, X: Any) -> np.ndarray:
        pairs = self.inputs(X)
        half = pairs.shape[1] // 2
        cross = [self.kernel._values(pair[None, :half], pair[None, half:])[0, 0] for pair in pairs]
        lengths = self.kernel.diagonal(pairs[:, :half]) + self.kernel.diagonal(pairs[:, half:])
        return lengths - 2.0 * np.array(cross)


class RankingMachine(BaseEstimator):
    r"""Learn a score from preferences, with a kernel.

    Parameters
    ----------
    kernel
        Name of a kernel of rows of numbers, a kernel, or a function of two tables.
    C
        Cost :math:`C` of the slack of a pair.
    tol
        Largest violation of the conditions of optimality.
    max_iter
        Most blocks of the solver, see `solve_dual`.
    cache_size
        Megabytes for kernel values.

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
    n_pairs_ : int
        Pairs that were compared.
    n_iter_ : int
        Blocks solved.

    Notes
    -----
    .. math:: \min \tfrac{1}{2} \|w\|^2 + C \sum_{u \succ v} \xi^{uv}, \qquad
              w^T (\phi(x^u) - \phi(x^v)) \ge 1 - \xi^{uv}

    The dual has :math:`0 \le \alpha \le C` and no equality, and any slack has :math:`\alpha = C`.
    See Alpaydin 13.11 (13.52)-(13.55), where smaller numbers are better; here higher ones are.

    Examples
    --------
    >>> import numpy as np
    >>> from verulam.kernel import RankingMachine
    >>> X = np.linspace(-2, 2, 9)[:, None]
    >>> ranker = RankingMachine(C=10.0).fit(X, -np.abs(X[:, 0]))
    >>> round(ranker.score(X, -np.abs(X[:, 0])), 2)
    1.0
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = SHARED_OPTIONS | {"C": COST}
    _skipped_checks: ClassVar[dict[str, str]] = {}

    def __init__(
        self,
        *,
        kernel: str | Kernel | Function = "gaussian",
        C: float = 1.0,
        tol: float = 1e-3,
        max_iter: int = 100_000,
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
        if kernel.takes != "rows":
            raise DataError(f"kernel must be one of rows of numbers; this is of {kernel.takes}.")
        better, worse = _pairs(relevances, groups)
        self.n_pairs_ = len(better)
        zeros = np.zeros(self.n_pairs_)
        problem = DualProblem(zeros - 1.0, zeros, zeros + float(self.C), zeros, "none")
        pairs = np.hstack([inputs[better], inputs[worse]])
        solution = solve_dual(
            problem,
            RowCache(PreferenceKernel(kernel), pairs, self.cache_size),
            tolerance=float(self.tol),
            max_iter=int(self.max_iter),
        )
        weights = np.bincount(better, solution.coefficients, len(inputs))
        weights -= np.bincount(worse, solution.coefficients, len(inputs))
        self.kernel_ = kernel
        self.support_ = np.flatnonzero(weights)
        self.support_vectors_ = inputs[self.support_]
        self.dual_coef_ = weights[self.support_]
        self.n_iter_ = max(1, solution.n_iter)
        return self

    def predict(self, X: ArrayLike) -> np.ndarray:
        """Return the score of each row, higher is better."""
        queries = read_queries(self, X)
        weights = self.dual_coef_[:, None]
        return expansion(self.kernel_, queries, self.support_vectors_, self.support_, weights)[:, 0]

    def score(self, X: ArrayLike, y: ArrayLike, groups: ArrayLike | None = None) -> float:
        """Return the share of pairs in the right order."""
        scores = self.predict(X)
        better, worse = _pairs(np.asarray(y, dtype=np.float64), groups)
        return float((scores[better] > scores[worse]).mean())


def _pairs(relevances: np.ndarray, groups: ArrayLike | None) -> tuple[np.ndarray, np.ndarray]:
    """Return the positions of the better and the worse row of every pair."""
    labels = np.zeros(len(relevances)) if groups is None else np.asarray(groups)
    if len(labels) != len(relevances):
        raise DataError(f"groups has {len(labels)} entries, but there are {len(relevances)} rows.")
    better, worse = [], []
    for label in np.unique(labels):
        own = np.flatnonzero(labels == label)
        first, second = np.nonzero(relevances[own][:, None] > relevances[own][None])
        better.append(own[first])
        worse.append(own[second])
    found = np.concatenate(better), np.concatenate(worse)
    if not len(found[0]):
        raise DataError(
            "no two rows of one group differ in relevance, so there is nothing to rank: got "
            f"n_samples={len(relevances)}."
        )
    return found
