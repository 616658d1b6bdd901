"""What a question gets for an answer: a posterior, or the most probable explanation."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd

from verulam.base import DataError
from verulam.graphical._factor import Factor, FactorModel, state_position


@dataclass(frozen=True, eq=False)
class Posterior:
    """The distribution of one or several variables, given evidence.

    Attributes
    ----------
    variables
        What was asked for.
    states
        Labels of the states of each.
    values
        Probabilities, with an axis for each variable.
    log_evidence
        Logarithm of the probability of the evidence; NaN where a method does not give it.
    method
        How it was computed.
    cost
        Entries of tables that an exact method handled, or samples or sweeps of an approximate one.
    """

    variables: tuple[str, ...]
    states: tuple[tuple[Any, ...], ...]
    values: np.ndarray
    log_evidence: float
    method: str
    cost: int

    def __getitem__(self, labels: Any) -> float:
        """Return the probability of one state, or of one state of each variable."""
        several = labels if isinstance(labels, tuple) and len(self.variables) > 1 else (labels,)
        if len(several) != len(self.variables):
            raise DataError(
                f"The posterior is of {', '.join(self.variables)}: give one state of each."
            )
        places = [
            state_position(name, labels_of, label)
            for name, labels_of, label in zip(self.variables, self.states, several, strict=True)
        ]
        return float(self.values[tuple(places)])

    @property
    def factor(self) -> Factor:
        """The posterior as a factor."""
        return Factor(self.variables, self.values, self.states)

    @cached_property
    def table(self) -> pd.Series:
        """The probabilities as a pandas Series, indexed by states."""
        if len(self.variables) == 1:
            index: pd.Index = pd.Index(self.states[0], name=self.variables[0])
        else:
            index = pd.MultiIndex.from_product(self.states, names=self.variables)
        return pd.Series(self.values.ravel(), index=index, name="probability")

    def __str__(self) -> str:
        return self.table.round(6).to_string()


@dataclass(frozen=True)
class MostProbable:
    """The most probable states of all variables together.

    Attributes
    ----------
    states
        Label of each variable's state, evidence included.
    log_probability
        Logarithm of the joint probability of these states.
    """

    states: Mapping[str, Any]
    log_probability: float

    @property
    def probability(self) -> float:
        """The joint probability of these states."""
        return float(np.exp(self.log_probability))


def check_targets(model: FactorModel, targets: Any) -> tuple[str, ...]:
    """Return the names of the variables that a question is about."""
    several = isinstance(targets, Iterable) and not isinstance(targets, str)
    names = tuple(targets) if several else (targets,)
    if not names:
        raise DataError("targets: name at least one node to ask about.")
    if len(set(names)) < len(names):
        raise DataError(f"targets names a node twice: {', '.join(map(str, names))}.")
    return tuple(model.check_name(name) for name in names)


def posterior_of(
    model: FactorModel, joint: Factor, targets: Sequence[str], method: str, cost: int
) -> Posterior:
    """Return the normalised answer from an unnormalised factor over the targets."""
    joint = joint.arranged(targets)
    log_evidence = joint.log_total
    if log_evidence == -np.inf:
        raise DataError(IMPOSSIBLE)
    states = tuple(model.states[name] for name in targets)
    return Posterior(tuple(targets), states, joint.normalise().values, log_evidence, method, cost)


#: Said where evidence contradicts itself, or the tables.
IMPOSSIBLE = "The evidence has probability zero: it cannot occur under this network."


def impossible(evidence: Mapping[str, Any] | None) -> DataError:
    """Return the error for evidence of probability zero, which it repeats."""
    shown = ", ".join(f"{name} = {value}" for name, value in list((evidence or {}).items())[:8])
    return DataError(f"{IMPOSSIBLE} It is: {shown or 'none'}.")
