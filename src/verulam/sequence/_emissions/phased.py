"""Emissions that vary with time, in phases that are known."""

from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np

from verulam.base import DataError
from verulam.sequence._data.sequences import Sequences
from verulam.sequence._emissions.regression import Paired
from verulam.sequence._model.emission import Ahead, Emission, check_least


@dataclass(frozen=True)
class PhasedEmission(Emission):
    r"""What a state shows depends on the phase of the step: hour, season, or the step itself.

    Parameters
    ----------
    emission
        What states show; its parameters are those of state 0 in all phases, then of state 1 ...
    n_phases
        Number of phases.
    column
        Which column of the inputs holds the phase of each step, a whole number from 0.

    Notes
    -----
    :math:`b_{jt}(O_t) = b_{j, \phi(t)}(O_t)` with the phase :math:`\phi(t)` known; with as many
    phases as steps, every step has emissions of its own (Alpaydin, exercise 15.8).

    Examples
    --------
    >>> import numpy as np
    >>> from verulam.sequence import GaussianEmission, HiddenMarkovModel, PhasedEmission
    >>> phases = np.tile([0, 1], 20)
    >>> series = np.repeat([0.0, 5.0], 20) + np.where(phases == 1, 100.0, 0.0)
    >>> start = GaussianEmission(means=[[0], [100], [4], [104]], covariances=np.ones((4, 1)))
    >>> model = HiddenMarkovModel(2, PhasedEmission(start, 2)).fit(series, inputs=phases)
    >>> model.emission_.means.ravel().round(1) + 0.0
    array([  0., 100.,   5., 105.])
    """

    emission: Emission
    n_phases: int
    column: int = 0

    numeric: ClassVar[bool] = False

    def __post_init__(self) -> None:
        check_least(self, "n_phases", 1, whole=True)
        check_least(self, "column", 0, whole=True)

    @property
    def uses_inputs(self) -> bool:
        """Return True: the phase of each step is an input."""
        return True

    @property
    def complete(self) -> bool:
        """Whether the emission has its values."""
        return self.emission.complete

    def for_data(self, rows: np.ndarray) -> "PhasedEmission":
        """Return the emission with what it takes from the raw rows."""
        if self.emission.numeric:
            return self
        return replace(self, emission=self.emission.for_data(rows))

    def encode(self, sequences: Sequences, parameters: Any = None) -> Paired:
        """Return the encoded values with the phase of each step."""
        if sequences.inputs is None:
            raise DataError(
                "PhasedEmission needs inputs: pass inputs= with the phase of each step."
            )
        values = sequences.values
        if self.emission.numeric:
            values = np.ascontiguousarray(values, dtype=np.float64)
        encoded = self.emission.encode(sequences.with_values(values), parameters)
        if not isinstance(encoded, np.ndarray):
            raise DataError(f"PhasedEmission does not take a {type(self.emission).__name__}.")
        return Paired(encoded, self._phases(sequences.inputs))

    def _phases(self, inputs: np.ndarray) -> np.ndarray:
        if inputs.ndim > 1 and self.column >= inputs.shape[1]:
            raise DataError(
                f"column is {self.column}, counted from 0, but inputs has {inputs.shape[1]}."
            )
        known = inputs if inputs.ndim == 1 else inputs[:, self.column]
        wrong = np.flatnonzero((known != np.floor(known)) | (known < 0) | (known >= self.n_phases))
        if len(wrong):
            raise DataError(
                f"inputs has the phase {known[wrong[0]]:g} at step {wrong[0]}; expected whole "
                f"numbers from 0 to {self.n_phases - 1}."
            )
        return known.astype(np.int64)

    def survey(self, values: Paired) -> Any:
        """Return the survey of the emission."""
        return self.emission.survey(values.targets)

    def blank(self, survey: Any, head: Paired, n_states: int) -> Any:
        """Return blank parameters of every state in every phase."""
        return self.emission.blank(survey, head.targets, n_states * self.n_phases)

    def ready(self, n_states: int, n_columns: int) -> Any:
        """Return blank parameters for a model with known values."""
        return self.emission.ready(n_states * self.n_phases, n_columns)

    def with_start_values(self, parameters: Any) -> Any:
        """Return the parameters with the start values that the user has set."""
        return self.emission.with_start_values(parameters)

    def jitter(self, parameters: Any, random: np.random.Generator) -> Any:
        """Return a start that chance has set apart."""
        return self.emission.jitter(parameters, random)

    def features(self, values: Paired) -> np.ndarray | None:
        """Return rows by which steps can be grouped, each less the mean of its phase."""
        rows = self.emission.features(values.targets)
        if rows is None:
            return None
        centred = rows.astype(np.float64)
        for phase in range(self.n_phases):
            here = values.inputs == phase
            if here.any():
                centred[here] -= centred[here].mean(axis=0)
        return centred

    def log_likelihoods(self, parameters: Any, values: Paired) -> np.ndarray:
        """Return the logarithms in each step's phase."""
        table = self.emission.log_likelihoods(parameters, values.targets)
        by_phase = table.reshape(len(table), -1, self.n_phases)
        return by_phase[np.arange(len(table)), :, values.inputs]

    def statistics(self, parameters: Any, values: Paired, weights: np.ndarray) -> Any:
        """Return the sums, each step's weights in its phase."""
        spread = np.zeros((len(weights), weights.shape[1], self.n_phases))
        spread[np.arange(len(weights)), :, values.inputs] = weights
        flat = spread.reshape(len(weights), -1)
        return self.emission.statistics(parameters, values.targets, flat)

    def update(self, parameters: Any, sums: Any) -> Any:
        """Return the parameters that the sums give."""
        return self.emission.update(parameters, sums)

    def sample(
        self,
        parameters: Any,
        states: np.ndarray,
        random: np.random.Generator,
        inputs: np.ndarray | None = None,
    ) -> Any:
        """Return one row per state, in the phases of the inputs."""
        if inputs is None:
            raise DataError("sample needs inputs: pass inputs=, the phase of each step.")
        phases = self._phases(inputs)
        return self.emission.sample(parameters, states * self.n_phases + phases, random)

    def expected_ahead(self, parameters: Any, ahead: Ahead) -> np.ndarray:
        """Return the expected rows in the phases to come."""
        table = self.emission.expected(parameters)
        by_phase = table.reshape(-1, self.n_phases, table.shape[1])
        phases = self._phases(ahead.needed_inputs)
        return np.einsum("tk,ktq->tq", ahead.states, by_phase[:, phases])

    def n_parameters(self, parameters: Any) -> int:
        """Return the free numbers of all phases."""
        return self.emission.n_parameters(parameters)

    def n_states(self, parameters: Any) -> int:
        """Return the number of states."""
        return self.emission.n_states(parameters) // self.n_phases

    def log_prior(self, parameters: Any) -> float:
        """Return the emission's prior."""
        return self.emission.log_prior(parameters)

    def take(self, parameters: Any, states: np.ndarray) -> Any:
        """Return the parameters of some states."""
        rows = (np.asarray(states)[:, None] * self.n_phases + np.arange(self.n_phases)).ravel()
        return self.emission.take(parameters, rows)
