"""Minimum squared error and Ho-Kashyap: inequalities turned into equations."""

from numbers import Real
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike
from scipy.linalg import lstsq

from verulam.base import (
    DataError,
    DataWarning,
    Interval,
    StrOptions,
    check_weights,
    checked_fit,
    warn_caller,
)
from verulam.linear._training.criteria import QUADRATIC_LOSS
from verulam.linear._training.perceptrons import ITERATIONS, RECORD
from verulam.linear._training.scaling import scale_columns
from verulam.linear._training.tables import check_margins
from verulam.linear._training.trainer import LinearTrainer
from verulam.linear._training.two_class_problem import Problem, Training, one_step


class MinimumSquaredError(LinearTrainer):
    r"""Solve :math:`Y a = b` for chosen margins by the pseudo-inverse.

    Parameters
    ----------
    margins
        "ones" approaches the Bayes discriminant; "fisher" gives Fisher's direction with the
        threshold at the mean; or a positive number for each row.
    record
        "passes" or "steps" keeps the way in `trajectory_`, which is one step from zero.

    Attributes
    ----------
    classes_ : ndarray of shape (2,)
        Sorted class labels; the plane is positive for the second.
    coef_ : ndarray of shape (1, n_features)
        Weights.
    intercept_ : ndarray of shape (1,)
        Bias.
    n_iter_ : int
        One: the equations are solved once.
    converged_ : bool
        Always true.
    residual_sum_ : float
        Weighted sum of squared differences between products and margins.
    rank_ : int
        Rank of the rows; below `n_features_in_` + 1 the shortest solution is taken.
    trajectory_ : Trajectory or None
        Weights, criterion and errors at zero and at the solution.

    Notes
    -----
    .. math:: a = Y^\dagger b, \qquad Y^\dagger = \lim_{\epsilon \to 0}
              (Y^T Y + \epsilon I)^{-1} Y^T

    With :math:`b = 1` the discriminant approaches the best fit of :math:`P(\omega_1|x) -
    P(\omega_2|x)`; with :math:`b = n/n_1` and :math:`n/n_2` the weights are proportional to
    :math:`S_W^{-1}(m_1 - m_2)`. Neither need separate classes that can be. See Bartkowiak 5.6
    (5.7-5.9).

    Examples
    --------
    >>> from verulam.linear import MinimumSquaredError
    >>> line = MinimumSquaredError().fit([[1, 2], [2, 0], [3, 1], [2, 3]], [1, 1, 0, 0])
    >>> [round(float(w), 4) for w in (*line.intercept_, *line.coef_[0])]
    [3.6667, -1.3333, -0.6667]
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "margins": [StrOptions({"ones", "fisher"}), "array-like"],
        "record": RECORD,
    }

    def __init__(self, *, margins: str | ArrayLike = "ones", record: str | None = None) -> None:
        self.margins = margins
        self.record = record

    @classmethod
    def _example_learners(cls) -> list["MinimumSquaredError"]:
        return [cls(), cls(margins="fisher")]

    @checked_fit
    def fit(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Train on rows `X` of two classes `y`, which may have weights."""
        problem = self._read(X, y)
        weights = check_weights(sample_weight, problem.inputs)
        if weights is not None and not weights.any():
            raise DataError("sample_weight is zero for every row; at least one must count.")
        margins = choose_margins(self.margins, problem, weights)
        rows = problem.rows()
        # Weighted least squares: rows and margins times the roots of the weights.
        roots = np.ones(len(rows)) if weights is None else np.sqrt(weights)
        solution, _, self.rank_, _ = lstsq(rows * roots[:, None], margins * roots)
        self.residual_sum_ = float((roots**2 * (rows @ solution - margins) ** 2).sum())
        self._store_training(
            problem,
            one_step(solution, self.record),
            lambda products, _: roots**2 @ (products - margins[:, None]) ** 2,
        )
        if self.rank_ < min(rows.shape):
            warn_caller(
                f"the equations are singular: the rows have {rows.shape[1]} weights but rank "
                f"{self.rank_}, for inputs are constant or depend on one another. Of many equal "
                "solutions the shortest is taken.",
                DataWarning,
            )
        return self


class HoKashyap(LinearTrainer):
    r"""Find a separating plane together with its margins, or prove that there is none.

    Parameters
    ----------
    learning_rate
        Part :math:`0 < \eta < 1` of the positive errors by which margins grow.
    solver
        "simple" solves for the weights in every step; "modified" corrects them by
        :math:`\eta R Y^T |e|` with :math:`R = I / \|Y\|^2`.
    tol
        A positive error below this part of the largest margin counts as none.
    max_iter
        Most steps.
    record
        "passes" or "steps" keeps the weights after each step in `trajectory_`.

    Attributes
    ----------
    classes_ : ndarray of shape (2,)
        Sorted class labels; the plane is positive for the second.
    coef_ : ndarray of shape (1, n_features)
        Weights.
    intercept_ : ndarray of shape (1,)
        Bias.
    margins_ : ndarray of shape (n_rows,)
        Margins :math:`b`, which never decrease.
    separable_ : bool or None
        True when a separating plane was found, False when its absence was proved, None when
        `max_iter` came first.
    n_iter_ : int
        Steps taken.
    converged_ : bool
        Whether the question was decided.
    trajectory_ : Trajectory or None
        Weights, criterion and errors on the way.

    Notes
    -----
    .. math:: e = Ya - b, \qquad b \leftarrow b + \eta (e + |e|), \qquad a = Y^\dagger b

    An error with no positive entry that is not zero proves nonseparability: then
    :math:`Y^T e = 0` with :math:`e \le 0` mixes the classes into one point. See Bartkowiak 5.6.

    Examples
    --------
    >>> from verulam.linear import HoKashyap
    >>> corners = [[0, 0], [0, 1], [1, 0], [1, 1]]
    >>> HoKashyap().fit(corners, [0, 1, 1, 1]).separable_
    True
    >>> HoKashyap().fit(corners, [0, 1, 1, 0]).separable_
    False
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "learning_rate": [Interval(Real, 0, 1, closed="neither")],
        "solver": [StrOptions({"simple", "modified"})],
        "tol": [Interval(Real, 0, 1, closed="left")],
        "max_iter": ITERATIONS,
        "record": RECORD,
    }
    _loss = QUADRATIC_LOSS

    def __init__(
        self,
        *,
        learning_rate: float = 0.9,
        solver: str = "simple",
        tol: float = 1e-6,
        max_iter: int = 10_000,
        record: str | None = None,
    ) -> None:
        self.learning_rate = learning_rate
        self.solver = solver
        self.tol = tol
        self.max_iter = max_iter
        self.record = record

    @classmethod
    def _example_learners(cls) -> list["HoKashyap"]:
        return [cls(max_iter=500), cls(solver="modified", max_iter=500)]

    def _train(self, problem: Problem) -> Training:
        # Solutions do not depend on the columns' scale, but their rounding does; steps do.
        columns = scale_columns(problem.inputs)
        scaled = Problem(columns.values, problem.signs).rows()
        rows = scaled if self.solver == "simple" else problem.rows()
        # The rows do not change, only the margins: one pseudo-inverse serves all steps.
        inverse = np.linalg.pinv(scaled)
        # The modified rule needs no inverse, but steps that suit the longest direction.
        step = self.learning_rate / np.linalg.norm(rows, 2) ** 2
        margins = np.ones(len(rows))
        weights = inverse @ margins
        if self.solver == "modified":
            weights = columns.original(weights)
        path, self.separable_ = [weights], None
        n_iter = 0
        while n_iter < self.max_iter:
            n_iter += 1
            products = rows @ weights
            errors = products - margins
            self.separable_ = self._decide(scaled, products, errors, margins.max())
            if self.separable_ is not None:
                break
            # Only positive errors move margins, which therefore stay positive.
            margins = margins + self.learning_rate * (errors + np.abs(errors))
            if self.solver == "simple":
                weights = inverse @ margins
            else:
                weights = weights + step * (rows.T @ np.abs(errors))
            path.append(weights)
        self.margins_ = margins
        if self.solver == "simple":
            path = [columns.original(scaled_weights) for scaled_weights in path]
        weights = path[-1]
        points = np.array(path) if self.record else np.empty((0, len(weights)))
        decided = self.separable_ is not None
        return Training(weights, n_iter, decided, np.arange(len(points)), points)

    def _decide(
        self, rows: np.ndarray, products: np.ndarray, errors: np.ndarray, scale: float
    ) -> bool | None:
        """Return whether the classes are separable, or None where that is still open.

        A proof is looked at in scaled rows, where mixtures that differ can be told apart.
        """
        if (products > 0).all():
            return True
        if errors.max() > self.tol * scale:
            return None
        # Without a positive error the negative ones are shares that mix the classes into one point.
        shares = np.maximum(-errors, 0.0)
        mixed = float(np.abs(rows.T @ shares).max())
        return False if mixed <= self.tol * shares.sum() else None


def choose_margins(
    margins: str | ArrayLike, problem: Problem, weights: np.ndarray | None
) -> np.ndarray:
    """Return the margin of each row.

    Parameters
    ----------
    margins
        "ones", "fisher", or the margins themselves.
    problem
        The inequalities.
    weights
        What rows weigh; None where all count alike.
    """
    n_rows = len(problem.signs)
    if not isinstance(margins, str):
        return check_margins(margins, n_rows)
    if margins == "ones":
        return np.ones(n_rows)
    weights = np.ones(n_rows) if weights is None else weights
    positive = problem.signs > 0
    total = weights.sum()
    shares = weights[positive].sum() / total, weights[~positive].sum() / total
    if min(shares) <= 0:
        raise DataError("sample_weight leaves one of the two classes without any weight.")
    return np.where(positive, 1.0 / shares[0], 1.0 / shares[1])
