"""Pearl's messages on chains, trees and polytrees, all of them open to inspection."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from verulam.base import DataError
from verulam.graphical._factor import Factor, FactorModel, read_evidence
from verulam.graphical._graph import DirectedGraph
from verulam.graphical._inference.answers import Posterior, impossible

Messages = dict[tuple[str, str], np.ndarray]


@dataclass(frozen=True, eq=False)
class Propagation:
    """The messages that a singly connected network settled in.

    Attributes
    ----------
    states
        Labels of the states, by node.
    pi
        What the ancestors of each node say of it: causal support.
    lambda_
        What its descendants and its own observation say of it: diagnostic support.
    pi_messages
        From parent to child, by (parent, child).
    lambda_messages
        From child to parent, by (child, parent).
    beliefs
        Posterior of each node, proportional to pi times lambda.
    n_rounds
        Rounds in which all nodes sent at once, until nothing changed.
    """

    states: Mapping[str, tuple[Any, ...]]
    pi: Mapping[str, np.ndarray]
    lambda_: Mapping[str, np.ndarray]
    pi_messages: Mapping[tuple[str, str], np.ndarray]
    lambda_messages: Mapping[tuple[str, str], np.ndarray]
    beliefs: Mapping[str, np.ndarray]
    n_rounds: int

    def posterior(self, name: str) -> Posterior:
        """Return the belief in one node.

        Parameters
        ----------
        name
            The node.
        """
        FactorModel(self.states, ()).check_name(name)
        return Posterior(
            (name,), (self.states[name],), self.beliefs[name], float("nan"), "messages",
            self.n_rounds,
        )  # fmt: skip

    def table(self) -> pd.DataFrame:
        """Return all messages, one to a row: who sends, to whom, which kind, and its numbers."""
        kinds = (("pi", self.pi_messages), ("lambda", self.lambda_messages))
        rows = [
            {"from": sender, "to": receiver, "kind": kind, "message": tuple(message.round(6))}
            for kind, messages in kinds
            for (sender, receiver), message in messages.items()
        ]
        return pd.DataFrame(rows, columns=["from", "to", "kind", "message"])


def propagate(network: Any, evidence: Mapping[str, Any] | None = None) -> Propagation:
    r"""Send messages along the arcs of a chain, tree or polytree until all beliefs are exact.

    Parameters
    ----------
    network
        A network with at most one path between any two nodes.
    evidence
        What is known.

    Notes
    -----
    With U the parents of X and Y its children (Alpaydin 14.5.1-14.5.3, (14.15)-(14.27)):

    .. math:: \pi(x) = \sum_u P(x \mid u) \prod_i \pi_X(u_i), \quad
        \lambda(x) = \prod_j \lambda_{Y_j}(x)

    .. math:: \pi_{Y_j}(x) \propto \pi(x) \prod_{s \ne j} \lambda_{Y_s}(x), \quad
        \lambda_X(u_i) = \sum_x \lambda(x) \sum_{u_{r \ne i}} P(x \mid u) \prod_{r \ne i} \pi_X(u_r)

    An observed node has a lambda of one at its state and zero elsewhere, a leaf that is not
    observed a lambda of ones, a root its prior as pi. What comes from ancestors is *causal*
    support and what comes from descendants *diagnostic*; the printed section 14.5.1 swaps the
    words, and (14.26) conditions its first factor wrongly. All nodes send at once, so that
    after as many rounds as the longest path has arcs nothing changes any more.

    Examples
    --------
    >>> from verulam.graphical import BayesianNetwork, Table, propagate
    >>> network = BayesianNetwork({
    ...     "rain": Table(("no", "yes"), [0.6, 0.4]),
    ...     "wet": Table(("no", "yes"), [[0.8, 0.2], [0.1, 0.9]], parents=("rain",)),
    ... })
    >>> messages = propagate(network, {"wet": "yes"})
    >>> messages.lambda_messages["wet", "rain"].round(3)
    array([0.182, 0.818])
    >>> messages.beliefs["rain"].round(2)
    array([0.25, 0.75])
    """
    if not isinstance(getattr(network, "graph", None), DirectedGraph):
        raise DataError(f"network: expected a BayesianNetwork, not {type(network).__name__}.")
    graph: DirectedGraph = network.graph
    if not graph.is_singly_connected:
        raise DataError(
            "Messages are exact only with at most one path between any two nodes, and this "
            "network has a loop; use method='junction tree'."
        )
    model = network.model
    known = read_evidence(model, evidence)
    observed = {name: np.ones(n) for name, n in zip(model.names, model.sizes, strict=True)}
    observed |= {factor.variables[0]: factor.values for factor in known.factors(model)}
    tables = dict(zip(model.names, model.factors, strict=True))
    pi_messages: Messages = {(p, c): _flat(model.sizes[model.positions[p]]) for p, c in graph.arcs}
    lambda_messages: Messages = {
        (c, p): _flat(model.sizes[model.positions[p]]) for p, c in graph.arcs
    }
    changed, n_rounds = True, 0
    # All messages of a round are made from those of the round before: what is n arcs away is known
    # after n rounds, and then nothing changes any more.
    while changed:
        new_pi, new_lambda = {}, {}
        for name in model.names:
            pi = _pi(tables[name], name, pi_messages)
            observation = observed[name]
            lambda_ = _lambda(name, observation, graph, lambda_messages)
            for child in graph.children[name]:
                rest = [s for s in graph.children[name] if s != child]
                support = pi * observation
                for other in rest:
                    support = support * lambda_messages[other, name]
                new_pi[name, child] = _unit(support, evidence)
            for parent in graph.parents[name]:
                message = _to_parent(tables[name], name, parent, lambda_, pi_messages)
                new_lambda[name, parent] = _unit(message, evidence)
        changed = _differ(new_pi, pi_messages) or _differ(new_lambda, lambda_messages)
        pi_messages, lambda_messages = new_pi, new_lambda
        n_rounds += changed
    pis = {name: _pi(tables[name], name, pi_messages) for name in model.names}
    lambdas = {name: _lambda(name, observed[name], graph, lambda_messages) for name in model.names}
    beliefs = {name: _unit(pis[name] * lambdas[name], evidence) for name in model.names}
    return Propagation(model.states, pis, lambdas, pi_messages, lambda_messages, beliefs, n_rounds)


def _flat(n_states: int) -> np.ndarray:
    return np.full(n_states, 1.0 / n_states)


def _unit(values: np.ndarray, evidence: Mapping[str, Any] | None) -> np.ndarray:
    total = values.sum()
    if not total > 0:
        raise impossible(evidence)
    return values / total


def _differ(new: Messages, old: Messages) -> bool:
    return any(not np.array_equal(message, old[pair]) for pair, message in new.items())


def _pi(factor: Factor, name: str, messages: Messages) -> np.ndarray:
    values = factor.values
    for parent in factor.variables[:-1]:
        values = np.tensordot(messages[parent, name], values, axes=(0, 0))
    return values


def _lambda(
    name: str, observation: np.ndarray, graph: DirectedGraph, messages: Messages
) -> np.ndarray:
    result = observation
    for child in graph.children[name]:
        result = result * messages[child, name]
    return result


def _to_parent(
    factor: Factor, name: str, parent: str, lambda_: np.ndarray, messages: Messages
) -> np.ndarray:
    values = np.moveaxis(factor.values, factor.variables.index(parent), 0) @ lambda_
    others = [other for other in factor.variables[:-1] if other != parent]
    for other in reversed(others):
        values = values @ messages[other, name]
    return values
