"""Transitions with a structure: a large matrix whose entries are products of small tables."""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any

import numpy as np

from verulam.base import DataError, EMRun, Source
from verulam.sequence._data.sequences import Sequences
from verulam.sequence._learners.hidden_markov import HiddenMarkovModel
from verulam.sequence._learners.initialisation import NO_DATA
from verulam.sequence._model.inference import Smoothed
from verulam.sequence._model.parameters import TransitionSums
from verulam.sequence._model.transitions import Transitions


@dataclass(frozen=True)
class StructuredTransitions(Transitions):
    """Transitions that come of tables.

    Attributes
    ----------
    n_states, sources, targets, weights, form
        As in `Transitions`: the matrix that the tables multiply out to.
    tables : tuple of ndarray
        The tables, which are what is learned.
    """

    tables: tuple[np.ndarray, ...] = ()

    @classmethod
    def from_tables(
        cls, matrix: np.ndarray, tables: tuple[np.ndarray, ...], mask: np.ndarray | None = None
    ) -> "StructuredTransitions":
        """Return the transitions of a matrix with the tables behind it."""
        plain = Transitions.from_matrix(matrix, mask)
        return cls(plain.n_states, plain.sources, plain.targets, plain.weights, plain.form, tables)


class StructuredPart(ABC):
    """The part of a model that turns expected transitions into tables, and tables into a matrix."""

    @property
    @abstractmethod
    def n_states(self) -> int:
        """Number of states of the large matrix."""

    @abstractmethod
    def first_tables(self) -> tuple[np.ndarray, ...]:
        """Return the tables to start from."""

    @abstractmethod
    def assembled(self, tables: tuple[np.ndarray, ...]) -> StructuredTransitions:
        """Return the transitions of the tables."""

    @abstractmethod
    def updated_tables(
        self, parameters: StructuredTransitions, sums: np.ndarray
    ) -> tuple[np.ndarray, ...]:
        """Return the tables that the expected number of each transition gives."""

    @abstractmethod
    def n_parameters(self, parameters: StructuredTransitions) -> int:
        """Return the number of free probabilities."""

    def start(self, n_states: int, random: np.random.Generator) -> StructuredTransitions:
        """Return the transitions to start from."""
        if n_states != self.n_states:
            raise DataError(
                f"n_states is {n_states}, but {type(self).__name__} has {self.n_states} states."
            )
        return self.assembled(self.first_tables())

    def prepared(
        self, parameters: StructuredTransitions, sequences: Sequences
    ) -> StructuredTransitions:
        """Return the transitions over the steps of some sequences."""
        return parameters

    def statistics(
        self, parameters: StructuredTransitions, smoothed: Smoothed, sequences: Sequences
    ) -> TransitionSums:
        """Return the expected number of each transition."""
        return TransitionSums(smoothed.transition_sums)

    def update(
        self, parameters: StructuredTransitions, sums: TransitionSums
    ) -> StructuredTransitions:
        """Return the transitions that the sums give."""
        return self.assembled(self.updated_tables(parameters, sums.sums))

    def occupied(self, visits: np.ndarray) -> np.ndarray:
        """Return the expected steps in what must not be empty, from those in each state."""
        return visits

    def log_prior(self, parameters: StructuredTransitions) -> float:
        """Return 0: the tables have no prior."""
        return 0.0

    def take(self, parameters: StructuredTransitions, states: np.ndarray) -> Any:
        """Raise: a structure has all its states or none."""
        raise DataError(
            f"States of {type(self).__name__} cannot be removed; use empty_states='keep'."
        )


class StructuredModel(HiddenMarkovModel):
    """A model whose states are multiplied out, so that some of them may well stay empty."""

    def _empty_notes(self, source: Source, run: EMRun) -> list[str]:
        notes = super()._empty_notes(source, run)
        if self.empty_states != "keep" or not notes:
            return notes
        model = run.parameters
        visits = model.parts.transitions.occupied(self._total(source, model).visits)
        empty = np.flatnonzero(visits < NO_DATA)
        note = f"Parts of the structure have no data, counted from 0: {empty.tolist()}."
        return [note] if len(empty) else []


def shares(counts: np.ndarray, old: np.ndarray) -> np.ndarray:
    """Return each row, along the last axis, in proportion; one without counts stays the old."""
    totals = counts.sum(axis=-1, keepdims=True)
    return np.divide(counts, totals, out=old.copy(), where=totals > 0)
