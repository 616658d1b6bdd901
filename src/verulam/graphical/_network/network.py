"""Bayesian networks: built from conditionals, asked by rows, questions or samples."""

from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd

from verulam.base import DataError, DataWarning, Seed, generator, nearest_names, warn_caller
from verulam.graphical._factor import Evidence, Factor, FactorModel, multiply, read_evidence
from verulam.graphical._graph import DirectedGraph
from verulam.graphical._inference.answers import (
    MostProbable,
    Posterior,
    check_targets,
    impossible,
)
from verulam.graphical._inference.elimination import eliminate, enumerate_joint
from verulam.graphical._inference.junction_tree import MOST_ENTRIES, JunctionTree, plan_tree
from verulam.graphical._inference.loopy import loopy_propagation
from verulam.graphical._inference.mean_field import mean_field
from verulam.graphical._inference.polytree import propagate
from verulam.graphical._inference.sampling import gibbs_sampling, likelihood_weighting
from verulam.graphical._network.conditionals import Conditional
from verulam.graphical._network.rows import (
    encode_rows,
    refuse_impossible_rows,
    sample_rows,
    sampled_posteriors,
)

METHODS = (
    "auto", "junction tree", "elimination", "enumeration", "messages", "loopy", "mean field",
    "gibbs", "likelihood weighting",
)  # fmt: skip
#: Those that take no further arguments.
EXACT = METHODS[1:5]


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
        _, log_evidence = self._ask(known)
        return float(np.exp(log_evidence))

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
            (soft evidence).
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
        if method in ("auto", *EXACT) and options:
            raise DataError(f"method={method!r} takes no argument {next(iter(options))!r}.")
        if method == "auto":
            return self._answer(targets, evidence, max_entries, random_state)
        names = check_targets(self.model, targets)
        if method not in METHODS:
            raise DataError(f"method is {method!r}; accepted are {', '.join(METHODS)}.")
        if method == "enumeration":
            return enumerate_joint(self.model, names, evidence)
        if method == "elimination":
            return eliminate(self.model, names, evidence, max_entries=max_entries)
        if method == "junction tree":
            self._check_size(max_entries)
            return self._by_tree(names, evidence)
        if method == "messages":
            return propagate(self, evidence).posterior(_single(names, method))
        if method == "loopy":
            return loopy_propagation(self.model, evidence, **options).posterior(
                _single(names, method)
            )
        if method == "mean field":
            return mean_field(self.model, evidence, **options).posterior(_single(names, method))
        if method == "gibbs":
            sampled = gibbs_sampling(self.model, evidence, random_state=random_state, **options)
        else:
            sampled = likelihood_weighting(self, evidence, random_state=random_state, **options)
        return sampled.posterior(names)

    def _check_size(self, max_entries: int) -> None:
        if "junction_tree" not in vars(self) or len(self.junction_tree.arrays.base) > max_entries:
            vars(self)["junction_tree"] = JunctionTree.compile(self.model, max_entries=max_entries)

    def _fits(self, max_entries: int) -> bool:
        """Tell whether the junction tree may be built, with a warning where it may not."""
        tree = vars(self).get("junction_tree")
        if tree is None or len(tree.arrays.base) > max_entries:
            plan = plan_tree(self.model)
            if plan.n_entries > max_entries:
                warn_caller(
                    f"An exact answer needs {plan.text()}, more than max_entries={max_entries:,}: "
                    "the answer is approximate, by likelihood weighting.",
                    DataWarning,
                )
                return False
            self._check_size(max_entries)
        return True

    def _answer(
        self,
        targets: str | Sequence[str],
        evidence: Mapping[str, Any] | None,
        max_entries: int,
        random_state: Seed,
    ) -> Posterior:
        if isinstance(targets, str) and targets in self.states:
            names: tuple[str, ...] = (targets,)
        else:
            names = check_targets(self.model, targets)
        if not self._fits(max_entries):
            return likelihood_weighting(self, evidence, random_state=random_state).posterior(names)
        return self._by_tree(names, evidence)

    def _codes(self, hard: Mapping[str, int]) -> np.ndarray:
        codes = np.full((1, len(self.states)), -1, dtype=np.int32)
        positions = self.model.positions
        for name, state in hard.items():
            codes[0, positions[name]] = state
        return codes

    def _ask(self, known: Evidence, target: str | None = None) -> tuple[np.ndarray, float]:
        """Return the marginals of all nodes in one row, and the log probability of evidence."""
        factors = Evidence({}, known.soft).factors(self.model) if known.soft else ()
        codes = self._codes(known.hard)
        marginals, log_evidence = self.junction_tree.posteriors(codes, factors, target)
        return marginals[0], float(log_evidence[0])

    def _by_tree(self, names: tuple[str, ...], evidence: Mapping[str, Any] | None) -> Posterior:
        known = read_evidence(self.model, evidence)
        tree = self.junction_tree
        states = tuple(self.states[name] for name in names)
        cost = len(tree.arrays.base)
        if len(names) == 1:
            marginals, log_evidence = self._ask(known, names[0])
            if log_evidence == -np.inf:
                raise impossible(evidence)
            place = self.model.positions[names[0]]
            values = marginals[tree.offsets[place] : tree.offsets[place + 1]]
            return Posterior(names, states, values, log_evidence, "junction tree", cost)
        home = tree.home(names)
        if home < 0:  # no clique has all of the targets: their joint is another sum
            return eliminate(self.model, names, evidence)
        _, log_evidence = self._ask(known)
        if log_evidence == -np.inf:
            raise impossible(evidence)
        factors = Evidence({}, known.soft).factors(self.model)
        joint = tree.clique_posterior(home, self._codes(known.hard)[0], factors)
        values = joint.marginal(names).normalise().values
        return Posterior(names, states, values, log_evidence, "junction tree", cost)

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
        if not self._fits(max_entries):
            return sampled_posteriors(self, names, codes, index, generator(random_state))
        marginals, log_evidence = self.junction_tree.posteriors(codes)
        refuse_impossible_rows(log_evidence, index)
        offsets = self.junction_tree.offsets
        result = {}
        for name in names:
            place = self.model.positions[name]
            values = marginals[:, offsets[place] : offsets[place + 1]]
            result[name] = pd.DataFrame(values, index=index, columns=list(self.states[name]))
        return result

    def log_evidence(self, table: pd.DataFrame) -> np.ndarray:
        """Return the log probability of what each row of a table observes.

        Parameters
        ----------
        table
            As for `posteriors`. Rows of probability zero give minus infinity.
        """
        codes, _ = encode_rows(self.model, table)
        return self.junction_tree.log_evidence(codes)

    def explain(self, evidence: Mapping[str, Any] | None = None) -> MostProbable:
        """Return the most probable states of all nodes together, given evidence (max-product).

        Parameters
        ----------
        evidence
            As for `query`.

        Examples
        --------
        >>> from verulam.graphical import sprinkler
        >>> best = sprinkler().explain({"wet": "yes"})
        >>> best.states["sprinkler"], best.states["rain"], round(best.probability, 3)
        ('no', 'yes', 0.324)
        """
        known = read_evidence(self.model, evidence)
        factors = Evidence({}, known.soft).factors(self.model)
        states, log_maxima = self.junction_tree.explanations(self._codes(known.hard), factors)
        if log_maxima[0] == -np.inf:
            raise impossible(evidence)
        labels = {name: self.states[name][k] for name, k in zip(self.nodes, states[0], strict=True)}
        return MostProbable(labels, float(log_maxima[0]))

    def fill(self, table: pd.DataFrame) -> pd.DataFrame:
        """Return the table with each row completed to its most probable states.

        Parameters
        ----------
        table
            As for `posteriors`.
        """
        codes, index = encode_rows(self.model, table)
        states, log_maxima = self.junction_tree.explanations(codes)
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


def _single(names: tuple[str, ...], method: str) -> str:
    if len(names) > 1:
        raise DataError(f"method={method!r} gives the distribution of one node; ask one by one.")
    return names[0]


def check_network(network: Any, what: str = "network") -> BayesianNetwork:
    """Return the network, or raise where it is something else."""
    if not isinstance(network, BayesianNetwork):
        nearest = nearest_names(type(network).__name__, ["BayesianNetwork"])
        raise DataError(f"{what}: expected a {nearest[0]}, not {type(network).__name__}.")
    return network
