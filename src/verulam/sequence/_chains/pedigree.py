"""Meiosis: which of its grandparents a child has each stretch of its chromosomes from."""

from dataclasses import dataclass, replace
from functools import cached_property
from itertools import combinations_with_replacement
from typing import Any, ClassVar

import numpy as np
import pandas as pd

from verulam.base import DataError, SumRecord
from verulam.sequence._chains.product_states import chain_posteriors, split_states
from verulam.sequence._chains.structured_transitions import StructuredModel
from verulam.sequence._data.sequences import Sequences, check_count
from verulam.sequence._learners.hidden_markov import HiddenMarkovModel
from verulam.sequence._model.emission import Emission
from verulam.sequence._model.inference import Smoothed
from verulam.sequence._model.parameters import InitialProbabilities
from verulam.sequence._model.transitions import VaryingTransitions

#: Each parent hands on one of two copies.
COPIES = (2, 2)
#: Copies of father and mother in each combined state.
STATES = split_states(np.arange(4), COPIES)
#: Whether a move between combined states changes the father's copy, and the mother's.
CHANGES = (STATES[:, None] != STATES[None]).transpose(2, 0, 1)
#: Loci that are handed on independently change copies half the time, and none more often.
MOST_RECOMBINATION = 0.5


@dataclass(frozen=True)
class RecombinationRates:
    """Parameters of meiosis.

    Attributes
    ----------
    rates : ndarray of shape (2, n_loci - 1)
        Probability that the copy changes between neighbouring loci, of father and mother.
    """

    rates: np.ndarray


@dataclass(frozen=True)
class Recombinations(SumRecord):
    """Expected changes of the copy between neighbouring loci, by parent, and the children."""

    changes: np.ndarray
    n_children: int


@dataclass(frozen=True)
class MeiosisTransitions:
    r"""Both parents hand on one of two copies at each locus, and change now and then.

    Parameters
    ----------
    n_loci
        Number of loci, in their order along the chromosome.
    recombination
        Probability that the copy changes between neighbouring loci, to start from: one number,
        one per interval, or one row for the father and one for the mother.
    tied
        Whether a parent has one probability for all intervals, which takes fewer children to
        learn.
    fixed
        Whether to hold them.

    Notes
    -----
    :math:`P(q_{t+1}^k \ne q_t^k) = r_t^k` for both parents :math:`k`, independently: two chains
    of two states (Alpaydin 15.9, fig. 15.6b). Rates above 1/2 are not allowed.

    Examples
    --------
    >>> import numpy as np
    >>> from verulam.sequence import MeiosisTransitions
    >>> MeiosisTransitions(3, [0.1, 0.5]).start(4, np.random.default_rng(0)).rates
    array([[0.1, 0.5],
           [0.1, 0.5]])
    """

    n_loci: int
    recombination: Any = 0.1
    tied: bool = False
    fixed: bool = False

    def __post_init__(self) -> None:
        check_count(self.n_loci, "n_loci")
        rates = np.asarray(self.recombination, dtype=np.float64)
        if rates.shape not in ((), (self.n_loci - 1,), (2, self.n_loci - 1)):
            raise DataError(
                f"recombination has shape {rates.shape}; expected one number, one for each of the "
                f"{self.n_loci - 1} intervals between loci, or two rows of these."
            )
        if not ((rates >= 0) & (rates <= MOST_RECOMBINATION)).all():
            raise DataError("recombination must be between 0 and 0.5.")

    def start(self, n_states: int, random: np.random.Generator) -> RecombinationRates:
        """Return the probabilities to start from."""
        if n_states != len(STATES):
            raise DataError(f"n_states is {n_states}, but MeiosisTransitions has {len(STATES)}.")
        rates = np.asarray(self.recombination, dtype=np.float64)
        return RecombinationRates(np.broadcast_to(rates, (2, self.n_loci - 1)).copy())

    def prepared(self, parameters: RecombinationRates, sequences: Sequences) -> VaryingTransitions:
        """Return the matrix into each locus; that into a first one is not used."""
        check_loci(sequences, self.n_loci)
        rates = np.hstack([np.zeros((2, 1)), parameters.rates])[:, :, None, None]
        by_parent = np.where(CHANGES[:, None], rates, 1.0 - rates)
        return VaryingTransitions(np.tile(by_parent.prod(axis=0), (len(sequences), 1, 1)))

    def statistics(
        self, parameters: RecombinationRates, smoothed: Smoothed, sequences: Sequences
    ) -> Recombinations:
        """Return the expected changes of the copies."""
        pairs = smoothed.transition_sums.reshape(-1, self.n_loci, *CHANGES.shape[1:])[:, 1:]
        changes = np.einsum("stij,kij->kt", pairs, CHANGES.astype(np.float64))
        return Recombinations(changes, len(sequences))

    def update(self, parameters: RecombinationRates, sums: Recombinations) -> RecombinationRates:
        """Return the shares of children whose copies change."""
        if self.fixed or self.n_loci == 1:
            return parameters
        rates = sums.changes / sums.n_children
        if self.tied:
            rates = np.repeat(rates.mean(axis=1, keepdims=True), self.n_loci - 1, axis=1)
        return RecombinationRates(np.minimum(rates, MOST_RECOMBINATION))

    def occupied(self, visits: np.ndarray) -> np.ndarray:
        """Return the expected loci from each copy of each parent."""
        return np.concatenate([part[0] for part in chain_posteriors(visits[None], COPIES)])

    def log_prior(self, parameters: RecombinationRates) -> float:
        """Return 0: the rates have no prior."""
        return 0.0

    def n_parameters(self, parameters: RecombinationRates) -> int:
        """Return the number of free probabilities."""
        return 0 if self.fixed else 2 * min(self.n_loci - 1, 1 if self.tied else self.n_loci)

    def take(self, parameters: RecombinationRates, states: np.ndarray) -> Any:
        """Raise: the copies of both parents belong together."""
        raise DataError("States of MeiosisTransitions cannot be removed; use empty_states='keep'.")


@dataclass(frozen=True)
class GenotypeParameters:
    """Parameter of what is seen of a child: how often a genotype is read wrongly."""

    error: np.ndarray


@dataclass(frozen=True)
class ReadGenotypes(SumRecord):
    """Expected genotypes that were read rightly, and those that were read at all."""

    right: float
    total: float


@dataclass(frozen=True)
class MeiosisEmission(Emission):
    r"""What is seen of a child: at each locus one allele of the father and one of the mother.

    Parameters
    ----------
    father, mother
        Alleles of the parents, one row per locus, the two copies side by side.
    error
        Probability that a genotype is read wrongly, to start from.
    fixed
        Whether to hold it.

    Notes
    -----
    Which allele came from whom is not seen: the genotype is an unordered pair. With the alleles
    :math:`f_{t,i}, m_{t,j}` of the copies handed on,

    .. math:: P(O_t \mid i, j) = 1 - \epsilon \text{ if } O_t = \{f_{t,i}, m_{t,j}\}, \quad
              \epsilon / (G_t - 1) \text{ otherwise}

    where :math:`G_t` pairs can be made of the alleles of the parents at the locus. An allele
    that is missing (None or NaN) makes its genotype count as missing.

    Examples
    --------
    >>> import numpy as np
    >>> from verulam.sequence import MeiosisEmission, read_sequences
    >>> emission = MeiosisEmission([["A", "a"]], [["a", "a"]], error=0.1)
    >>> seen = emission.encode(read_sequences([np.array([["a", "A"]])]))
    >>> np.exp(emission.log_likelihoods(emission.ready(4, 2), seen)).round(3)
    array([[0.9 , 0.9 , 0.05, 0.05]])
    """

    father: Any
    mother: Any
    error: float = 0.01
    fixed: bool = False

    numeric: ClassVar[bool] = False

    def __post_init__(self) -> None:
        shapes = [np.shape(np.asarray(part, dtype=object)) for part in (self.father, self.mother)]
        for name, shape in zip(("father", "mother"), shapes, strict=True):
            if len(shape) != 2 or shape[1] != 2 or shape != shapes[0] or not shape[0]:
                raise DataError(
                    f"{name} has shape {shape}; father and mother need one row per locus and two "
                    "columns, the alleles of the two copies."
                )
        if any(pd.isna(allele) for allele in self._alleles.ravel()):
            raise DataError("father and mother must have all alleles; some are missing.")
        if not 0.0 <= self.error < 1.0:
            raise DataError(f"error must be at least 0 and below 1; got {self.error!r}.")

    @cached_property
    def _alleles(self) -> np.ndarray:
        return np.hstack([np.asarray(part, dtype=object) for part in (self.father, self.mother)])

    @cached_property
    def _genotypes(self) -> list[list[frozenset[Any]]]:
        """The pairs that can be made at each locus; of one allele twice, a set of one."""
        return [
            list(map(frozenset, combinations_with_replacement(dict.fromkeys(row), 2)))
            for row in self._alleles
        ]

    @cached_property
    def _handed_on(self) -> np.ndarray:
        """Place of the genotype of each combined state at each locus."""
        return np.array(
            [
                [pairs.index(frozenset((row[i], row[2 + j]))) for i, j in STATES]
                for row, pairs in zip(self._alleles, self._genotypes, strict=True)
            ]
        )

    @property
    def n_loci(self) -> int:
        """Number of loci."""
        return len(self._alleles)

    @property
    def complete(self) -> bool:
        """Return True: there is no start but the error that was set."""
        return True

    def encode(self, sequences: Sequences, parameters: Any = None) -> np.ndarray:
        """Return the place of each genotype among those of its locus, -1 if missing; and locus."""
        check_loci(sequences, self.n_loci)
        values = sequences.values
        if values.shape[1] != 2:
            raise DataError(
                f"X has {values.shape[1]} columns; expected the two alleles of a child."
            )
        loci = np.tile(np.arange(self.n_loci), len(sequences))
        codes = [self._code(row, locus) for row, locus in zip(values, loci, strict=True)]
        return np.column_stack([codes, loci])

    def _code(self, row: np.ndarray, locus: int) -> int:
        if any(pd.isna(allele) for allele in row):
            return -1
        pair, known = frozenset(row), self._genotypes[locus]
        if pair not in known:
            alleles = [str(allele) for allele in dict.fromkeys(self._alleles[locus])]
            raise DataError(
                f"X has the alleles {'/'.join(map(str, row))} at locus {locus} (counted from 0); "
                f"its parents have {', '.join(alleles)}."
            )
        return known.index(pair)

    def blank(self, survey: Any, head: Any, n_states: int) -> GenotypeParameters:
        """Return the error that was set."""
        return GenotypeParameters(np.array(float(self.error)))

    def ready(self, n_states: int, n_columns: int) -> GenotypeParameters:
        """Return the error that was set."""
        return self.blank(None, None, n_states)

    def log_likelihoods(self, parameters: GenotypeParameters, values: np.ndarray) -> np.ndarray:
        """Return the logarithm of each genotype under each pair of copies."""
        codes, loci = values.T
        others = np.array([len(pairs) - 1 for pairs in self._genotypes])[loci]
        error = float(parameters.error)
        # Where both parents have one and the same allele, no reading can be wrong.
        wrong = np.divide(error, others, out=np.zeros(len(codes)), where=others > 0)
        right = np.where(others > 0, 1.0 - error, 1.0)
        is_right = self._handed_on[loci] == codes[:, None]
        with np.errstate(divide="ignore"):
            table = np.log(np.where(is_right, right[:, None], wrong[:, None]))
        table[codes < 0] = 0.0
        return table

    def statistics(
        self, parameters: GenotypeParameters, values: np.ndarray, weights: np.ndarray
    ) -> ReadGenotypes:
        """Return the expected genotypes that were read rightly, where they can be read wrongly."""
        codes, loci = values.T
        several = np.array([len(pairs) > 1 for pairs in self._genotypes])[loci] & (codes >= 0)
        is_right = self._handed_on[loci] == codes[:, None]
        right = float((weights * is_right)[several].sum())
        return ReadGenotypes(right, float(weights[several].sum()))

    def update(self, parameters: GenotypeParameters, sums: ReadGenotypes) -> GenotypeParameters:
        """Return the share of genotypes that were read wrongly."""
        if self.fixed or sums.total <= 0:
            return parameters
        return GenotypeParameters(np.array(max(0.0, 1.0 - sums.right / sums.total)))

    def sample(
        self, parameters: GenotypeParameters, states: np.ndarray, random: np.random.Generator
    ) -> np.ndarray:
        """Return the two alleles at each locus, in the order in which the parents name them."""
        if len(states) != self.n_loci:
            raise DataError(f"n_steps is {len(states)}, but there are {self.n_loci} loci.")
        rows = np.empty((self.n_loci, 2), dtype=object)
        for locus, state in enumerate(states):
            pairs, place = self._genotypes[locus], self._handed_on[locus, state]
            if len(pairs) > 1 and random.random() < float(parameters.error):
                place = (place + random.integers(1, len(pairs))) % len(pairs)
            pair = [
                allele for allele in dict.fromkeys(self._alleles[locus]) if allele in pairs[place]
            ]
            rows[locus] = pair if len(pair) == 2 else pair * 2
        return rows

    def n_columns(self, parameters: GenotypeParameters) -> int:
        """Return 2, the alleles of a child."""
        return 2

    def n_parameters(self, parameters: GenotypeParameters) -> int:
        """Return the number of free probabilities."""
        return 0 if self.fixed else 1

    def n_states(self, parameters: GenotypeParameters) -> int:
        """Return the number of pairs of copies."""
        return len(STATES)

    def take(self, parameters: GenotypeParameters, states: np.ndarray) -> GenotypeParameters:
        """Return the same: the error is that of all states."""
        return replace(parameters)


def check_loci(sequences: Sequences, n_loci: int) -> None:
    """Raise where a sequence does not have one step per locus."""
    wrong = np.flatnonzero(sequences.lengths != n_loci)
    if len(wrong):
        raise DataError(
            f"Sequence {wrong[0]} (counted from 0) has {sequences.lengths[wrong[0]]} steps, but "
            f"the parents have {n_loci} loci; put None where a genotype is missing."
        )


def pedigree_model(
    father: Any,
    mother: Any,
    *,
    recombination: Any = 0.1,
    error: float = 0.01,
    tied: bool = False,
    **options: Any,
) -> HiddenMarkovModel:
    """Return a model of the children of two parents, ready for use, whose rates can be learned.

    Parameters
    ----------
    father, mother
        Alleles of the parents, one row per locus, the two copies side by side: the first column
        is the chromosome from one grandparent, the second that from the other.
    recombination
        Probability that the copy changes between neighbouring loci: one number, one per interval,
        or one row for the father and one for the mother.
    error
        Probability that a genotype is read wrongly.
    tied
        Whether a parent has one probability for all intervals.
    options
        Further arguments of `HiddenMarkovModel`, for learning.

    Notes
    -----
    A factorial model of meiosis: the chains are the copies that father and mother hand on,
    which move by themselves along the chromosome, and the child shows one allele of each
    (Alpaydin 15.9, fig. 15.6b). Children are sequences of one step per locus and two columns;
    ``split_states(states, (2, 2))`` takes states apart, ``chain_posteriors`` their
    probabilities. `fit` learns the rates of recombination and the error from many children.

    Examples
    --------
    >>> import numpy as np
    >>> from verulam.sequence import pedigree_model, split_states
    >>> father = [["A", "a"], ["B", "b"], ["C", "c"], ["D", "d"]]
    >>> mother = [["a", "a"], ["b", "b"], ["c", "c"], ["d", "d"]]
    >>> child = np.array([["A", "a"], ["B", "b"], ["c", "c"], ["d", "d"]])
    >>> split_states(pedigree_model(father, mother).predict(child), (2, 2))[:, 0]
    array([0, 0, 1, 1])
    """
    emission = MeiosisEmission(father, mother, error)
    transitions = MeiosisTransitions(emission.n_loci, recombination, tied)
    initial = InitialProbabilities(np.full(len(STATES), 0.25), fixed=True)
    model = StructuredModel.from_parameters(initial, transitions, emission, n_columns=2)
    return model.set_params(**options)
