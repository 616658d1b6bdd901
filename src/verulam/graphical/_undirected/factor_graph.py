"""Factor graphs: variables and factors as nodes, sum-product and max-product along the edges."""

from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from typing import Any

import numpy as np

from verulam.base import DataError
from verulam.graphical._factor import Factor, FactorModel, multiply, read_evidence
from verulam.graphical._graph import components, undirected
from verulam.graphical._inference.answers import MostProbable, impossible
from verulam.graphical._inference.loopy import Beliefs, loopy_propagation


class FactorGraph:
    """A bipartite graph of variables and factors, whose product is the joint but for a constant.

    Parameters
    ----------
    factors
        The factors, or a dictionary that names them.

    Attributes
    ----------
    model : FactorModel
        Variables and factors.
    factor_names : tuple of str
        Names of the factors; f_a, f_b, ... unless they are given.

    Notes
    -----
    Alpaydin 14.6 (14.33), figure 14.13. On a tree both algorithms are exact.

    Examples
    --------
    >>> from verulam.graphical import Factor, FactorGraph
    >>> graph = FactorGraph({
    ...     "f_a": Factor(("R",), [0.6, 0.4]),
    ...     "f_b": Factor(("R", "W"), [[0.8, 0.2], [0.1, 0.9]]),
    ... })
    >>> graph.sum_product({"W": 1}).values["R"].round(2)
    array([0.25, 0.75])
    >>> graph.max_product({"W": 1}).states
    {'R': 1, 'W': 1}
    """

    def __init__(self, factors: Mapping[str, Factor] | Iterable[Factor]) -> None:
        if isinstance(factors, Mapping):
            self.factor_names = tuple(factors)
            listed = tuple(factors.values())
        else:
            listed = tuple(factors)
            self.factor_names = tuple(f"f_{_letters(k)}" for k in range(len(listed)))
        if not listed or not all(isinstance(factor, Factor) for factor in listed):
            raise DataError("factors: expected at least one Factor, and nothing else.")
        states: dict[str, tuple[Any, ...]] = {}
        for factor in listed:
            for name, labels in zip(factor.variables, factor.states, strict=True):
                if states.setdefault(name, labels) != labels:
                    raise DataError(f"Two factors name the states of {name!r} differently.")
        self.model = FactorModel(states, listed)

    @classmethod
    def of(cls, source: Any) -> "FactorGraph":
        """Return the factor graph of a Bayesian network or of a Markov field.

        Parameters
        ----------
        source
            Anything with a `model` of factors.

        Examples
        --------
        >>> from verulam.graphical import FactorGraph, sprinkler
        >>> FactorGraph.of(sprinkler()).edges[:3]
        (('f_a', 'cloudy'), ('f_b', 'cloudy'), ('f_b', 'sprinkler'))
        """
        model = getattr(source, "model", None)
        if not isinstance(model, FactorModel):
            raise DataError(f"source: expected a network or field, not {type(source).__name__}.")
        graph = cls(model.factors)
        graph.model = model
        return graph

    @cached_property
    def edges(self) -> tuple[tuple[str, str], ...]:
        """Pairs of a factor's name and a variable."""
        return tuple(
            (name, variable)
            for name, factor in zip(self.factor_names, self.model.factors, strict=True)
            for variable in factor.variables
        )

    @cached_property
    def is_tree(self) -> bool:
        """Whether there is at most one path between any two nodes."""
        nodes = [*self.factor_names, *self.model.names]
        parts = components(undirected(nodes, self.edges))
        return len(self.edges) == len(nodes) - len(parts)

    def product(self) -> Factor:
        """Return the product of all factors."""
        return multiply(self.model.factors).arranged(self.model.names)

    def sum_product(self, evidence: Mapping[str, Any] | None = None, **options: Any) -> Beliefs:
        """Return all marginals, by messages of both kinds.

        Parameters
        ----------
        evidence
            Observed states, which are clamped.
        **options
            Further arguments of `loopy_propagation`; with loops the answer is approximate.
        """
        return loopy_propagation(self.model, evidence, **options)

    def max_product(self, evidence: Mapping[str, Any] | None = None) -> MostProbable:
        r"""Return the states of largest product, with backtracking.

        Parameters
        ----------
        evidence
            Observed states, which are clamped.

        Notes
        -----
        Maxima in place of the sums of sum-product; in logarithms products become sums (max-sum),
        so that long chains do not vanish. On the graph of a hidden Markov model this is Viterbi's
        algorithm.
        """
        if not self.is_tree:
            raise DataError(
                "Max-product is exact on trees, and this graph has a loop; use explain."
            )
        known = read_evidence(self.model, evidence)
        factors = [*self.model.factors, *known.factors(self.model)]
        states: dict[str, int] = {}
        total = float(sum(factor.log_scale for factor in factors))
        for name in self.model.names:
            if name not in states:
                total += _max_sum(self.model, factors, name, states)
        if total == -np.inf:
            raise impossible(evidence)
        labels = {name: self.model.states[name][states[name]] for name in self.model.names}
        return MostProbable(labels, total)


def _max_sum(
    model: FactorModel, factors: Sequence[Factor], root: str, states: dict[str, int]
) -> float:
    """Fix the states of the tree that holds a root; return its largest log product."""
    steps = _outwards(factors, root)
    scores = {name: np.zeros(n) for name, n in zip(model.names, model.sizes, strict=True)}
    choices = []
    # From the leaves to the root: each factor's maximum over all but its upper variable.
    for factor, upper, lower in reversed(steps):
        with np.errstate(divide="ignore"):
            table = np.log(factor.arranged([upper, *lower]).values)
        for axis, name in enumerate(lower, start=1):
            table = table + scores[name].reshape(
                [-1 if k == axis else 1 for k in range(table.ndim)]
            )
        flat = table.reshape(len(table), -1)
        choices.append(flat.argmax(axis=1))
        scores[upper] = scores[upper] + flat.max(axis=1)
    states[root] = int(scores[root].argmax())
    for (_, upper, lower), choice in zip(steps, reversed(choices), strict=True):
        shape = [len(model.states[name]) for name in lower]
        places = np.unravel_index(choice[states[upper]], shape) if lower else ()
        states.update({name: int(k) for name, k in zip(lower, places, strict=True)})
    return float(scores[root].max())


def _outwards(factors: Sequence[Factor], root: str) -> list[tuple[Factor, str, list[str]]]:
    """Return each factor with the variable it is reached from and those that it leads to."""
    near: dict[str, list[int]] = {}
    for k, factor in enumerate(factors):
        for name in factor.variables:
            near.setdefault(name, []).append(k)
    reached, used = [root], set[int]()
    steps = []
    for name in reached:
        for k in near.get(name, ()):
            if k not in used:
                used.add(k)
                lower = [other for other in factors[k].variables if other != name]
                reached += lower
                steps.append((factors[k], name, lower))
    return steps


def _letters(number: int) -> str:
    """Return a, b, ..., z, aa, ab, ..."""
    head, last = divmod(number, 26)
    return (_letters(head - 1) if head else "") + chr(ord("a") + last)
