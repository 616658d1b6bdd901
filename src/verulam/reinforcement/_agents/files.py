"""Agents on disk: numbers and settings alone, so that opening a file runs no code of it."""

import json
from inspect import signature
from pathlib import Path
from typing import Any

import numpy as np

from verulam.base import DataError, draft_of
from verulam.numerics import (
    Schedule,
    constant,
    exponential,
    inverse,
    search_then_converge,
)
from verulam.reinforcement._agents.protocol import Spaces
from verulam.reinforcement._agents.tabular import QLearning, Sarsa, TabularAgent, TDPrediction
from verulam.reinforcement._exploration.rules import EpsilonGreedy, Softmax, loop_numbers

KINDS = {kind.__name__: kind for kind in (QLearning, Sarsa, TDPrediction)}
RULES = {rule.__name__: rule for rule in (EpsilonGreedy, Softmax)}
_SCHEDULES: tuple[Any, ...] = (constant, inverse, exponential, search_then_converge)
FORMAT = 1


def save_agent(agent: TabularAgent, path: str | Path) -> None:
    """Write an agent with a table to a file, with all that it needs to go on learning.

    Parameters
    ----------
    agent
        `QLearning`, `Sarsa` or `TDPrediction` that has been started.
    path
        The file, which is written as a whole or not at all.

    Notes
    -----
    The file is NumPy's ``npz`` without pickles. An episode that is not over is not saved.

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
    if type(agent).__name__ not in KINDS or type(agent) is not KINDS[type(agent).__name__]:
        raise DataError(f"agent is of type {type(agent).__name__}; files hold {', '.join(KINDS)}.")
    spaces = agent._started()
    settings: dict[str, Any] = {}
    arrays: dict[str, Any] = {}
    for name in signature(type(agent)).parameters:
        value = getattr(agent, "behaviour" if name == "policy" else name)
        if name == "policy" and value is not None:
            arrays["policy"] = np.asarray(value, dtype=np.float64)
        elif name == "random_state":
            continue
        elif name != "policy":
            settings[name] = _plain(name, value)
    header = {
        "format": FORMAT,
        "kind": type(agent).__name__,
        "settings": settings,
        "spaces": [spaces.n_states, spaces.n_actions, spaces.discount],
        "counts": [agent.n_steps_, agent.n_episodes_],
        "lots": agent.lots.state(),
    }
    with draft_of(path) as draft, draft.open("wb") as file:
        np.savez(
            file, header=np.array(json.dumps(header)), table=agent.table_,
            available=agent.available_, visits=agent.visits_, state_visits=agent.state_visits_,
            **arrays,
        )  # fmt: skip


def load_agent(path: str | Path) -> TabularAgent:
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


def _restored(header: dict[str, Any], arrays: dict[str, Any]) -> TabularAgent:
    if header.get("format") != FORMAT or header.get("kind") not in KINDS:
        raise DataError("the file holds no agent that this version knows.")
    settings = {name: _object(value) for name, value in header["settings"].items()}
    if "policy" in arrays:
        settings["policy"] = arrays.pop("policy")
    agent: TabularAgent = KINDS[header["kind"]](**settings)
    n_states, n_actions, discount = header["spaces"]
    agent.start(
        Spaces(int(n_states), int(n_actions), arrays["available"].astype(bool), 1, discount)
    )
    # Compiled loops follow these arrays without looking: their shapes must be those of the table.
    for name, place in (
        ("table", "table_"),
        ("visits", "visits_"),
        ("state_visits", "state_visits_"),
    ):
        fresh = getattr(agent, place)
        if arrays[name].shape != fresh.shape or not np.isfinite(arrays[name]).all():
            raise DataError(f"{name} has another shape than the spaces, or is not finite.")
        fresh[...] = arrays[name]
    agent._clock[:2] = [int(count) for count in header["counts"]]
    agent.lots.restore(header["lots"])
    return agent


def _plain(name: str, value: Any) -> Any:
    if isinstance(value, EpsilonGreedy | Softmax):
        level = value.epsilon if isinstance(value, EpsilonGreedy) else value.temperature
        return {"rule": type(value).__name__, "level": _plain(name, level), "clock": value.clock}
    if isinstance(value, Schedule):
        numbers = loop_numbers(value)
        if numbers is None:
            raise DataError(f"{name} is a schedule of your own, which a file cannot hold.")
        return {"schedule": numbers[0], "numbers": list(numbers[1:])}
    return value


def _object(value: Any) -> Any:
    if isinstance(value, dict) and "rule" in value:
        return RULES[value["rule"]](_object(value["level"]), clock=value["clock"])
    if isinstance(value, dict) and "schedule" in value:
        kind = int(value["schedule"])
        numbers = [float(number) for number in value["numbers"]]
        return _SCHEDULES[kind](*numbers[: 1 if kind == 0 else 2])
    return value
