"""Linear discriminants of two classes: what all trainers of one hyperplane have in common."""

from abc import abstractmethod
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import Tags

from verulam.base import (
    Classifier,
    DataError,
    check_classification_targets,
    check_is_fitted,
    checked_fit,
    generator,
    validate_data,
    warn_caller,
)
from verulam.linear._training.criteria import PERCEPTRON_LOSS, RowLoss
from verulam.linear._training.geometry import Hyperplane
from verulam.linear._training.scaling import STEPS, warn_far_from_optimum
from verulam.linear._training.separability import Separability, separability
from verulam.linear._training.single_sample import OnlineState, UpdateRule, remark_on_rates
from verulam.linear._training.two_class_problem import (
    Criterion,
    Problem,
    Training,
    Trajectory,
    first_weights,
    make_trajectory,
)

#: The linear program is solved to explain a failure where the table has at most so many cells.
MOST_CELLS_TO_EXPLAIN = 40_000
_SETTLING = (
    "a trainer that settles, such as PocketPerceptron, MinimumSquaredError or logistic "
    "discrimination"
)
#: What is said of larger tables.
LEFT_OPEN = (
    "; verulam.linear.separability says whether any plane separates the classes. If none does, it "
    f"never will: use {_SETTLING}."
)


class LinearTrainer(Classifier):
    """A classifier that draws one hyperplane between two classes.

    A subclass defines `_train`, and `_loss`: what it makes small.
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {}
    #: Whether a failure to converge means that no plane was found.
    _seeks_separation: ClassVar[bool] = True
    #: Whether steps may stop short of the optimum where the inputs are not scaled.
    _descends: ClassVar[bool] = False
    _accepts_sparse: ClassVar[bool] = True
    #: What each row costs, summed in the criterion of a trajectory.
    _loss: ClassVar[RowLoss] = PERCEPTRON_LOSS

    @classmethod
    def _example_data(cls) -> tuple[np.ndarray, np.ndarray]:
        random = np.random.default_rng(0)
        inputs = random.normal(size=(80, 3))
        classes = np.repeat(["minus", "plus"], 40)
        inputs[40:, 0] += 8.0
        return inputs, classes

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        tags.input_tags.sparse = self._accepts_sparse
        return tags

    @checked_fit
    def fit(self, X: ArrayLike, y: ArrayLike) -> Self:
        """Train on rows `X` of two classes `y`."""
        problem = self._read(X, y)
        training = self._train(problem)
        self._store_training(problem, training)
        self._warn(problem, training)
        return self

    def _warn(self, problem: Problem, training: Training) -> None:
        """Say why the training may have failed."""
        if not training.converged and not self._settles:
            warn_caller(self._explain(problem), ConvergenceWarning)
        elif not self._seeks_separation and self._remark_on_rates():
            warn_caller(
                f"{type(self).__name__} ended{self._remark_on_rates()}.", ConvergenceWarning
            )
        elif (self._descends or self._settles) and problem.margins is None:
            wrong = problem.products(training.weights) <= 0
            remedy = STEPS if self._descends else None
            name = type(self).__name__
            warn_far_from_optimum(name, problem.inputs, problem.targets(), wrong, remedy=remedy)

    @property
    def _settles(self) -> bool:
        """Whether the weights of the result settle, though corrections go on for ever."""
        return False

    def _remark_on_rates(self) -> str:
        """Return which condition of convergence the learning rates violate."""
        rate = getattr(self, "learning_rate", None)
        return remark_on_rates(rate, stochastic=not self._seeks_separation)

    @abstractmethod
    def _train(self, problem: Problem) -> Training:
        """Solve the inequalities."""

    def _criterion(self, products: np.ndarray, problem: Problem) -> np.ndarray:
        """Return what the trainer makes small, one number per column of products."""
        # One column of products for each recorded step, hence the axis.
        margins = self._row_margin if problem.margins is None else problem.margins[:, None]
        losses = self._row_loss.loss(products, problem.squares[:, None], margins)
        return losses.sum(axis=0)

    def _row_coefficients(self, products: np.ndarray, problem: Problem) -> np.ndarray:
        """Return minus the derivative of the loss at each product: what a gradient step adds."""
        margins = self._row_margin if problem.margins is None else problem.margins
        return -self._row_loss.derivative(products, problem.squares, margins)

    @property
    def _row_loss(self) -> RowLoss:
        return self._loss

    @property
    def _row_margin(self) -> float:
        return float(getattr(self, "margin", self._row_loss.default_margin))

    def _read(self, X: ArrayLike, y: ArrayLike) -> Problem:
        return read_two_classes(self, X, y, accept_sparse=self._sparse_format)

    def _store_training(
        self, problem: Problem, training: Training, criterion: Criterion | None = None
    ) -> None:
        self.coef_ = training.weights[None, 1:]
        self.intercept_ = training.weights[:1]
        self.n_iter_ = training.n_iter
        self.converged_ = training.converged
        self.trajectory_: Trajectory | None = None
        if len(training.path):
            self.trajectory_ = make_trajectory(problem, training, criterion or self._criterion)

    def _explain(self, problem: Problem) -> str:
        """Return why the training may not have converged."""
        ending = f"{type(self).__name__} stopped after {self.n_iter_} passes without converging"
        remark = self._remark_on_rates()
        if self._seeks_separation:
            return explain_unseparated(ending, problem, remark)
        rate = getattr(self, "learning_rate", "auto")
        cure = "centre and scale the inputs" if rate == "auto" else "let learning_rate fall as 1/k"
        return f"{ending}{remark}; raise max_iter, or {cure}."

    @property
    def _sparse_format(self) -> str | bool:
        return "csr" if self._accepts_sparse else False

    @property
    def hyperplane_(self) -> Hyperplane:
        """The plane between the classes."""
        check_is_fitted(self)
        return Hyperplane(self.coef_[0], float(self.intercept_[0]))

    def decision_function(self, X: ArrayLike) -> np.ndarray:
        """Return the discriminant, positive where the second class is chosen."""
        check_is_fitted(self)
        inputs = validate_data(
            self, X, accept_sparse=self._sparse_format, dtype=np.float64, reset=False
        )
        return inputs @ self.coef_[0] + self.intercept_[0]

    def predict(self, X: ArrayLike) -> np.ndarray:
        """Return the class on whose side each row lies."""
        positive = self.decision_function(X) > 0
        return self.classes_[positive.astype(np.int64)]


class StreamingTrainer(LinearTrainer):
    """Online learning: a linear trainer whose corrections need one row at a time.

    A subclass defines `_update_rule`, and trains with the state that `_initial_state` gives.
    """

    init: Any
    random_state: Any

    @abstractmethod
    def _update_rule(self, problem: Problem) -> UpdateRule:
        """Return how weights are corrected, given the rows or the first of them."""

    def _initial_state(self, problem: Problem) -> OnlineState:
        """Return the first state, which `partial_fit` goes on with from where training ended."""
        random = generator(self.random_state) if isinstance(self.init, str) else None
        first = first_weights(self.init, problem.size[1], random)
        self._state = OnlineState.at(first, self._update_rule(problem))
        return self._state

    @checked_fit
    def partial_fit(self, X: ArrayLike, y: ArrayLike, classes: ArrayLike | None = None) -> Self:
        """Go once through the rows in their order, from the weights reached so far.

        Parameters
        ----------
        X, y
            Rows and their classes.
        classes
            Both labels, needed in the first call unless `y` has both.
        """
        self._check_stream()
        first = not hasattr(self, "_state")
        inputs, targets = validate_data(
            self, X, y, accept_sparse=self._sparse_format, dtype=np.float64, order="C", reset=first
        )
        if first:
            self.classes_ = np.unique(targets if classes is None else np.asarray(classes))
            check_two_classes(self.classes_, type(self).__name__)
        elif classes is not None and not np.array_equal(np.unique(classes), self.classes_):
            raise DataError(
                f"classes={np.unique(classes).tolist()} are not those of the first call, "
                f"{self.classes_.tolist()}."
            )
        problem = Problem(inputs, self._signs(targets))
        if first:
            self._initial_state(problem)
        # A stream is taken as it comes: no order is drawn, and none of it is remembered.
        order = np.arange(len(targets))
        n_corrections = self._state.run_epoch(problem, order, np.empty((0, inputs.shape[1] + 1)))
        self.converged_ = n_corrections == 0
        self._set_weights(self._state)
        return self

    def _check_stream(self) -> None:
        """Raise `DataError` where the parameters need all rows at once."""

    def _signs(self, targets: Any) -> np.ndarray:
        unknown = ~np.isin(targets, self.classes_)
        if unknown.any():
            raise DataError(
                f"y has the label {str(targets[unknown][0])!r}, which is not among the classes "
                f"{self.classes_.tolist()}."
            )
        return np.where(targets == self.classes_[1], 1.0, -1.0)

    def _set_weights(self, state: OnlineState) -> None:
        """Set the fitted attributes to the weights of the state."""
        weights = state.result
        self.coef_ = weights[None, 1:].copy()
        self.intercept_ = weights[:1].copy()
        self.n_iter_ = getattr(self, "n_iter_", 0) + 1
        self.trajectory_ = None


def explain_unseparated(ending: str, problem: Problem, remark: str = "") -> str:
    """Return what came of a search for a plane, and whether a linear program finds one.

    Parameters
    ----------
    ending
        That the search has ended without.
    problem
        The inequalities.
    remark
        What stands in the way of convergence besides.
    """
    n_rows, n_weights = problem.size
    # The program would take longer than the training that it explains.
    if n_rows * n_weights > MOST_CELLS_TO_EXPLAIN:
        return f"{ending}{LEFT_OPEN}"
    return conclude(ending, separability(problem.inputs, problem.signs), remark)


def conclude(ending: str, answer: Separability, remark: str = "") -> str:
    """Return what came of a search for a plane, given whether the linear program found one."""
    if answer.separable is None:
        return (
            f"{ending}; a linear program could not decide whether a plane separates the "
            "classes, for rounding hides it. Centre and scale the inputs."
        )
    if answer.separable:
        cure = "choose slower falling rates" if remark else "raise max_iter"
        return (
            f"{ending}, though a plane separates the classes{remark}; {cure}, or centre and "
            "scale the inputs."
        )
    return (
        f"{ending}, and never will: a linear program proves that no plane separates the classes. "
        f"Use {_SETTLING}."
    )


def read_two_classes(
    learner: Any, X: ArrayLike, y: ArrayLike, *, accept_sparse: str | bool = False
) -> Problem:
    """Return two classes as inequalities, and set the learner's `classes_`.

    Parameters
    ----------
    learner
        Whose inputs these are.
    X, y
        Rows and their classes.
    accept_sparse
        Form of sparse rows that the learner can use.
    """
    inputs, targets = validate_data(
        learner, X, y, accept_sparse=accept_sparse, dtype=np.float64, order="C"
    )
    check_classification_targets(targets)
    learner.classes_, codes = np.unique(targets, return_inverse=True)
    check_two_classes(learner.classes_, type(learner).__name__)
    return Problem(inputs, np.where(codes == 1, 1.0, -1.0))


def check_two_classes(classes: np.ndarray, name: str) -> None:
    """Raise `DataError` unless there are two classes."""
    if len(classes) == 2:
        return
    names = ", ".join(str(label) for label in classes[:5])
    if len(classes) < 2:
        raise DataError(f"y has only one class ({names}); {name} needs two classes.")
    raise DataError(
        "Only binary classification is supported. The type of the target is multiclass: y has "
        f"{len(classes)} classes ({names}{', ...' if len(classes) > 5 else ''}); {name} draws one "
        "line between two. OneVersusRest and PairwiseClassifier build more from it."
    )
