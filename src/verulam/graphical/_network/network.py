"""Bayesian networks: built from conditionals, asked by rows, questions or samples."""

from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd

from verulam.base import DataError, Seed, generator, nearest_names
from verulam.graphical._factor import Evidence, Factor, FactorModel, multiply, read_evidence
from verulam.graphical._graph import DirectedGraph
from verulam.graphical._inference.answers import (
    MostProbable,
    Posterior,
    check_targets,
    impossible,
)
from verulam.graphical._inference.junction_tree import MOST_ENTRIES, JunctionTree
from verulam.graphical._inference.sampling import likelihood_weighting
from verulam.graphical._network.approximate import climbed_states, labels_of
from verulam.graphical._network.asking import (
    ask,
    marginals_of,
    row_evidence,
    row_marginals,
    tree_within,
)
from verulam.graphical._network.conditionals import Conditional
from verulam.graphical._network.rows import encode_rows, refuse_impossible_rows, sample_rows


class BayesianNetwork:
    r"""A directed graph of discrete variables, each with its distribution given its parents.

    Parameters
    ----------
    conditionals
        For each node, by name, a `Table`, `NoisyOr` or `SoftmaxTable`, which name its states and
        its parents.

    Attributes
    ----------
    conditionals : dict
        As above.
    graph : DirectedGraph
        The arcs.
    states : dict
        Labels of the states of each node.
    model : FactorModel
        The conditional tables as factors.

    Notes
    -----
    .. math:: P(X_1, \dots, X_d) = \prod_i P(X_i \mid parents(X_i))

    Alpaydin 14.2 (14.12); SIT1305 II, "Bayesian networks". A network is not changed once it is
    made: what it compiles at the first question serves all later ones.

    Examples
    --------
    >>> from verulam.graphical import BayesianNetwork, Table
    >>> network = BayesianNetwork({
    ...     "rain": Table(("no", "yes"), [0.6, 0.4]),
    ...     "wet": Table(("no", "yes"), [[0.8, 0.2], [0.1, 0.9]], parents=("rain",)),
    ... })
    >>> print(network.query("rain", {"wet": "yes"}))
    rain
    no     0.25
    yes    0.75
    """

    def __init__(self, conditionals: Mapping[str, Conditional]) -> None:
        if not isinstance(conditionals, Mapping) or not conditionals:
            raise DataError("conditionals: expected a dictionary from nodes to their tables.")
        for name, conditional in conditionals.items():
            if not isinstance(name, str):
                raise DataError(f"Nodes are named by strings, and one is {name!r}.")
            if not (hasattr(conditional, "table") and hasattr(conditional, "parents")):
                raise DataError(
                    f"{name!r}: expected a Table, NoisyOr or SoftmaxTable, not "
                    f"{type(conditional).__name__}."
                )
        self.conditionals: dict[str, Conditional] = dict(conditionals)
        self.graph = DirectedGraph({name: c.parents for name, c in self.conditionals.items()})
        self.states = {name: c.states for name, c in self.conditionals.items()}
        self.model = FactorModel(self.states, tuple(map(self._factor, self.conditionals)))

    def _factor(self, name: str) -> Factor:
        conditional = self.conditionals[name]
        labels = [self.states[parent] for parent in conditional.parents]
        values = conditional.table(labels, name)
        return Factor((*conditional.parents, name), values, (*labels, self.states[name]))

    def __repr__(self) -> str:
        return (
            f"BayesianNetwork({len(self.states)} nodes, {len(self.graph.arcs)} arcs, "
            f"{self.n_parameters} parameters)"
        )

    def __getstate__(self) -> dict[str, Any]:
        # What was compiled is quick to compile again, and much larger than the tables.
        return {"conditionals": self.conditionals}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__init__(state["conditionals"])  # type: ignore[misc]

    @property
    def nodes(self) -> tuple[str, ...]:
        """Names of the nodes."""
        return self.model.names

    @cached_property
    def n_parameters(self) -> int:
        """How many numbers the conditionals leave free."""
        return sum(conditional.n_parameters for conditional in self.conditionals.values())

    @cached_property
    def _state_columns(self) -> dict[str, pd.Index]:
        # Made once: an index costs more than the frame that has it for columns.
        return {name: pd.Index(list(labels)) for name, labels in self.states.items()}

    @cached_property
    def junction_tree(self) -> JunctionTree:
        """The compiled tree of cliques, which answers most questions."""
        return JunctionTree.compile(self.model)

    def factor(self, name: str) -> Factor:
        """Return the table of a node given its parents, as a factor.

        Parameters
        ----------
        name
            The node.
        """
        self.model.check_name(name)
        return self.model.factors[self.model.positions[name]]

    def joint(self) -> Factor:
        """Return the joint table of all variables, where it is small enough."""
        size = int(np.prod([float(n) for n in self.model.sizes]))
        if size > MOST_ENTRIES:
            raise DataError(f"The joint table has {size:,} entries, more than {MOST_ENTRIES:,}.")
        return multiply(self.model.factors).arranged(self.nodes)

    def probability(self, assignment: Mapping[str, Any]) -> float:
        """Return the probability of states of some or all variables.

        Parameters
        ----------
        assignment
            State, set of states or likelihoods of each variable, by name.
        """
        known = read_evidence(self.model, assignment)
        if tree_within(self, MOST_ENTRIES) is None:
            return float(np.exp(likelihood_weighting(self, assignment).log_evidence))
        return float(np.exp(marginals_of(self, known)[1]))

    def query(
        self,
        targets: str | Sequence[str],
        evidence: Mapping[str, Any] | None = None,
        *,
        method: str = "auto",
        max_entries: int = MOST_ENTRIES,
        random_state: Seed = None,
        **options: Any,
    ) -> Posterior:
        """Return the distribution of one node, or the joint one of several, given evidence.

        Parameters
        ----------
        targets
            Name of the node, or names.
        evidence
            For each observed node its state; or a set of states; or the likelihood of each state
            (soft evidence), in their order or by label.
        method
            "auto": the junction tree, or likelihood weighting with a warning where its tables
            would be too large. By name: "junction tree", "elimination", "enumeration", "messages"
            (polytrees), "loopy", "mean field", "gibbs", "likelihood weighting".
        max_entries
            Most numbers in the tables of an exact answer.
        random_state
            Seed of a sampling method.
        **options
            Further arguments of the method, such as ``n_samples``.

        Examples
        --------
        >>> from verulam.graphical import sprinkler
        >>> network = sprinkler()
        >>> round(network.query("sprinkler", {"wet": "yes"})["yes"], 5)
        0.41958
        >>> round(network.query("sprinkler", {"wet": "yes", "rain": "yes"})["yes"], 5)
        0.15126
        """
        return ask(self, targets, evidence, method, max_entries, random_state, options)

    def posteriors(
        self,
        table: pd.DataFrame,
        targets: Iterable[str] | None = None,
        *,
        max_entries: int = MOST_ENTRIES,
        random_state: Seed = None,
    ) -> dict[str, pd.DataFrame]:
        """Return every posterior of every row of a table; missing cells are what is asked.

        Parameters
        ----------
        table
            A column for each observed node, named like it; missing cells are not observed, nor
            are nodes without a column.
        targets
            Nodes to return; None for all.
        max_entries
            Most numbers in the tables of an exact answer; beyond, rows are sampled, with a warning.
        random_state
            Seed of the samples.

        Examples
        --------
        >>> import pandas as pd
        >>> from verulam.graphical import sprinkler
        >>> rows = pd.DataFrame({"wet": ["yes", "yes", None], "rain": [None, "yes", "no"]})
        >>> print(sprinkler().posteriors(rows)["sprinkler"].round(3))
              no    yes
        0  0.580  0.420
        1  0.849  0.151
        2  0.573  0.427
        """
        names = self.nodes if targets is None else check_targets(self.model, targets)
        codes, index = encode_rows(self.model, table)
        marginals, log_evidence = row_marginals(self, codes, max_entries, random_state)
        refuse_impossible_rows(log_evidence, index)
        offsets, result = self.model.offsets, {}
        for name in names:
            place = self.model.positions[name]
            values = marginals[:, offsets[place] : offsets[place + 1]]
            result[name] = pd.DataFrame(values, index=index, columns=self._state_columns[name])
        return result

    def log_evidence(
        self,
        table: pd.DataFrame,
        *,
        max_entries: int = MOST_ENTRIES,
        random_state: Seed = None,
    ) -> np.ndarray:
        """Return the log probability of what each row of a table observes.

        Parameters
        ----------
        table
            As for `posteriors`. Rows of probability zero give minus infinity.
        max_entries, random_state
            As for `posteriors`.
        """
        codes, _ = encode_rows(self.model, table)
        return row_evidence(self, codes, max_entries, random_state)

    def explain(
        self,
        evidence: Mapping[str, Any] | None = None,
        *,
        max_entries: int = MOST_ENTRIES,
        random_state: Seed = None,
    ) -> MostProbable:
        """Return the most probable states of all nodes together, given evidence (max-product).

        Parameters
        ----------
        evidence
            As for `query`.
        max_entries
            Most numbers in the tables of an exact answer; beyond, the best of samples is taken,
            each improved node by node, with a warning.
        random_state
            Seed of the samples.

        Examples
        --------
        >>> from verulam.graphical import sprinkler
        >>> best = sprinkler().explain({"wet": "yes"})
        >>> best.states["sprinkler"], best.states["rain"], round(best.probability, 3)
        ('no', 'yes', 0.324)
        """
        known = read_evidence(self.model, evidence)
        factors = Evidence({}, known.soft).factors(self.model)
        tree = tree_within(self, max_entries)
        if tree is None:
            best, log_maximum = climbed_states(self, evidence, generator(random_state))
        else:
            states, log_maxima = tree.explanations(known.codes(self.model), factors)
            best, log_maximum = states[0], float(log_maxima[0])
        if log_maximum == -np.inf:
            raise impossible(evidence)
        return MostProbable(labels_of(self, best), log_maximum)

    def fill(
        self,
        table: pd.DataFrame,
        *,
        max_entries: int = MOST_ENTRIES,
        random_state: Seed = None,
    ) -> pd.DataFrame:
        """Return the table with each row completed to its most probable states.

        Parameters
        ----------
        table
            As for `posteriors`.
        max_entries, random_state
            As for `explain`.
        """
        codes, index = encode_rows(self.model, table)
        tree = tree_within(self, max_entries)
        if tree is None:
            random = generator(random_state)
            rows = [climbed_states(self, labels_of(self, row), random)[0] for row in codes]
            return self._frame(np.array(rows).reshape(codes.shape), index)
        states, log_maxima = tree.explanations(codes)
        refuse_impossible_rows(log_maxima, index)
        return self._frame(states, index)

    def sample(self, n_samples: int = 1, *, random_state: Seed = None) -> pd.DataFrame:
        """Draw rows from the joint distribution, parents before children (Alpaydin 14.3).

        Parameters
        ----------
        n_samples
            How many rows.
        random_state
            Seed.

        Examples
        --------
        >>> from verulam.graphical import sprinkler
        >>> rows = sprinkler().sample(10_000, random_state=0)
        >>> round(float((rows["wet"] == "yes").mean()), 2)
        0.65
        """
        if not isinstance(n_samples, int | np.integer) or n_samples < 0:
            raise DataError(f"n_samples: expected a whole number of rows, not {n_samples!r}.")
        codes = sample_rows(self.model, self.graph.order, n_samples, generator(random_state))
        return self._frame(codes, pd.RangeIndex(n_samples))

    def _frame(self, codes: np.ndarray, index: Any) -> pd.DataFrame:
        columns = {
            name: pd.Categorical.from_codes(
                codes[:, k], categories=pd.Index(list(self.states[name]))
            )
            for k, name in enumerate(self.nodes)
        }
        return pd.DataFrame(columns, index=index)

    def with_conditionals(self, conditionals: Mapping[str, Conditional]) -> "BayesianNetwork":
        """Return a network with some conditionals replaced or added.

        Parameters
        ----------
        conditionals
            By name of the node.
        """
        return BayesianNetwork({**self.conditionals, **conditionals})


def check_network(network: Any, what: str = "network") -> BayesianNetwork:
    """Return the network, or raise where it is something else."""
    if not isinstance(network, BayesianNetwork):
        nearest = nearest_names(type(network).__name__, ["BayesianNetwork"])
        raise DataError(f"{what}: expected a {nearest[0]}, not {type(network).__name__}.")
    return network
