"""Environments of a study: where agents learn, for how long, and what they are known by."""

from collections.abc import Callable, Mapping
from copy import deepcopy
from dataclasses import dataclass, field, replace
from functools import cache, partial
from importlib import import_module
from numbers import Integral
from typing import TYPE_CHECKING, Any

import numpy as np

from verulam.base import DataError, UnknownNameError, unknown_name
from verulam.catalogue import agent_entries
from verulam.experiment._identity import describe, digest

if TYPE_CHECKING:
    from verulam.reinforcement import Agent, Spaces

#: What a reward one step later is worth where neither the environment nor the agent says.
DISCOUNT = 0.99


@dataclass(frozen=True, eq=False)
class EnvironmentChoice:
    """One environment of a study, in the place of a data set.

    Attributes
    ----------
    source
        Name of one of ours (`verulam.reinforcement.WORLDS`), a Gymnasium id such as
        "FrozenLake-v1", a process, a world, or a function without arguments that makes one.
    label
        What it is called in the results.
    episodes
        Episodes of training.
    test_episodes
        Episodes after it, in which the policy that was learned acts and nothing is learned.
    max_steps
        Steps after which an episode is broken off.
    discount
        What a reward one step later is worth, for agents that are not told; None takes that of the
        environment, and 0.99 where it has none.
    options
        Arguments of `gymnasium.make`, for an id.

    Examples
    --------
    >>> from verulam.experiment import EnvironmentChoice, Study, make_plan
    >>> walk = EnvironmentChoice("cliff", episodes=100)
    >>> print(make_plan(Study("walks", [walk], ["Q-learning", "Sarsa"], resampling="10 seeds")))
    walks: 20 runs = 2 settings of agents x 1 environment (cliff) x 10 seeds, seed 0
    """

    source: Any
    label: str | None = None
    episodes: int = 300
    test_episodes: int = 20
    max_steps: int = 1000
    discount: float | None = None
    options: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for key in ("episodes", "test_episodes", "max_steps"):
            count = getattr(self, key)
            if isinstance(count, bool) or not isinstance(count, Integral) or count < 1:
                raise DataError(f"{key}: {count!r}; expected a whole number of at least 1.")
        rate: Any = self.discount
        is_number = isinstance(rate, int | float) and not isinstance(rate, bool)
        if rate is not None and not (is_number and 0.0 <= rate <= 1.0):
            raise DataError(f"discount: {rate!r}; expected a number from 0 to 1.")
        if self.options and not isinstance(self.source, str):
            raise DataError("options: are for a Gymnasium id; make the environment with them.")

    def described(self) -> dict[str, Any]:
        """Return the choice for the record."""
        named = isinstance(self.source, str)
        counts = {key: getattr(self, key) for key in ("episodes", "test_episodes", "max_steps")}
        rate = {} if self.discount is None else {"discount": self.discount}
        options = {"options": describe(self.options)} if self.options else {}
        source = self.source if named else type(self.source).__name__
        return {"source": source, "label": self.label, **counts, **rate, **options}


@dataclass(frozen=True, eq=False)
class World:
    """An environment that is open: how one is made, what it offers, what identifies it.

    Attributes
    ----------
    name
        What it is called.
    make
        Makes a world that nobody has acted in yet.
    spaces
        What an agent can meet and do there.
    choice
        How long agents learn in it.
    content_hash
        Hash of all that its runs depend on.
    task, target
        In the place of those of a data set.
    """

    name: str
    make: Callable[[], Any]
    spaces: "Spaces"
    choice: EnvironmentChoice
    content_hash: str
    task: str = "control"
    target: str = "reward"

    @property
    def discount(self) -> float:
        """What a reward one step later is worth."""
        known = (self.choice.discount, self.spaces.discount, DISCOUNT)
        return next(float(rate) for rate in known if rate is not None)


@cache
def reinforcement() -> Any:
    """Return the package of agents, whose compilers studies of tables do without."""
    return import_module("verulam.reinforcement")


def open_world(choice: EnvironmentChoice) -> World:
    """Return the environment of a study.

    Parameters
    ----------
    choice
        The environment as the study has it.

    Examples
    --------
    >>> from verulam.experiment import EnvironmentChoice
    >>> world = open_world(EnvironmentChoice("cliff"))
    >>> world.name, world.spaces.n_actions, world.discount
    ('cliff', 4, 1.0)
    """
    source = choice.source
    if isinstance(source, str):
        name, make, identity = _named(source, choice.options)
    else:
        name, make, identity = type(source).__name__, _maker(source), _identity(source)
    counts = [choice.episodes, choice.test_episodes, choice.max_steps, choice.discount]
    try:
        spaces = reinforcement().Spaces.of(make())
    except DataError as error:
        raise DataError(f"environment {choice.label or name!r}: {error}") from None
    return World(name, make, spaces, choice, digest([identity, *counts]))


def _named(source: str, options: Mapping[str, Any]) -> tuple[str, Callable[[], Any], Any]:
    plain = " ".join(source.lower().replace("_", " ").split())
    ours = reinforcement().WORLDS
    if plain in ours:
        return plain, partial(_same, ours[plain]().process), ["world", plain]
    try:
        import gymnasium
    except ImportError:
        raise UnknownNameError(
            f"Unknown environment {source!r}; there are {', '.join(ours)}, and with gymnasium "
            "installed its own."
        ) from None
    try:
        gymnasium.spec(source)
    except gymnasium.error.Error as error:
        words = f"There are {', '.join(ours)}, and Gymnasium says: {' '.join(str(error).split())}"
        raise unknown_name(
            "environment", source, [*ours, *gymnasium.registry], hint=words
        ) from None
    settings = dict(options)
    make = partial(gymnasium.make, source, **settings)
    return source, make, ["gymnasium", source, describe(settings)]


def _same(process: Any) -> Any:
    """Return a process, which nothing that an agent does can change."""
    return process


def _maker(source: Any) -> Callable[[], Any]:
    process = getattr(source, "process", source)
    if isinstance(process, reinforcement().MarkovDecisionProcess) and not hasattr(source, "step"):
        return partial(_same, process)
    if callable(source) and not hasattr(source, "step"):
        return source
    return partial(deepcopy, source)


def _identity(source: Any) -> Any:
    """Return what identifies an environment that is no name."""
    process = getattr(source, "process", source)
    if isinstance(process, reinforcement().MarkovDecisionProcess):
        noise = np.empty(0) if process.noise is None else process.noise
        parts = (process.outcome_rewards, process.start, noise, process.discount)
        return ["process", describe(process.transitions), *map(describe, parts)]
    spec = getattr(source, "spec", None)
    if spec is not None and getattr(spec, "id", None):
        return ["gymnasium", spec.id, describe(dict(spec.kwargs))]
    try:
        return describe(source)
    except ValueError as error:
        raise DataError(f"environments: {error}") from None


def fitting_agents(spaces: "Spaces") -> list[str]:
    """Return the agents of the catalogue that can act in some spaces, by their names.

    Parameters
    ----------
    spaces
        What there is to meet and to do.

    Examples
    --------
    >>> from verulam.reinforcement import Spaces
    >>> fitting_agents(Spaces(None, 2, state_size=4))
    ['random agent', 'fitted Q', 'gradient Q-learning', 'gradient Sarsa']
    """
    fitting = [item.name for item in agent_entries() if not misfit(item.make(), spaces)]
    # With numbered states, functions of states are tables by another name, and slower.
    tables = [name for name in fitting if name not in _FUNCTIONS]
    return fitting if spaces.n_states is None else tables


_FUNCTIONS = ("fitted Q", "gradient Q-learning", "gradient Sarsa")


def misfit(agent: "Agent", spaces: "Spaces") -> str:
    """Return why an agent cannot act in some spaces; empty where it can.

    Parameters
    ----------
    agent
        The agent, with a discount.
    spaces
        What there is to meet and to do.
    """
    known = replace(spaces, discount=DISCOUNT) if spaces.discount is None else spaces
    try:
        deepcopy(agent).start(known)
    except DataError as error:
        return str(error)
    return ""
