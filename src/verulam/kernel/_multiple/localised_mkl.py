"""Localised multiple kernel learning: the weights of kernels depend on the input."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from numbers import Integral, Real
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike

from verulam.base import (
    RANDOM_STATE,
    Classifier,
    DataError,
    InSteps,
    Interval,
    Seed,
    StrOptions,
    check_is_fitted,
    checked_fit,
    generator,
)
from verulam.kernel._kernels.inputs import read_classes
from verulam.kernel._multiple.gram_svm import GramMachines, class_signs, gram_machines
from verulam.kernel._multiple.kernel_list import AnyKernel, open_kernels
from verulam.kernel._multiple.mkl import largest_class
from verulam.numerics import distances, sigmoid, softmax

#: How often a step of the gates is halved before it is given up.
HALVINGS = 8


@dataclass(frozen=True, eq=False)
class Gates:
    r"""Gates :math:`\eta_i(x)` of the kernels, functions of the standardised input.

    Attributes
    ----------
    kind
        "softmax" of linear functions, where the gates of an input sum to one; "sigmoid" of linear
        functions, where they need not; or "gaussian", where they sum to one and each is large
        about a centre of its own.
    means, scales : ndarray of shape (n_features,)
        What inputs are standardised by.
    parameters : ndarray of shape (n_kernels, n_features + 1)
        Linear functions, the constant last; or centres, with the logarithm of their width last.
    """

    kind: str
    means: np.ndarray
    scales: np.ndarray
    parameters: np.ndarray

    def features(self, rows: np.ndarray) -> np.ndarray:
        """Return standardised rows with a column of ones."""
        return np.column_stack([(rows - self.means) / self.scales, np.ones(len(rows))])

    def openings(self, features: np.ndarray) -> np.ndarray:
        """Return how far each kernel's gate (column) is open for each input."""
        if self.kind == "gaussian":
            return softmax(-0.5 * self._squares(features), axis=1)
        values = features @ self.parameters.T
        return softmax(values, axis=1) if self.kind == "softmax" else sigmoid(values)

    def gradient(self, features: np.ndarray, by_opening: np.ndarray) -> np.ndarray:
        """Return the gradient with respect to the parameters from that for each opening."""
        openings = self.openings(features)
        if self.kind == "sigmoid":
            return (by_opening * openings * (1.0 - openings)).T @ features
        # The derivative of a softmax: its outputs compete, so that their mean is taken off.
        mean = (by_opening * openings).sum(axis=1, keepdims=True)
        by_value = openings * (by_opening - mean)
        if self.kind == "softmax":
            return by_value.T @ features
        centres, widths = self.parameters[:, :-1], np.exp(self.parameters[:, -1:])
        by_centre = by_value.T @ features[:, :-1] - by_value.sum(axis=0)[:, None] * centres
        # With respect to the logarithm of the width, so that this stays positive.
        by_width = (by_value * self._squares(features)).sum(axis=0)
        return np.column_stack([by_centre / widths**2, by_width])

    def _squares(self, features: np.ndarray) -> np.ndarray:
        """Return squared distances from the centres, in units of their widths."""
        squares = distances(features[:, :-1], self.parameters[:, :-1], "sqeuclidean")
        return squares / np.exp(2.0 * self.parameters[:, -1])


def gated_gram(openings: np.ndarray, grams: np.ndarray) -> np.ndarray:
    r"""Return :math:`\sum_i \eta_i(x^t) K_i(x^t, x^s) \eta_i(x^s)`."""
    return np.einsum("ti,its,si->ts", openings, grams, openings, optimize=True)


def gate_gradient(
    gates: Gates, features: np.ndarray, grams: np.ndarray, coefficients: np.ndarray
) -> np.ndarray:
    r"""Return the gradient of the machines' objective with respect to the gates' functions.

    Parameters
    ----------
    gates
        The gates.
    features : ndarray of shape (n_samples, n_features + 1)
        Inputs as the gates see them.
    grams : ndarray of shape (n_kernels, n_samples, n_samples)
        Gram matrices.
    coefficients : ndarray of shape (n_machines, n_samples)
        Coefficients of the machines at their optimum for these gates.
    """
    openings = gates.openings(features)
    # Derivative with respect to each opening: half of the square, by symmetry twice.
    by_opening = np.zeros_like(openings)
    for row in coefficients:
        # Each coefficient counts as far as its gate is open.
        spread = openings.T * row
        by_opening -= row[:, None] * np.einsum("its,is->ti", grams, spread, optimize=True)
    return gates.gradient(features, by_opening)


class LocalisedKernelClassifier(InSteps, Classifier):
    r"""A support-vector machine whose kernels are weighted differently in different places.

    Parameters
    ----------
    kernels
        Kernels of rows, names or functions of two tables; None takes a linear, a quadratic and
        three Gaussian kernels.
    gate
        "softmax", where kernels compete for each input, "sigmoid", where they need not, or
        "gaussian", where each has its region about a centre.
    C
        Cost of slack.
    max_iter
        Most steps of the gates, each with a training of the machine.
    tol
        A step that gains less than this share of the objective is the last.
    random_state
        Seed of the gates' start.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        Sorted class labels.
    gates_ : Gates
        The gates.
    coefficients_ : ndarray of shape (n_machines, n_samples)
        :math:`\alpha^t r^t`.
    biases_ : ndarray of shape (n_machines,)
        Constants of the machines.
    objective_curve_ : ndarray
        Objective after each step.
    n_iter_ : int
        Number of steps.
    kernels_ : SeveralKernels
        Kernels and training data.
    openings_ : ndarray of shape (n_samples, n_kernels)
        Gates of the training inputs.

    Notes
    -----
    .. math:: g(x) = \sum_t \alpha^t r^t \sum_i \eta_i(x^t)\, K_i(x^t, x)\, \eta_i(x) + b

    with :math:`\eta_i(x)` a softmax or sigmoid of a linear function of the input, or
    :math:`\exp(-\|x - \mu_i\|^2 / 2 s_i^2)` over the sum of these. The weight stands on both sides,
    so that the sum remains a kernel. Machine and gates are improved by turns; there are local
    minima. Kernels are taken about the mean of the training data: gates would otherwise
    multiply what is common to all inputs. See Alpaydin 13.8 (13.40) and exercise 4.

    Examples
    --------
    The boundary has one slope on the left, another on the right:

    >>> import numpy as np
    >>> from verulam.kernel import Linear, LocalisedKernelClassifier
    >>> X = np.random.default_rng(0).uniform(-1, 1, size=(120, 2))
    >>> y = X[:, 1] > np.abs(X[:, 0]) - 0.5
    >>> local = LocalisedKernelClassifier([Linear(), Linear()], C=100.0, random_state=0)
    >>> bool(local.fit(X, y).score(X, y) > 0.95)
    True
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "kernels": ["array-like", None],
        "gate": [StrOptions({"softmax", "sigmoid", "gaussian"})],
        "C": [Interval(Real, 0, None, closed="neither")],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "tol": [Interval(Real, 0, None, closed="neither")],
        "random_state": RANDOM_STATE,
    }

    def __init__(
        self,
        kernels: Sequence[AnyKernel] | None = None,
        *,
        gate: str = "softmax",
        C: float = 1.0,
        max_iter: int = 50,
        tol: float = 1e-3,
        random_state: Seed = None,
    ) -> None:
        self.kernels = kernels
        self.gate = gate
        self.C = C
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state

    @classmethod
    def _example_learners(cls) -> list["LocalisedKernelClassifier"]:
        return [cls(["linear", "rbf"], random_state=0)]

    @checked_fit
    def fit(self, X: ArrayLike, y: ArrayLike) -> Self:
        """Learn gates and machines by turns."""
        self.kernels_, grams = open_kernels(self, self.kernels, X, centred=True)
        if self.kernels_.kernels[0].takes != "rows":
            raise DataError(
                "kernels must compare rows of numbers, which the gates are functions of."
            )
        rows = self.kernels_.inputs
        self.classes_, codes = read_classes(y, len(rows))
        signs = class_signs(codes, len(self.classes_))
        gates = _start(self.gate, rows, len(grams), generator(self.random_state))
        features = gates.features(rows)
        machines = self._machines(gates, features, grams, signs)
        objectives, step = [machines.objective], 1.0
        # A gradient means nothing where the solver did not come to rest, of which it has warned.
        n_passes = self.max_iter if machines.converged else 0
        for _ in self._steps(range(n_passes), "pass", n_passes):
            gradient = gate_gradient(gates, features, grams, machines.coefficients)
            length = float(np.linalg.norm(gradient))
            moved = None
            # Backtracking: each trial costs a training of the machines, so no slope is asked for.
            for _ in range(HALVINGS if length > 0 else 0):
                trial = replace(gates, parameters=gates.parameters - step / length * gradient)
                after = self._machines(trial, features, grams, signs, machines)
                if not after.converged:
                    break
                if after.objective < objectives[-1]:
                    moved = trial, after
                    break
                step *= 0.5
            if moved is None:
                break
            gates, machines = moved
            step *= 1.5
            objectives.append(machines.objective)
            if objectives[-2] - objectives[-1] <= self.tol * abs(objectives[-1]):
                break
        self.gates_, self.openings_ = gates, gates.openings(features)
        self.coefficients_, self.biases_ = machines.coefficients, machines.biases
        self.objective_curve_ = np.array(objectives)
        self.n_iter_ = len(objectives)
        return self

    def _machines(
        self,
        gates: Gates,
        features: np.ndarray,
        grams: np.ndarray,
        signs: np.ndarray,
        warm_start: GramMachines | None = None,
    ) -> GramMachines:
        gram = gated_gram(gates.openings(features), grams)
        return gram_machines(gram, signs, self.C, 0.1 * self.tol, warm_start)

    def gate_openings(self, X: ArrayLike) -> np.ndarray:
        """Return how far each kernel's gate (column) is open for each input."""
        check_is_fitted(self)
        return self.gates_.openings(self.gates_.features(self.kernels_.read(self, X)))

    def decision_function(self, X: ArrayLike) -> np.ndarray:
        """Return the discriminants: one for two classes, else one for each class."""
        openings = self.gate_openings(X)
        rows = self.kernels_.read(self, X)
        support = np.flatnonzero(self.coefficients_.any(axis=0))
        values = np.tile(self.biases_, (len(rows), 1))
        for place in range(openings.shape[1]):
            gram = self.kernels_.against(rows, place, support)
            weighted = self.coefficients_[:, support] * self.openings_[support, place]
            values += openings[:, [place]] * (gram @ weighted.T)
        return values[:, 0] if len(self.classes_) == 2 else values

    def predict(self, X: ArrayLike) -> np.ndarray:
        """Return the class with the largest discriminant."""
        return largest_class(self.decision_function(X), self.classes_)


def _start(kind: str, rows: np.ndarray, n_kernels: int, random: np.random.Generator) -> Gates:
    """Return gates that are nearly alike everywhere; those about centres, at some of the rows."""
    deviations = rows.std(axis=0)
    scales = np.where(deviations > 0, deviations, 1.0)
    parameters = 0.1 * random.normal(size=(n_kernels, rows.shape[1] + 1))
    gates = Gates(kind, rows.mean(axis=0), scales, parameters)
    if kind == "gaussian":
        centres = random.choice(len(rows), n_kernels, replace=len(rows) < n_kernels)
        parameters[:, :-1] += gates.features(rows[centres])[:, :-1]
        # As wide as the distance between two rows is on average.
        parameters[:, -1] += 0.5 * np.log(2.0 * rows.shape[1])
    return gates
