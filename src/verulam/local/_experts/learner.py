r"""What mixtures of experts, trees of them and soft trees have in common."""

from collections.abc import Iterator
from dataclasses import dataclass
from numbers import Integral
from typing import Any, ClassVar

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from verulam.base import (
    DataError,
    Interval,
    StrOptions,
    check_is_fitted,
)
from verulam.local._experts.maximising import (
    ExpertMaximiser,
    first_leaves,
    first_posteriors,
    reduced_experts,
)
from verulam.local._experts.parts import Branches, HiddenExperts, LinearExperts, TreeGate
from verulam.local._radial.expectation import LEAST_VARIANCE
from verulam.local._radial.gates import Gate, RadialGate
from verulam.local._radial.objective import ConstantExperts, Experts, LocalError, LocalModel
from verulam.local._radial.training import (
    LocalLearner,
    TrainingRows,
    mean_and_spread,
)
from verulam.local._radial.units import UNIT_TYPES, FloatArray, UnitLayout
from verulam.numerics import Epoch

NOT_NEGATIVE = Interval(Integral, 0, None, closed="left")


@dataclass(frozen=True, eq=False)
class ExpertDiagnostics:
    """How experts err together.

    Attributes
    ----------
    biases : ndarray of shape (n_experts,)
        Mean error of each.
    covariances : ndarray of shape (n_experts, n_experts)
        Covariances of their errors.
    shares : ndarray of shape (n_experts,)
        Mean share of each in the rows.
    """

    biases: FloatArray
    covariances: FloatArray
    shares: FloatArray

    @property
    def bias(self) -> float:
        """Mean error of the average of the experts."""
        return float(self.biases.mean())

    @property
    def variance_part(self) -> float:
        """What the variances of the experts add to that of their average."""
        return float(np.trace(self.covariances) / len(self.biases) ** 2)

    @property
    def covariance_part(self) -> float:
        """What their covariances add; negative where they err in opposite ways."""
        return float(self.covariances.sum() / len(self.biases) ** 2) - self.variance_part


class ExpertsLearner(LocalLearner):
    """A gate and experts, trained together."""

    _expert_constraints: ClassVar[dict[str, Any]] = {
        "combination": [StrOptions({"cooperative", "competitive"})],
        "training": [StrOptions({"gradient", "em", "em-gradient"})],
        **LocalLearner._training_constraints,
    }
    _shape_constraints: ClassVar[dict[str, Any]] = {
        "hidden_units": [NOT_NEGATIVE],
        "n_directions": [Interval(Integral, 1, None, closed="left"), None],
        "reduction": [StrOptions({"learned", "pca"})],
    }
    _gate_constraints: ClassVar[dict[str, Any]] = {
        "gate": [StrOptions({"softmax", "radial"})],
        "covariance_type": [StrOptions({*UNIT_TYPES})],
        "gate_hidden_units": [NOT_NEGATIVE],
    }

    _skipped_checks: ClassVar[dict[str, str]] = {
        "check_sample_weight_equivalence_on_dense_data": "15 rows do not determine experts of 10 "
        "columns: training magnifies in which order rows are added up",
    }
    _passes_by_chance: ClassVar[frozenset[str]] = frozenset(_skipped_checks)

    combination: str
    training: str
    #: What learners without such a choice have.
    gate = "softmax"
    covariance_type = "spherical"
    gate_hidden_units = 0
    hidden_units = 0
    n_directions: int | None = None
    reduction = "learned"
    _constant = False

    def _tree(self, X: FloatArray) -> Branches:
        """Return the tree whose leaves are the experts."""
        raise NotImplementedError

    def _frame(self, X: FloatArray, weights: FloatArray | None) -> tuple[FloatArray, FloatArray]:
        return mean_and_spread(X, weights)

    def _check_choices(self) -> None:
        if self.training.startswith("em") and self.combination != "competitive":
            raise ValueError(
                f"training={self.training!r} is for experts that compete; take "
                "combination='competitive', or training='gradient'."
            )
        if self.training.startswith("em") and (
            self.hidden_units or self.gate_hidden_units or self.n_directions
        ):
            raise ValueError(
                f"training={self.training!r} solves for linear experts and gates; take "
                "training='gradient' for hidden units or fewer directions."
            )
        if self.hidden_units and self.n_directions:
            raise ValueError("hidden_units and n_directions: take one of them.")
        if self.gate == "radial" and self.gate_hidden_units:
            raise ValueError("gate_hidden_units are for gate='softmax'; radial gates have units.")

    def _epochs_of(self, rows: TrainingRows, seed: int) -> Iterator[Epoch]:
        self._check_choices()
        tree = self._tree(rows.inputs)
        leaves = first_leaves(tree, rows.inputs, rows.weights, seed)
        yield from self._trained(tree, leaves, rows, seed)

    def _trained(
        self, tree: Branches, leaves: NDArray[np.intp], rows: TrainingRows, seed: int
    ) -> Iterator[Epoch]:
        model = self._model(tree, rows)
        posteriors = first_posteriors(leaves, model.gate.n_units)
        theta = self._start(model, posteriors, rows, seed)
        error = self._error(model, theta, rows)
        with self._kept(error, theta):
            if self.training.startswith("em"):
                maximiser = self._maximiser(model, rows)
                yield from self._expect(maximiser, theta, posteriors)
                error.bounds = self._bounds(model, theta, rows)
            if self.training != "em":
                yield from self._descend(error, theta, seed)

    def _maximiser(self, model: LocalModel, rows: TrainingRows) -> ExpertMaximiser:
        return ExpertMaximiser(
            model, rows.inputs, rows.targets, rows.weights, float(self.alpha),
            isinstance(self.noise_scale, str),
        )  # fmt: skip

    def _model(self, tree: Branches, rows: TrainingRows) -> LocalModel:
        n_inputs, n_outputs = rows.inputs.shape[1], rows.targets.values.shape[1]
        gate: Gate = TreeGate(n_inputs, tree, int(self.gate_hidden_units))
        n_units = gate.n_units
        if self.gate == "radial":
            gate = RadialGate(UnitLayout(n_units, n_inputs, self.covariance_type))
        experts: Experts = LinearExperts(n_inputs, n_units, n_outputs)
        if self._constant:
            experts = ConstantExperts(n_units, n_outputs)
        elif self.hidden_units:
            experts = HiddenExperts(n_inputs, n_units, n_outputs, int(self.hidden_units))
        elif self.n_directions:
            count = min(int(self.n_directions), n_inputs)
            experts = HiddenExperts(n_inputs, n_units, n_outputs, count, "identity")
        return LocalModel(
            gate, experts, n_inputs, n_outputs, "none",
            self.combination == "competitive", rows.targets.classes,
        )  # fmt: skip

    def _start(
        self, model: LocalModel, posteriors: FloatArray, rows: TrainingRows, seed: int
    ) -> FloatArray:
        """Return the parameters that first shares lead to."""
        random = np.random.default_rng(seed)
        theta = np.zeros(model.n_parameters)
        of_gate, of_experts, _, of_noise = model.split(theta)
        if len(of_noise):
            of_noise[0] = self._first_noise()
        weighted = posteriors if rows.weights is None else posteriors * rows.weights[:, None]
        if self.gate_hidden_units:
            of_gate[:] = random.uniform(-0.5, 0.5, size=len(of_gate))
        else:
            if isinstance(model.gate, RadialGate):
                # A unit without rows stays in the middle, as wide as all rows are.
                layout = model.gate.layout
                of_gate[: layout.n_parameters] = layout.flat(layout.standard())
            of_gate[:] = self._maximiser(model, rows).maximise_gate(of_gate, weighted)
        if self.hidden_units:
            bound = np.sqrt(6.0 / (model.n_inputs + self.hidden_units))
            of_experts[:] = random.uniform(-bound, bound, size=len(of_experts))
        elif isinstance(model.experts, HiddenExperts):
            of_experts[:] = self._reduced(model, weighted, rows)
        else:
            maximiser = self._maximiser(model, rows)
            of_experts[:] = maximiser.maximise_experts(of_experts, weighted, 1.0)
        return theta

    def _reduced(self, model: LocalModel, weighted: FloatArray, rows: TrainingRows) -> FloatArray:
        assert isinstance(model.experts, HiddenExperts)
        plain = LinearExperts(model.n_inputs, model.gate.n_units, model.n_outputs)
        linear = LocalModel(
            model.gate, plain, model.n_inputs, model.n_outputs, "none", model.competitive,
            model.classes,
        )  # fmt: skip
        table = self._maximiser(linear, rows).maximise_experts(
            np.zeros(plain.n_parameters), weighted, 1.0
        )
        shape = (model.n_inputs + 1, model.gate.n_units, model.n_outputs)
        return reduced_experts(
            model.experts, table.reshape(shape), rows.inputs, weighted, self.reduction == "pca"
        )

    def _error(self, model: LocalModel, theta: FloatArray, rows: TrainingRows) -> LocalError:
        mass = float(len(rows.inputs) if rows.weights is None else rows.weights.sum())
        penalised = np.zeros(model.n_parameters, dtype=bool)
        free = np.ones(model.n_parameters, dtype=bool)
        of_gate, of_experts, _, of_noise = np.split(
            np.arange(model.n_parameters), np.cumsum(model.sizes)[:-1]
        )
        if isinstance(model.gate, TreeGate):
            # The first row of a table of planes has the intercepts.
            n_hidden = (model.n_inputs + 1) * model.gate.n_hidden
            penalised[of_gate[n_hidden + model.gate.n_branches :]] = True
        if isinstance(model.experts, LinearExperts):
            penalised[of_experts[model.gate.n_units * model.n_outputs :]] = True
        elif self._constant:
            # Leaves that few rows reach would answer far beyond all targets.
            penalised[of_experts] = True
        elif isinstance(model.experts, HiddenExperts):
            first, second, _ = model.experts.sizes
            penalised[of_experts[: first + second]] = True
            if self.n_directions and self.reduction == "pca":
                free[of_experts[:first]] = False
        free[of_noise] = isinstance(self.noise_scale, str)
        self._n_idle = int((~free).sum())
        return LocalError(
            model, rows.inputs, rows.targets, rows.weights,
            self._decay(model, mass, penalised), free, self._bounds(model, theta, rows),
        )  # fmt: skip

    def _bounds(self, model: LocalModel, theta: FloatArray, rows: TrainingRows) -> Any:
        low, high = np.full(len(theta), -np.inf), np.full(len(theta), np.inf)
        if isinstance(model.gate, RadialGate):
            layout = model.gate.layout
            units = slice(0, layout.n_parameters)
            low[units], high[units] = layout.bounds(theta[units], rows.inputs)
        if model.sizes[3]:
            low[-1] = min(0.5 * np.log(LEAST_VARIANCE), theta[-1])
        return low, high

    def gate_weights(self, X: Any) -> FloatArray:
        """Return the share of each expert in each row; they sum to 1."""
        check_is_fitted(self)
        of_gate = self.model_.split(self.parameters_)[0]
        return self._mapped(
            X,
            lambda part: np.exp(self.model_.gate.shares(of_gate, part).logarithms),
            (self.model_.gate.n_units,),
        )

    def expert_outputs(self, X: Any) -> FloatArray:
        """Return what each expert says of each row: rows, experts, outputs."""
        check_is_fitted(self)
        of_experts = self.model_.split(self.parameters_)[1]
        n_units, n_outputs = self.model_.gate.n_units, self.model_.n_outputs

        def outputs(part: FloatArray) -> FloatArray:
            values = self.model_.experts.outputs(of_experts, part).values
            values = np.broadcast_to(values, (len(part), n_units, n_outputs))
            return self._as_predicted(values)

        return self._mapped(X, outputs, (n_units, n_outputs))

    def _as_predicted(self, outputs: FloatArray) -> FloatArray:
        """Return outputs of experts in the scale of predictions."""
        raise NotImplementedError

    def _truth(self, y: Any) -> FloatArray:
        """Return targets in the scale of predictions, rows by outputs."""
        raise NotImplementedError

    def diagnose(self, X: Any, y: Any) -> ExpertDiagnostics:
        """Return bias, variances and covariances of the experts' errors on rows.

        Experts that compete come to err in opposite ways outside of their regions, so that their
        covariances become negative (Alpaydin 17.8). After each of `epochs`, this tells how.

        Parameters
        ----------
        X, y
            Rows and what they should have.
        """
        outputs, truth = self.expert_outputs(X), self._truth(y)
        if len(truth) != len(outputs):
            raise DataError(f"y has {len(truth)} entries for {len(outputs)} rows of X.")
        errors = (outputs - truth[:, None, :]).transpose(1, 0, 2).reshape(outputs.shape[1], -1)
        deviations = errors - errors.mean(axis=1, keepdims=True)
        return ExpertDiagnostics(
            errors.mean(axis=1),
            deviations @ deviations.T / deviations.shape[1],
            self.gate_weights(X).mean(axis=0),
        )

    @property
    def n_experts_(self) -> int:
        """Number of experts."""
        check_is_fitted(self)
        return self.model_.gate.n_units

    def _planes(self, table: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return slopes and intercepts of linear functions in the units of the columns."""
        slopes = table[1:] / self._scale[:, None]
        return slopes, table[0] - self._origin @ slopes

    @property
    def gate_coef_(self) -> FloatArray:
        """Slopes of the gates, branches by columns."""
        return self._planes(self._gate_table())[0].T

    @property
    def gate_intercept_(self) -> FloatArray:
        """Intercepts of the gates."""
        return self._planes(self._gate_table())[1]

    def _gate_table(self) -> FloatArray:
        check_is_fitted(self)
        gate = self.model_.gate
        if not isinstance(gate, TreeGate) or gate.n_hidden:
            raise AttributeError("gate_coef_ and gate_intercept_ are there for gates of planes.")
        return gate.split(self.model_.split(self.parameters_)[0])[1]


def trace_experts(learner: Any, X: Any, y: Any) -> pd.DataFrame:
    """Train experts and return how they err together after each epoch.

    Parameters
    ----------
    learner
        A mixture or a tree of experts, which is trained; solvers that use all rows at once run to
        their end before the first epoch, so take "em", "adam" or "sgd".
    X, y
        Rows and what is to be predicted for them.

    Returns
    -------
    DataFrame
        A row for each epoch: loss, bias, variance and covariance of the average of the experts.

    Notes
    -----
    See Alpaydin 17.8.

    Examples
    --------
    >>> import numpy as np
    >>> from verulam.local import MixtureOfExpertsRegressor, trace_experts
    >>> x = np.linspace(-1, 1, 100)[:, None]
    >>> trace = trace_experts(MixtureOfExpertsRegressor(2, random_state=0), x, np.abs(x[:, 0]))
    >>> trace.columns.tolist(), bool(trace["covariance"].iloc[-1] < 0)
    (['epoch', 'loss', 'bias', 'variance', 'covariance'], True)
    """
    if not isinstance(learner, ExpertsLearner):
        raise TypeError(
            f"learner: expected a mixture or a tree of experts; got {type(learner).__name__}."
        )
    rows = []
    for epoch in learner.epochs(X, y):
        parts = learner.diagnose(X, y)
        rows.append(
            (epoch.number, epoch.loss, parts.bias, parts.variance_part, parts.covariance_part)
        )
    return pd.DataFrame(rows, columns=["epoch", "loss", "bias", "variance", "covariance"])
