"""Agents on disk: numbers and settings alone, so that opening a file runs no code of it."""

import json
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator

from verulam.base import DataError, draft_of
from verulam.numerics import (
    Schedule,
    constant,
    exponential,
    inverse,
    search_then_converge,
)
from verulam.reinforcement._agents.approximation import LinearValues, NetworkValues
from verulam.reinforcement._agents.batch import Dyna, FittedQ, ModelLearner
from verulam.reinforcement._agents.batch_files import (
    batch_arrays,
    estimator_of,
    fill_batch,
    plain_estimator,
)
from verulam.reinforcement._agents.chance import RandomAgent
from verulam.reinforcement._agents.codings import Cells, Identity, OneHot, RadialBasis, Tiles
from verulam.reinforcement._agents.gradient import (
    GradientAgent,
    GradientQLearning,
    GradientSarsa,
    GradientTD,
)
from verulam.reinforcement._agents.protocol import Agent, Spaces
from verulam.reinforcement._agents.tabular import QLearning, Sarsa, TabularAgent, TDPrediction
from verulam.reinforcement._exploration.rules import EpsilonGreedy, Softmax, loop_numbers

KINDS: dict[str, Any] = {
    kind.__name__: kind
    for kind in (
        QLearning, Sarsa, TDPrediction, Dyna, ModelLearner, FittedQ, GradientSarsa,
        GradientQLearning, GradientTD, RandomAgent,
    )
}  # fmt: skip
#: Parts that agents are made of, which a file holds by their parameters.
PARTS: dict[str, Any] = {
    kind.__name__: kind
    for kind in (LinearValues, NetworkValues, OneHot, Identity, Cells, Tiles, RadialBasis)
}
RULES = {rule.__name__: rule for rule in (EpsilonGreedy, Softmax)}
_SCHEDULES: tuple[Any, ...] = (constant, inverse, exponential, search_then_converge)
#: Raised whenever older programs could not read what newer ones write.
FORMAT = 1


def save_agent(agent: Agent, path: str | Path) -> None:
    """Write an agent to a file, with all that it needs to go on learning.

    Parameters
    ----------
    agent
        Any agent of this package that has been started. Functions and classes of your own have no
        place in a file.
    path
        The file, which is written as a whole or not at all.

    Notes
    -----
    The file is NumPy's ``npz`` without pickles. An episode that is not over is not saved. Of
    `FittedQ` it holds the transitions; loading fits the regressors to them once more.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from verulam.reinforcement import GridWorld, QLearning, load_agent, save_agent, train
    >>> agent = QLearning(random_state=0)
    >>> run = train(agent, GridWorld("S..G").process, episodes=5)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     save_agent(agent, Path(folder, "agent.npz"))
    ...     again = load_agent(Path(folder, "agent.npz"))
    >>> bool((again.values() == agent.values()).all())
    True
    """
    if KINDS.get(type(agent).__name__) is not type(agent):
        raise DataError(f"agent is of type {type(agent).__name__}; files hold {', '.join(KINDS)}.")
    spaces = agent._started()
    parameters = agent.get_params(deep=False)
    del parameters["random_state"]
    arrays = _learned(agent)
    if isinstance(agent, TDPrediction) and parameters.pop("behaviour") is not None:
        arrays["policy"] = np.asarray(agent.behaviour, dtype=np.float64)
    if isinstance(agent, GradientAgent):
        parameters["approximator"] = agent.approximator_
    header = {
        "format": FORMAT,
        "kind": type(agent).__name__,
        "settings": {name: _plain(name, value, arrays) for name, value in parameters.items()},
        "spaces": [spaces.n_states, spaces.n_actions, spaces.discount, spaces.state_size],
        "counts": _counts(agent),
        "lots": agent.lots.state(),
    }
    with draft_of(path) as draft, draft.open("wb") as file:
        np.savez(file, header=np.array(json.dumps(header)), **arrays)


def _counts(agent: Any) -> list[int]:
    """Return the steps and the episodes of an agent, as far as it counts them."""
    episodes = getattr(agent, "n_episodes_", getattr(agent, "_n_episodes", 0))
    return [getattr(agent, "n_steps_", 0), episodes]


def _learned(agent: Any) -> dict[str, Any]:
    """Return the arrays that an agent has come to, by their names in a file."""
    if not isinstance(agent, TabularAgent):
        offered = agent._started().available
        learned = {} if offered is None else {"available": offered}
        if isinstance(agent, GradientAgent):
            learned["parameters"] = agent.approximator_.parameters
        return learned | batch_arrays(agent)
    return batch_arrays(agent) | {
        "table": agent.table_,
        "available": agent.available_,
        "visits": agent.visits_,
        "state_visits": agent.state_visits_,
    }


def load_agent(path: str | Path) -> Any:
    """Read an agent from a file that `save_agent` wrote.

    Parameters
    ----------
    path
        The file.
    """
    try:
        with np.load(path, allow_pickle=False) as stored:
            arrays = {name: stored[name] for name in stored.files}
        header = json.loads(str(arrays.pop("header")))
        return _restored(header, arrays)
    except OSError:
        raise
    except DataError as error:
        raise DataError(f"{path}: {error}") from None
    except Exception as error:  # whatever a damaged file makes of the reader
        raise DataError(f"{path} is no file of an agent ({type(error).__name__}).") from None


def _restored(header: dict[str, Any], arrays: dict[str, Any]) -> Any:
    if header.get("format") != FORMAT or header.get("kind") not in KINDS:
        raise DataError("the file holds no agent that this version knows.")
    settings = {name: _object(value, arrays) for name, value in header["settings"].items()}
    if "policy" in arrays:
        settings["behaviour"] = arrays.pop("policy")
    agent = KINDS[header["kind"]](**settings)
    # Files of the first agents with tables do not say how long a vector is.
    n_states, n_actions, discount, *size = header["spaces"]
    offered = arrays["available"].astype(bool) if "available" in arrays else None
    agent.start(Spaces(n_states, int(n_actions), offered, (size or [1])[0], discount))
    if isinstance(agent, TabularAgent):
        _fill_table(agent, arrays)
        agent._clock[:2] = [int(count) for count in header["counts"]]
    elif isinstance(agent, GradientAgent):
        _fill("parameters", agent.approximator_.parameters, arrays)
        agent.n_steps_, agent.n_episodes_ = (int(count) for count in header["counts"])
    else:
        agent._n_episodes = int(header["counts"][1])
    fill_batch(agent, arrays)
    agent.lots.restore(header["lots"])
    return agent


def _fill_table(agent: TabularAgent, arrays: dict[str, Any]) -> None:
    """Give an agent its table back, and how often it was visited."""
    for name, place in (
        ("table", agent.table_),
        ("visits", agent.visits_),
        ("state_visits", agent.state_visits_),
    ):
        _fill(name, place, arrays)


def _fill(name: str, place: Any, arrays: dict[str, Any]) -> None:
    # Compiled loops follow these arrays without looking: their shapes must be those of the spaces.
    if arrays[name].shape != place.shape or not np.isfinite(arrays[name]).all():
        raise DataError(f"{name} has another shape than the spaces, or is not finite.")
    place[...] = arrays[name]


def _plain(name: str, value: Any, arrays: dict[str, Any]) -> Any:
    """Return a parameter as JSON has it; arrays are put among the others."""
    if PARTS.get(type(value).__name__) is type(value):
        parts = value.get_params(deep=False)
        return {
            "part": type(value).__name__,
            "parameters": {
                key: _plain(f"{name}.{key}", part, arrays) for key, part in parts.items()
            },
        }
    if isinstance(value, EpsilonGreedy | Softmax):
        level = value.epsilon if isinstance(value, EpsilonGreedy) else value.temperature
        plain = _plain(name, level, arrays)
        return {"rule": type(value).__name__, "level": plain, "clock": value.clock}
    if isinstance(value, Schedule):
        numbers = loop_numbers(value)
        if numbers is None:
            raise DataError(f"{name} is a schedule of your own, which a file cannot hold.")
        return {"schedule": numbers[0], "numbers": list(numbers[1:])}
    if isinstance(value, BaseEstimator) and hasattr(value, "fit"):
        return plain_estimator(name, value)
    if isinstance(value, np.ndarray):
        arrays[f"part {name}"] = value
        return {"array": f"part {name}"}
    if value is not None and not isinstance(value, bool | int | float | str):
        raise DataError(
            f"{name} is of type {type(value).__name__}, which may hold code of your own; a file "
            "cannot."
        )
    return value


def _object(value: Any, arrays: dict[str, Any]) -> Any:
    if not isinstance(value, dict):
        return value
    if "part" in value:
        parameters = {key: _object(part, arrays) for key, part in value["parameters"].items()}
        return PARTS[value["part"]](**parameters)
    if "rule" in value:
        return RULES[value["rule"]](_object(value["level"], arrays), clock=value["clock"])
    if "estimator" in value:
        return estimator_of(value)
    if "array" in value:
        return arrays[value["array"]]
    kind = int(value["schedule"])
    numbers = [float(number) for number in value["numbers"]]
    return _SCHEDULES[kind](*numbers[: 1 if kind == 0 else 2])
