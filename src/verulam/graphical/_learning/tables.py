"""Tables of a network from rows: by counts, and by EM where values are missing or hidden."""

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from scipy.optimize import minimize
from sklearn.exceptions import ConvergenceWarning

from verulam.base import DataError, Seed, generator, nearest_names
from verulam.graphical._graph import DirectedGraph, as_graph
from verulam.graphical._learning.counts import (
    Scopes,
    check_alpha,
    distinct_rows,
    frequencies,
)
from verulam.graphical._learning.levels import Levels, table_levels
from verulam.graphical._network.conditionals import SoftmaxTable, Table
from verulam.graphical._network.network import BayesianNetwork
from verulam.graphical._network.rows import encode_rows
from verulam.numerics import log_softmax


@dataclass(frozen=True, eq=False)
class LearnedTables:
    """A network whose tables were learned from rows.

    Attributes
    ----------
    network
        The network.
    log_likelihood
        Log-likelihood of the rows under it.
    curve
        Log-likelihood (with the log prior) before each pass of EM; one number for counts.
    converged
        Whether EM ended by itself.
    """

    network: BayesianNetwork
    log_likelihood: float
    curve: tuple[float, ...]
    converged: bool

    def bic(self, n_rows: int) -> float:
        """Return the log-likelihood less half a log of the rows for each parameter.

        Parameters
        ----------
        n_rows
            Rows that were learned from.
        """
        return self.log_likelihood - 0.5 * np.log(n_rows) * self.network.n_parameters


def learn_tables(
    graph: Any,
    table: pd.DataFrame,
    *,
    alpha: float = 1.0,
    hidden: Mapping[str, Any] | None = None,
    max_iter: int = 500,
    tol: float = 1e-6,
    n_init: int = 1,
    random_state: Seed = None,
) -> LearnedTables:
    r"""Learn the conditional tables of a graph from a table of rows.

    Parameters
    ----------
    graph
        A network, a dictionary of parents, or arcs. States come from the table's columns, or from
        the network where it is one.
    table
        A DataFrame of categorical columns named like the nodes. Missing cells are summed over,
        by EM.
    alpha
        Pseudo-count added to each cell (a Dirichlet prior); 0 gives maximum likelihood.
    hidden
        States, or their number, of nodes that have no column.
    max_iter
        Most passes of EM.
    tol
        Rise of the log-likelihood of a row from which on another pass is made.
    n_init
        Starts of EM with hidden nodes, of which the best is taken.
    random_state
        Seed of the starts.

    Notes
    -----
    With complete rows :math:`P(x \mid u) = (n_{ux} + \alpha) / (n_u + \alpha V)`. With gaps each
    pass replaces :math:`n_{ux}` by its expectation, the sum of :math:`P(x, u \mid row)` over rows
    (Lauritzen 1995; Alpaydin 14.2, 14.7).

    Examples
    --------
    >>> from verulam.graphical import learn_tables, sprinkler
    >>> rows = sprinkler().sample(20_000, random_state=0)
    >>> learned = learn_tables(sprinkler(), rows.mask(rows == "none"))
    >>> round(learned.network.query("sprinkler", {"wet": "yes"})["yes"], 2)
    0.41
    """
    alpha = check_alpha(alpha)
    dag = as_graph(graph)
    states = _states(graph, dag, table, hidden or {})
    order = list(dag.nodes)
    model = BayesianNetwork(_uniform(dag, states)).model
    codes, _ = encode_rows(model, table[[name for name in order if name in table.columns]])
    if len(codes) == 0:
        raise DataError("table has no rows.")
    rows = distinct_rows(np.zeros(1), codes, np.ones(len(codes)))
    if not (rows.rows < 0).any():
        return _by_counts(dag, states, rows.rows, rows.weights, alpha)
    random = generator(random_state)
    has_hidden = any(name not in table.columns for name in order)
    runs = [
        _by_expectation(
            _start(dag, states, rows.rows, rows.weights, random if has_hidden else None),
            rows.rows, rows.weights, alpha, max_iter, tol,
        )
        for _ in range(n_init if has_hidden else 1)
    ]  # fmt: skip
    best = max(runs, key=lambda run: run.curve[-1])
    if not best.converged:
        warnings.warn(
            f"EM had not converged after max_iter={max_iter} passes; raise max_iter or tol.",
            ConvergenceWarning,
            stacklevel=2,
        )
    return best


def _states(
    graph: Any, dag: DirectedGraph, table: Any, hidden: Mapping[str, Any]
) -> dict[str, tuple[Any, ...]]:
    if not isinstance(table, pd.DataFrame):
        raise DataError(f"table: expected a pandas DataFrame, not {type(table).__name__}.")
    known: dict[str, tuple[Any, ...]] = dict(getattr(graph, "states", {}))
    for name, labels in hidden.items():
        dag.check_node(name)
        known[name] = tuple(range(labels)) if isinstance(labels, int) else tuple(labels)
    columns = [name for name in dag.nodes if name not in known]
    for name in columns:
        if name not in table.columns:
            nearest = nearest_names(str(name), map(str, table.columns))
            raise DataError(
                f"The table has no column {name!r}, and it is not among the hidden nodes. Nearest: "
                f"{', '.join(nearest)}."
            )
    if columns:
        levels, _ = table_levels(table[columns])
        known |= {level.name: level.labels for level in levels}
    return {name: known[name] for name in dag.nodes}


def _uniform(dag: DirectedGraph, states: Mapping[str, tuple[Any, ...]]) -> dict[str, Table]:
    shapes = {
        name: tuple(len(states[node]) for node in (*dag.parents[name], name)) for name in dag.nodes
    }
    return {
        name: Table(states[name], np.full(shape, 1.0 / shape[-1]), dag.parents[name])
        for name, shape in shapes.items()
    }


def network_from_counts(
    dag: DirectedGraph,
    states: Mapping[str, tuple[Any, ...]],
    counts: Sequence[np.ndarray],
    alpha: float,
) -> BayesianNetwork:
    """Return the network whose tables are the frequencies of the counts of each family."""
    return BayesianNetwork(
        {
            name: Table(states[name], frequencies(part, alpha), dag.parents[name])
            for name, part in zip(dag.nodes, counts, strict=True)
        }
    )


def _families(dag: DirectedGraph) -> list[tuple[str, ...]]:
    return [(*dag.parents[name], name) for name in dag.nodes]


def _count_families(
    dag: DirectedGraph, sizes: Sequence[int], codes: np.ndarray, weights: np.ndarray
) -> list[np.ndarray]:
    places = {name: place for place, name in enumerate(dag.nodes)}
    scopes = [tuple(places[node] for node in family) for family in _families(dag)]
    counter = Scopes.over(scopes, sizes)
    tables = counter.tables(counter.count(codes, None, weights, 1).counts)
    return [tables[scope][0] for scope in scopes]


def _by_counts(
    dag: DirectedGraph,
    states: Mapping[str, tuple[Any, ...]],
    codes: np.ndarray,
    weights: np.ndarray,
    alpha: float,
) -> LearnedTables:
    sizes = [len(labels) for labels in states.values()]
    counts = _count_families(dag, sizes, codes, weights)
    network = network_from_counts(dag, states, counts, alpha)
    likelihood = 0.0
    for part, factor in zip(counts, network.model.factors, strict=True):
        positive = part > 0
        likelihood += float((part[positive] * np.log(factor.values[positive])).sum())
    return LearnedTables(network, likelihood, (likelihood,), True)


def _start(
    dag: DirectedGraph,
    states: Mapping[str, tuple[Any, ...]],
    codes: np.ndarray,
    weights: np.ndarray,
    random: np.random.Generator | None,
) -> BayesianNetwork:
    """Return the network of the families that rows have in full, the rest at random."""
    sizes = [len(labels) for labels in states.values()]
    counts = _count_families(dag, sizes, codes, weights)
    tables = []
    for part in counts:
        table = frequencies(part, 1.0)
        if random is not None:
            # A uniform start is a saddle point, in which hidden states stay alike for ever.
            table = table * random.uniform(0.5, 1.5, size=table.shape)
            table /= table.sum(axis=-1, keepdims=True)
        tables.append(table)
    return BayesianNetwork(
        {
            name: Table(states[name], table, dag.parents[name])
            for name, table in zip(dag.nodes, tables, strict=True)
        }
    )


def _by_expectation(
    network: BayesianNetwork,
    codes: np.ndarray,
    weights: np.ndarray,
    alpha: float,
    max_iter: int,
    tol: float,
) -> LearnedTables:
    """Repeat expected counts and frequencies until the objective settles."""
    dag, curve, converged = network.graph, [], False
    families = _families(dag)
    likelihood = -np.inf
    for _ in range(max_iter):
        counts, log_evidence = network.junction_tree.expected_counts(codes, weights, families)
        if (log_evidence == -np.inf).any():
            raise DataError("A row is impossible under the network; use alpha above 0.")
        likelihood = float((weights * log_evidence).sum())
        log_prior = 0.0
        if alpha > 0:
            log_prior = alpha * sum(float(np.log(f.values).sum()) for f in network.model.factors)
        curve.append(likelihood + log_prior)
        if len(curve) > 1 and curve[-1] - curve[-2] <= tol * weights.sum():
            converged = True
            break
        network = network_from_counts(dag, network.states, counts, alpha)
    return LearnedTables(network, likelihood, tuple(curve), converged)


@dataclass(frozen=True, eq=False)
class HiddenParent:
    """What a hidden common parent of some nodes would bring.

    Attributes
    ----------
    accepted
        Whether it raises the BIC.
    before, after
        BIC without and with it.
    network
        The better network of the two.
    """

    accepted: bool
    before: float
    after: float
    network: BayesianNetwork


def try_hidden_parent(
    graph: Any,
    table: pd.DataFrame,
    children: Sequence[str],
    *,
    name: str = "hidden",
    n_states: int = 2,
    alpha: float = 1.0,
    n_init: int = 5,
    random_state: Seed = None,
) -> HiddenParent:
    """Add a hidden parent to some nodes in place of the arcs among them, if that raises the BIC.

    Parameters
    ----------
    graph
        The graph without it.
    table
        A DataFrame of categorical columns.
    children
        Nodes that would get the hidden parent.
    name
        What to call it.
    n_states
        How many states it has.
    alpha
        Pseudo-count.
    n_init
        Starts of EM, of which the best is taken.
    random_state
        Seed.

    Notes
    -----
    Alpaydin 14.7: a hidden node is added where the likelihood gains more than its parameters cost;
    a node that does not pay is removed again.

    Examples
    --------
    >>> from verulam.graphical import sprinkler, try_hidden_parent
    >>> rows = sprinkler().sample(2000, random_state=0)[["sprinkler", "rain"]]
    >>> graph = {"sprinkler": (), "rain": ("sprinkler",)}
    >>> try_hidden_parent(graph, rows, ["sprinkler", "rain"], random_state=0).accepted
    False
    """
    dag = as_graph(graph)
    if name in dag.nodes:
        raise DataError(f"name: there is a node {name!r} already.")
    children = [dag.check_node(child) for child in children]
    plain = learn_tables(dag, table, alpha=alpha)
    parents: dict[str, tuple[str, ...]] = {name: ()}
    for node in dag.nodes:
        listed = dag.parents[node]
        if node in children:
            listed = (name, *(p for p in listed if p not in children))
        parents[node] = listed
    extended = learn_tables(
        parents, table, alpha=alpha, hidden={name: n_states}, n_init=n_init,
        random_state=random_state,
    )  # fmt: skip
    before, after = plain.bic(len(table)), extended.bic(len(table))
    better = extended if after > before else plain
    return HiddenParent(bool(after > before), before, after, better.network)


def fit_softmax(
    table: pd.DataFrame, target: str, parents: Sequence[str], *, alpha: float = 1e-3
) -> SoftmaxTable:
    """Fit a sigmoid or softmax conditional to rows by maximum likelihood.

    Parameters
    ----------
    table
        A DataFrame of categorical columns without gaps.
    target
        The node.
    parents
        Its parents.
    alpha
        Weight of a quadratic penalty, which makes the scores unique.

    Notes
    -----
    Multinomial logistic regression on indicators of the parents' states: Alpaydin 14.5.3 (14.30)
    and exercise 14.4.

    Examples
    --------
    >>> from verulam.graphical import fit_softmax, sprinkler
    >>> rows = sprinkler().sample(5000, random_state=0)
    >>> node = fit_softmax(rows, "rain", ["cloudy"])
    >>> node.table([("no", "yes")], "rain")[..., 1].round(2)
    array([0.1 , 0.81])
    """
    alpha = check_alpha(alpha)
    columns = [target, *([parents] if isinstance(parents, str) else parents)]
    for name in columns:
        if name not in table.columns:
            raise DataError(f"The table has no column {name!r}.")
    levels, codes = table_levels(table[columns])
    if (codes < 0).any():
        raise DataError("table: a softmax node is fitted to rows without gaps.")
    n_states = len(levels[0].labels)
    design = _indicators(levels[1:], codes[:, 1:])
    onehot = np.eye(n_states)[codes[:, 0]]

    def objective(flat: np.ndarray) -> tuple[float, np.ndarray]:
        weights = flat.reshape(design.shape[1], n_states)
        logs = log_softmax(design @ weights, axis=1)
        gradient = design.T @ (np.exp(logs) - onehot) + alpha * weights
        return float(-(onehot * logs).sum() + 0.5 * alpha * (weights**2).sum()), gradient.ravel()

    start = np.zeros(design.shape[1] * n_states)
    options: Any = {"maxiter": 2000, "gtol": 1e-8, "ftol": 1e-15}
    solution = minimize(objective, start, jac=True, method="L-BFGS-B", options=options)
    weights = solution.x.reshape(design.shape[1], n_states)
    parts, place = {}, 1
    for level in levels[1:]:
        parts[level.name] = weights[place : place + len(level.labels)]
        place += len(level.labels)
    return SoftmaxTable(levels[0].labels, parts, weights[0])


def _indicators(levels: Sequence[Levels], codes: np.ndarray) -> np.ndarray:
    parts = [np.ones((len(codes), 1))]
    parts += [np.eye(len(level.labels))[codes[:, j]] for j, level in enumerate(levels)]
    return np.hstack(parts)
