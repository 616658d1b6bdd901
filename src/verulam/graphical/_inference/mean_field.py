"""Mean field: the nearest distribution in which all variables are independent."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from verulam.base import DataError, DataWarning, warn_caller
from verulam.graphical._factor import Evidence, Factor, FactorModel, as_model, read_evidence
from verulam.graphical._inference.junction_tree import JunctionTree, plan_tree
from verulam.graphical._inference.loopy import Beliefs

#: Stands for the logarithm of zero: a sum of these must stay a number.
LOG_ZERO = -1e3
#: Largest error of a probability that goes without a word, and most numbers in the tables of the
#: exact answer that tells it.
SMALL_ERROR, CHECKED_ENTRIES = 0.1, 2**18


def mean_field(
    model: Any,
    evidence: Mapping[str, Any] | None = None,
    *,
    max_iter: int = 500,
    tol: float = 1e-10,
) -> Beliefs:
    r"""Fit independent distributions to the posterior, variable by variable.

    Parameters
    ----------
    model
        A network, a field, or the variables and factors of one.
    evidence
        What is known.
    max_iter
        Most sweeps over the variables.
    tol
        Rise of the bound from which on another sweep is made.

    Notes
    -----
    :math:`\log q_i(x_i) = E_{q \setminus i}[\log P(x, e)] + const` raises the lower bound
    :math:`E_q[\log P(x, e)] + H(q)` of the log evidence in each step (Alpaydin 14.6, 14.9; Jordan
    et al. 1999). A zero in a table counts as :math:`e^{-1000}`. The bound lies below the log
    evidence by :math:`KL(q, P)`, and no probability is off by more than :math:`\sqrt{KL / 2}`
    (Pinsker); where the log evidence is cheap to compute and this is above .1, a warning says so.

    Examples
    --------
    >>> from verulam.graphical import BayesianNetwork, Table, mean_field
    >>> network = BayesianNetwork({
    ...     "rain": Table(("no", "yes"), [0.6, 0.4]),
    ...     "wet": Table(("no", "yes"), [[0.55, 0.45], [0.45, 0.55]], parents=("rain",)),
    ... })
    >>> mean_field(network).values["rain"].round(3)
    array([0.601, 0.399])
    """
    model = as_model(model)
    known = read_evidence(model, evidence)
    factors = [*model.factors, *known.factors(model)]
    logs = [
        np.log(factor.values, out=np.full(factor.values.shape, LOG_ZERO), where=factor.values > 0)
        for factor in factors
    ]
    values = {name: np.full(n, 1.0 / n) for name, n in zip(model.names, model.sizes, strict=True)}
    for name, state in known.hard.items():
        values[name] = np.eye(len(model.states[name]))[state]
    near = {name: [k for k, f in enumerate(factors) if name in f.variables] for name in model.names}
    free = [name for name in model.names if name not in known.hard]
    bound, converged, sweeps = -np.inf, False, 0
    while sweeps < max_iter and not converged:
        sweeps += 1
        for name in free:
            scores = sum(_expected(factors[k], logs[k], values, name) for k in near[name])
            scores = np.asarray(scores) - np.max(scores)
            values[name] = np.exp(scores) / np.exp(scores).sum()
        previous, bound = bound, _bound(factors, logs, values)
        converged = bound - previous <= tol
    if not converged:
        warn_caller(
            f"Mean field had not settled after max_iter={max_iter} sweeps; raise max_iter.",
            DataWarning,
        )
    zeros = [_expected(f, (f.values == 0).astype(np.float64), values, None) for f in factors]
    if np.max(zeros) > 1e-6:
        raise DataError(
            "Mean field ended where the evidence has probability zero: it cannot occur, or no "
            "independent distribution explains it; use an exact method."
        )
    bound += sum(factor.log_scale for factor in factors)
    _warn_if_far(model, known, bound)
    return Beliefs(model.states, values, bound, "mean field", sweeps, converged, {}, {})


def _warn_if_far(model: FactorModel, known: Evidence, bound: float) -> None:
    """Say by how much probabilities may be off, where the log evidence can be had."""
    if plan_tree(model).n_entries > CHECKED_ENTRIES:
        return
    soft = Evidence({}, known.soft).factors(model)
    log_evidence = JunctionTree.compile(model).posteriors(known.codes(model), soft)[1][0]
    divergence = max(log_evidence - bound, 0.0)
    error = min(np.sqrt(divergence / 2), 1.0)
    if error > SMALL_ERROR:
        warn_caller(
            f"Mean field takes variables as independent that are not: its bound is {bound:.3f}, "
            f"the log evidence {log_evidence:z.3f}, and probabilities may be off by up to "
            f"{error:.2f}; use an exact method.",
            DataWarning,
        )


def _expected(
    factor: Factor, logs: np.ndarray, values: Mapping[str, np.ndarray], name: str | None
) -> np.ndarray:
    """Return the expected logarithm of a factor for each state of one variable."""
    others = [other for other in factor.variables if other != name]
    if name is not None:
        logs = np.moveaxis(logs, factor.variables.index(name), 0)
    for other in reversed(others):
        logs = logs @ values[other]
    return logs


def _bound(
    factors: list[Factor], logs: list[np.ndarray], values: Mapping[str, np.ndarray]
) -> float:
    energy = sum(
        float(_expected(f, log, values, None)) for f, log in zip(factors, logs, strict=True)
    )
    entropy = 0.0
    for value in values.values():
        positive = value[value > 0]
        entropy -= float((positive * np.log(positive)).sum())
    return energy + entropy
