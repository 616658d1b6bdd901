"""Searching for a structure: networks as states, changes of their layers as moves between them."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from verulam.base import (
    COLLECTION,
    COUNT,
    FUNCTION,
    NONE,
    SEED,
    TEXT,
    WHOLE,
    DataError,
    Seed,
    checked_arguments,
    clone,
    spawn_seeds,
    unknown_name,
    whole_trainings,
)
from verulam.neural._arguments import PAIR, PERCEPTRON, ROWS, TARGETS, WHOLES

State = tuple[int, ...]
Operator = Callable[[State], Iterable[State]]
Goodness = Callable[[float, int], float]

_DIRECTIONS = ("forward", "backward", "floating")


def add_unit(state: State) -> Iterable[State]:
    """Yield the states with one unit more in one of the layers."""
    for layer, size in enumerate(state):
        yield (*state[:layer], size + 1, *state[layer + 1 :])


def remove_unit(state: State) -> Iterable[State]:
    """Yield the states with one unit fewer in one of the layers, none of which becomes empty."""
    for layer, size in enumerate(state):
        if size > 1:
            yield (*state[:layer], size - 1, *state[layer + 1 :])


def add_layer(state: State) -> Iterable[State]:
    """Yield the state with another layer on top, as wide as the last."""
    yield (*state, state[-1])


def remove_layer(state: State) -> Iterable[State]:
    """Yield the states without one of the layers, one of which always stays."""
    if len(state) > 1:
        for layer in range(len(state)):
            yield (*state[:layer], *state[layer + 1 :])


#: Moves to larger and to smaller networks.
GROWING: Mapping[str, Operator] = {"unit": add_unit, "layer": add_layer}
SHRINKING: Mapping[str, Operator] = {"unit": remove_unit, "layer": remove_layer}


@dataclass(frozen=True)
class StructureSearch:
    """What a search over structures came to.

    Attributes
    ----------
    learner
        The best network, fitted.
    path : DataFrame
        The structures it went through: layers, parameters, validation error, cost.
    tried : DataFrame
        All structures that were trained, in order.
    """

    learner: Any
    path: pd.DataFrame
    tried: pd.DataFrame


@checked_arguments(
    learner=PERCEPTRON,
    X=ROWS,
    y=TARGETS,
    validation=PAIR,
    start=WHOLES,
    direction=TEXT,
    operators=COLLECTION,
    cost=FUNCTION | NONE,
    max_steps=WHOLE,
)
@whole_trainings()
def search_structure(
    learner: Any,
    X: Any,
    y: Any,
    validation: tuple[Any, Any],
    *,
    start: State = (1,),
    direction: str = "forward",
    operators: Iterable[str | Operator] = ("unit", "layer"),
    cost: Goodness | None = None,
    max_steps: int = 20,
) -> StructureSearch:
    """Move from structure to structure while the cost falls.

    Parameters
    ----------
    learner
        An `verulam.neural.MLPClassifier` or `verulam.neural.MLPRegressor` whose settings are used.
    X, y
        Rows to train on.
    validation
        Other rows and their targets, on which structures are compared.
    start
        Units of each hidden layer to start from.
    direction
        "forward" adds, "backward" takes away, "floating" does either.
    operators
        What may be added or taken away: "unit", "layer", or functions that return the neighbours of
        a structure, which then say themselves where they lead.
    cost
        Function of the validation error (one minus the score) and the number of parameters, made
        small; None is the error, with fewer parameters where it is equal.
    max_steps
        Most moves.

    Returns
    -------
    StructureSearch
        The best network, the path to it and all that was tried.

    Notes
    -----
    Alpaydin 11.9 and exercise 13: architectures are states, operators lead from one to the next,
    and a goodness of error and complexity chooses. Adding units alone is dynamic node creation with
    networks trained afresh (see `verulam.neural.grow`).

    Examples
    --------
    >>> import numpy as np
    >>> from verulam.neural import MLPRegressor, search_structure
    >>> x = np.linspace(-3, 3, 80)[:, None]
    >>> y = np.sin(2 * x[:, 0])
    >>> settings = MLPRegressor(activation="tanh", solver="lbfgs", tol=1e-2, random_state=0)
    >>> result = search_structure(
    ...     settings, x[::2], y[::2], (x[1::2], y[1::2]), operators=["unit"], max_steps=5
    ... )
    >>> result.path["layers"].tolist()[:2]
    [(1,), (2,)]
    """
    moves = _moves(direction, operators)
    if not len(start) or min(start) < 1 or max_steps < 0:
        raise DataError(
            f"start needs layers of at least one unit, max_steps at least 0; got {start} "
            f"and {max_steps}."
        )
    cost = cost or (lambda error, _: error)
    tried: dict[State, tuple[float, int, Any]] = {}

    def value(state: State) -> tuple[float, int]:
        if state not in tried:
            fitted = clone(learner).set_params(hidden_layer_sizes=state).fit(X, y)
            error = 1.0 - float(fitted.score(*validation))
            size = int(fitted.size_report()["parameters"].sum())
            tried[state] = (error, size, fitted)
        error, size, _ = tried[state]
        return float(cost(error, size)), size

    current = tuple(int(size) for size in start)
    path = [current]
    value(current)
    for _ in range(max_steps):
        neighbours = [state for move in moves for state in move(current)]
        best = min(neighbours, key=value, default=current)
        if best == current or value(best) >= value(current):
            break
        current = best
        path.append(current)
    rows = {
        state: (state, size, error, value(state)[0]) for state, (error, size, _) in tried.items()
    }
    columns = ["layers", "parameters", "validation_error", "cost"]
    return StructureSearch(
        tried[current][2],
        pd.DataFrame([rows[state] for state in path], columns=columns),
        pd.DataFrame(list(rows.values()), columns=columns),
    )


@checked_arguments(
    learner=PERCEPTRON,
    X=ROWS,
    y=TARGETS,
    validation=PAIR,
    sizes=COLLECTION,
    n_repeats=COUNT,
    random_state=SEED,
)
@whole_trainings()
def complexity_curve(
    learner: Any,
    X: Any,
    y: Any,
    validation: tuple[Any, Any],
    sizes: Iterable[Any],
    *,
    n_repeats: int = 5,
    random_state: Seed = None,
) -> pd.DataFrame:
    """Return the error by the number of hidden units, on training rows and on others.

    Parameters
    ----------
    learner
        An `verulam.neural.MLPClassifier` or `verulam.neural.MLPRegressor` whose settings are used.
    X, y
        Rows to train on.
    validation
        Other rows and their targets.
    sizes
        Values of `hidden_layer_sizes`: numbers of units, or tuples of them.
    n_repeats
        Networks of each size, from different starts.
    random_state
        Seed of the starts.

    Returns
    -------
    DataFrame
        For each size: parameters, mean and standard deviation of the training and of the
        validation error, which is one minus the score.

    Notes
    -----
    Alpaydin 11.8.2, fig. 11.12: with more units the training error falls or stays, and the
    validation error rises again once the network follows the noise. A study with the factor
    `hidden_layer_sizes` asks the same with resampling and tests.

    Examples
    --------
    >>> import numpy as np
    >>> from verulam.neural import MLPRegressor, complexity_curve
    >>> x = np.linspace(-3, 3, 60)[:, None]
    >>> y = np.sin(2 * x[:, 0])
    >>> net = MLPRegressor(activation="tanh", solver="lbfgs", tol=1e-2)
    >>> curve = complexity_curve(
    ...     net, x[::2], y[::2], (x[1::2], y[1::2]), [1, 4], n_repeats=2, random_state=0
    ... )
    >>> curve["parameters"].tolist()
    [4, 13]
    """
    seeds = spawn_seeds(random_state, n_repeats)
    rows = []
    for size in sizes:
        errors = []
        for seed in seeds:
            net = clone(learner).set_params(hidden_layer_sizes=size, random_state=seed).fit(X, y)
            errors.append((1.0 - net.score(X, y), 1.0 - net.score(*validation)))
        means, spreads = np.mean(errors, axis=0), np.std(errors, axis=0)
        parameters = int(net.size_report()["parameters"].sum())
        rows.append((size, parameters, means[0], spreads[0], means[1], spreads[1]))
    if not rows:
        raise DataError("sizes: at least one is needed.")
    columns = ["units", "parameters", "training_error", "training_deviation"]
    return pd.DataFrame(rows, columns=[*columns, "validation_error", "validation_deviation"])


def _moves(direction: str, operators: Iterable[str | Operator]) -> list[Operator]:
    if direction not in _DIRECTIONS:
        raise unknown_name("direction", direction, _DIRECTIONS)
    moves: list[Operator] = []
    for operator in operators:
        if callable(operator):
            moves.append(operator)
            continue
        if not isinstance(operator, str) or operator not in GROWING:
            raise unknown_name("operator", str(operator), GROWING)
        if direction != "backward":
            moves.append(GROWING[operator])
        if direction != "forward":
            moves.append(SHRINKING[operator])
    return moves
