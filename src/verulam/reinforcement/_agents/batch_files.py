"""What agents that remember or count put into a file, and how they are made of it again."""

from importlib import import_module
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator

from verulam.base import DataError
from verulam.reinforcement._agents.batch import Dyna, FittedQ, ModelLearner
from verulam.reinforcement._agents.protocol import Spaces, Transition, TransitionLog, check_log
from verulam.reinforcement._checks import check_array, check_codes

#: Packages whose estimators a file may name: they are installed, and hold nobody's code but theirs.
PACKAGES = ("sklearn", "verulam")
_COLUMNS = ("states", "actions", "rewards", "next_states", "terminated", "truncated")


def batch_arrays(agent: Any) -> dict[str, NDArray[Any]]:
    """Return the arrays of what an agent remembers, by their names in a file.

    Parameters
    ----------
    agent
        `Dyna`, `ModelLearner` or `FittedQ`; nothing of others.
    """
    if isinstance(agent, Dyna):
        return {
            "successors": agent._successors,
            "rewards": agent._rewards,
            "met": agent._met,
            "pairs": agent._pairs[: agent._n_pairs],
        }
    if isinstance(agent, ModelLearner):
        rows = [
            (state, action, successor, count, total)
            for (state, action), cell in agent._counts.items()
            for successor, (count, total) in cell.items()
        ]
        counts = np.asarray(rows, dtype=np.float64).reshape(-1, 5)
        plan = {} if agent._policy is None else {"plan": agent._policy}
        return {"counts": counts, "terminal": agent._terminal, "state_values": agent._values} | plan
    if isinstance(agent, FittedQ):
        memory = _columns("memory", TransitionLog.of(agent._memory)) if agent._memory else {}
        return memory | ({} if agent._log is None else _columns("fitted", agent._log))
    return {}


def fill_batch(agent: Any, arrays: dict[str, NDArray[Any]]) -> None:
    """Let an agent remember what a file holds.

    Parameters
    ----------
    agent
        `Dyna`, `ModelLearner` or `FittedQ` that has been started; others stay as they are.
    arrays
        What `batch_arrays` returned.
    """
    if isinstance(agent, Dyna):
        _fill_dyna(agent, arrays)
    elif isinstance(agent, ModelLearner):
        _fill_model(agent, arrays)
    elif isinstance(agent, FittedQ):
        spaces = agent._started()
        if "memory actions" in arrays:
            agent._memory = _transitions(_log("memory", arrays, spaces))
        if "fitted actions" in arrays:
            # Regressors may hold code: they are made anew from the rows they were fitted to.
            agent._fit(_log("fitted", arrays, spaces))


def _fill_dyna(agent: Dyna, arrays: dict[str, NDArray[Any]]) -> None:
    n_cells, room = agent._successors.shape
    n_states = agent.table_.shape[0]
    # A compiled loop follows these without looking.
    after = check_codes("successors", arrays["successors"].ravel() + 1, n_states + 1)
    agent._successors[...] = after.reshape(n_cells, room) - 1
    agent._rewards[...] = check_array("rewards", arrays["rewards"], (n_cells, room))
    agent._met[...] = check_codes("met", arrays["met"], np.iinfo(np.int64).max, n_cells)
    pairs = check_codes("pairs", arrays["pairs"], n_cells)
    if len(np.unique(pairs)) != len(pairs) or not np.array_equal(
        np.sort(pairs), np.flatnonzero(agent._met)
    ):
        raise DataError("pairs must be those that were met, once each.")
    agent._pairs[: len(pairs)] = pairs
    agent._n_pairs = len(pairs)


def _fill_model(agent: ModelLearner, arrays: dict[str, NDArray[Any]]) -> None:
    spaces = agent._started()
    n_states = spaces.n_states or 0
    rows = check_array("counts", arrays["counts"], (None, 5))
    pairs = zip(
        check_codes("states", rows[:, 0], n_states),
        check_codes("actions", rows[:, 1], spaces.n_actions),
        check_codes("successors", rows[:, 2], n_states),
        strict=True,
    )
    if (rows[:, 3] <= 0).any():
        raise DataError("counts must be above 0.")
    for (state, action, successor), (count, total) in zip(pairs, rows[:, 3:], strict=True):
        cell = agent._counts.setdefault((int(state), int(action)), {})
        cell[int(successor)] = [float(count), float(total)]
    agent._terminal[...] = check_codes("terminal", arrays["terminal"], 2, n_states).astype(bool)
    agent._values = check_array("state_values", arrays["state_values"], (n_states,))
    if "plan" in arrays:
        agent._policy = check_codes("plan", arrays["plan"], spaces.n_actions, n_states)


def _columns(prefix: str, log: TransitionLog) -> dict[str, NDArray[Any]]:
    return {f"{prefix} {name}": getattr(log, name) for name in _COLUMNS}


def _log(prefix: str, arrays: dict[str, NDArray[Any]], spaces: Spaces) -> TransitionLog:
    """Return the transitions of a file, after a check that the spaces have such."""
    log = TransitionLog(*(arrays[f"{prefix} {name}"] for name in _COLUMNS))
    if spaces.n_states is not None:
        check_log(log, spaces)
        return log
    n_rows = len(log)
    check_codes("actions", log.actions, spaces.n_actions, n_rows)
    check_array("rewards", log.rewards, (n_rows,))
    for name, states in (("states", log.states), ("next_states", log.next_states)):
        check_array(name, states.reshape(n_rows, -1), (n_rows, spaces.state_size))
    return log


def _transitions(log: TransitionLog) -> list[Transition]:
    columns = (getattr(log, name) for name in _COLUMNS)
    return [Transition(*row) for row in zip(*columns, strict=True)]


def plain_estimator(name: str, estimator: Any) -> dict[str, Any]:
    """Return an estimator that is not fitted as JSON has it: its class and its parameters.

    Parameters
    ----------
    name
        What it is called in a message.
    estimator
        One of scikit-learn or of this package.
    """
    kind = type(estimator)
    if kind.__module__.partition(".")[0] not in PACKAGES:
        raise DataError(
            f"{name} is of type {kind.__name__}, which may hold code of your own; a file holds "
            f"estimators of {' and '.join(PACKAGES)}."
        )
    parameters = estimator.get_params(deep=False)
    if "random_state" in parameters and parameters["random_state"] is None:
        raise DataError(
            f"{name} has no random_state, so that what it has learned cannot be made again; give "
            "it a number."
        )
    return {
        "estimator": f"{kind.__module__}:{kind.__name__}",
        "parameters": {
            key: _plain_parameter(f"{name}.{key}", value) for key, value in parameters.items()
        },
    }


def _plain_parameter(name: str, value: Any) -> Any:
    if isinstance(value, BaseEstimator):
        return plain_estimator(name, value)
    if isinstance(value, list | tuple):
        items = [_plain_parameter(name, item) for item in value]
        return {"tuple": items} if isinstance(value, tuple) else items
    if isinstance(value, np.generic):
        value = value.item()
    if value is not None and not isinstance(value, bool | int | float | str):
        raise DataError(
            f"{name} is of type {type(value).__name__}, which a file cannot hold; expected "
            "numbers, words and estimators."
        )
    return value


def estimator_of(plain: dict[str, Any]) -> Any:
    """Return the estimator that a file describes.

    Parameters
    ----------
    plain
        What `plain_estimator` returned.
    """
    module, _, word = str(plain["estimator"]).partition(":")
    kind = getattr(import_module(module), word) if module.split(".")[0] in PACKAGES else None
    if not (isinstance(kind, type) and issubclass(kind, BaseEstimator) and hasattr(kind, "fit")):
        raise DataError(f"the file names {module}.{word}, which is no estimator that it may name.")
    parameters = {key: _parameter(value) for key, value in plain["parameters"].items()}
    # A folder of cached results holds pickles, which are code.
    if parameters.get("memory") is not None:
        raise DataError("the file names a folder of cached results, which could hold code.")
    return kind(**parameters)


def _parameter(value: Any) -> Any:
    if isinstance(value, list):
        return [_parameter(item) for item in value]
    if isinstance(value, dict):
        if "tuple" in value:
            return tuple(_parameter(item) for item in value["tuple"])
        return estimator_of(value)
    return value
