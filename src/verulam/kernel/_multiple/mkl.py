"""Multiple kernel learning: a machine and the weights of its kernels from the same data."""

from collections.abc import Callable, Sequence
from numbers import Integral, Real
from typing import Any, ClassVar, Self

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike
from sklearn.utils import Tags

from verulam.base import Classifier, Interval, StrOptions, check_is_fitted, checked_fit
from verulam.kernel._kernels.inputs import kernel_tags, read_classes
from verulam.kernel._kernels.polynomial import Linear
from verulam.kernel._multiple.gram_svm import class_signs, gram_machines
from verulam.kernel._multiple.kernel_list import AnyKernel, open_kernels
from verulam.kernel._multiple.kernel_weights import (
    WeightedMachines,
    alignment_weights,
    combine,
    learn_weights,
    maximal_alignment_weights,
)

#: Rules that set the weights before the machine is trained.
_FIXED: dict[str, Callable[[np.ndarray, np.ndarray], np.ndarray]] = {
    "uniform": lambda grams, _: np.full(len(grams), 1.0 / len(grams)),
    "alignment": alignment_weights,
    "maximal alignment": maximal_alignment_weights,
}
_RULES = {"convex", "conic", *_FIXED}


class MultipleKernelClassifier(Classifier):
    r"""A support-vector machine on a weighted sum of kernels, whose weights are learned too.

    Parameters
    ----------
    kernels
        Kernels, names or functions of two tables; those of some columns are views of the data.
        None takes a linear, a quadratic and three Gaussian kernels. With "precomputed" the inputs
        are Gram matrices, one after another in a table of three dimensions; later ones have a row
        for each new input and a column for each training input.
    rule
        "convex" learns weights that sum to one, "conic" weights of any sum at the price
        `weight_cost`; "alignment" and "maximal alignment" take them from how well kernels go with
        the classes, before any training; "uniform" makes them equal.
    C
        Cost of slack.
    weight_cost
        Price of a unit of weight under the conic rule, for each row.
    max_iter
        Most steps of the weights.
    tol
        The weights are learned until what a kernel could add is below this share of the objective.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        Sorted class labels.
    weights_ : ndarray of shape (n_kernels,)
        Weights :math:`\eta_i` of the kernels, after each is divided by the variance of the
        training data in its space, so that they can be compared.
    coefficients_ : ndarray of shape (n_machines, n_samples)
        :math:`\alpha^t r^t`; one machine for two classes, else one for each class and the rest.
    biases_ : ndarray of shape (n_machines,)
        Constants of the machines.
    objective_ : float
        Sum of the machines' dual objectives, with the price of the weights.
    objective_curve_ : ndarray
        Objective after each step of the weights.
    gap_ : float
        What the best single kernel could still add, as a share of the objective.
    n_iter_ : int
        Number of trainings of the machine at which the objective was taken.
    kernels_ : SeveralKernels
        Kernels and training data.

    Notes
    -----
    .. math:: \min_\eta \max_\alpha \sum_t \alpha^t - \tfrac12 \sum_t \sum_s \alpha^t \alpha^s
              r^t r^s \sum_i \eta_i K_i(x^t, x^s), \qquad
              g(x) = \sum_t \alpha^t r^t \sum_i \eta_i K_i(x^t, x) + b

    with :math:`\eta_i \ge 0`. It is convex in :math:`\eta`; the convex rule makes weights sparse.
    See Alpaydin 13.8 (13.37-13.39).

    Examples
    --------
    One view has the classes, the other is noise:

    >>> import numpy as np
    >>> from verulam.kernel import Gaussian, MultipleKernelClassifier
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(200, 4))
    >>> y = (X[:, 0] * X[:, 1] > 0).astype(int)
    >>> views = [Gaussian(1.0).on_columns([0, 1]), Gaussian(1.0).on_columns([2, 3])]
    >>> learner = MultipleKernelClassifier(views).fit(X, y)
    >>> learner.weights_.round(2)
    array([1., 0.])
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "kernels": ["array-like", StrOptions({"precomputed"}), None],
        "rule": [StrOptions(_RULES)],
        "C": [Interval(Real, 0, None, closed="neither")],
        "weight_cost": [Interval(Real, 0, None, closed="neither")],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "tol": [Interval(Real, 0, None, closed="neither")],
    }

    def __init__(
        self,
        kernels: str | Sequence[AnyKernel] | None = None,
        *,
        rule: str = "convex",
        C: float = 1.0,
        weight_cost: float = 0.1,
        max_iter: int = 100,
        tol: float = 1e-3,
    ) -> None:
        self.kernels = kernels
        self.rule = rule
        self.C = C
        self.weight_cost = weight_cost
        self.max_iter = max_iter
        self.tol = tol

    @classmethod
    def _example_learners(cls) -> list["MultipleKernelClassifier"]:
        return [cls(), cls(["linear", "rbf"], rule="maximal alignment")]

    def __sklearn_tags__(self) -> Tags:
        first = self.kernels[0] if self.kernels else Linear()
        tags = kernel_tags(super().__sklearn_tags__(), first)
        tags.input_tags.three_d_array = isinstance(self.kernels, str)
        return tags

    @checked_fit
    def fit(self, X: Any, y: ArrayLike) -> Self:
        """Learn weights and machines."""
        self.kernels_, grams = open_kernels(self, self.kernels, X)
        self.classes_, codes = read_classes(y, grams.shape[1])
        learned = self._learn(grams, class_signs(codes, len(self.classes_)))
        self.weights_ = learned.weights
        self.coefficients_ = learned.machines.coefficients
        self.biases_ = learned.machines.biases
        self.objective_curve_ = np.array(learned.objectives)
        self.objective_, self.gap_ = learned.objectives[-1], learned.gap
        self.n_iter_ = len(learned.objectives)
        return self

    def _learn(self, grams: np.ndarray, signs: np.ndarray) -> WeightedMachines:
        if self.rule in _FIXED:
            weights = _FIXED[self.rule](grams, signs)
            machines = gram_machines(combine(weights, grams), signs, self.C, self.tol)
            return WeightedMachines(weights, machines, [machines.objective], 0.0)
        penalty = self.weight_cost * grams.shape[1] if self.rule == "conic" else None
        return learn_weights(
            grams, signs, self.C, penalty=penalty, max_iter=self.max_iter, tol=self.tol
        )

    def decision_function(self, X: Any) -> np.ndarray:
        """Return the discriminants: one for two classes, else one for each class."""
        check_is_fitted(self)
        rows = self.kernels_.read(self, X)
        support = np.flatnonzero(self.coefficients_.any(axis=0))
        values = np.tile(self.biases_, (len(rows), 1))
        # Kernels without weight, of which convex sums have many, are not computed.
        for place in np.flatnonzero(self.weights_):
            gram = self.kernels_.against(rows, int(place), support)
            values += self.weights_[place] * (gram @ self.coefficients_[:, support].T)
        return values[:, 0] if len(self.classes_) == 2 else values

    def predict(self, X: Any) -> np.ndarray:
        """Return the class with the largest discriminant."""
        return largest_class(self.decision_function(X), self.classes_)

    def weight_table(self) -> pd.DataFrame:
        """Return the kernels with their weights, the largest first."""
        check_is_fitted(self)
        names = [
            f"matrix {place}" if kernel.takes == "gram" else str(kernel)
            for place, kernel in enumerate(self.kernels_.kernels)
        ]
        table = pd.DataFrame({"kernel": names, "weight": self.weights_})
        return table.sort_values("weight", ascending=False, kind="stable", ignore_index=True)


def largest_class(values: np.ndarray, classes: np.ndarray) -> np.ndarray:
    """Return the class of the largest discriminant, or by the sign where there is one."""
    winners = (values > 0).astype(int) if values.ndim == 1 else values.argmax(axis=1)
    return classes[winners]
