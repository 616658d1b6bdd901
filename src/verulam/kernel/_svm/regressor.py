"""Support vector regression: an epsilon-insensitive tube around the data."""

from numbers import Real
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike

from verulam.base import Interval, Regressor, StrOptions, checked_fit
from verulam.kernel._kernels.base import Kernel
from verulam.kernel._kernels.general import Function
from verulam.kernel._kernels.inputs import read_training
from verulam.kernel._kernels.radial import Gaussian
from verulam.kernel._solvers.dual_problems import nu_regression_problem, regression_problem
from verulam.kernel._svm.base import (
    COST,
    SHARE,
    SHARED_CONSTRAINTS,
    SupportVectorMachine,
    row_weights,
)
from verulam.kernel._svm.margin_report import InstanceReport, tube_report


class SupportVectorRegressor(SupportVectorMachine, Regressor):
    r"""Fit the flattest function of the kernel's space that stays within a tube of the data.

    Parameters
    ----------
    kernel
        Name of a kernel, a kernel, or a function of two tables.
    form
        "epsilon" (the width of the tube is given) or "nu" (a bound of the share outside is).
    C
        Cost :math:`C` of a unit outside the tube.
    epsilon
        Half the width :math:`\epsilon` of the tube, where the form is "epsilon".
    nu
        Share :math:`\nu` that bounds the rows outside from above and the support vectors from
        below, where the form is "nu".
    tol
        Largest violation of the KKT conditions.
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
        The support vectors: rows on the wall of the tube or outside.
    dual_coef_ : ndarray of shape (n_support,)
        Coefficients :math:`\alpha_+^t - \alpha_-^t`.
    intercept_ : float
        The bias :math:`w_0`.
    epsilon_ : float
        Half the width of the tube, given or found.
    solution_ : DualSolution
        The solver's report.
    n_iter_ : int
        Working sets solved.

    Notes
    -----
    .. math:: \min \tfrac{1}{2} \|w\|^2 + C \sum_t \max(0, |r^t - f(x^t)| - \epsilon)

    with :math:`f(x) = \sum_t (\alpha_+^t - \alpha_-^t) K(x^t, x) + w_0`. See Alpaydin 13.10
    (13.43)-(13.51); his formula of the bias means :math:`w^T x^t` where it prints :math:`x^T x^t`.

    Examples
    --------
    >>> import numpy as np
    >>> from verulam.kernel import SupportVectorRegressor
    >>> X = np.linspace(0, 6, 40)[:, None]
    >>> machine = SupportVectorRegressor(C=10.0, epsilon=0.1).fit(X, np.sin(X[:, 0]))
    >>> machine.predict([[1.5], [4.5]]).round(1)
    array([ 0.9, -0.9])
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = SHARED_CONSTRAINTS | {
        "form": [StrOptions({"epsilon", "nu"})],
        "C": COST,
        "epsilon": [Interval(Real, 0, None, closed="left")],
        "nu": SHARE,
    }

    def __init__(
        self,
        *,
        kernel: str | Kernel | Function = "rbf",
        form: str = "epsilon",
        C: float = 1.0,
        epsilon: float = 0.1,
        nu: float = 0.5,
        tol: float = 1e-3,
        max_iter: int = 100_000,
        cache_size: float = 200.0,
    ) -> None:
        self.kernel = kernel
        self.form = form
        self.C = C
        self.epsilon = epsilon
        self.nu = nu
        self.tol = tol
        self.max_iter = max_iter
        self.cache_size = cache_size

    @classmethod
    def _example_learners(cls) -> list["SupportVectorRegressor"]:
        return [cls(kernel=Gaussian(1.0), tol=1e-11), cls(form="nu", kernel="linear", tol=1e-11)]

    @checked_fit
    def fit(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Fit the tube; `sample_weight` multiplies the cost of each row."""
        kernel, inputs, targets = read_training(self, self.kernel, X, y, y_numeric=True)
        targets = np.asarray(targets, dtype=np.float64)
        costs = float(self.C) * row_weights(sample_weight, inputs)
        if self.form == "nu":
            problem = nu_regression_problem(targets, costs, float(self.nu))
        else:
            problem = regression_problem(targets, costs, float(self.epsilon))
        solution = self._solve(problem, self._cache(kernel, inputs))
        # A row has a coefficient for either wall of the tube, of which one is zero.
        self._store_support(kernel, inputs, solution.coefficients.reshape(2, -1).sum(axis=0))
        # The multipliers are b + epsilon and b - epsilon where both walls have a sum of their own.
        walls = solution.equality_multipliers
        self.intercept_ = float(walls.mean())
        self.epsilon_ = float(self.epsilon)
        if self.form == "nu":
            self.epsilon_ = max(0.0, 0.5 * float(walls[0] - walls[1]))
        self.solution_ = solution
        self.n_iter_ = max(1, solution.n_iter)
        return self

    def predict(self, X: ArrayLike) -> np.ndarray:
        """Return the value of the function at each row."""
        return self._expansion(self._read_queries(X))[:, 0] + self.intercept_

    def tube_report(self, X: ArrayLike, y: ArrayLike) -> InstanceReport:
        """Say of each row whether it is in the tube, on its wall or outside."""
        residuals = np.asarray(y, dtype=np.float64) - self.predict(X)
        return tube_report(residuals, self.epsilon_, 2.0 * float(self.tol))
