"""The multiclass machine of Weston and Watkins: the true class must beat every other."""

from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike

from verulam.base import Classifier, DataError, checked_fit, encode_classes
from verulam.kernel._kernels.base import Kernel
from verulam.kernel._kernels.general import Function
from verulam.kernel._kernels.inputs import read_training
from verulam.kernel._kernels.radial import Gaussian
from verulam.kernel._solvers.dual_problems import DualProblem
from verulam.kernel._svm.base import COST, SHARED_CONSTRAINTS, SupportVectorMachine


@dataclass(frozen=True, eq=False)
class _RivalKernel(Kernel):
    """Kernel of two rivalries: an input's place, its class, and the class that it must beat.

    Attributes
    ----------
    kernel
        Kernel of the inputs.
    training : ndarray
        Inputs in its form, or the Gram matrix itself.
    """

    kernel: Kernel
    training: np.ndarray

    def _values(self, left: np.ndarray, right: np.ndarray) -> np.ndarray:
        true, rival = left[:, 1, None], left[:, 2, None]
        other_true, other_rival = right[None, :, 1], right[None, :, 2]
        # The inner product of the differences of both rivalries' planes, w_true - w_rival.
        shared = (true == other_true).astype(np.float64) + (rival == other_rival)
        shared -= (true == other_rival).astype(np.float64) + (rival == other_true)
        places, columns = left[:, 0].astype(int), right[:, 0].astype(int)
        # An input has several rivals: its kernel is computed once.
        rows, back = np.unique(places, return_inverse=True)
        others, across = np.unique(columns, return_inverse=True)
        if self.kernel.takes == "gram":
            gram = self.training[np.ix_(rows, others)]
        else:
            gram = self.kernel._values(self.training[rows], self.training[others])
        # One is added for the bias, a weight like the others.
        return (gram[np.ix_(back, across)] + 1.0) * shared

    def diagonal(self, X: Any) -> np.ndarray:
        places = self.inputs(X)[:, 0].astype(int)
        if self.kernel.takes == "gram":
            squares = np.diagonal(self.training)
        else:
            squares = self.kernel.diagonal(self.training)
        return 2.0 * (squares[places] + 1.0)


class WestonWatkinsClassifier(SupportVectorMachine, Classifier):
    r"""Train the planes of all classes at once.

    Parameters
    ----------
    kernel
        Name of a kernel, a kernel, or a function of two tables.
    C
        Cost :math:`C` of slack.
    tol
        Largest violation of the KKT conditions.
    max_iter
        Most working sets of the solver, see `solve_dual`.
    cache_size
        Megabytes for kernel values and for what the solver works with.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        Sorted class labels.
    kernel_ : Kernel
        The kernel with what it took from the data.
    support_ : ndarray of shape (n_support,)
        Positions of the support vectors.
    support_vectors_ : ndarray
        The support vectors.
    dual_coef_ : ndarray of shape (n_classes, n_support)
        Coefficients of each class.
    intercept_ : ndarray of shape (n_classes,)
        Biases.
    n_iter_ : int
        Working sets solved.

    Notes
    -----
    .. math:: \min \tfrac{1}{2} \sum_i \|w_i\|^2 + C \sum_t \sum_{i \ne z^t} \xi_i^t, \qquad
              w_{z^t}^T \phi(x^t) \ge w_i^T \phi(x^t) + 2 - \xi_i^t

    Biases are penalised like the other weights, so that the dual has no equality; with two classes
    it is the binary machine of the same cost. See Alpaydin 13.9 (13.42).

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from verulam.kernel import WestonWatkinsClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> round(WestonWatkinsClassifier().fit(X[::2], y[::2]).score(X[1::2], y[1::2]), 2)
    0.93
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = SHARED_CONSTRAINTS | {"C": COST}

    def __init__(
        self,
        *,
        kernel: str | Kernel | Function = "rbf",
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
    def _example_learners(cls) -> list["WestonWatkinsClassifier"]:
        return [cls(kernel=Gaussian(1.0), tol=1e-5)]

    @checked_fit
    def fit(self, X: ArrayLike, y: ArrayLike) -> Self:
        """Train all classes at once."""
        kernel, inputs, labels = read_training(self, self.kernel, X, y)
        codes, self.classes_ = encode_classes(self, labels)
        n_classes = len(self.classes_)
        if n_classes < 2:
            raise DataError(
                f"y must have two classes or more, got 1 class only: {self.classes_.tolist()[0]!r}."
            )
        rows, rivals = np.nonzero(codes[:, None] != np.arange(n_classes))
        zeros = np.zeros(len(rows))
        rivalries = np.column_stack([rows, codes[rows], rivals]).astype(np.float64)
        solution = self._solve(
            DualProblem(zeros - 2.0, zeros, zeros + float(self.C), zeros, "none"),
            self._cache(_RivalKernel(kernel, inputs), rivalries),
        )
        weights = np.zeros((n_classes, len(inputs)))
        np.add.at(weights, (codes[rows], rows), solution.coefficients)
        np.subtract.at(weights, (rivals, rows), solution.coefficients)
        self._store_support(kernel, inputs, weights)
        self.intercept_ = weights.sum(axis=1)
        self.n_iter_ = max(1, solution.n_iter)
        return self

    def class_scores(self, X: ArrayLike) -> np.ndarray:
        """Return the score of every class for each row, one column each."""
        return self._expansion(self._read_queries(X)) + self.intercept_

    def decision_function(self, X: ArrayLike) -> np.ndarray:
        """Return the scores; of two classes half the lead of the second."""
        scores = self.class_scores(X)
        return 0.5 * (scores[:, 1] - scores[:, 0]) if scores.shape[1] == 2 else scores

    def predict(self, X: ArrayLike) -> np.ndarray:
        """Return the class of the highest score."""
        scores = self.class_scores(X)
        return self.classes_[scores.argmax(axis=1)]
