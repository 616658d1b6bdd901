"""One question: which method answers it, and what it costs."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from verulam.base import DataError, DataWarning, Seed, generator, warn_caller
from verulam.graphical._factor import Evidence, read_evidence
from verulam.graphical._inference.answers import Posterior, check_targets, impossible
from verulam.graphical._inference.elimination import (
    eliminate,
    enumerate_joint,
    plan_elimination,
)
from verulam.graphical._inference.junction_tree import JunctionTree, plan_tree
from verulam.graphical._inference.loopy import loopy_propagation
from verulam.graphical._inference.mean_field import mean_field
from verulam.graphical._inference.polytree import propagate
from verulam.graphical._inference.sampling import gibbs_sampling, likelihood_weighting
from verulam.graphical._network.approximate import sampled_marginals

METHODS = (
    "auto", "junction tree", "elimination", "enumeration", "messages", "loopy", "mean field",
    "gibbs", "likelihood weighting",
)  # fmt: skip
#: Those that take no further arguments.
EXACT = METHODS[1:5]


def ask(
    network: Any,
    targets: str | Sequence[str],
    evidence: Mapping[str, Any] | None,
    method: str,
    max_entries: int,
    random_state: Seed,
    options: Mapping[str, Any],
) -> Posterior:
    """Return the posterior by the method that was asked for, as `BayesianNetwork.query` says."""
    if method in ("auto", *EXACT) and options:
        raise DataError(f"method={method!r} takes no argument {next(iter(options))!r}.")
    model = network.model
    # The usual question, of one node, is too quick for checks that it does not need.
    single = isinstance(targets, str) and targets in model.states
    names = (str(targets),) if single else check_targets(model, targets)
    if method == "auto":
        return _by_size(network, names, evidence, max_entries, random_state)
    if method not in METHODS:
        raise DataError(f"method is {method!r}; accepted are {', '.join(METHODS)}.")
    if method == "enumeration":
        return enumerate_joint(model, names, evidence)
    if method == "elimination":
        return eliminate(model, names, evidence, max_entries=max_entries)
    if method == "junction tree":
        _compile(network, max_entries)
        return _by_tree(network, names, evidence, max_entries)
    if method == "messages":
        return propagate(network, evidence).posterior(_only(names, method))
    if method == "loopy":
        return loopy_propagation(model, evidence, **options).posterior(_only(names, method))
    if method == "mean field":
        return mean_field(model, evidence, **options).posterior(_only(names, method))
    if method == "gibbs":
        sampled = gibbs_sampling(model, evidence, random_state=random_state, **options)
    else:
        sampled = likelihood_weighting(network, evidence, random_state=random_state, **options)
    return sampled.posterior(names)


def _only(names: tuple[str, ...], method: str) -> str:
    if len(names) > 1:
        raise DataError(f"method={method!r} gives the distribution of one node; ask one by one.")
    return names[0]


def tree_within(network: Any, max_entries: int) -> JunctionTree | None:
    """Return the network's tree, or None with a warning where its tables are too large."""
    tree = vars(network).get("junction_tree")
    if tree is None or len(tree.arrays.base) > max_entries:
        plan = plan_tree(network.model)
        if plan.n_entries > max_entries:
            _warn_of_sampling(plan.text(), max_entries)
            return None
        _compile(network, max_entries)
    return network.junction_tree


def _compile(network: Any, max_entries: int) -> None:
    """Build the tree unless it is there, and refuse one that is too large."""
    tree = vars(network).get("junction_tree")
    if tree is None or len(tree.arrays.base) > max_entries:
        tree = JunctionTree.compile(network.model, max_entries=max_entries)
        vars(network)["junction_tree"] = tree


def _warn_of_sampling(needed: str, max_entries: int) -> None:
    warn_caller(
        f"An exact answer needs {needed}, more than max_entries={max_entries:,}: the answer is "
        "approximate, by likelihood weighting.",
        DataWarning,
    )


def _by_size(
    network: Any,
    names: tuple[str, ...],
    evidence: Mapping[str, Any] | None,
    max_entries: int,
    random_state: Seed,
) -> Posterior:
    """Answer exactly where tables are small enough, otherwise by samples."""
    tree = tree_within(network, max_entries)
    if tree is not None:
        if len(names) == 1 or tree.home(names) >= 0:
            return _by_tree(network, names, evidence, max_entries)
        plan = plan_elimination(network.model, names, evidence)
        if plan.largest <= max_entries:
            return eliminate(network.model, names, evidence, max_entries=max_entries)
        _warn_of_sampling(plan.text(), max_entries)
    return likelihood_weighting(network, evidence, random_state=random_state).posterior(names)


def marginals_of(
    network: Any, known: Evidence, target: str | None = None
) -> tuple[np.ndarray, float]:
    """Return the marginals of all nodes in one row, and the log probability of evidence."""
    factors = Evidence({}, known.soft).factors(network.model) if known.soft else ()
    codes = known.codes(network.model)
    marginals, log_evidence = network.junction_tree.posteriors(codes, factors, target)
    return marginals[0], float(log_evidence[0])


def _by_tree(
    network: Any, names: tuple[str, ...], evidence: Mapping[str, Any] | None, max_entries: int
) -> Posterior:
    model, tree = network.model, network.junction_tree
    if len(names) > 1 and tree.home(names) < 0:
        # No clique has all of the targets: their joint is another sum.
        return eliminate(model, names, evidence, max_entries=max_entries)
    known = read_evidence(model, evidence)
    target = names[0] if len(names) == 1 else None
    marginals, log_evidence = marginals_of(network, known, target)
    if log_evidence == -np.inf:
        raise impossible(evidence)
    if target is not None:
        place = model.positions[target]
        values = marginals[model.offsets[place] : model.offsets[place + 1]]
        states = (model.states[target],)
    else:
        factors = Evidence({}, known.soft).factors(model)
        joint = tree.clique_posterior(tree.home(names), known.codes(model)[0], factors)
        values = joint.marginal(names).normalise().values
        states = tuple(model.states[name] for name in names)
    return Posterior(names, states, values, log_evidence, "junction tree", len(tree.arrays.base))


def row_marginals(
    network: Any, codes: np.ndarray, max_entries: int, random_state: Seed
) -> tuple[np.ndarray, np.ndarray]:
    """Return all marginals of rows of states, exact or sampled, and the log probability of each."""
    tree = tree_within(network, max_entries)
    if tree is None:
        return sampled_marginals(network, codes, generator(random_state))
    return tree.posteriors(codes)


def row_evidence(
    network: Any, codes: np.ndarray, max_entries: int, random_state: Seed
) -> np.ndarray:
    """Return the log probability of rows of states, exact or sampled."""
    tree = tree_within(network, max_entries)
    if tree is None:
        return sampled_marginals(network, codes, generator(random_state))[1]
    return tree.log_evidence(codes)
