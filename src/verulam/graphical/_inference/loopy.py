"""Messages on a factor graph: exact on trees, an approximation where it has loops."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from verulam.base import DataError, DataWarning, warn_caller
from verulam.graphical._factor import Factor, FactorModel, as_model, read_evidence
from verulam.graphical._inference.answers import Posterior, impossible


@dataclass(frozen=True, eq=False)
class Beliefs:
    """Distributions of single variables that messages or a variational method ended in.

    Attributes
    ----------
    states
        Labels of the states, by variable.
    values
        Probability of each state, by variable.
    log_evidence
        Logarithm of the probability of the evidence (of Z for a field): exact on a tree, Bethe's
        approximation with loops, a lower bound for mean field.
    method
        How they were computed.
    n_iter
        Sweeps that were made.
    converged
        Whether the last one changed nothing.
    to_variable
        Last message of each factor to each of its variables, by (number of factor, variable).
    to_factor
        Last message of each variable to each of its factors, by (variable, number of factor).
    """

    states: Mapping[str, tuple[Any, ...]]
    values: Mapping[str, np.ndarray]
    log_evidence: float
    method: str
    n_iter: int
    converged: bool
    to_variable: Mapping[tuple[int, str], np.ndarray]
    to_factor: Mapping[tuple[str, int], np.ndarray]

    def posterior(self, name: str) -> Posterior:
        """Return the distribution of one variable.

        Parameters
        ----------
        name
            The variable.
        """
        FactorModel(self.states, ()).check_name(name)
        return Posterior(
            (name,), (self.states[name],), self.values[name], self.log_evidence, self.method,
            self.n_iter,
        )  # fmt: skip


def loopy_propagation(
    model: Any,
    evidence: Mapping[str, Any] | None = None,
    *,
    max_iter: int = 500,
    tol: float = 1e-10,
    damping: float = 0.0,
) -> Beliefs:
    r"""Send messages between factors and variables until they settle.

    Parameters
    ----------
    model
        A network, a field, or the variables and factors of one.
    evidence
        What is known.
    max_iter
        Most sweeps over all messages.
    tol
        Change of the messages from which on they have settled.
    damping
        Share of the old message that is left in the new one, against oscillation.

    Notes
    -----
    :math:`\mu_{x \to f}(x) = \prod_{g \ne f} \mu_{g \to x}(x)` and
    :math:`\mu_{f \to x}(x) = \sum_{\sim x} f \prod_{y \ne x} \mu_{y \to f}(y)` (Alpaydin 14.6).
    On a graph with loops the same messages are an approximation.
    """
    if not 0 <= damping < 1:
        raise DataError(f"damping: expected a number from 0 up to below 1, not {damping!r}.")
    model = as_model(model)
    known = read_evidence(model, evidence)
    factors = [*model.factors, *known.factors(model)]
    to_variable = {
        (k, name): np.full(len(model.states[name]), 1.0 / len(model.states[name]))
        for k, factor in enumerate(factors)
        for name in factor.variables
    }
    near = {name: [k for k, f in enumerate(factors) if name in f.variables] for name in model.names}
    to_factor: dict[tuple[str, int], np.ndarray] = {}
    converged, sweeps = False, 0
    while sweeps < max_iter and not converged:
        sweeps += 1
        change = 0.0
        for k, factor in enumerate(factors):
            for name in factor.variables:
                to_factor[name, k] = _product(
                    [to_variable[other, name] for other in near[name] if other != k],
                    len(model.states[name]),
                    evidence,
                )
            for name in factor.variables:
                message = _to_variable(factor, name, k, to_factor, evidence)
                message = damping * to_variable[k, name] + (1 - damping) * message
                change = max(change, float(np.abs(message - to_variable[k, name]).max()))
                to_variable[k, name] = message
        converged = change <= tol
    if not converged:
        warn_caller(
            f"The messages had not settled after max_iter={max_iter} sweeps; raise max_iter, or "
            "set damping to .5.",
            DataWarning,
        )
    values = {
        name: _product([to_variable[k, name] for k in near[name]], n, evidence)
        for name, n in zip(model.names, model.sizes, strict=True)
    }
    log_evidence = _bethe(factors, values, to_factor, near)
    return Beliefs(
        model.states, values, log_evidence, "loopy", sweeps, converged, to_variable, to_factor
    )


def _product(
    messages: list[np.ndarray], n_states: int, evidence: Mapping[str, Any] | None
) -> np.ndarray:
    result = np.ones(n_states)
    for message in messages:
        result = result * message
        total = result.sum()
        if not total > 0:
            raise impossible(evidence)
        result /= total
    return result if messages else result / n_states


def _to_variable(
    factor: Factor,
    name: str,
    number: int,
    to_factor: Mapping[tuple[str, int], np.ndarray],
    evidence: Mapping[str, Any] | None,
) -> np.ndarray:
    """Return the factor times the messages of its other variables, these summed out."""
    values = np.moveaxis(factor.values, factor.variables.index(name), 0)
    others = [other for other in factor.variables if other != name]
    for other in reversed(others):
        values = values @ to_factor[other, number]
    total = values.sum()
    if not total > 0:
        raise impossible(evidence)
    return values / total


def _bethe(
    factors: list[Factor],
    values: Mapping[str, np.ndarray],
    to_factor: Mapping[tuple[str, int], np.ndarray],
    near: Mapping[str, list[int]],
) -> float:
    """Return Bethe's approximation of the log of the total, which is exact on trees."""
    # Expected logarithm and entropy of each factor; a variable in n factors has its entropy
    # counted n - 1 times too often.
    result = 0.0
    for k, factor in enumerate(factors):
        belief = factor.values
        for axis, name in enumerate(factor.variables):
            shape = [-1 if j == axis else 1 for j in range(belief.ndim)]
            belief = belief * to_factor[name, k].reshape(shape)
        belief = belief / belief.sum()
        positive = belief > 0
        ratio = factor.values[positive] / belief[positive]
        result += factor.log_scale + float((belief[positive] * np.log(ratio)).sum())
    for name, value in values.items():
        positive = value[value > 0]
        result += (len(near[name]) - 1) * float((positive * np.log(positive)).sum())
    return result
