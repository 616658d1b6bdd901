"""Influence diagrams: what to do, given what is known."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from verulam.base import DataError
from verulam.graphical._graph import DirectedGraph
from verulam.graphical._network.conditionals import Conditional, Table
from verulam.graphical._network.network import BayesianNetwork


@dataclass(frozen=True, eq=False)
class Utility:
    """How good each combination of states and choices is.

    Attributes
    ----------
    parents
        Names of the chance and decision nodes that it depends on.
    values
        Array with one axis for each of them.
    """

    parents: tuple[str, ...]
    values: ArrayLike


@dataclass(frozen=True, eq=False)
class BestChoice:
    """What to do, and what each choice is worth.

    Attributes
    ----------
    choice
        The option of each decision with the largest expected utility.
    expected_utility
        Its expected utility.
    table
        Expected utility of every combination of options, the best first.
    """

    choice: Mapping[str, Any]
    expected_utility: float
    table: pd.Series


class InfluenceDiagram:
    r"""A network with decisions that can be made, and utilities of what comes of them.

    Parameters
    ----------
    conditionals
        Chance nodes, as for `BayesianNetwork`; they may have decisions as parents.
    decisions
        Options of each decision, by name.
    utilities
        What outcomes are worth, by name; several are added.

    Attributes
    ----------
    network : BayesianNetwork
        Chance nodes, with decisions as nodes without parents.
    graph : DirectedGraph
        All nodes and arcs, for drawing.
    shapes : dict
        Shape of each node: ellipse, box for decisions, diamond for utilities.

    Notes
    -----
    :math:`d^* = \arg\max_d E[U \mid e, d] = \arg\max_d \sum_x P(x \mid e, d) U(x, d)`: Alpaydin
    14.8, figure 14.14.

    Examples
    --------
    >>> from verulam.graphical import InfluenceDiagram, Table, Utility
    >>> diagram = InfluenceDiagram(
    ...     {"rain": Table(("no", "yes"), [0.7, 0.3])},
    ...     {"umbrella": ("leave", "take")},
    ...     {"comfort": Utility(("rain", "umbrella"), [[100, 60], [0, 80]])},
    ... )
    >>> diagram.decide().choice, round(diagram.decide({"rain": "yes"}).expected_utility)
    ({'umbrella': 'leave'}, 80)
    """

    def __init__(
        self,
        conditionals: Mapping[str, Conditional],
        decisions: Mapping[str, Sequence[Any]],
        utilities: Mapping[str, Utility],
    ) -> None:
        if not decisions or not utilities:
            raise DataError("An influence diagram needs at least one decision and one utility.")
        names = [*conditionals, *decisions, *utilities]
        repeated = sorted({name for name in names if names.count(name) > 1})
        if repeated:
            raise DataError(f"{repeated[0]!r} names two nodes.")
        options = {name: tuple(listed) for name, listed in decisions.items()}
        roots = {
            name: Table(listed, np.full(len(listed), 1.0 / len(listed)))
            for name, listed in options.items()
            if listed
        }
        if len(roots) < len(options):
            raise DataError("decisions: every decision needs at least one option.")
        self.decisions = options
        self.network = BayesianNetwork({**conditionals, **roots})
        self.utilities = {name: self._checked(name, item) for name, item in utilities.items()}
        parents = {**self.network.graph.parents}
        parents |= {name: item.parents for name, item in self.utilities.items()}
        self.graph = DirectedGraph(parents)
        self.shapes = dict.fromkeys(self.decisions, "box") | dict.fromkeys(utilities, "diamond")

    def _checked(self, name: str, utility: Utility) -> Utility:
        if not isinstance(utility, Utility):
            raise DataError(f"{name!r}: expected a Utility, not {type(utility).__name__}.")
        values = np.asarray(utility.values, dtype=np.float64)
        shape = tuple(
            len(self.network.states[self.network.model.check_name(parent)])
            for parent in utility.parents
        )
        if values.shape != shape:
            raise DataError(
                f"{name!r}: values must have the shape {shape}, an axis for each of "
                f"{', '.join(utility.parents)}; their shape is {values.shape}."
            )
        if not np.isfinite(values).all():
            odd = values[~np.isfinite(values)][0]
            raise DataError(f"{name!r}: values must be finite, and one is {odd}.")
        return Utility(tuple(utility.parents), values)

    def expected_utility(
        self, choice: Mapping[str, Any], evidence: Mapping[str, Any] | None = None
    ) -> float:
        """Return what a choice is worth on average, given evidence.

        Parameters
        ----------
        choice
            Option of each decision.
        evidence
            What is known of chance nodes.
        """
        known = {**(evidence or {}), **choice}
        open_ = [name for name in self.decisions if name not in known]
        if open_:
            raise DataError(f"choice: expected an option of {open_[0]!r}; decide finds the best.")
        total = 0.0
        for utility in self.utilities.values():
            if utility.parents:
                posterior = self.network.query(utility.parents, known)
                total += float((posterior.values * np.asarray(utility.values)).sum())
            else:
                total += float(np.asarray(utility.values))
        return total

    def decide(self, evidence: Mapping[str, Any] | None = None) -> BestChoice:
        """Return the choice of largest expected utility, given evidence.

        Parameters
        ----------
        evidence
            What is known of chance nodes, and decisions that have been made already.
        """
        known = dict(evidence or {})
        open_ = {name: options for name, options in self.decisions.items() if name not in known}
        made = {name: known.pop(name) for name in list(known) if name in self.decisions}
        values = {
            options: self.expected_utility(
                {**made, **dict(zip(open_, options, strict=True))}, known
            )
            for options in product(*open_.values())
        }
        best = max(values, key=values.__getitem__)
        index = pd.MultiIndex.from_tuples(list(values), names=list(open_)) if open_ else [()]
        table = pd.Series(list(values.values()), index=index, name="expected utility")
        choice = {**made, **dict(zip(open_, best, strict=True))}
        return BestChoice(choice, values[best], table.sort_values(ascending=False, kind="stable"))

    def policy(self, observed: Sequence[str]) -> pd.DataFrame:
        """Return the best choice for every combination of states of some nodes.

        Parameters
        ----------
        observed
            Chance nodes that are known when the decision is made.
        """
        names = [observed] if isinstance(observed, str) else list(observed)
        rows = []
        for labels in product(
            *(self.network.states[self.network.model.check_name(n)] for n in names)
        ):
            evidence = dict(zip(names, labels, strict=True))
            probability = self.network.probability(evidence)
            if probability > 0:
                best = self.decide(evidence)
                worth = {"probability": probability, "expected_utility": best.expected_utility}
                rows.append({**evidence, **best.choice, **worth})
        return pd.DataFrame(rows)

    def value_of_information(self, node: str, evidence: Mapping[str, Any] | None = None) -> float:
        """Return how much it is worth on average to know a chance node before deciding.

        Parameters
        ----------
        node
            A chance node that no decision has an influence on.
        evidence
            What is known already.
        """
        below = set(self.decisions)
        while True:
            more = {c for name in below for c in self.network.graph.children[name]} | below
            if more == below:
                break
            below = more
        if node in below:
            raise DataError(f"{node!r} depends on a decision: it cannot be known before.")
        known = dict(evidence or {})
        posterior = self.network.query(node, known)
        informed = sum(
            p * self.decide({**known, node: label}).expected_utility
            for label, p in zip(posterior.states[0], posterior.values, strict=True)
            if p > 0
        )
        return float(informed - self.decide(known).expected_utility)
