"""Emissions of symbols: each state has its own probabilities over an alphabet."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
import pandas as pd

from verulam.base import DataError
from verulam.sequence._data.sequences import Sequences
from verulam.sequence._emissions.emission_loops import count_symbols, gather_columns
from verulam.sequence._model.emission import Emission, check_least, hold_fixed
from verulam.sequence._model.inference import EmissionLikelihoods
from verulam.sequence._model.transitions import check_distribution
from verulam.sequence._recursions.scratch import Scratch, fresh_or_scratch

LARGEST_SYMBOL = 2.0**53
#: Largest table of probabilities, 1 GB.
MOST_PROBABILITIES = 2**27


@dataclass(frozen=True)
class SymbolProbabilities:
    """Parameters of categorical emissions.

    Attributes
    ----------
    probabilities : ndarray of shape (n_states, n_symbols)
        Probability of each symbol in each state.
    symbols
        Label of each symbol, or None where symbols are whole numbers from 0.
    """

    probabilities: np.ndarray
    symbols: np.ndarray | None = None


@dataclass(frozen=True)
class SymbolCounts:
    """Soft counts of symbols, one row per symbol, one column per state."""

    counts: np.ndarray

    def __add__(self, other: "SymbolCounts") -> "SymbolCounts":
        small, large = sorted((self.counts, other.counts), key=len)
        # Parts of the data may have met codes of different sizes: those not met count zero.
        total = large.copy()
        total[: len(small)] += small
        return SymbolCounts(total)


@dataclass(frozen=True)
class Alphabet:
    """How many symbols there are: one more than the largest code."""

    size: int

    def __add__(self, other: "Alphabet") -> "Alphabet":
        return Alphabet(max(self.size, other.size))


@dataclass(frozen=True)
class CategoricalEmission(Emission):
    r"""Each state shows one of several symbols.

    Parameters
    ----------
    symbols
        Labels of the alphabet; None to take whole numbers from 0 as they are, or the labels
        found in the data. A stream of labels needs them.
    probabilities
        Probability of each symbol in each state to start from.
    prior
        Pseudo-count of each symbol in each state, for a maximum a posteriori estimate.
    fixed
        Names of the parameters to hold at their start: ``("probabilities",)``.

    Notes
    -----
    :math:`\hat b_j(m) = \sum_t \gamma_t(j) 1(O_t = v_m) / \sum_t \gamma_t(j)`, Alpaydin 15.7
    (15.32). The prior adds to both sums.

    Examples
    --------
    >>> from verulam.sequence import CategoricalEmission, HiddenMarkovModel
    >>> words = [["sun", "sun", "ice", "rain"], ["rain", "rain", "sun"]]
    >>> model = HiddenMarkovModel(2, CategoricalEmission(prior=0.1), random_state=0).fit(words)
    >>> model.emission_.symbols.tolist()
    ['ice', 'rain', 'sun']
    """

    symbols: Sequence[Any] | None = None
    probabilities: Any = None
    prior: float = 0.0
    fixed: tuple[str, ...] = ()

    numeric: ClassVar[bool] = False

    def __post_init__(self) -> None:
        check_least(self, "prior", 0.0)

    def encode(self, sequences: Sequences, parameters: Any = None) -> np.ndarray:
        """Return the code of each step's symbol, -1 where it is missing."""
        if sequences.values.shape[1] != 1:
            raise DataError(
                f"CategoricalEmission takes one symbol per step; X has "
                f"{sequences.values.shape[1]} columns. Use StreamEmission for several."
            )
        symbols = self.symbols if parameters is None else parameters.symbols
        column = sequences.values[:, 0]
        if symbols is not None:
            return _codes_of_labels(column, np.asarray(symbols))
        codes = _codes_of_numbers(column)
        if parameters is not None and len(codes):
            n_symbols = parameters.probabilities.shape[1]
            if codes.max() >= n_symbols:
                step = int(np.argmax(codes >= n_symbols))
                raise DataError(
                    f"X has symbol {codes[step]} at step {step}, which was not in the training "
                    f"data: known are 0 to {n_symbols - 1}."
                )
        return codes

    def survey(self, values: np.ndarray) -> Alphabet:
        """Return the size of the alphabet."""
        known = 0 if self.symbols is None else len(self.symbols)
        return Alphabet(max(known, int(values.max(initial=-1)) + 1))

    def blank(self, survey: Alphabet, head: Any, n_states: int) -> SymbolProbabilities:
        """Return equal probabilities."""
        size = survey.size if self.probabilities is None else np.shape(self.probabilities)[1]
        if size < survey.size:
            raise DataError(
                f"probabilities has {size} symbols, but X has symbol {survey.size - 1}."
            )
        if size == 0:
            raise DataError("X has no symbol that is present: every step is missing.")
        _refuse_many(size, n_states)
        symbols = None if self.symbols is None else np.asarray(self.symbols)
        return SymbolProbabilities(np.full((n_states, size), 1.0 / max(1, size)), symbols)

    def ready(self, n_states: int, n_columns: int) -> SymbolProbabilities:
        """Return blank parameters for a model with known values."""
        return self.blank(Alphabet(0), None, n_states)

    def with_start_values(self, parameters: SymbolProbabilities) -> SymbolProbabilities:
        """Return the parameters with the start values that the user has set."""
        if self.probabilities is None:
            return parameters
        shape = parameters.probabilities.shape
        name = "probabilities of CategoricalEmission"
        return replace(
            parameters, probabilities=check_distribution(self.probabilities, name, shape)
        )

    def take(self, parameters: SymbolProbabilities, states: np.ndarray) -> SymbolProbabilities:
        """Return the probabilities of some states."""
        return replace(parameters, probabilities=parameters.probabilities[states])

    @property
    def complete(self) -> bool:
        """Whether the probabilities are given."""
        return self.probabilities is not None

    def for_data(self, rows: np.ndarray) -> "CategoricalEmission":
        """Return the emission with the labels of the data, where they are no whole numbers."""
        column = rows[:, 0]
        if self.symbols is not None or column.dtype.kind in "iufb":
            return self
        present = column[~pd.isna(column)]
        if all(isinstance(symbol, int | float | np.number) for symbol in present):
            return self
        return replace(self, symbols=np.unique(present.astype(str)).tolist())

    def closed(self, rows: np.ndarray) -> "CategoricalEmission":
        """Return the emission with all symbols of the data, whole numbers as well."""
        emission = self.for_data(rows)
        if emission.symbols is not None or emission.probabilities is not None:
            return emission
        size = int(_codes_of_numbers(rows[:, 0]).max(initial=-1)) + 1
        _refuse_many(size, 1)
        return replace(emission, symbols=range(size))

    def features(self, values: np.ndarray) -> None:
        """Return nothing: groups of symbols would leave probabilities of zero."""

    def jitter(
        self, parameters: SymbolProbabilities, random: np.random.Generator
    ) -> SymbolProbabilities:
        """Return probabilities that differ between states."""
        shares = parameters.probabilities * (0.5 + random.random(parameters.probabilities.shape))
        return replace(parameters, probabilities=shares / shares.sum(axis=1, keepdims=True))

    def emissions(
        self, parameters: SymbolProbabilities, values: np.ndarray, scratch: Scratch | None = None
    ) -> EmissionLikelihoods:
        """Return the emissions by looking them up, with no logarithm taken."""
        table = self.lookup(parameters)
        relative = fresh_or_scratch("relative", (len(values), table.shape[1]), scratch)
        gather_columns(values, table, relative)

        def logarithms(start: int, stop: int) -> np.ndarray:
            return self.log_likelihoods(parameters, values[start:stop])

        return EmissionLikelihoods(relative, np.zeros(len(values)), logarithms)

    def lookup(self, parameters: SymbolProbabilities) -> np.ndarray:
        """Return the probabilities by symbol."""
        return np.ascontiguousarray(parameters.probabilities.T)

    def log_likelihoods(self, parameters: SymbolProbabilities, values: np.ndarray) -> np.ndarray:
        """Return the logarithm of each state's probability of each symbol."""
        with np.errstate(divide="ignore"):
            table = np.log(np.ascontiguousarray(parameters.probabilities.T))
        result = np.empty((len(values), table.shape[1]))
        gather_columns(values, table, result)
        result[values < 0] = 0.0
        return result

    def statistics(
        self, parameters: SymbolProbabilities, values: np.ndarray, weights: np.ndarray
    ) -> SymbolCounts:
        """Return the soft counts."""
        counts = np.zeros((parameters.probabilities.shape[1], weights.shape[1]))
        count_symbols(values, weights, counts)
        return SymbolCounts(counts)

    def update(self, parameters: SymbolProbabilities, sums: SymbolCounts) -> SymbolProbabilities:
        """Return the shares of the counts and pseudo-counts."""
        counts = sums.counts.T + self.prior
        totals = counts.sum(axis=1, keepdims=True)
        shares = np.divide(counts, totals, out=parameters.probabilities.copy(), where=totals > 0)
        new = SymbolProbabilities(shares, parameters.symbols)
        return hold_fixed(self, ("probabilities",), parameters, new)

    def log_prior(self, parameters: SymbolProbabilities) -> float:
        """Return the logarithm of the Dirichlet prior, up to a constant."""
        if not self.prior:
            return 0.0
        return float(self.prior * np.log(parameters.probabilities).sum())

    def sample(
        self, parameters: SymbolProbabilities, states: np.ndarray, random: np.random.Generator
    ) -> np.ndarray:
        """Return one symbol per state."""
        cumulative = parameters.probabilities.cumsum(axis=1)[states]
        codes = (random.random(len(states))[:, None] > cumulative).sum(axis=1)
        codes = np.minimum(codes, cumulative.shape[1] - 1)
        return (codes if parameters.symbols is None else parameters.symbols[codes])[:, None]

    def expected(self, parameters: SymbolProbabilities) -> np.ndarray:
        """Return the probabilities of the symbols."""
        return parameters.probabilities

    def n_parameters(self, parameters: SymbolProbabilities) -> int:
        """Return the number of free probabilities."""
        n_states, n_symbols = parameters.probabilities.shape
        return 0 if self.fixed else n_states * (n_symbols - 1)


def _refuse_many(size: int, n_states: int) -> None:
    """Refuse symbols whose probabilities would fill the memory."""
    if size * n_states > MOST_PROBABILITIES:
        raise DataError(
            f"X has symbol {size - 1}, and so many probabilities do not fit into memory. "
            "Whole numbers count from 0 without gaps; name others by "
            "CategoricalEmission(symbols=...)."
        )


def _codes_of_numbers(column: np.ndarray) -> np.ndarray:
    if column.dtype.kind not in "iufb":
        try:
            column = column.astype(np.float64)
        except (TypeError, ValueError):
            raise DataError(
                "X holds labels; give the alphabet as CategoricalEmission(symbols=...), which a "
                "stream needs, or pass all data at once."
            ) from None
    if column.dtype.kind == "f":
        present = column[~np.isnan(column)]
        if (np.abs(present) > LARGEST_SYMBOL).any():
            raise DataError(
                "X holds infinity or numbers too large for symbols, which are whole numbers from "
                "0, or labels."
            )
        if (present != np.floor(present)).any():
            raise DataError("X holds fractions; symbols are whole numbers from 0, or labels.")
        column = np.where(np.isnan(column), -1.0, column) if len(present) < len(column) else column
        codes = column.astype(np.int64)
        negative = np.flatnonzero((codes < 0) & (column != -1.0))
        if len(present) == len(column):
            negative = np.flatnonzero(codes < 0)
    else:
        codes = column.astype(np.int64)
        negative = np.flatnonzero(codes < 0)
    if len(negative):
        raise DataError(
            f"X has the negative symbol {codes[negative[0]]} at step {negative[0]}; symbols are "
            "whole numbers from 0, and NaN stands for a missing one."
        )
    return codes


def _codes_of_labels(column: np.ndarray, symbols: np.ndarray) -> np.ndarray:
    codes = pd.Index(symbols).get_indexer(pd.Index(column))
    missing = pd.isna(column)
    unknown = np.flatnonzero((codes < 0) & ~missing)
    if len(unknown):
        shown = ", ".join(repr(symbol) for symbol in symbols[:5].tolist())
        strange = str(column[unknown[0]])
        raise DataError(
            f"X has the unknown symbol {strange!r} at step {unknown[0]}; the alphabet has "
            f"{len(symbols)} symbols: {shown}{', ...' if len(symbols) > 5 else ''}."
        )
    return np.where(missing, -1, codes).astype(np.int64)
