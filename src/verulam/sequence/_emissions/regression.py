"""Emissions that depend on inputs: linear regression, on known inputs or on the past."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from verulam.base import DataError, SumRecord
from verulam.sequence._data.sequences import Sequences, check_input_width
from verulam.sequence._emissions.gaussian import LOG_TWO_PI
from verulam.sequence._model.emission import (
    Ahead,
    Emission,
    check_least,
    check_positive,
    checked_start_values,
    hold_fixed,
)

NAMES = ("weights", "variances")
#: Keeps the normal equations solvable where inputs are linear functions of one another.
RIDGE = 1e-10


@dataclass(frozen=True)
class Paired:
    """Targets and the inputs that they depend on, sliced together; NaN where there are none."""

    targets: np.ndarray
    inputs: np.ndarray

    def __len__(self) -> int:
        return len(self.targets)

    def __getitem__(self, steps: slice) -> "Paired":
        return Paired(self.targets[steps], self.inputs[steps])

    @staticmethod
    def joined(pieces: "list[Paired]") -> "Paired":
        """Return the values of several sequences, one after the other."""
        return Paired(
            np.concatenate([piece.targets for piece in pieces]),
            np.concatenate([piece.inputs for piece in pieces]),
        )

    @property
    def known(self) -> np.ndarray:
        """Which steps are complete."""
        return ~(np.isnan(self.targets).any(axis=1) | np.isnan(self.inputs).any(axis=1))


@dataclass(frozen=True)
class RegressionStates:
    """Parameters of regression emissions.

    Attributes
    ----------
    weights : ndarray of shape (n_states, n_inputs + 1, n_columns)
        Intercept, then the weight of each input.
    variances : ndarray of shape (n_states, n_columns)
        Variance around the line.
    """

    weights: np.ndarray
    variances: np.ndarray


@dataclass(frozen=True)
class RegressionSums(SumRecord):
    """Weighted products of inputs and targets in each state."""

    weight: np.ndarray
    inputs: np.ndarray
    cross: np.ndarray
    squares: np.ndarray


class LinearEmission(Emission):
    """What emissions around a line share; subclasses say which inputs it runs over."""

    variance_floor: float
    weights: Any
    variances: Any
    fixed: tuple[str, ...]

    def __post_init__(self) -> None:
        check_least(self, "variance_floor", 0.0)
        check_positive(self, "variances")

    @property
    def complete(self) -> bool:
        """Whether weights and variances are given."""
        return all(getattr(self, name) is not None for name in NAMES)

    def blank(self, survey: Any, head: Paired, n_states: int) -> RegressionStates:
        """Return flat lines at the mean."""
        known = head[:].targets[head.known]
        if not len(known):
            raise DataError("No step is complete: each has a missing target or input.")
        weights = np.zeros((n_states, head.inputs.shape[1] + 1, known.shape[1]))
        weights[:, 0] = known.mean(axis=0)
        variances = np.repeat(known.var(axis=0)[None] + 1e-12, n_states, axis=0)
        return RegressionStates(weights, variances)

    def with_start_values(self, parameters: RegressionStates) -> RegressionStates:
        """Return the parameters with the start values that the user has set."""
        return checked_start_values(self, NAMES, parameters)

    def features(self, values: Paired) -> np.ndarray:
        """Return targets and inputs side by side, scaled alike."""
        rows = np.nan_to_num(np.hstack([values.targets, values.inputs]))
        return rows / np.maximum(rows.std(axis=0), 1e-12)

    def log_likelihoods(self, parameters: RegressionStates, values: Paired) -> np.ndarray:
        """Return the log-densities around each state's line; 0 where a step is not complete."""
        lines = np.einsum("tp,kpq->tkq", _design(values.inputs), parameters.weights)
        squares = (values.targets[:, None] - lines) ** 2 / parameters.variances
        result = -0.5 * (squares + np.log(parameters.variances) + LOG_TWO_PI).sum(axis=2)
        return np.where(values.known[:, None], result, 0.0)

    def statistics(
        self, parameters: RegressionStates, values: Paired, weights: np.ndarray
    ) -> RegressionSums:
        """Return the weighted products of the complete steps."""
        known = values.known
        design, targets = _design(values.inputs[known]), values.targets[known]
        weighted = weights[known]
        return RegressionSums(
            weighted.sum(axis=0),
            np.einsum("tk,tp,tq->kpq", weighted, design, design, optimize=True),
            np.einsum("tk,tp,tq->kpq", weighted, design, targets, optimize=True),
            weighted.T @ targets**2,
        )

    def update(self, parameters: RegressionStates, sums: RegressionSums) -> RegressionStates:
        """Return the least squares of each state; a state without data keeps its own."""
        weights, variances = parameters.weights.copy(), parameters.variances.copy()
        for k in np.flatnonzero(sums.weight > 1e-8):
            products = sums.inputs[k]
            ridge = RIDGE * np.trace(products) / len(products) * np.eye(len(products))
            if "weights" not in self.fixed:
                weights[k] = np.linalg.solve(products + ridge, sums.cross[k])
            line = weights[k]
            residual = (
                sums.squares[k]
                - 2 * (line * sums.cross[k]).sum(axis=0)
                + np.einsum("pq,pr,rq->q", line, products, line)
            )
            # Rounding may leave the residual of a perfect line just below zero.
            floor = self.variance_floor * sums.squares[k] / sums.weight[k] + 1e-300
            variances[k] = np.maximum(residual / sums.weight[k], floor)
        return hold_fixed(self, NAMES, parameters, RegressionStates(weights, variances))

    def n_columns(self, parameters: RegressionStates) -> int:
        """Return the columns of the targets."""
        return parameters.variances.shape[1]

    def ready(self, n_states: int, n_columns: int) -> RegressionStates:
        """Return blank parameters of the shape of the weights that are given."""
        n_inputs = np.shape(self.weights)[1] - 1
        head = Paired(np.zeros((1, n_columns)), np.zeros((1, n_inputs)))
        return self.blank(None, head, n_states)


@dataclass(frozen=True)
class RegressionEmission(LinearEmission):
    r"""Each state has its own linear regression of what it shows on known inputs.

    Parameters
    ----------
    variance_floor
        Least variance, as a fraction of the mean square of the targets in a state.
    weights, variances
        Values to start from.
    fixed
        Names of parameters to hold at their start.

    Notes
    -----
    :math:`p(O_t \mid q_t = S_j, x_t) = \mathcal N(w_j x_t + w_{j0}, \sigma_j^2)`, the input-output
    model of Alpaydin 15.9 (15.40-15.41). `input_windows` makes inputs of several steps.

    Examples
    --------
    >>> import numpy as np
    >>> from verulam.sequence import HiddenMarkovModel, RegressionEmission
    >>> x = np.tile(np.arange(20.0), 4)
    >>> y = np.repeat([1.0, -1.0, 1.0, -1.0], 20) * x
    >>> model = HiddenMarkovModel(2, RegressionEmission(), random_state=0).fit(y, inputs=x)
    >>> np.sort(model.emission_.weights[:, 1, 0]).round(2)
    array([-1.,  1.])
    """

    variance_floor: float = 1e-6
    weights: Any = None
    variances: Any = None
    fixed: tuple[str, ...] = ()

    @property
    def uses_inputs(self) -> bool:
        """Return True: the inputs move what is shown."""
        return True

    def encode(self, sequences: Sequences, parameters: Any = None) -> Paired:
        """Return the targets with their inputs."""
        if sequences.inputs is None:
            raise DataError("RegressionEmission needs inputs: pass inputs= beside X.")
        if parameters is not None:
            check_input_width(sequences.inputs, parameters.weights.shape[1] - 1)
        return Paired(sequences.values, sequences.inputs)

    def sample(
        self,
        parameters: RegressionStates,
        states: np.ndarray,
        random: np.random.Generator,
        inputs: np.ndarray | None = None,
    ) -> np.ndarray:
        """Return one row per state, at the given inputs."""
        if inputs is None:
            raise DataError("sample needs inputs: pass inputs=, one row per step.")
        rows = inputs[:, None] if inputs.ndim == 1 else inputs
        lines = np.einsum("tp,tpq->tq", _design(rows), parameters.weights[states])
        noise = random.standard_normal(lines.shape)
        return lines + noise * np.sqrt(parameters.variances[states])

    def expected_ahead(self, parameters: RegressionStates, ahead: Ahead) -> np.ndarray:
        """Return the states' lines at the inputs to come, weighted by the states."""
        design = _design(ahead.needed_inputs)
        return np.einsum("tk,tp,kpq->tq", ahead.states, design, parameters.weights)


@dataclass(frozen=True)
class AutoregressiveEmission(LinearEmission):
    r"""Each state predicts what it shows from the observations just before.

    Parameters
    ----------
    order
        Number of earlier observations.
    variance_floor
        Least variance, as a fraction of the mean square of the observations in a state.
    weights, variances
        Values to start from.
    fixed
        Names of parameters to hold at their start.

    Notes
    -----
    :math:`x_t = (O_{t-1}, \ldots, O_{t-\tau})` is the input of a regression (Alpaydin 15.9). The
    first :math:`\tau` steps of a sequence have no full past and count as missing, so that
    likelihoods are conditional on them.

    Examples
    --------
    >>> import numpy as np
    >>> from verulam.sequence import AutoregressiveEmission, HiddenMarkovModel
    >>> random, series = np.random.default_rng(0), [0.0]
    >>> for t in range(400):
    ...     pull = 0.95 if (t // 100) % 2 else -0.95
    ...     series.append(pull * series[-1] + random.normal())
    >>> model = HiddenMarkovModel(
    ...     2, AutoregressiveEmission(1), init="random", n_init=5, random_state=0
    ... )
    >>> np.sort(model.fit(np.array(series)).emission_.weights[:, 1, 0]).round(1)
    array([-1. ,  0.9])
    """

    order: int = 1
    variance_floor: float = 1e-6
    weights: Any = None
    variances: Any = None
    fixed: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        super().__post_init__()
        check_least(self, "order", 1, whole=True)

    @property
    def memory(self) -> int:
        """The order."""
        return self.order

    def encode(self, sequences: Sequences, parameters: Any = None) -> Paired:
        """Return the observations with those before them."""
        values = np.asarray(sequences.values, dtype=np.float64)
        n_columns = values.shape[1]
        past = np.full((len(values), n_columns * self.order), np.nan)
        place = np.arange(len(values)) - np.repeat(sequences.starts[:-1], sequences.lengths)
        for lag in range(1, self.order + 1):
            rows = np.flatnonzero(place >= lag)
            past[rows, (lag - 1) * n_columns : lag * n_columns] = values[rows - lag]
        return Paired(values, past)

    def sample(
        self, parameters: RegressionStates, states: np.ndarray, random: np.random.Generator
    ) -> np.ndarray:
        """Return one row per state, each from those before; the first ones from zeros."""
        n_columns = parameters.variances.shape[1]
        rows = np.zeros((len(states) + self.order, n_columns))
        noise = random.standard_normal((len(states), n_columns))
        for t, state in enumerate(states):
            past = rows[t : t + self.order][::-1].ravel()
            line = np.concatenate([[1.0], past]) @ parameters.weights[state]
            rows[t + self.order] = line + noise[t] * np.sqrt(parameters.variances[state])
        return rows[self.order :]

    def expected_ahead(self, parameters: RegressionStates, ahead: Ahead) -> np.ndarray:
        """Return the expectations, carried on together with the states that they depend on."""
        past = ahead.past.targets[-self.order :][::-1]
        if len(past) < self.order or np.isnan(past).any():
            raise DataError(
                f"A forecast of order {self.order} needs as many last observations, none of them "
                "missing."
            )
        # Of each state, its probability times 1 and times the last observations.
        moments = np.outer(ahead.last, np.concatenate([[1.0], past.ravel()]))
        n_columns = past.shape[1]
        rows = []
        for matrix in ahead.matrices:
            moved = matrix.T @ moments
            shown = np.einsum("kp,kpq->kq", moved, parameters.weights)
            earlier = moved[:, 1 : 1 + n_columns * (self.order - 1)]
            moments = np.hstack([moved[:, :1], shown, earlier])
            rows.append(shown.sum(axis=0))
        return np.array(rows)


def _design(inputs: np.ndarray) -> np.ndarray:
    return np.hstack([np.ones((len(inputs), 1)), inputs])
