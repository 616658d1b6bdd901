"""Logistic discrimination for two and more classes, with a readable account of its weights."""

from copy import deepcopy
from numbers import Integral, Real
from typing import Any, ClassVar, Self

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike
from scipy.stats import norm
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import Tags

from verulam.base import (
    Classifier,
    DataError,
    DataWarning,
    Interval,
    StrOptions,
    check_classification_targets,
    check_is_fitted,
    check_weights,
    checked_fit,
    validate_data,
    warn_caller,
)
from verulam.linear._logistic.logistic_problem import LogisticProblem
from verulam.linear._logistic.logistic_solvers import (
    LogisticSolution,
    solve_l1,
    solve_lbfgs,
    solve_newton,
)
from verulam.linear._logistic.newton import maximise_likelihood
from verulam.linear._tuning import NEWTON_WEIGHTS
from verulam.numerics import PosteriorMixin

#: Steps that bring the estimates nearer to the maximum before standard errors are taken there.
_POLISHING_STEPS = 25


class LogisticDiscriminant(PosteriorMixin, Classifier):
    r"""Model the log-odds of the classes as linear functions of the inputs.

    Parameters
    ----------
    penalty
        "l2", "l1", or None for maximum likelihood.
    alpha
        Factor of the penalty.
    solver
        "newton" for two classes, "lbfgs" for any number; "auto" takes Newton's method for two
        classes while the inputs are fewer than a thousand.
    reference
        Class whose weights are zero (the form of equations 10.25-10.28); None gives two classes
        one set of weights, and more classes one each.
    standard_errors
        Whether to keep the standard errors of the weights for `report`; needs no penalty.
    tol
        Largest entry of the gradient of the mean loss at the end.
    max_iter
        Most steps.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        Sorted class labels.
    coef_ : ndarray of shape (1, n_features) or (n_classes, n_features)
        Weights; for two classes those of the second against the first.
    intercept_ : ndarray of shape (1,) or (n_classes,)
        Biases.
    priors_ : ndarray of shape (n_classes,)
        Shares of the classes in the training data, which the biases contain.
    covariance_ : ndarray or None
        Covariance of the estimates, class by class against the reference.
    log_likelihood_ : float
        Log-likelihood of the training data.
    loss_curve_ : ndarray
        Penalised loss after each step.
    n_iter_ : int
        Steps taken.

    Notes
    -----
    .. math:: P(C_i|x) = \frac{\exp(w_i^T x + w_{i0})}{\sum_j \exp(w_j^T x + w_{j0})}

    The weights minimise the cross-entropy :math:`-\sum_t \sum_i r_i^t \log y_i^t` plus the
    penalty. See Alpaydin 10.7 (10.18-10.33; the minus of 10.23 belongs to the whole sum) and
    SIT1305 III.

    Examples
    --------
    >>> from verulam.linear import LogisticDiscriminant
    >>> hours = [[0.5], [1.0], [1.5], [2.0], [2.5], [3.0], [3.5], [4.0]]
    >>> passed = ["no", "no", "no", "yes", "no", "yes", "yes", "yes"]
    >>> model = LogisticDiscriminant(penalty=None, standard_errors=True).fit(hours, passed)
    >>> model.predict_proba([[2.25]]).round(3)
    array([[0.5, 0.5]])
    >>> model.report()[["weight", "odds ratio"]].round(2)
                   weight  odds ratio
    class term
    yes   bias      -5.77         0.0
          input 0    2.56        13.0
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "penalty": [StrOptions({"l1", "l2"}), None],
        "alpha": [Interval(Real, 0, None, closed="neither")],
        "solver": [StrOptions({"auto", "newton", "lbfgs"})],
        "reference": "no_validation",
        "standard_errors": ["boolean"],
        "tol": [Interval(Real, 0, None, closed="neither")],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
    }

    def __init__(
        self,
        *,
        penalty: str | None = "l2",
        alpha: float = 1.0,
        solver: str = "auto",
        reference: Any = None,
        standard_errors: bool = False,
        tol: float = 1e-6,
        max_iter: int = 500,
    ) -> None:
        self.penalty = penalty
        self.alpha = alpha
        self.solver = solver
        self.reference = reference
        self.standard_errors = standard_errors
        self.tol = tol
        self.max_iter = max_iter

    @classmethod
    def _example_learners(cls) -> list["LogisticDiscriminant"]:
        return [cls(), cls(solver="lbfgs"), cls(penalty="l1", tol=1e-12)]

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags

    @checked_fit
    def fit(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Train on rows `X` of classes `y`, which may have weights."""
        inputs, targets = validate_data(
            self, X, y, accept_sparse="csr", dtype=np.float64, order="C"
        )
        check_classification_targets(targets)
        weights = check_weights(sample_weight, inputs)
        self.classes_, codes = np.unique(targets, return_inverse=True)
        self._check(weights)
        counts = np.bincount(codes, weights=weights, minlength=len(self.classes_))
        self.priors_ = counts / counts.sum()
        alpha = self.alpha if self.penalty == "l2" else 0.0
        problem = LogisticProblem(inputs, codes, len(self.classes_), weights, alpha)
        with problem.threads():
            solution = self._solve(problem)
        self._keep(problem, solution)
        self._warn(solution, problem)
        return self

    def _check(self, weights: np.ndarray | None) -> None:
        if len(self.classes_) < 2:
            raise DataError(f"y has only one class ({self.classes_[0]}); two are needed.")
        if weights is not None and not weights.any():
            raise DataError("sample_weight is zero for every row; at least one must count.")
        if self.solver == "newton" and len(self.classes_) > 2:
            raise DataError(
                f'solver="newton" is for two classes; y has {len(self.classes_)}. Use "lbfgs".'
            )
        if self.standard_errors and self.penalty is not None:
            raise DataError(
                f"standard_errors need maximum likelihood, penalty=None; got {self.penalty!r}, "
                "which pulls the weights towards zero by an unknown amount."
            )
        if self.reference is not None and self.reference not in self.classes_:
            raise DataError(
                f"reference={self.reference!r} is not among the classes {self.classes_.tolist()}."
            )

    def _solve(self, problem: LogisticProblem) -> LogisticSolution:
        if self.penalty == "l1":
            return solve_l1(problem, self.alpha, self.tol, self.max_iter)
        newton = self.solver == "newton" or (
            self.solver == "auto" and problem.n_classes == 2 and problem.shape[1] <= NEWTON_WEIGHTS
        )
        solver = solve_newton if newton else solve_lbfgs
        return solver(problem, self.tol, self.max_iter)

    def _keep(self, problem: LogisticProblem, solution: LogisticSolution) -> None:
        coefficients, value = solution.coefficients, solution.value
        self.n_iter_ = solution.n_iter
        self.loss_curve_ = solution.losses
        self.covariance_: np.ndarray | None = None
        if self.standard_errors:
            # Steps to the very maximum, where there is one.
            steps = 0 if problem.separates(coefficients) else _POLISHING_STEPS
            maximum = maximise_likelihood(problem, coefficients, self._reference_code(), steps)
            coefficients = maximum.coefficients
            value = problem.value(coefficients)
            self.covariance_ = maximum.covariance.matrix
            self._singular = maximum.covariance.singular
        # The objective is minus the log-likelihood plus the penalty.
        penalty = 0.5 * problem.alpha * float((coefficients[:, 1:] ** 2).sum())
        self.log_likelihood_ = penalty - value
        if self.reference is not None:
            coefficients = against_reference(coefficients, self._reference_code())
        self.coef_, self.intercept_ = coefficients[:, 1:].copy(), coefficients[:, 0].copy()

    def _warn(self, solution: LogisticSolution, problem: LogisticProblem) -> None:
        if self.penalty is None and problem.separates(solution.coefficients):
            warn_caller(
                "a plane separates the classes, so the likelihood has no maximum and the weights "
                "would grow without end; they were stopped. Use penalty='l2'.",
                ConvergenceWarning,
            )
        elif self.standard_errors and self._singular:
            warn_caller(
                "some inputs are constant or depend on one another: of many equal solutions one is "
                "taken, and the standard errors of their weights mean little.",
                DataWarning,
            )
        elif not solution.converged:
            warn_caller(
                f"{type(self).__name__} stopped after {solution.n_iter} steps without converging; "
                "raise max_iter, or scale the inputs.",
                ConvergenceWarning,
            )

    def _reference_code(self) -> int:
        if self.reference is None:
            return 0
        return int(np.flatnonzero(self.classes_ == self.reference)[0])

    def _outputs(self, X: ArrayLike) -> np.ndarray:
        check_is_fitted(self)
        inputs = validate_data(self, X, accept_sparse="csr", dtype=np.float64, reset=False)
        return inputs @ self.coef_.T + self.intercept_

    def decision_function(self, X: ArrayLike) -> np.ndarray:
        """Return the log-odds of the second class, or one discriminant for each of more classes."""
        outputs = self._outputs(X)
        if len(self.classes_) > 2:
            return outputs
        return outputs[:, 0] if outputs.shape[1] == 1 else outputs[:, 1] - outputs[:, 0]

    def _joint_log_likelihood(self, X: ArrayLike) -> np.ndarray:
        outputs = self._outputs(X)
        if outputs.shape[1] == 1:
            return np.column_stack([np.zeros(len(outputs)), outputs[:, 0]])
        return outputs

    def with_priors(self, priors: ArrayLike) -> Self:
        r"""Return a copy for other class shares, without training again.

        The biases contain the logarithms of the training shares, so each moves by
        :math:`\log \pi_i - \log \hat P(C_i)` (Alpaydin 10.7.1, 10.20 and 10.26).

        Parameters
        ----------
        priors
            Probability of each class where the classifier will be used.
        """
        check_is_fitted(self)
        shares = np.asarray(priors, dtype=np.float64)
        if shares.shape != self.classes_.shape or not (shares > 0).all():
            raise DataError(
                f"priors must be {len(self.classes_)} positive numbers, one for each of "
                f"{self.classes_.tolist()}; got {shares.tolist()}."
            )
        shares = shares / shares.sum()
        shift = np.log(shares) - np.log(self.priors_)
        moved = deepcopy(self)
        # Two classes have one bias, that of the second against the first.
        if len(self.intercept_) == 1:
            moved.intercept_ = self.intercept_ + shift[1] - shift[0]
        else:
            moved.intercept_ = self.intercept_ + shift
        moved.priors_ = shares
        return moved

    def contributions(self, X: ArrayLike) -> np.ndarray:
        """Return what each input adds to the discriminants of each row.

        The sum over the inputs, and the bias, is the discriminant.

        Returns
        -------
        ndarray of shape (n_rows, n_outputs, n_features)
        """
        check_is_fitted(self)
        inputs = validate_data(self, X, dtype=np.float64, reset=False)
        return inputs[:, None, :] * self.coef_[None, :, :]

    def report(self, level: float = 0.95) -> pd.DataFrame:
        """Return the weights as a table: standard errors, tests, odds ratios and intervals.

        Parameters
        ----------
        level
            Confidence of the Wald intervals, which are those of the odds ratios.
        """
        check_is_fitted(self)
        if not 0 < level < 1:
            raise DataError(f"level must be between 0 and 1; got {level}.")
        if self.covariance_ is None:
            raise DataError("fit with standard_errors=True to get a report of the weights.")
        reference = self._reference_code()
        coefficients = np.column_stack([self.intercept_, self.coef_])
        # Softmax knows differences only, so odds ratios are against one class.
        coefficients = _rows_against(coefficients, reference)
        errors = np.sqrt(np.diag(self.covariance_))
        weights = coefficients.ravel()
        names = getattr(self, "feature_names_in_", None)
        if names is None:
            names = [f"input {number}" for number in range(self.n_features_in_)]
        others = [label for code, label in enumerate(self.classes_) if code != reference]
        index = pd.MultiIndex.from_product([others, ["bias", *names]], names=["class", "term"])
        reach = norm.ppf(0.5 + level / 2) * errors
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            ratios = weights / errors
            table = {
                "weight": weights,
                "standard error": errors,
                "z": ratios,
                "p": 2 * norm.sf(np.abs(ratios)),
                "odds ratio": np.exp(weights),
                "low": np.exp(weights - reach),
                "high": np.exp(weights + reach),
            }
        return pd.DataFrame(table, index=index)


def against_reference(coefficients: np.ndarray, reference: int) -> np.ndarray:
    """Return one row for each class, that of the reference zero.

    Posteriors depend on differences only, so they stay the same.
    """
    if len(coefficients) == 1:
        coefficients = np.vstack([np.zeros_like(coefficients), coefficients])
    return coefficients - coefficients[reference]


def _rows_against(coefficients: np.ndarray, reference: int) -> np.ndarray:
    full = against_reference(coefficients, reference)
    return np.delete(full, reference, axis=0)
