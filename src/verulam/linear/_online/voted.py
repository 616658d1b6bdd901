"""The voted perceptron of Freund and Schapire, with any kernel."""

from numbers import Integral, Real
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics.pairwise import polynomial_kernel, rbf_kernel
from sklearn.utils import Tags

from verulam.base import (
    RANDOM_STATE,
    Classifier,
    Interval,
    Seed,
    StrOptions,
    check_is_fitted,
    checked_fit,
    generator,
    validate_data,
    warn_caller,
)
from verulam.linear._online.correction_history import (
    CorrectionHistory,
    kernel_perceptron,
    linear_perceptron,
    linear_votes,
)
from verulam.linear._training.geometry import augment
from verulam.linear._training.perceptrons import ITERATIONS
from verulam.linear._training.scaling import sampled_rows, warn_far_from_optimum
from verulam.linear._training.single_sample import MOST_STEPS
from verulam.linear._training.trainer import LinearTrainer, explain_unseparated, read_two_classes
from verulam.linear._training.two_class_problem import (
    Problem,
    Training,
    Trajectory,
    make_trajectory,
)
from verulam.linear._tuning import KERNEL_ROWS


class VotedPerceptron(Classifier):
    r"""Let all weight vectors of a perceptron vote, each as often as it survived.

    Parameters
    ----------
    kernel
        "linear", "polynomial" or "gaussian".
    degree
        Degree of the polynomial :math:`(1 + x^T x')^q`.
    gamma
        Width of the Gaussian :math:`\exp(-\gamma \|x - x'\|^2)`; None takes one over the number
        of inputs times their variance.
    vote
        "voted" adds the survivors' signs, "averaged" their values, "last" takes the last one:
        the kernelised perceptron.
    max_iter
        Passes over the rows, unless one needs no correction.
    record
        "steps" keeps the way in `trajectory_`.
    random_state
        Seed of the orders.

    Attributes
    ----------
    classes_ : ndarray of shape (2,)
        Sorted class labels; the sum is positive for the second.
    corrections_ : ndarray of shape (n_corrections, n_features)
        Rows that corrected the weights, in order.
    signs_ : ndarray of shape (n_corrections,)
        Their signs.
    survivals_ : ndarray of shape (n_corrections,)
        Rows that each weight vector classified rightly, itself included.
    n_iter_ : int
        Passes over the rows.
    converged_ : bool
        Whether a whole pass needed no correction.
    trajectory_ : Trajectory or None
        Criterion and errors of the latest vector after each correction, and with the linear
        kernel its weights.

    Notes
    -----
    After correction :math:`k` the weights are :math:`\sum_{j \le k} z_j \phi(x_j)`, so kernel
    values are all that is needed; with the linear kernel the vectors themselves are shorter:

    .. math:: g(x) = \sum_k c_k\, \mathrm{sign} \sum_{j \le k} z_j K(x_j, x)

    See Bartkowiak 5.7.

    Examples
    --------
    >>> from verulam.linear import VotedPerceptron
    >>> corners = [[-1, -1], [-1, 1], [1, -1], [1, 1]]
    >>> machine = VotedPerceptron(kernel="polynomial", degree=2, random_state=0)
    >>> machine.fit(corners, [0, 1, 1, 0]).predict(corners).tolist()
    [0, 1, 1, 0]
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "kernel": [StrOptions({"linear", "polynomial", "gaussian"})],
        "degree": [Interval(Integral, 1, None, closed="left")],
        "gamma": [Interval(Real, 0, None, closed="neither"), None],
        "vote": [StrOptions({"voted", "averaged", "last"})],
        "max_iter": ITERATIONS,
        "record": [StrOptions({"steps"}), None],
        "random_state": RANDOM_STATE,
    }

    def __init__(
        self,
        *,
        kernel: str = "linear",
        degree: int = 2,
        gamma: float | None = None,
        vote: str = "voted",
        max_iter: int = 10,
        record: str | None = None,
        random_state: Seed = None,
    ) -> None:
        self.kernel = kernel
        self.degree = degree
        self.gamma = gamma
        self.vote = vote
        self.max_iter = max_iter
        self.record = record
        self.random_state = random_state

    @classmethod
    def _example_learners(cls) -> list["VotedPerceptron"]:
        return [
            cls(random_state=0),
            cls(kernel="gaussian", vote="averaged", random_state=0),
            cls(kernel="polynomial", vote="last", max_iter=100, random_state=0),
        ]

    @classmethod
    def _example_data(cls) -> tuple[np.ndarray, np.ndarray]:
        return LinearTrainer._example_data()

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        return tags

    @checked_fit
    def fit(self, X: ArrayLike, y: ArrayLike) -> Self:
        """Train on rows `X` of two classes `y`."""
        problem = read_two_classes(self, X, y)
        inputs, signs = problem.inputs, problem.signs
        self._gamma = self.gamma or 1.0 / (inputs.shape[1] * max(float(inputs.var()), 1e-300))
        history = self._correct(problem, generator(self.random_state))
        self.corrections_ = inputs[history.rows]
        self.signs_ = signs[history.rows]
        self.survivals_ = history.survivals
        self.n_iter_ = history.n_iter
        self.converged_ = history.converged
        self.trajectory_ = self._trajectory(problem, history) if self.record else None
        if self.vote == "last" and not history.converged:
            warn_caller(self._explain(problem), ConvergenceWarning)
        some = sampled_rows(len(signs))
        missed = signs[some] * self._decide(inputs[some]) <= 0
        warn_far_from_optimum(
            "VotedPerceptron", inputs[some], problem.targets()[some], missed, remedy=None
        )
        return self

    def _explain(self, problem: Problem) -> str:
        ending = f"VotedPerceptron stopped after {self.n_iter_} passes without converging"
        if self.kernel == "linear":
            return explain_unseparated(ending, problem)
        return f'{ending}; raise max_iter, or use vote="averaged", which settles.'

    def _correct(self, problem: Problem, random: np.random.Generator) -> CorrectionHistory:
        if self.kernel == "linear":
            return linear_perceptron(problem, self.max_iter, random)
        most = MOST_STEPS if self.record else 0
        return kernel_perceptron(
            problem, self._kernel_values, self.max_iter, random, most_recorded=most
        )

    def _trajectory(self, problem: Problem, history: CorrectionHistory) -> Trajectory:
        steps = np.arange(min(len(history.rows), MOST_STEPS) + 1)
        if self.kernel != "linear":
            nothing = np.empty((len(steps), 0))
            return Trajectory(steps, nothing, history.criterion, history.errors)
        corrections = self._signed_corrections()[: len(steps) - 1]
        start = np.zeros((1, problem.size[1]))
        path = np.cumsum(np.vstack([start, corrections]), axis=0)
        training = Training(path[-1], self.n_iter_, self.converged_, steps, path)
        return make_trajectory(
            problem, training, lambda products, _: np.maximum(-products, 0.0).sum(axis=0)
        )

    def _signed_corrections(self) -> np.ndarray:
        return augment(self.corrections_) * self.signs_[:, None]

    def _kernel_values(self, rows: np.ndarray, others: np.ndarray) -> np.ndarray:
        if self.kernel == "polynomial":
            return polynomial_kernel(rows, others, degree=self.degree, gamma=1.0, coef0=1.0)
        return rbf_kernel(rows, others, gamma=self._gamma)

    def decision_function(self, X: ArrayLike) -> np.ndarray:
        """Return the share of the vote, positive where the second class is chosen."""
        check_is_fitted(self)
        return self._decide(validate_data(self, X, dtype=np.float64, reset=False))

    def _decide(self, inputs: np.ndarray) -> np.ndarray:
        if not len(self.signs_):
            return np.zeros(len(inputs))
        if self.kernel == "linear":
            return self._decide_linearly(inputs)
        blocks = [
            self._vote(inputs[first : first + KERNEL_ROWS])
            for first in range(0, len(inputs), KERNEL_ROWS)
        ]
        return np.concatenate(blocks)

    def _decide_linearly(self, inputs: np.ndarray) -> np.ndarray:
        rows, corrections = augment(inputs), self._signed_corrections()
        if self.vote == "last":
            return rows @ corrections.sum(axis=0)
        signs_only = self.vote == "voted"
        votes = linear_votes(rows, corrections, self.survivals_, signs_only=signs_only)
        return votes / self.survivals_.sum()

    def _vote(self, inputs: np.ndarray) -> np.ndarray:
        values = self._kernel_values(inputs, self.corrections_) * self.signs_
        if self.vote == "last":
            return values.sum(axis=1)
        # The vector after correction k is the sum of the first k: all vectors in one pass.
        voices = np.cumsum(values, axis=1)
        if self.vote == "voted":
            voices = np.sign(voices)
        return voices @ self.survivals_ / self.survivals_.sum()

    def predict(self, X: ArrayLike) -> np.ndarray:
        """Return the class that wins the vote."""
        positive = self.decision_function(X) > 0
        return self.classes_[positive.astype(np.int64)]
