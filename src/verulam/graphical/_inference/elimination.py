"""Exact answers by sums: over the whole joint, or variable by variable."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import prod
from typing import Any

import numpy as np

from verulam.base import DataError
from verulam.graphical._factor import Factor, FactorModel, as_model, multiply, read_evidence
from verulam.graphical._graph import triangulate, undirected
from verulam.graphical._inference.answers import (
    MostProbable,
    Posterior,
    check_targets,
    impossible,
    posterior_of,
)

#: Numbers in a joint table, from which on it is not built.
MOST_ENTRIES = 2**25


def enumerate_joint(
    model: Any, targets: Any, evidence: Mapping[str, Any] | None = None
) -> Posterior:
    """Answer by the joint table: multiply everything, then sum (Alpaydin 14.2)."""
    model = as_model(model)
    targets = check_targets(model, targets)
    known = read_evidence(model, evidence)
    size = prod(
        n for name, n in zip(model.names, model.sizes, strict=True) if name not in known.hard
    )
    if size > MOST_ENTRIES:
        raise DataError(
            f"The joint table has {size:,} entries, more than {MOST_ENTRIES:,}; use "
            "method='junction tree'."
        )
    joint = _joint(model, known.hard, known.soft, targets)
    _refuse_impossible(joint, evidence)
    return posterior_of(model, joint.marginal(targets), targets, "enumeration", size)


def eliminate(
    model: Any,
    targets: Any,
    evidence: Mapping[str, Any] | None = None,
    *,
    max_entries: int = MOST_ENTRIES,
) -> Posterior:
    """Answer by summing out one variable after the other, the cheapest first.

    Parameters
    ----------
    model
        A network, a field, or the variables and factors of one.
    targets
        Names of the variables asked for.
    evidence
        What is known.
    max_entries
        Most numbers in any table on the way; more are refused before they are built.
    """
    model = as_model(model)
    targets = check_targets(model, targets)
    plan = plan_elimination(model, targets, evidence)
    if plan.largest > max_entries:
        raise DataError(
            f"An exact answer needs {plan.text()}, more than max_entries={max_entries:,}; choose "
            "an approximate method."
        )
    factors = list(plan.factors)
    for name in plan.order:
        bucket = [factor for factor in factors if name in factor.variables]
        factors = [factor for factor in factors if name not in factor.variables]
        factors.append(multiply(bucket).sum_out([name]).rescale())
    joint = multiply(factors)
    _refuse_impossible(joint, evidence)
    return posterior_of(model, joint, targets, "elimination", sum(plan.sizes))


@dataclass(frozen=True, eq=False)
class EliminationPlan:
    """What summing out one variable after the other would cost, before any table is made.

    Attributes
    ----------
    factors
        The factors with evidence put in.
    order
        Variables as they are summed out.
    scopes
        Variables of the table that each of them is summed out of; last those asked for.
    sizes
        Numbers in these tables.
    """

    factors: tuple[Factor, ...]
    order: tuple[str, ...]
    scopes: tuple[frozenset[str], ...]
    sizes: tuple[int, ...]

    @property
    def largest(self) -> int:
        """Numbers in the largest table."""
        return max(self.sizes)

    def text(self) -> str:
        """Return the size in words."""
        scope = self.scopes[self.sizes.index(self.largest)]
        return f"a table of {len(scope)} variables with {self.largest:,} entries"


def plan_elimination(
    model: FactorModel, targets: Sequence[str], evidence: Mapping[str, Any] | None
) -> EliminationPlan:
    """Return the order in which variables are summed out, and the tables that this needs."""
    known = read_evidence(model, evidence)
    observed = {
        name: model.states[name][k] for name, k in known.hard.items() if name not in targets
    }
    factors = [factor.reduce(observed) for factor in (*model.factors, *known.factors(model))]
    factors += _uniform(model, targets)
    counts = {
        name: n for name, n in zip(model.names, model.sizes, strict=True) if name not in observed
    }
    # All targets are kept together to the end, as if some factor held them.
    neighbours = undirected(counts, [*(factor.variables for factor in factors), targets])
    order = [name for name in triangulate(neighbours, counts).order if name not in targets]
    left = [frozenset(factor.variables) for factor in factors]
    scopes = []
    for name in order:
        scopes.append(frozenset[str]().union(*(scope for scope in left if name in scope)))
        left = [scope for scope in left if name not in scope] + [scopes[-1] - {name}]
    scopes.append(frozenset(targets))
    sizes = tuple(prod(counts[name] for name in scope) for scope in scopes)
    return EliminationPlan(tuple(factors), tuple(order), tuple(scopes), sizes)


def explain_by_enumeration(
    model: FactorModel, evidence: Mapping[str, Any] | None = None
) -> MostProbable:
    """Return the most probable states of all variables, from the joint table."""
    known = read_evidence(model, evidence)
    joint = _joint(model, known.hard, known.soft, ())
    _refuse_impossible(joint, evidence)
    places = np.unravel_index(int(joint.values.argmax()), joint.values.shape)
    best = {name: model.states[name][k] for name, k in known.hard.items()}
    best |= {
        name: labels[int(k)]
        for name, labels, k in zip(joint.variables, joint.states, places, strict=True)
    }
    log_probability = joint.log_scale + float(np.log(joint.values.max()))
    return MostProbable({name: best[name] for name in model.names}, log_probability)


def _joint(
    model: FactorModel,
    hard: Mapping[str, int],
    soft: Mapping[str, np.ndarray],
    targets: Sequence[str],
) -> Factor:
    """Return the product of all factors, evidence put in; targets keep their axes."""
    observed = {name: model.states[name][k] for name, k in hard.items() if name not in targets}
    likelihoods = {name: np.eye(len(model.states[name]))[k] for name, k in hard.items()}
    factors = [factor.reduce(observed) for factor in model.factors]
    factors += [
        Factor((name,), values, (model.states[name],))
        for name, values in (likelihoods | dict(soft)).items()
        if name not in observed
    ]
    free = [name for name in model.names if name not in observed]
    return multiply([*factors, *_uniform(model, free)])


def _uniform(model: FactorModel, names: Sequence[str]) -> list[Factor]:
    return [Factor((n,), np.ones(len(model.states[n])), (model.states[n],)) for n in names]


def _refuse_impossible(joint: Factor, evidence: Mapping[str, Any] | None) -> None:
    if not joint.values.any():
        raise impossible(evidence)
