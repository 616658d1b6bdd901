"""Emissions of symbols that depend on inputs: a classifier in each state."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
from scipy.optimize import minimize

from verulam.base import DataError
from verulam.numerics import log_softmax
from verulam.sequence._data.sequences import Sequences, check_input_width
from verulam.sequence._emissions.categorical import (
    Alphabet,
    CategoricalEmission,
    SymbolProbabilities,
)
from verulam.sequence._emissions.regression import Paired
from verulam.sequence._model.emission import Ahead, Emission, checked_start_values, hold_fixed
from verulam.sequence._model.logistic_transitions import check_penalty, logistic_loss


@dataclass(frozen=True)
class ClassifierStates:
    """Parameters of classifier emissions.

    Attributes
    ----------
    weights : ndarray of shape (n_states, n_inputs + 1, n_symbols)
        For each state, intercept and weights of the inputs towards each symbol.
    symbols
        Label of each symbol, or None where symbols are whole numbers from 0.
    """

    weights: np.ndarray
    symbols: np.ndarray | None = None


@dataclass(frozen=True)
class SoftLabels:
    """Inputs, symbols and the share of each state, one row per step."""

    rows: np.ndarray
    codes: np.ndarray
    shares: np.ndarray

    def __add__(self, other: "SoftLabels") -> "SoftLabels":
        return SoftLabels(
            np.concatenate([self.rows, other.rows]),
            np.concatenate([self.codes, other.codes]),
            np.concatenate([self.shares, other.shares]),
        )


@dataclass(frozen=True)
class ClassifierEmission(Emission):
    r"""Each state has its own classifier of what it shows, given known inputs.

    Parameters
    ----------
    symbols
        Labels of the alphabet; None to take whole numbers from 0 as they are, or the labels
        found in the data.
    penalty
        Strength of the ridge on the weights, which also settles the symbol that is free.
    weights
        Values to start from.
    fixed
        Names of the parameters to hold at their start: ``("weights",)``.

    Notes
    -----
    :math:`P(O_t = m \mid q_t = j, x_t) = e^{w_{jm}^T x_t} / \sum_l e^{w_{jl}^T x_t}`, the
    input-output model of Alpaydin 15.9 with a discrete output. Each pass fits one softmax
    regression per state, whose steps are weighted by :math:`\gamma_t(j)`, by L-BFGS with the
    gradient :math:`\sum_t \gamma_t(j) x_t (1(O_t = m) - P(m \mid j, x_t))`.

    Examples
    --------
    Two regimes that answer the same input with opposite symbols:

    >>> import numpy as np
    >>> from verulam.sequence import ClassifierEmission, HiddenMarkovModel
    >>> x = np.tile([-1.0, 1.0, 1.0, -1.0, 1.0], 16)
    >>> y = np.where(np.repeat([1, -1, 1, -1], 20) * x > 0, "up", "down")
    >>> model = HiddenMarkovModel(2, ClassifierEmission(), random_state=0).fit(y, inputs=x)
    >>> weights = model.emission_.weights
    >>> np.sort(np.sign(weights[:, 1, 1] - weights[:, 1, 0])).tolist()
    [-1.0, 1.0]
    """

    symbols: Sequence[Any] | None = None
    penalty: float = 1e-3
    weights: Any = None
    fixed: tuple[str, ...] = ()

    numeric: ClassVar[bool] = False

    def __post_init__(self) -> None:
        check_penalty(self.penalty)

    @property
    def uses_inputs(self) -> bool:
        """Return True: the inputs move what is shown."""
        return True

    @property
    def complete(self) -> bool:
        """Whether the weights are given."""
        return self.weights is not None

    def encode(self, sequences: Sequences, parameters: Any = None) -> Paired:
        """Return the code of each step's symbol with the inputs; NaN where it is missing."""
        if sequences.inputs is None:
            raise DataError("ClassifierEmission needs inputs: pass inputs= beside X.")
        known = None
        if parameters is not None:
            n_states, width, n_symbols = parameters.weights.shape
            check_input_width(sequences.inputs, width - 1)
            known = SymbolProbabilities(np.empty((n_states, n_symbols)), parameters.symbols)
        codes = CategoricalEmission(self.symbols).encode(sequences, known)
        return Paired(np.where(codes < 0, np.nan, codes)[:, None], sequences.inputs)

    def for_data(self, rows: np.ndarray) -> "ClassifierEmission":
        """Return the emission with the labels of the data, where they are no whole numbers."""
        return replace(self, symbols=CategoricalEmission(self.symbols).for_data(rows).symbols)

    def survey(self, values: Paired) -> Alphabet:
        """Return the size of the alphabet."""
        known = 0 if self.symbols is None else len(self.symbols)
        present = values.targets[values.known, 0]
        return Alphabet(max(known, int(present.max(initial=-1)) + 1))

    def blank(self, survey: Alphabet, head: Paired, n_states: int) -> ClassifierStates:
        """Return classifiers that know nothing."""
        if survey.size == 0:
            raise DataError("No step is complete: each has a missing symbol or input.")
        size = survey.size if self.weights is None else np.shape(self.weights)[-1]
        weights = np.zeros((n_states, head.inputs.shape[1] + 1, size))
        symbols = None if self.symbols is None else np.asarray(self.symbols)
        return ClassifierStates(weights, symbols)

    def with_start_values(self, parameters: ClassifierStates) -> ClassifierStates:
        """Return the parameters with the start values that the user has set."""
        return checked_start_values(self, ("weights",), parameters)

    def ready(self, n_states: int, n_columns: int) -> ClassifierStates:
        """Return blank parameters of the shape of the weights that are given."""
        n_inputs = np.shape(self.weights)[1] - 1
        head = Paired(np.zeros((1, 1)), np.zeros((1, n_inputs)))
        return self.blank(Alphabet(np.shape(self.weights)[2]), head, n_states)

    def features(self, values: Paired) -> None:
        """Return nothing: neither inputs nor symbols alone tell regimes apart."""

    def jitter(self, parameters: ClassifierStates, random: np.random.Generator) -> ClassifierStates:
        """Return classifiers that differ between states."""
        return replace(parameters, weights=random.standard_normal(parameters.weights.shape))

    def _log_probabilities(self, parameters: ClassifierStates, inputs: np.ndarray) -> np.ndarray:
        """Return the logarithm of each symbol's probability by step and state."""
        return log_softmax(np.einsum("tp,kpm->tkm", _design(inputs), parameters.weights), axis=2)

    def log_likelihoods(self, parameters: ClassifierStates, values: Paired) -> np.ndarray:
        """Return the logarithm of what each state's classifier gives the symbol."""
        known = values.known
        result = np.zeros((len(values), len(parameters.weights)))
        tables = self._log_probabilities(parameters, values.inputs[known])
        codes = values.targets[known, 0].astype(np.int64)
        result[known] = tables[np.arange(len(codes)), :, codes]
        return result

    def statistics(
        self, parameters: ClassifierStates, values: Paired, weights: np.ndarray
    ) -> SoftLabels:
        """Return the complete steps with the share of each state."""
        known = values.known
        codes = values.targets[known, 0].astype(np.int64)
        return SoftLabels(_design(values.inputs[known]), codes, weights[known])

    def update(self, parameters: ClassifierStates, sums: SoftLabels) -> ClassifierStates:
        """Return the weighted softmax regression of each state."""
        weights = parameters.weights.copy()
        marks = np.eye(weights.shape[2])[sums.codes]
        for k in np.flatnonzero(sums.shares.sum(axis=0) > 1e-8):
            shares = marks * sums.shares[:, k, None]
            optimum = minimize(
                logistic_loss,
                weights[k].ravel(),
                (sums.rows, shares, self.penalty),
                jac=True,
                method="L-BFGS-B",
            )
            weights[k] = optimum.x.reshape(weights[k].shape)
        new = replace(parameters, weights=weights)
        return hold_fixed(self, ("weights",), parameters, new)

    def log_prior(self, parameters: ClassifierStates) -> float:
        """Return the ridge as the logarithm of a Gaussian prior."""
        return float(-0.5 * self.penalty * (parameters.weights**2).sum())

    def sample(
        self,
        parameters: ClassifierStates,
        states: np.ndarray,
        random: np.random.Generator,
        inputs: np.ndarray | None = None,
    ) -> np.ndarray:
        """Return one symbol per state, at the given inputs."""
        if inputs is None:
            raise DataError("sample needs inputs: pass inputs=, one row per step.")
        rows = inputs[:, None] if inputs.ndim == 1 else inputs
        tables = self._log_probabilities(parameters, rows)[np.arange(len(states)), states]
        codes = (random.random(len(states))[:, None] > np.exp(tables).cumsum(axis=1)).sum(axis=1)
        codes = np.minimum(codes, tables.shape[1] - 1)
        return (codes if parameters.symbols is None else parameters.symbols[codes])[:, None]

    def expected_ahead(self, parameters: ClassifierStates, ahead: Ahead) -> np.ndarray:
        """Return the probability of each symbol at the inputs to come."""
        tables = np.exp(self._log_probabilities(parameters, ahead.needed_inputs))
        return np.einsum("tk,tkm->tm", ahead.states, tables)

    def take(self, parameters: ClassifierStates, states: np.ndarray) -> ClassifierStates:
        """Return the classifiers of some states."""
        return replace(parameters, weights=parameters.weights[states])

    def n_parameters(self, parameters: ClassifierStates) -> int:
        """Return the free weights: one symbol per state is the reference."""
        n_states, n_inputs, n_symbols = parameters.weights.shape
        return 0 if self.fixed else n_states * n_inputs * (n_symbols - 1)


def _design(inputs: np.ndarray) -> np.ndarray:
    return np.hstack([np.ones((len(inputs), 1)), inputs])
