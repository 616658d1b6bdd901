"""Support vector classification: soft margin, nu and hard margin, for two classes and more."""

from dataclasses import dataclass, replace
from numbers import Real
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils import compute_class_weight

from verulam.base import (
    RANDOM_STATE,
    Classifier,
    DataError,
    Interval,
    Seed,
    StrOptions,
    available_if,
    check_is_fitted,
    checked_fit,
    encode_classes,
    generator,
)
from verulam.kernel._kernels.base import Kernel
from verulam.kernel._kernels.general import Function
from verulam.kernel._kernels.inputs import read_training
from verulam.kernel._kernels.radial import Gaussian
from verulam.kernel._solvers.row_cache import RowCache
from verulam.kernel._svm.base import (
    CLASS_WEIGHT,
    SHARE,
    SHARED_CONSTRAINTS,
    SupportVectorMachine,
    expansion,
    row_weights,
)
from verulam.kernel._svm.binary import (
    BinaryMachine,
    SolverOptions,
    cost_machine,
    hard_machine,
    nu_machine,
)
from verulam.kernel._svm.calibration import (
    Calibration,
    check_held_out,
    platt_calibration,
    softmax_calibration,
)
from verulam.kernel._svm.margin_report import InstanceReport, margin_report
from verulam.kernel._svm.output_codes import STRATEGIES, code_matrix, decode
from verulam.kernel._tuning import SOLVED_AT_ONCE


@dataclass(frozen=True, eq=False)
class _TwoClassData:
    """The rows that take part in one machine, with the side of each, -1 or 1."""

    cache: RowCache
    signs: np.ndarray
    weights: np.ndarray
    rows: np.ndarray
    n_rows: int

    def in_all_rows(self, machine: BinaryMachine) -> BinaryMachine:
        """Return the machine with coefficients of all rows, zero for those without a part."""
        coefficients = np.zeros(self.n_rows)
        coefficients[self.rows] = machine.coefficients
        return replace(machine, coefficients=coefficients)


@dataclass(frozen=True, eq=False)
class _TrainingData:
    """Training data as the machines take them: kernel rows, classes by number, and weights."""

    cache: RowCache
    class_codes: np.ndarray
    weights: np.ndarray

    def two_classes(self, sides: np.ndarray, cache_size: float) -> _TwoClassData:
        """Return the rows of classes with a side, -1 or 1, in one machine; 0 takes no part."""
        signs, weights, cache = sides[self.class_codes], self.weights, self.cache
        rows = np.flatnonzero(signs)
        if len(rows) < len(signs):
            cache = cache.subset(rows, cache_size)
            signs, weights = signs[rows], weights[rows]
        for side, name in ((signs > 0, "positive"), (signs < 0, "negative")):
            if not weights[side].sum() > 0:
                raise DataError(f"sample_weight: all weights of a {name} class are zero.")
        return _TwoClassData(cache, signs, weights, rows, len(self.class_codes))

    def subset(self, rows: np.ndarray, cache_size: float) -> "_TrainingData":
        """Return the data of some rows."""
        return _TrainingData(
            self.cache.subset(rows, cache_size), self.class_codes[rows], self.weights[rows]
        )


def _has_probabilities(learner: Any) -> bool:
    if learner.calibration is None:
        raise AttributeError("Probabilities need calibration='platt' or 'softmax'.")
    return True


class SupportVectorClassifier(SupportVectorMachine, Classifier):
    r"""Separate classes by the plane of largest margin in the space of a kernel.

    Parameters
    ----------
    kernel
        Name of a kernel, a kernel, or a function of two tables.
    form
        "cost" (each slack costs `C`), "nu" (a share of margin errors is given) or "hard" (no
        slack; classes that cannot be separated raise `NotSeparableError` with the certificate).
    C
        Cost :math:`C` of slack, where the form is "cost"; of infinity, it is the form "hard".
    nu
        Bound :math:`\nu` of the share of margin errors, where the form is "nu".
    strategy
        What to do with more than two classes: "pairwise" machines that vote, "one_vs_all", or a
        matrix of codes -1, 0 and 1 with a row for each class.
    class_weight
        Factor of the cost for each class: a dictionary, "balanced", or None.
    fit_intercept
        Whether the plane may be off the origin of the kernel's space, in all forms.
    calibration
        How to make probabilities: "platt" (two classes), "softmax", or None.
    validation_fraction
        Share of the rows that calibration learns from; the machines are then trained on all.
    tol
        Largest violation of the KKT conditions.
    max_iter
        Most working sets of the solver, see `solve_dual`.
    cache_size
        Megabytes for kernel values and for what the solver works with.
    random_state
        Seed of the choice of held-out rows.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        Sorted class labels.
    kernel_ : Kernel
        The kernel with what it took from the data.
    support_ : ndarray of shape (n_support,)
        Positions of the support vectors of all machines.
    support_vectors_ : ndarray
        The support vectors.
    dual_coef_ : ndarray of shape (n_machines, n_support)
        Coefficients :math:`\alpha^t r^t`, positive for the machine's positive classes.
    intercept_ : ndarray of shape (n_machines,)
        Biases.
    codes_ : ndarray of shape (n_classes, n_machines)
        Side that each class has in each machine.
    machines_ : list of BinaryMachine
        Margin, dual objective and solver's report of each machine.
    support_share_ : float
        Share of the rows that are support vectors: about a bound of the expected test error.
    n_iter_ : int
        Working sets solved for the machine that took most.
    calibration_ : Calibration or None
        Map from outputs to probabilities.

    Notes
    -----
    .. math:: \min \tfrac{1}{2} \|w\|^2 + C \sum_t \xi^t, \qquad
              r^t (w^T \phi(x^t) + b) \ge 1 - \xi^t, \quad \xi^t \ge 0

    solved in the dual, with :math:`g(x) = \sum_t \alpha^t r^t K(x^t, x) + b`. See Alpaydin
    13.1-13.9 (13.3)-(13.41) and Bartkowiak 5.9-5.11. The constraint :math:`\sum \alpha^t r^t = 0`
    belongs to the bias; without one there is none, and classes must be separable by a plane
    through the origin for the form "hard".

    Examples
    --------
    >>> from verulam.kernel import Polynomial, SupportVectorClassifier
    >>> corners, exclusive_or = [[-1, -1], [-1, 1], [1, -1], [1, 1]], [0, 1, 1, 0]
    >>> machine = SupportVectorClassifier(kernel=Polynomial(2), form="hard")
    >>> machine.fit(corners, exclusive_or).dual_coef_.round(4)
    array([[-0.125,  0.125,  0.125, -0.125]])
    >>> round(machine.machines_[0].margin, 4), round(machine.machines_[0].dual_objective, 4)
    (1.4142, 0.25)
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = SHARED_CONSTRAINTS | {
        "form": [StrOptions({"cost", "nu", "hard"})],
        "C": [Interval(Real, 0, None, closed="right")],
        "nu": SHARE,
        "strategy": [StrOptions(set(STRATEGIES)), "array-like"],
        "class_weight": CLASS_WEIGHT,
        "fit_intercept": ["boolean"],
        "calibration": [StrOptions({"platt", "softmax"}), None],
        "validation_fraction": [Interval(Real, 0, 1, closed="neither")],
        "random_state": RANDOM_STATE,
    }

    def __init__(
        self,
        *,
        kernel: str | Kernel | Function = "rbf",
        form: str = "cost",
        C: float = 1.0,
        nu: float = 0.5,
        strategy: str | ArrayLike = "pairwise",
        class_weight: str | dict[Any, float] | None = None,
        fit_intercept: bool = True,
        calibration: str | None = None,
        validation_fraction: float = 0.25,
        tol: float = 1e-3,
        max_iter: int = 100_000,
        cache_size: float = 200.0,
        random_state: Seed = None,
    ) -> None:
        self.kernel = kernel
        self.form = form
        self.C = C
        self.nu = nu
        self.strategy = strategy
        self.class_weight = class_weight
        self.fit_intercept = fit_intercept
        self.calibration = calibration
        self.validation_fraction = validation_fraction
        self.tol = tol
        self.max_iter = max_iter
        self.cache_size = cache_size
        self.random_state = random_state

    @classmethod
    def _example_learners(cls) -> list["SupportVectorClassifier"]:
        return [
            cls(kernel=Gaussian(1.0), tol=1e-11),
            cls(kernel="linear", strategy="one_vs_all", tol=1e-11),
        ]

    @checked_fit
    def fit(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Train the machines; `sample_weight` multiplies the cost of each row."""
        data = self._read(X, y, sample_weight)
        self.calibration_: Calibration | None = self._calibrate(data)
        self._store(self._train_all(data), data)
        return self

    def _read(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None) -> _TrainingData:
        """Return the training data; store classes and the sides that machines see them on."""
        kernel, inputs, labels = read_training(self, self.kernel, X, y)
        class_codes, self.classes_ = encode_classes(self, labels)
        if len(self.classes_) < 2:
            raise DataError(
                f"y must have two classes or more, got 1 class only: "
                f"{self.classes_.tolist()[0]!r}. OneClassMachine learns from one."
            )
        # Both kinds of weights are factors of a row's cost.
        weights = row_weights(sample_weight, inputs)
        weights = weights * self._class_factors(class_codes)[class_codes]
        self.codes_ = code_matrix(len(self.classes_), self.strategy)
        return _TrainingData(self._cache(kernel, inputs), class_codes, weights)

    def _class_factors(self, class_codes: np.ndarray) -> np.ndarray:
        if self.class_weight is None:
            return np.ones(len(self.classes_))
        labels = {label: place for place, label in enumerate(self.classes_.tolist())}
        if isinstance(self.class_weight, dict):
            unknown = [label for label in self.class_weight if label not in labels]
            if unknown:
                raise DataError(
                    f"class_weight: {unknown[0]!r} is not among the classes {list(labels)}."
                )
            factors = {labels[label]: factor for label, factor in self.class_weight.items()}
            if any(not factor > 0 for factor in factors.values()):
                raise DataError(f"class_weight must be above 0; got {self.class_weight}.")
            return np.array([factors.get(place, 1.0) for place in range(len(labels))])
        return np.asarray(
            compute_class_weight(self.class_weight, classes=np.arange(len(labels)), y=class_codes)
        )

    def _train_all(self, data: _TrainingData) -> list[BinaryMachine]:
        """Return the machine of each column of `codes_`, with coefficients of all rows."""
        # What machines of few rows have in common is computed once.
        if data.cache.size <= SOLVED_AT_ONCE and self.codes_.shape[1] > 1:
            data.cache.compute_all()
        return [self._train(data, sides) for sides in self.codes_.T]

    def _train(self, data: _TrainingData, sides: np.ndarray) -> BinaryMachine:
        part, options = data.two_classes(sides, self.cache_size), self._solver_options()
        if self._without_slack():
            machine = hard_machine(part.cache, part.signs, part.weights > 0, options)
        elif self.form == "nu":
            machine = nu_machine(part.cache, part.signs, float(self.nu), part.weights, options)
        else:
            costs = float(self.C) * part.weights
            machine = cost_machine(part.cache, part.signs, costs, options)
        return part.in_all_rows(machine)

    def _solver_options(self) -> SolverOptions:
        return SolverOptions(float(self.tol), int(self.max_iter), bool(self.fit_intercept))

    def _without_slack(self) -> bool:
        return self.form == "hard" or bool(self.form == "cost" and np.isinf(self.C))

    def _store(self, machines: list[BinaryMachine], data: _TrainingData) -> None:
        coefficients = np.array([machine.coefficients for machine in machines])
        self._store_support(data.cache.kernel, data.cache.inputs, coefficients)
        self.machines_ = machines
        self.intercept_ = np.array([machine.intercept for machine in machines])
        self.support_share_ = len(self.support_) / len(data.class_codes)
        self.n_iter_ = max(1, *(machine.solution.n_iter for machine in machines))

    def _calibrate(self, data: _TrainingData) -> Calibration | None:
        """Return the map to probabilities, from machines that did not see the held-out rows."""
        if self.calibration is None:
            return None
        if self.calibration == "platt" and len(self.classes_) > 2:
            raise DataError('calibration "platt" is for two classes; use "softmax" for more.')
        codes = data.class_codes
        order = generator(self.random_state).permutation(len(codes))
        held_out = np.zeros(len(codes), dtype=bool)
        # Class by class, so that every class is on both sides where it can be.
        for code in range(len(self.classes_)):
            members = order[codes[order] == code]
            count = max(1, round(self.validation_fraction * len(members)))
            held_out[members[:count]] = len(members) > 1
        check_held_out(codes[held_out], len(self.classes_))
        rest = np.flatnonzero(~held_out)
        part = data.subset(rest, self.cache_size)
        machines = self._train_all(part)
        coefficients = np.column_stack([machine.coefficients for machine in machines])
        queries = data.cache.inputs[held_out]
        outputs = expansion(data.cache.kernel, queries, part.cache.inputs, rest, coefficients)
        outputs += [machine.intercept for machine in machines]
        if self.calibration == "platt":
            return platt_calibration(outputs[:, 0], codes[held_out] == 1)
        return softmax_calibration(outputs, codes[held_out], len(self.classes_))

    def machine_outputs(self, X: ArrayLike) -> np.ndarray:
        """Return the output of every machine for each row, one column each."""
        return self._expansion(self._read_queries(X)) + self.intercept_

    def decision_function(self, X: ArrayLike) -> np.ndarray:
        """Return the output of the machine, or with more classes a score of each."""
        outputs = self.machine_outputs(X)
        # A matrix of codes may have the second class on the negative side.
        if len(self.classes_) == 2 and outputs.shape[1] == 1:
            return outputs[:, 0] * self.codes_[1, 0]
        return decode(outputs, self.codes_, self.strategy)

    def predict(self, X: ArrayLike) -> np.ndarray:
        """Return the class of each row."""
        scores = self.decision_function(X)
        if scores.ndim == 1:
            return self.classes_[(scores > 0).astype(int)]
        return self.classes_[scores.argmax(axis=1)]

    @available_if(_has_probabilities)
    def predict_proba(self, X: ArrayLike) -> np.ndarray:
        """Return the calibrated probability of each class."""
        outputs = self.machine_outputs(X)
        # Calibration was asked for, or this method would not be there.
        assert self.calibration_ is not None
        return self.calibration_.probabilities(outputs)

    def instance_report(self, X: ArrayLike, y: ArrayLike) -> InstanceReport:
        """Say of each row whether it is safe, on the margin, inside it or wrong (two classes)."""
        check_is_fitted(self)
        if len(self.classes_) != 2:
            raise DataError(
                f"instance_report is for two classes; this machine has {len(self.classes_)}."
            )
        labels = np.asarray(y)
        unknown = set(np.unique(labels).tolist()) - set(self.classes_.tolist())
        if unknown:
            raise DataError(f"y has labels that training did not see: {sorted(unknown)}.")
        signs = np.where(labels == self.classes_[1], 1.0, -1.0)
        return margin_report(signs * self.decision_function(X), 2.0 * float(self.tol))
