"""One-class machines: the plane that parts the data from the origin, and the smallest ball."""

from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike

from verulam.base import DataError, OutlierDetector, checked_fit
from verulam.kernel._kernels.base import Kernel
from verulam.kernel._kernels.general import Function
from verulam.kernel._kernels.inputs import read_training
from verulam.kernel._kernels.radial import Gaussian
from verulam.kernel._solvers.dual import DualSolution
from verulam.kernel._solvers.dual_problems import (
    DualProblem,
    description_problem,
    one_class_problem,
)
from verulam.kernel._svm.base import (
    COST,
    SHARE,
    SHARED_CONSTRAINTS,
    SupportVectorMachine,
    row_weights,
)

#: Kernel values of many rows are kept in single precision.
ROUNDING = 1e-7


class _OneClass(SupportVectorMachine, OutlierDetector):
    """What both machines share: a threshold on a score."""

    offset_: float

    def _store_solution(self, kernel: Kernel, inputs: np.ndarray, solution: DualSolution) -> None:
        self._store_support(kernel, inputs, solution.coefficients)
        self.solution_ = solution
        self.n_iter_ = max(1, solution.n_iter)

    @staticmethod
    def _border(problem: DualProblem, solution: DualSolution) -> float:
        """Return how far free support vectors stray from the border they lie on, and rounding.

        The border belongs to the inside: no one on it should be an outlier by the tolerance.
        """
        beta = solution.coefficients
        free = (beta > problem.lower) & (beta < problem.upper)
        level = float(solution.equality_multipliers[0])
        deviations = -problem.linear - solution.K_beta - level
        return float(deviations[free].max(initial=0.0)) + ROUNDING * (1.0 + abs(level))

    def score_samples(self, X: ArrayLike) -> np.ndarray:
        """Return a score of each row, high for typical ones."""
        raise NotImplementedError

    def decision_function(self, X: ArrayLike) -> np.ndarray:
        """Return the score of each row above the threshold; negative for outliers."""
        return self.score_samples(X) - self.offset_

    def predict(self, X: ArrayLike) -> np.ndarray:
        """Return 1 for typical rows and -1 for outliers."""
        return np.where(self.decision_function(X) >= 0, 1, -1)


class OneClassMachine(_OneClass):
    r"""Part the data from the origin of the kernel's space by a plane as far away as possible.

    Parameters
    ----------
    kernel
        Name of a kernel, a kernel, or a function of two tables.
    nu
        Share :math:`\nu` that bounds the training outliers from above and the support vectors
        from below.
    tol
        Largest violation of the KKT conditions, relative to the mean coefficient.
    max_iter
        Most working sets of the solver, see `solve_dual`.
    cache_size
        Megabytes for kernel values and for what the solver works with.

    Attributes
    ----------
    kernel_ : Kernel
        The kernel with what it took from the data.
    support_ : ndarray of shape (n_support,)
        Positions of the support vectors.
    support_vectors_ : ndarray
        The support vectors.
    dual_coef_ : ndarray of shape (n_support,)
        Coefficients, which sum to one.
    offset_ : float
        Least score of a typical row.
    solution_ : DualSolution
        The solver's report.
    n_iter_ : int
        Working sets solved.

    Notes
    -----
    .. math:: \min \tfrac{1}{2} \|w\|^2 - \rho + \frac{1}{\nu N} \sum_t \xi^t, \qquad
              w^T \phi(x^t) \ge \rho - \xi^t

    With a kernel that depends on the distance alone this is `SupportVectorDescription` with
    :math:`C = 1 / \nu N`. See Alpaydin 13.12.

    Examples
    --------
    >>> import numpy as np
    >>> from verulam.kernel import OneClassMachine
    >>> X = np.random.default_rng(0).normal(size=(200, 2))
    >>> OneClassMachine(nu=0.1).fit(X).predict([[0.0, 0.0], [5.0, 5.0]])
    array([ 1, -1])
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = SHARED_CONSTRAINTS | {"nu": SHARE}

    def __init__(
        self,
        *,
        kernel: str | Kernel | Function = "rbf",
        nu: float = 0.5,
        tol: float = 1e-3,
        max_iter: int = 100_000,
        cache_size: float = 200.0,
    ) -> None:
        self.kernel = kernel
        self.nu = nu
        self.tol = tol
        self.max_iter = max_iter
        self.cache_size = cache_size

    @classmethod
    def _example_learners(cls) -> list["OneClassMachine"]:
        return [cls(kernel=Gaussian(1.0), tol=1e-10)]

    @checked_fit
    def fit(self, X: ArrayLike, y: Any = None, sample_weight: ArrayLike | None = None) -> Self:
        """Find the plane; a row with more `sample_weight` may carry more of it."""
        kernel, inputs, _ = read_training(self, self.kernel, X, supervised=False)
        problem = one_class_problem(row_weights(sample_weight, inputs), float(self.nu))
        cache = self._cache(kernel, inputs)
        solution = self._solve(problem, cache, float(problem.upper.mean()))
        self._store_solution(kernel, inputs, solution)
        level = solution.equality_multipliers[0]
        self.offset_ = -float(level + self._border(problem, solution))
        return self

    def score_samples(self, X: ArrayLike) -> np.ndarray:
        """Return the sum over support vectors for each row, high for typical ones."""
        return self._expansion(self._read_queries(X))[:, 0]


class SupportVectorDescription(_OneClass):
    r"""Enclose the data in the smallest ball of the kernel's space.

    Parameters
    ----------
    kernel
        Name of a kernel, a kernel, or a function of two tables.
    C
        Cost of a squared distance outside the ball; at least one over the number of rows. One or
        more leaves nothing outside.
    tol
        Largest violation of the KKT conditions, relative to the mean coefficient.
    max_iter
        Most working sets of the solver, see `solve_dual`.
    cache_size
        Megabytes for kernel values and for what the solver works with.

    Attributes
    ----------
    kernel_ : Kernel
        The kernel with what it took from the data.
    support_ : ndarray of shape (n_support,)
        Positions of the support vectors.
    support_vectors_ : ndarray
        The support vectors: rows on the ball or outside.
    dual_coef_ : ndarray of shape (n_support,)
        Coefficients :math:`\alpha^t` of the centre, which sum to one.
    radius_ : float
        Radius :math:`R` of the ball.
    offset_ : float
        Least score of a typical row, :math:`-R^2`.
    solution_ : DualSolution
        The solver's report.
    n_iter_ : int
        Working sets solved.

    Notes
    -----
    .. math:: \min R^2 + C \sum_t \xi^t, \qquad \|\phi(x^t) - a\|^2 \le R^2 + \xi^t

    with centre :math:`a = \sum_t \alpha^t \phi(x^t)`. See Alpaydin 13.12 (13.56)-(13.62).

    Examples
    --------
    >>> from verulam.kernel import SupportVectorDescription
    >>> corners = [[0.0, 0.0], [0.0, 2.0], [2.0, 0.0], [2.0, 2.0], [1.0, 1.0]]
    >>> ball = SupportVectorDescription(kernel="linear", C=1.0).fit(corners)
    >>> round(ball.radius_, 4), ball.predict([[1.0, 1.2], [3.0, 3.0]])
    (1.4142, array([ 1, -1]))
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = SHARED_CONSTRAINTS | {"C": COST}

    def __init__(
        self,
        *,
        kernel: str | Kernel | Function = "rbf",
        C: float = 0.1,
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
    def _example_learners(cls) -> list["SupportVectorDescription"]:
        return [cls(kernel=Gaussian(4.0), tol=1e-10)]

    @checked_fit
    def fit(self, X: ArrayLike, y: Any = None, sample_weight: ArrayLike | None = None) -> Self:
        """Find the ball; `sample_weight` multiplies the cost of each row."""
        kernel, inputs, _ = read_training(self, self.kernel, X, supervised=False)
        costs = float(self.C) * row_weights(sample_weight, inputs)
        if costs.sum() < 1.0 - 1e-12:
            raise DataError(
                f"C={self.C:g} is infeasible: the coefficients of the centre are at most C and sum "
                f"to one, so C must be at least {self.C / costs.sum():.6g}, one over the number of "
                f"rows; got n_samples={len(inputs)}."
            )
        cache = self._cache(kernel, inputs)
        problem = description_problem(cache.diagonal, costs)
        scale = (abs(float(cache.diagonal.mean())) or 1.0) / len(inputs)
        solution = self._solve(problem, cache, scale)
        self._store_solution(kernel, inputs, solution)
        self._centre_square = float(solution.coefficients @ solution.K_beta)
        # On the ball, |phi(x)|^2 - 2 a^T phi(x) is twice the multiplier of the sum.
        square = 2.0 * float(solution.equality_multipliers[0]) + self._centre_square
        self.radius_ = max(square, 0.0) ** 0.5
        self.offset_ = -square - 2.0 * self._border(problem, solution)
        return self

    def score_samples(self, X: ArrayLike) -> np.ndarray:
        """Return minus the squared distance of each row from the centre."""
        queries = self._read_queries(X)
        if self.kernel_.takes == "gram":
            raise DataError(
                "a precomputed kernel does not tell the lengths of new inputs; use distances with "
                "another kernel, or OneClassMachine."
            )
        lengths = self.kernel_.diagonal(queries)
        return 2.0 * self._expansion(queries)[:, 0] - lengths - self._centre_square
