"""Markov random fields: potentials on the cliques of an undirected graph."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from verulam.base import DataError
from verulam.graphical._factor import Evidence, Factor, FactorModel, read_evidence
from verulam.graphical._graph import (
    Neighbours,
    components,
    maximal_cliques,
    separated,
    undirected,
)
from verulam.graphical._inference.answers import (
    MostProbable,
    Posterior,
    check_targets,
    impossible,
)
from verulam.graphical._inference.elimination import eliminate
from verulam.graphical._inference.junction_tree import JunctionTree
from verulam.graphical._network.network import BayesianNetwork, check_network


class MarkovField:
    r"""A joint distribution that is a product of potentials, divided by its total.

    Parameters
    ----------
    potentials
        Factors of non-negative numbers, which need not be probabilities.

    Attributes
    ----------
    model : FactorModel
        Variables and potentials.

    Notes
    -----
    .. math:: p(X) = \frac{1}{Z} \prod_C \psi_C(X_C), \quad Z = \sum_X \prod_C \psi_C(X_C)

    over the maximal cliques, those that no further node can be added to (Alpaydin 14.6 (14.31),
    (14.32), where "maximal" must be read so).

    Examples
    --------
    >>> from verulam.graphical import Factor, MarkovField
    >>> agree = [[2.0, 1.0], [1.0, 2.0]]
    >>> field = MarkovField([Factor(("a", "b"), agree), Factor(("b", "c"), agree)])
    >>> float(round(field.partition_function, 6)), round(field.query("c", {"a": 1})[1], 4)
    (18.0, 0.5556)
    """

    def __init__(self, potentials: Iterable[Factor]) -> None:
        factors = tuple(potentials)
        if not factors or not all(isinstance(factor, Factor) for factor in factors):
            raise DataError("potentials: expected at least one Factor, and nothing else.")
        states: dict[str, tuple[Any, ...]] = {}
        for factor in factors:
            for name, labels in zip(factor.variables, factor.states, strict=True):
                if states.setdefault(name, labels) != labels:
                    raise DataError(f"Two potentials name the states of {name!r} differently.")
        self.model = FactorModel(states, factors)

    @classmethod
    def pairwise(
        cls,
        states: Mapping[str, Sequence[Any]],
        edges: Mapping[tuple[str, str], ArrayLike],
        nodes: Mapping[str, ArrayLike] | None = None,
    ) -> "MarkovField":
        """Return a field of potentials of pairs and of single variables.

        Parameters
        ----------
        states
            Labels of the states of each variable.
        edges
            Potential of each pair, a table with the states of the first along the rows.
        nodes
            Potential of some variables alone.

        Examples
        --------
        >>> from verulam.graphical import MarkovField
        >>> field = MarkovField.pairwise({"a": "xy", "b": "xy"}, {("a", "b"): [[3, 1], [1, 3]]})
        >>> round(field.query("b", {"a": "x"})["x"], 3)
        0.75
        """
        labels = {name: tuple(listed) for name, listed in states.items()}
        for name in {n for pair in edges for n in pair} | set(nodes or {}):
            if name not in labels:
                raise DataError(f"states does not have the variable {name!r}.")
        parts = [
            Factor(pair, np.asarray(values), (labels[pair[0]], labels[pair[1]]))
            for pair, values in edges.items()
        ]
        # A potential of ones, so that a variable without edges is in the field all the same.
        alone = {name: np.ones(len(listed)) for name, listed in labels.items()}
        alone |= {name: np.asarray(values) for name, values in (nodes or {}).items()}
        parts += [Factor((name,), values, (labels[name],)) for name, values in alone.items()]
        field = cls(parts)
        field.model = FactorModel(labels, field.model.factors)
        return field

    @cached_property
    def neighbours(self) -> Neighbours:
        """Neighbours of each variable: those it shares a potential with."""
        return undirected(self.model.names, [factor.variables for factor in self.model.factors])

    @cached_property
    def cliques(self) -> list[tuple[str, ...]]:
        """The maximal cliques of the graph."""
        return maximal_cliques(self.neighbours)

    @cached_property
    def junction_tree(self) -> JunctionTree:
        """The compiled tree of cliques."""
        return JunctionTree.compile(self.model)

    @cached_property
    def log_partition_function(self) -> float:
        """The logarithm of Z."""
        return float(self.junction_tree.log_evidence(self.model.unobserved)[0])

    @property
    def partition_function(self) -> float:
        """The normaliser Z."""
        return float(np.exp(self.log_partition_function))

    def separated(
        self, first: str | Iterable[str], second: str | Iterable[str], removed: Iterable[str] = ()
    ) -> bool:
        """Tell whether removing nodes cuts all paths between two sets: independence given them.

        Parameters
        ----------
        first, second
            A node each, or several.
        removed
            What is observed.
        """
        sets = [
            {self.model.check_name(name) for name in ([part] if isinstance(part, str) else part)}
            for part in (first, second, removed)
        ]
        for a, b in combinations(sets, 2):
            if a & b:
                raise DataError(f"{min(a & b)!r} is in two of the three sets.")
        return separated(self.neighbours, *sets)

    def probability(self, assignment: Mapping[str, Any]) -> float:
        """Return the probability of states of some or all variables.

        Parameters
        ----------
        assignment
            State, set of states or likelihoods of each variable.
        """
        log_evidence = self._ask(read_evidence(self.model, assignment))[1]
        return float(np.exp(log_evidence - self.log_partition_function))

    def query(
        self, targets: str | Sequence[str], evidence: Mapping[str, Any] | None = None
    ) -> Posterior:
        """Return the distribution of some variables given evidence.

        Parameters
        ----------
        targets
            Name or names.
        evidence
            State, set of states or likelihoods of each observed variable.
        """
        names = check_targets(self.model, targets)
        if len(names) > 1:
            return eliminate(self.model, names, evidence)
        marginals, log_evidence = self._ask(read_evidence(self.model, evidence))
        if log_evidence == -np.inf:
            raise impossible(evidence)
        tree = self.junction_tree
        place = self.model.positions[names[0]]
        values = marginals[self.model.offsets[place] : self.model.offsets[place + 1]]
        log_probability = log_evidence - self.log_partition_function
        return Posterior(
            names, (self.model.states[names[0]],), values, log_probability, "junction tree",
            tree.plan.n_entries,
        )  # fmt: skip

    def explain(self, evidence: Mapping[str, Any] | None = None) -> MostProbable:
        """Return the most probable states of all variables together, given evidence.

        Parameters
        ----------
        evidence
            As for `query`.
        """
        known = read_evidence(self.model, evidence)
        factors = Evidence({}, known.soft).factors(self.model)
        states, log_maxima = self.junction_tree.explanations(known.codes(self.model), factors)
        if log_maxima[0] == -np.inf:
            raise impossible(evidence)
        labels = {
            name: self.model.states[name][k]
            for name, k in zip(self.model.names, states[0], strict=True)
        }
        return MostProbable(labels, float(log_maxima[0]) - self.log_partition_function)

    def _ask(self, known: Evidence) -> tuple[np.ndarray, float]:
        factors = Evidence({}, known.soft).factors(self.model)
        marginals, log_evidence = self.junction_tree.posteriors(known.codes(self.model), factors)
        return marginals[0], float(log_evidence[0])


def moralise(network: BayesianNetwork) -> MarkovField:
    """Return a Bayesian network as a Markov field: parents married, directions dropped.

    Parameters
    ----------
    network
        The network, whose tables become potentials; their product is the joint, so Z is one.

    Notes
    -----
    Alpaydin 14.6: parents of a common child are joined, because given the child they depend on
    each other.

    Examples
    --------
    >>> from verulam.graphical import moralise, sprinkler
    >>> field = moralise(sprinkler())
    >>> field.cliques
    [('cloudy', 'sprinkler', 'rain'), ('sprinkler', 'rain', 'wet')]
    >>> float(round(field.partition_function, 10))
    1.0
    """
    check_network(network)
    field = MarkovField(network.model.factors)
    field.model = network.model
    return field


@dataclass(frozen=True, eq=False)
class FieldMessages:
    """Messages between the nodes of an undirected tree.

    Attributes
    ----------
    messages
        Vector over the receiver's states, by (sender, receiver).
    beliefs
        Marginal of each variable.
    n_rounds
        Rounds in which all nodes sent at once.
    """

    messages: Mapping[tuple[str, str], np.ndarray]
    beliefs: Mapping[str, np.ndarray]
    n_rounds: int


def propagate_field(field: MarkovField, evidence: Mapping[str, Any] | None = None) -> FieldMessages:
    r"""Send messages between the nodes of a chain or tree of pairwise potentials.

    Parameters
    ----------
    field
        A field of potentials of one or two variables, without loops.
    evidence
        What is known.

    Notes
    -----
    :math:`m_{i \to j}(x_j) = \sum_{x_i} \psi_i(x_i) \psi_{ij}(x_i, x_j) \prod_{k \ne j}
    m_{k \to i}(x_i)` (Alpaydin 14.6): without directions there is one kind of message.

    Examples
    --------
    >>> from verulam.graphical import MarkovField, propagate_field
    >>> agree = [[2.0, 1.0], [1.0, 2.0]]
    >>> field = MarkovField.pairwise({"a": (0, 1), "b": (0, 1)}, {("a", "b"): agree})
    >>> propagate_field(field, {"a": 1}).messages["a", "b"].round(3)
    array([0.333, 0.667])
    """
    model = field.model
    if any(len(factor.variables) > 2 for factor in model.factors):
        raise DataError("field: messages between nodes need potentials of one or two variables.")
    edges = {frozenset(f.variables) for f in model.factors if len(f.variables) == 2}
    # A forest has one edge less than nodes in each of its trees.
    if len(edges) != len(model.names) - len(components(field.neighbours)):
        raise DataError("field: the graph has a loop; query it, or use loopy_propagation.")
    known = read_evidence(model, evidence)
    alone = {name: np.ones(n) for name, n in zip(model.names, model.sizes, strict=True)}
    for factor in (*(f for f in model.factors if len(f.variables) == 1), *known.factors(model)):
        alone[factor.variables[0]] = alone[factor.variables[0]] * factor.values
    pairs: dict[tuple[str, str], np.ndarray] = {}
    for factor in model.factors:
        if len(factor.variables) == 2:
            first, second = factor.variables
            pairs[first, second] = factor.values * pairs.get((first, second), 1.0)
            pairs[second, first] = pairs[first, second].T
    # In a tree messages are final after as many rounds as its longest path has edges, and stay the
    # same to the last bit from then on.
    messages = {(i, j): np.full(p.shape[1], 1.0 / p.shape[1]) for (i, j), p in pairs.items()}
    changed, n_rounds = True, 0
    while changed:
        new = {
            (i, j): _unit(_incoming(i, j, alone, messages, field.neighbours) @ potential, evidence)
            for (i, j), potential in pairs.items()
        }
        changed = any(not np.array_equal(new[pair], messages[pair]) for pair in new)
        messages = new
        n_rounds += changed
    beliefs = {
        name: _unit(_incoming(name, None, alone, messages, field.neighbours), evidence)
        for name in model.names
    }
    return FieldMessages(messages, beliefs, n_rounds)


def _incoming(
    name: str,
    receiver: str | None,
    alone: Mapping[str, np.ndarray],
    messages: Mapping[tuple[str, str], np.ndarray],
    neighbours: Neighbours,
) -> np.ndarray:
    product = alone[name]
    for other in sorted(neighbours[name]):
        if other != receiver:
            product = product * messages[other, name]
    return product


def _unit(values: np.ndarray, evidence: Mapping[str, Any] | None) -> np.ndarray:
    total = values.sum()
    if not total > 0:
        raise impossible(evidence)
    return values / total
