"""Logistic discrimination by gradient descent, batch or online (stochastic)."""

from numbers import Integral, Real
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import expit
from sklearn.utils import Tags

from verulam.base import (
    RANDOM_STATE,
    Classifier,
    DataError,
    Interval,
    Seed,
    StrOptions,
    check_classification_targets,
    check_is_fitted,
    checked_fit,
    column_or_1d,
    generator,
    validate_data,
)
from verulam.linear._logistic.gradient_logistic_loops import (
    SIGMOIDS,
    SOFTMAX,
    SQUARED_SIGMOIDS,
)
from verulam.linear._logistic.output_training import (
    DescentPlan,
    progress,
    stream_outputs,
    train_outputs,
    warn_unsettled,
    wrong_rows,
)
from verulam.linear._training.batch import largest_stable_rate
from verulam.linear._training.perceptrons import RECORD
from verulam.linear._training.scaling import warn_far_from_optimum
from verulam.linear._training.single_sample import as_schedule
from verulam.linear._training.two_class_problem import Problem
from verulam.numerics import Schedule, search_then_converge, softmax

_OUTPUTS = {
    ("softmax", "cross_entropy"): SOFTMAX,
    ("sigmoids", "cross_entropy"): SIGMOIDS,
    ("sigmoids", "squared"): SQUARED_SIGMOIDS,
}
#: How rows are read.
_ROWS: dict[str, Any] = {"dtype": np.float64, "order": "C", "accept_sparse": "csr"}
#: Size of the random weights at the start.
_START = 0.01


class GradientLogistic(Classifier):
    r"""Train logistic outputs by gradient descent, all rows at once or one at a time.

    Parameters
    ----------
    output
        "softmax" for classes that exclude one another; "sigmoids" for one independent output each,
        where a row may belong to several classes or to none.
    loss
        "cross_entropy", or "squared" for sigmoids: discrimination by regression.
    mode
        "online" corrects after each row, "batch" after all.
    learning_rate
        Step size, or a schedule of the rows (of the passes in batch mode); "auto" suits the size
        of the inputs.
    max_iter
        Most passes over the rows.
    n_iter_no_change
        Stop when the misclassified rows have not become fewer in so many passes; None goes on
        until the weights settle.
    tol
        Stop where a pass changes the weights by less than this part of their length; zero takes
        all `max_iter` passes.
    record
        "passes" or "steps" keeps the weights on the way in `trajectory_`.
    random_state
        Seed of first weights and orders.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        Sorted class labels, or the numbers of the label columns.
    coef_ : ndarray of shape (n_classes, n_features)
        Weights of the outputs.
    intercept_ : ndarray of shape (n_classes,)
        Their biases.
    loss_curve_, error_curve_, norm_curve_ : ndarray of shape (n_iter,)
        Mean loss, share of misclassified rows, and length of the weights after each pass.
    n_iter_ : int
        Passes over the rows.
    converged_ : bool
        Whether the weights settled, or `n_iter_no_change` ended the training.
    trajectory_ : Trajectory or None
        Weights of all outputs, of shape (n_recorded, n_classes, n_features + 1), summed loss and
        misclassified rows on the way.

    Notes
    -----
    .. math:: \Delta w_j = \eta \sum_t (r_j^t - y_j^t)\, x^t, \qquad
              \Delta w_j = \eta \sum_t (r_j^t - y_j^t)\, y_j^t (1 - y_j^t)\, x^t

    for cross-entropy and for squared error with sigmoids. First weights are uniform in
    (-0.01, 0.01). On separable classes weights grow for ever while the errors stay at zero, so
    stopping early is what keeps the sigmoid soft. See Alpaydin 10.7-10.8 (10.24, 10.33, 10.40,
    10.45; one update after all rows, whatever the layout of the printed algorithms), 11.3
    (11.8-11.10) and SIT1305 III.

    Examples
    --------
    >>> from verulam.linear import GradientLogistic
    >>> rows, names = [[0.0], [1.0], [3.0], [4.0]], ["low", "low", "high", "high"]
    >>> model = GradientLogistic(random_state=0).fit(rows, names)
    >>> model.predict([[0.5], [3.5]]).tolist()
    ['low', 'high']
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "output": [StrOptions({"softmax", "sigmoids"})],
        "loss": [StrOptions({"cross_entropy", "squared"})],
        "mode": [StrOptions({"online", "batch"})],
        "learning_rate": [
            Interval(Real, 0, None, closed="neither"),
            Schedule,
            StrOptions({"auto"}),
        ],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "n_iter_no_change": [Interval(Integral, 1, None, closed="left"), None],
        "tol": [Interval(Real, 0, None, closed="left")],
        "record": RECORD,
        "random_state": RANDOM_STATE,
    }

    def __init__(
        self,
        *,
        output: str = "softmax",
        loss: str = "cross_entropy",
        mode: str = "online",
        learning_rate: float | str | Schedule = "auto",
        max_iter: int = 1000,
        n_iter_no_change: int | None = None,
        tol: float = 1e-3,
        record: str | None = None,
        random_state: Seed = None,
    ) -> None:
        self.output = output
        self.loss = loss
        self.mode = mode
        self.learning_rate = learning_rate
        self.max_iter = max_iter
        self.n_iter_no_change = n_iter_no_change
        self.tol = tol
        self.record = record
        self.random_state = random_state

    @classmethod
    def _example_learners(cls) -> list["GradientLogistic"]:
        return [
            cls(random_state=0),
            cls(mode="batch", random_state=0),
            cls(output="sigmoids", loss="squared", random_state=0),
        ]

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_label = self.output == "sigmoids"
        tags.input_tags.sparse = True
        return tags

    @checked_fit
    def fit(self, X: ArrayLike, y: ArrayLike) -> Self:
        """Train on rows `X` of classes `y`; sigmoids also take a table of zeros and ones."""
        inputs, labels = validate_data(self, X, y, multi_output=self.output == "sigmoids", **_ROWS)
        targets = self._read_targets(labels)
        random = generator(self.random_state)
        shape = (targets.shape[1], inputs.shape[1] + 1)
        first = random.uniform(-_START, _START, size=shape)
        self._plan = self._make_plan(inputs)
        trained = train_outputs(inputs, targets, first, self._plan, random)
        self._keep(trained.coefficients, trained.curves)
        self.converged_, self.trajectory_ = trained.settled, trained.trajectory
        self._seen = trained.n_rows
        warn_unsettled(self, trained.settled, self._plan)
        if not self._many_labels:
            wrong = wrong_rows(inputs, targets, trained.coefficients)
            warn_far_from_optimum("GradientLogistic", inputs, targets, wrong)
        return self

    @checked_fit
    def partial_fit(self, X: ArrayLike, y: ArrayLike, classes: ArrayLike | None = None) -> Self:
        """Go once through the rows in their order, from the weights reached so far.

        Parameters
        ----------
        X, y
            Rows and their classes.
        classes
            All labels, needed in the first call unless `y` has them all.
        """
        first = not hasattr(self, "coef_")
        inputs, labels = validate_data(self, X, y, reset=first, **_ROWS)
        if first:
            known = labels if classes is None else np.asarray(classes)
            self.classes_ = np.unique(known)
            self._check_classes()
            shape = (len(self.classes_), inputs.shape[1] + 1)
            random = generator(self.random_state)
            self._coefficients = random.uniform(-_START, _START, size=shape)
            self._seen = 0
            self._plan = self._make_plan(inputs)
        unknown = ~np.isin(labels, self.classes_)
        if unknown.any():
            raise DataError(
                f"y has the label {str(labels[unknown][0])!r}, which is not among the classes "
                f"{self.classes_.tolist()}."
            )
        targets = (labels[:, None] == self.classes_).astype(np.float64)
        stream_outputs(inputs, targets, self._coefficients, self._plan, self._seen)
        self._seen += len(targets)
        reached = progress(inputs, targets, self._coefficients, self._plan.kind)
        self._keep(self._coefficients, np.array([reached]))
        self.converged_, self.trajectory_ = False, None
        return self

    def _read_targets(self, labels: np.ndarray) -> np.ndarray:
        if labels.ndim == 2 and labels.shape[1] > 1:
            if not np.isin(labels, (0, 1)).all():
                raise DataError("a table of labels must have zeros and ones only.")
            self.classes_ = np.arange(labels.shape[1])
            self._many_labels = True
            return labels.astype(np.float64)
        labels = column_or_1d(labels, warn=True)
        check_classification_targets(labels)
        self.classes_ = np.unique(labels)
        self._many_labels = False
        self._check_classes()
        return (labels[:, None] == self.classes_).astype(np.float64)

    def _check_classes(self) -> None:
        if len(self.classes_) < 2:
            raise DataError(f"y has only one class ({self.classes_[0]}); two are needed.")

    def _kind(self) -> int:
        if (self.output, self.loss) not in _OUTPUTS:
            raise DataError('loss="squared" is for output="sigmoids"; softmax has cross-entropy.')
        return _OUTPUTS[self.output, self.loss]

    def _rate(self, inputs: Any) -> Schedule:
        if not isinstance(self.learning_rate, str):
            return as_schedule(self.learning_rate)
        # The bound of least squares serves here too: logistic losses curve less.
        problem = Problem(inputs, np.ones(inputs.shape[0]))
        # The factor y (1 - y) of a squared error is a quarter at most: four times the rate is safe.
        steepest = 4.0 if self.loss == "squared" else 1.0
        if self.mode == "online":
            largest = float(problem.squares.max())
            return search_then_converge(steepest / largest, 10.0 * problem.size[0])
        return as_schedule(steepest * largest_stable_rate(problem))

    def _make_plan(self, inputs: Any) -> DescentPlan:
        return DescentPlan(
            kind=self._kind(),
            rate=self._rate(inputs),
            online=self.mode == "online",
            max_iter=self.max_iter,
            tol=self.tol,
            n_iter_no_change=self.n_iter_no_change,
            record=self.record,
        )

    def _keep(self, coefficients: np.ndarray, curves: np.ndarray) -> None:
        self.coef_, self.intercept_ = coefficients[:, 1:].copy(), coefficients[:, 0].copy()
        self._coefficients = coefficients
        self.loss_curve_, self.error_curve_, self.norm_curve_ = curves.T
        self.n_iter_ = len(curves)

    def predict_proba(self, X: ArrayLike) -> np.ndarray:
        """Return the outputs; those of independent sigmoids sum to one only by chance.

        For classes that exclude one another they are divided by their sum.
        """
        check_is_fitted(self)
        inputs = validate_data(self, X, reset=False, **_ROWS)
        outputs = inputs @ self.coef_.T + self.intercept_
        if self.output == "softmax":
            return softmax(outputs, axis=1)
        raw = expit(outputs)
        if getattr(self, "_many_labels", False):
            return raw
        # Independent sigmoids of classes that exclude one another do not sum to one.
        return raw / raw.sum(axis=1, keepdims=True)

    def predict(self, X: ArrayLike) -> np.ndarray:
        """Return the class of each row, or the labels that each row has."""
        posterior = self.predict_proba(X)
        if getattr(self, "_many_labels", False):
            return (posterior > 0.5).astype(np.int64)
        return self.classes_[posterior.argmax(axis=1)]
