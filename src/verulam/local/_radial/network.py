r"""Networks of radial units: from rows to units, weights, predictions and rules."""

from collections.abc import Iterator, Sequence
from numbers import Integral
from typing import Any, ClassVar

import numpy as np
from scipy.linalg import lstsq

from verulam.base import DataError, Interval, StrOptions, check_is_fitted
from verulam.local._radial.expectation import (
    LEAST_VARIANCE,
    Maximiser,
    maximised_constants,
    maximised_noise,
)
from verulam.local._radial.gates import BellGate, RadialGate
from verulam.local._radial.objective import ConstantExperts, LocalError, LocalModel
from verulam.local._radial.placing import PLACINGS, place_units
from verulam.local._radial.rules import (
    FuzzyRule,
    conditions_of_units,
    parse_rules,
    units_of_rules,
)
from verulam.local._radial.softmax_fit import fit_softmax
from verulam.local._radial.training import POSITIVE, LocalLearner, TrainingRows
from verulam.local._radial.units import UNIT_TYPES, FloatArray, RadialUnits
from verulam.numerics import Epoch

#: Penalty of the output layer where none is asked for, so that its weights are determined.
HAIR = 1e-10


class RBFNetwork(LocalLearner):
    """What radial networks for classes and for numbers have in common."""

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "n_units": [Interval(Integral, 1, None, closed="left")],
        "init": [StrOptions({*PLACINGS}), "array-like"],
        "covariance_type": [StrOptions({*UNIT_TYPES})],
        "bandwidth": [StrOptions({"farthest"}), POSITIVE, "array-like"],
        "spread_share": [POSITIVE],
        "combination": [StrOptions({"sum", "normalised", "competitive"})],
        "training": [StrOptions({"hybrid", "gradient", "em", "em-gradient", "none"})],
        "linear_part": ["boolean"],
        "rules": [str, list, tuple, None],
        "rule_width": [POSITIVE],
        "unit_priors": [StrOptions({"equal", "learned"})],
        **LocalLearner._training_constraints,
    }

    n_units: int
    init: Any
    covariance_type: str
    bandwidth: Any
    spread_share: float
    combination: str
    training: str
    linear_part: bool
    rules: Any
    rule_width: float
    unit_priors: str

    def _frame(self, X: FloatArray, weights: FloatArray | None) -> tuple[FloatArray, float]:
        # One scale for all columns, so that spheres stay spheres.
        mean = np.average(X, axis=0, weights=weights)
        variance = np.average((X - mean) ** 2, axis=0, weights=weights).mean()
        return mean, float(np.sqrt(variance)) or 1.0

    def _epochs_of(self, rows: TrainingRows, seed: int) -> Iterator[Epoch]:
        self._check_choices()
        units, outputs = self._first_units(rows, seed)
        model = self._model(units, rows)
        theta = self._start(model, units, outputs, rows)
        error = self._error(model, theta, rows)
        with self._kept(error, theta):
            self._n_idle = (
                int(model.n_parameters - error.free.sum()) if error.free is not None else 0
            )
            if self.training in ("em", "em-gradient"):
                maximiser = Maximiser(
                    model, rows.inputs, rows.targets, rows.weights,
                    learns_noise=isinstance(self.noise_scale, str),
                )  # fmt: skip
                shares = model.gate.shares(model.split(theta)[0], rows.inputs).logarithms
                yield from self._expect(maximiser, theta, np.exp(shares))
                error.bounds = self._bounds(model, theta, rows)
            if self.training in ("gradient", "em-gradient") or self._teaches_outputs_alone:
                yield from self._descend(error, theta, seed)

    @property
    def _teaches_outputs_alone(self) -> bool:
        """Whether outputs of fixed units are taught step by step instead of solved for."""
        return self.training == "hybrid" and self.solver in ("sgd", "adam")

    def _check_choices(self) -> None:
        competitive = self.combination == "competitive"
        if self.training == "none" and self.rules is None:
            raise ValueError("training='none' takes all from rules; state some, or train.")
        if self.training.startswith("em") and not competitive:
            raise ValueError(
                f"training={self.training!r} is for units that compete; take "
                "combination='competitive', or another training."
            )
        if competitive and self.linear_part:
            raise ValueError(
                "linear_part is added to a sum of units; units that compete have none."
            )
        if self.rules is not None and self.covariance_type != "diag":
            raise ValueError(
                "rules have a spread for each column that they name; take covariance_type='diag'."
            )

    def _columns(self) -> list[str]:
        names = getattr(self, "feature_names_in_", None)
        if names is not None:
            return [str(name) for name in names]
        return [f"x{place}" for place in range(self.n_features_in_)]  # type: ignore[attr-defined]

    def _first_units(
        self, rows: TrainingRows, seed: int
    ) -> tuple[RadialUnits, tuple[FloatArray, FloatArray] | None]:
        """Return units as the model sees them and, from rules, their outputs and the default."""
        if self.rules is None:
            inputs = rows.inputs * self._scale + self._origin
            units = place_units(
                inputs, rows.weights, n_units=int(self.n_units), init=self.init,
                covariance_type=self.covariance_type, bandwidth=self.bandwidth,
                spread_share=float(self.spread_share), seed=seed,
            )  # fmt: skip
            return units.moved(self._origin, self._scale), None
        parsed = parse_rules(self.rules)
        conditional = [rule for rule in parsed if rule.conditions]
        if not conditional:
            raise DataError("rules: at least one must have conditions.")
        spreads = self._scale * rows.inputs.std(axis=0)
        widths = float(self.rule_width) * np.where(spreads > 0, spreads, 1.0)
        units = units_of_rules(conditional, self._columns(), widths)
        default = [rule for rule in parsed if not rule.conditions]
        return units.moved(self._origin, self._scale), self._rule_outputs(conditional, default[:1])

    def _rule_outputs(
        self, rules: Sequence[FuzzyRule], default: Sequence[FuzzyRule]
    ) -> tuple[FloatArray, FloatArray]:
        """Return outputs of units and the default, as rules state them."""
        raise NotImplementedError

    def _model(self, units: RadialUnits, rows: TrainingRows) -> LocalModel:
        n_outputs, classes = rows.targets.values.shape[1], rows.targets.classes
        gate = (BellGate if self.combination == "sum" else RadialGate)(units.layout)
        rule = "intercept" if self.combination == "sum" else "none"
        return LocalModel(
            gate,
            ConstantExperts(len(units.centers), n_outputs),
            units.centers.shape[1],
            n_outputs,
            "linear" if self.linear_part else rule,
            self.combination == "competitive",
            classes,
        )

    def _start(
        self,
        model: LocalModel,
        units: RadialUnits,
        outputs: tuple[FloatArray, FloatArray] | None,
        rows: TrainingRows,
    ) -> FloatArray:
        """Return the first parameters: units as they are, outputs solved for or from rules."""
        theta = np.zeros(model.n_parameters)
        of_gate, of_experts, of_rule, of_noise = model.split(theta)
        of_gate[: units.layout.n_parameters] = units.layout.flat(units)
        if outputs is not None and self.training != "hybrid":
            of_experts[:] = outputs[0].ravel()
            if len(of_rule):
                of_rule[: model.n_outputs] = outputs[1]
        elif not self._teaches_outputs_alone or model.competitive:
            self._solve_outputs(model, theta, rows)
        if len(of_noise):
            values = model.experts.outputs(of_experts, rows.inputs).values
            shares = np.exp(model.gate.shares(of_gate, rows.inputs).logarithms)
            noise = maximised_noise(values, rows.targets, shares)
            of_noise[0] = noise if isinstance(self.noise_scale, str) else self._first_noise()
        return theta

    def _solve_outputs(self, model: LocalModel, theta: FloatArray, rows: TrainingRows) -> None:
        """Set the outputs that are best for units that stay as they are (hybrid learning)."""
        of_gate, of_experts, of_rule, _ = model.split(theta)
        shares = np.exp(model.gate.shares(of_gate, rows.inputs).logarithms)
        if model.competitive:
            weighted = shares if rows.weights is None else shares * rows.weights[:, None]
            of_experts[:] = maximised_constants(
                ConstantExperts(shares.shape[1], model.n_outputs),
                of_experts,
                rows.targets,
                weighted,
            )
            return
        columns = {"none": [], "intercept": [np.ones((len(shares), 1))]}.get(
            model.rule, [np.ones((len(shares), 1)), rows.inputs]
        )
        design = np.hstack([*columns, shares])
        n_rule = design.shape[1] - shares.shape[1]
        decay = np.full(design.shape[1], float(self.alpha))
        decay[:n_rule] = 0.0
        if model.classes:
            weights = np.ones(len(design)) if rows.weights is None else rows.weights
            table = fit_softmax(
                design,
                rows.targets.values * weights[:, None],
                decay + HAIR,
                np.zeros((design.shape[1], model.n_outputs)),
            )
        else:
            table = least_squares(design, rows.targets.values, rows.weights, decay)
        of_rule[:] = table[:n_rule].ravel()
        of_experts[:] = table[n_rule:].ravel()

    def _error(self, model: LocalModel, theta: FloatArray, rows: TrainingRows) -> LocalError:
        """Return what descent minimises, with the parameters that it may change."""
        mass = float(len(rows.inputs) if rows.weights is None else rows.weights.sum())
        penalised = np.zeros(model.n_parameters, dtype=bool)
        free = np.ones(model.n_parameters, dtype=bool)
        of_gate, of_experts, _, of_noise = np.split(
            np.arange(model.n_parameters), np.cumsum(model.sizes)[:-1]
        )
        if not model.competitive:
            penalised[of_experts] = True
        if isinstance(model.gate, RadialGate) and not (
            self.unit_priors == "learned" or self.training.startswith("em")
        ):
            free[of_gate[model.gate.layout.n_parameters :]] = False
        free[of_noise] = isinstance(self.noise_scale, str)
        if self.training == "hybrid":
            free[of_gate] = False
        elif self.rules is not None:
            # What a rule does not name stays out of its unit.
            free[of_gate] &= theta[of_gate] < 100.0
        return LocalError(
            model, rows.inputs, rows.targets, rows.weights,
            self._decay(model, mass, penalised), free, self._bounds(model, theta, rows),
        )  # fmt: skip

    def _bounds(
        self, model: LocalModel, theta: FloatArray, rows: TrainingRows
    ) -> tuple[FloatArray, FloatArray]:
        low, high = np.full(len(theta), -np.inf), np.full(len(theta), np.inf)
        assert isinstance(model.gate, BellGate | RadialGate)
        layout = model.gate.layout
        units = slice(0, layout.n_parameters)
        low[units], high[units] = layout.bounds(theta[units], rows.inputs)
        if model.sizes[3]:
            low[-1] = min(0.5 * np.log(LEAST_VARIANCE), theta[-1])
        return low, high

    @property
    def units_(self) -> RadialUnits:
        """Centres and squared spreads of the units."""
        check_is_fitted(self)
        gate: Any = self.model_.gate
        units = gate.layout.units(self.parameters_[: gate.layout.n_parameters])
        return units.moved_back(self._origin, self._scale)

    @property
    def centers_(self) -> FloatArray:
        """Centres of the units."""
        return self.units_.centers

    @property
    def covariances_(self) -> FloatArray:
        """Squared spreads of the units."""
        return self.units_.covariances

    @property
    def unit_priors_(self) -> FloatArray:
        """Weights of the units in the gate, which sum to 1."""
        check_is_fitted(self)
        gate: Any = self.model_.gate
        weights = self.parameters_[gate.layout.n_parameters : gate.n_parameters]
        if isinstance(gate, BellGate):
            weights = np.zeros(gate.n_units)
        exponentials = np.exp(weights - weights.max())
        return exponentials / exponentials.sum()

    def unit_shares(self, X: Any) -> FloatArray:
        """Return what the output weighs in each row: bells, or shares that sum to 1."""
        check_is_fitted(self)
        of_gate = self.model_.split(self.parameters_)[0]
        return self._mapped(
            X,
            lambda part: np.exp(self.model_.gate.shares(of_gate, part).logarithms),
            (self.model_.gate.n_units,),
        )

    def _output_table(self) -> tuple[FloatArray, FloatArray]:
        """Return outputs of the units and the intercepts, as the model has them."""
        check_is_fitted(self)
        _, of_experts, of_rule, _ = self.model_.split(self.parameters_)
        n_outputs = self.model_.n_outputs
        intercepts = of_rule[:n_outputs] if len(of_rule) else np.zeros(n_outputs)
        return of_experts.reshape(-1, n_outputs), intercepts

    def _unit_conditions(self) -> list[Any]:
        return conditions_of_units(self.units_, self._columns())


def least_squares(
    design: FloatArray, targets: FloatArray, weights: FloatArray | None, decay: FloatArray
) -> FloatArray:
    r"""Return the weights that minimise squared errors plus a penalty, of least length.

    Parameters
    ----------
    design, targets
        Rows of inputs, and numbers to predict.
    weights
        Weights of the rows, or None.
    decay
        Penalty of each input.
    """
    if weights is not None:
        roots = np.sqrt(weights)[:, None]
        design, targets = design * roots, targets * roots
    penalised = np.flatnonzero(decay)
    if len(penalised):
        # Rows of the penalty keep the digits that the normal equations would square away.
        rows = np.zeros((len(penalised), design.shape[1]))
        rows[np.arange(len(penalised)), penalised] = np.sqrt(decay[penalised])
        design = np.vstack([design, rows])
        targets = np.vstack([targets, np.zeros((len(penalised), targets.shape[1]))])
    # A pivoted QR decomposition takes a fraction of the time of singular values.
    return lstsq(design, targets, lapack_driver="gelsy", check_finite=False)[0]
