"""Training: an agent and a world by turns, in one compiled loop where both are tables."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from verulam.base import DataError, Seed, may_end_early, spawn_seeds
from verulam.reinforcement._agents.protocol import (
    Agent,
    Spaces,
    Transition,
    TransitionLog,
    cumulative_shares,
)
from verulam.reinforcement._agents.tabular import TabularAgent, TDPrediction
from verulam.reinforcement._agents.tabular_loops import N_DONE, STATE, run_together
from verulam.reinforcement._checks import (
    check_array,
    check_codes,
    check_count,
    check_option,
    check_type,
)
from verulam.reinforcement._processes.environment import ProcessEnvironment
from verulam.reinforcement._processes.environment_loops import draw_code
from verulam.reinforcement._processes.process import MarkovDecisionProcess

#: Steps of one call of the compiled loop: as many random numbers are drawn ahead.
BLOCK = 16_384


@dataclass(frozen=True, eq=False)
class TrainingRun:
    """What came of training or trying an agent.

    Attributes
    ----------
    returns : ndarray of shape (n_episodes,)
        Sum of the rewards of each episode.
    discounted_returns : ndarray of shape (n_episodes,)
        The same, discounted; without a discount of agent or world as `returns`.
    lengths : ndarray of shape (n_episodes,)
        Steps of each episode.
    n_steps
        Steps in all, those of an episode that is not over included.
    interrupted
        Whether somebody stopped it by Ctrl-C; the agent has all that it learned until then.
    """

    returns: NDArray[np.float64]
    discounted_returns: NDArray[np.float64]
    lengths: NDArray[np.int64]
    n_steps: int
    interrupted: bool = False

    @property
    def n_episodes(self) -> int:
        """Number of episodes."""
        return len(self.returns)

    def __repr__(self) -> str:
        mean = f", mean return {self.returns.mean():.4g}" if len(self.returns) else ""
        return f"TrainingRun({self.n_episodes:,} episodes, {self.n_steps:,} steps{mean})"


Progress = bool | Callable[[int, int], object]


def train(
    agent: Agent,
    environment: Any,
    *,
    episodes: int | None = None,
    steps: int | None = None,
    max_steps: int = 10_000,
    engine: str = "auto",
    progress: Progress = False,
    random_state: Seed = None,
) -> TrainingRun:
    """Let an agent act in a world and learn, for some episodes or steps.

    Parameters
    ----------
    agent
        An agent; one that was trained before goes on from where it is.
    environment
        A `MarkovDecisionProcess`, a `ProcessEnvironment`, or a Gymnasium environment with a finite
        number of actions.
    episodes, steps
        Where to stop; at least one of them.
    max_steps
        Steps after which an episode is broken off.
    engine
        "auto" runs an agent with a table in a known process in one compiled loop, "python" steps
        from Python everywhere. Both give the same numbers.
    progress
        True shows a bar; or a function that is called with episodes and steps so far.
    random_state
        Seed of a world that is made here from a process. To go on later with the same world, make
        a `ProcessEnvironment` and give it each time.

    Examples
    --------
    >>> from verulam.reinforcement import GridWorld, QLearning, train
    >>> world = GridWorld("S..G", goal_reward=1.0, discount=0.9)
    >>> train(QLearning(random_state=0), world.process, episodes=100, random_state=1)
    TrainingRun(100 episodes, ... steps, mean return 1)
    """
    check_type("agent", agent, Agent, "an agent, such as QLearning()")
    check_option("engine", engine, ("auto", "python"))
    if episodes is None and steps is None:
        raise DataError("give episodes or steps, to say where training stops.")
    limits = (
        np.iinfo(np.int64).max if steps is None else check_count("steps", steps),
        np.iinfo(np.int64).max if episodes is None else check_count("episodes", episodes),
        check_count("max_steps", max_steps),
    )
    environment = as_environment(environment, random_state)
    spaces = Spaces.of(environment)
    if agent.spaces is None:
        agent.start(spaces)
    elif (agent.spaces.n_states, agent.spaces.n_actions) != (spaces.n_states, spaces.n_actions):
        raise DataError(
            f"agent was started for {agent.spaces.n_states} states and {agent.spaces.n_actions} "
            f"actions, environment has {spaces.n_states} and {spaces.n_actions}; call agent.start "
            "to begin anew."
        )
    agent = agent.stand_in()
    compiled = (
        engine == "auto"
        and isinstance(environment, ProcessEnvironment)
        and isinstance(agent, TabularAgent)
        and agent.is_compiled
        and agent.runs_compiled
    )
    with _shown(progress, episodes, steps) as report:
        if compiled:
            assert isinstance(agent, TabularAgent)
            return _run_compiled(agent, environment, limits, report)
        return _run_in_python(agent, environment, limits, report, spaces.discount)


def as_environment(environment: Any, random_state: Seed = None) -> Any:
    """Return a world as it is, or one that follows a process."""
    process = getattr(environment, "process", None)
    if isinstance(process, MarkovDecisionProcess) and not hasattr(environment, "step"):
        environment = process
    if isinstance(environment, MarkovDecisionProcess):
        return ProcessEnvironment(environment, random_state=random_state)
    return environment


class _shown:  # noqa: N801 - a context manager
    """Report progress to a function, to a bar, or to nobody."""

    def __init__(self, progress: Progress, episodes: int | None, steps: int | None) -> None:
        self._bar: Any = None
        self._report = progress if callable(progress) else None
        self._by_episodes = episodes is not None
        self._total = episodes if episodes is not None else steps
        self._wants_bar = progress is True

    def __enter__(self) -> Callable[[int, int], None]:
        if self._wants_bar:
            from rich.progress import Progress as Bar

            self._bar = Bar(transient=True)
            self._bar.start()
            self._task = self._bar.add_task("training", total=self._total)
        return self._tell

    def _tell(self, episodes: int, steps: int) -> None:
        if self._report is not None:
            self._report(episodes, steps)
        if self._bar is not None:
            self._bar.update(self._task, completed=episodes if self._by_episodes else steps)

    def __exit__(self, *error: object) -> None:
        if self._bar is not None:
            self._bar.stop()


def _run_compiled(
    agent: TabularAgent, world: ProcessEnvironment, limits: tuple[int, int, int], report: Any
) -> TrainingRun:
    process = world.process
    table = process.transitions
    noise = np.empty(0) if process.noise is None else process.noise
    world_table: Any = (
        table.indptr, table.indices, table.data, process.outcome_rewards, noise, process.terminal,
        np.cumsum(process.start),
    )  # fmt: skip
    size = int(min(BLOCK, limits[0]))
    at = np.zeros(7, dtype=np.int64)
    at[3] = at[4] = -1
    sums = np.zeros(3)
    buffers = (np.empty(size), np.empty(size), np.empty(size, dtype=np.int64))
    parts: list[tuple[NDArray[Any], ...]] = []
    n_steps = n_episodes = 0
    interrupted = False
    before = float(np.abs(agent.table_).max())
    # Ten deviations of noise are beyond all that will be drawn.
    largest = float(np.abs(process.outcome_rewards).max() + 10.0 * noise.max(initial=0.0))
    try:
        while n_steps < limits[0] and n_episodes < limits[1]:
            at[[0, 1, 2, N_DONE]] = 0
            chances = world.chance.block(2 * size + 2)
            normals = world.normals.block(size) if len(noise) else np.empty(0)
            lots = agent.lots.block(2 * size + 2)
            allowed = (min(size, limits[0] - n_steps), limits[1] - n_episodes, limits[2])
            n_steps += run_together(
                *(
                    *world_table, *agent._arrays(), agent.visits_, agent.state_visits_,
                    agent._cumulative.reshape(-1), chances, normals, lots, at, sums,
                    np.asarray(allowed, dtype=np.int64), *buffers,
                )
            )  # fmt: skip
            world.chance.advance(int(at[0]))
            world.normals.advance(int(at[1]))
            agent.lots.advance(int(at[2]))
            finished = int(at[N_DONE])
            n_episodes += finished
            parts.append(tuple(part[:finished].copy() for part in buffers))
            agent.refuse_divergence(agent.value_limit(before, largest, n_steps))
            report(n_episodes, n_steps)
    except KeyboardInterrupt:
        if not may_end_early():
            raise
        interrupted = True
    # An episode that is not over is given up, as the next call begins with a new one.
    if at[STATE] >= 0:
        agent.break_off()
    returns, worths, lengths = (
        np.concatenate([part[column] for part in parts]) if parts else np.empty(0)
        for column in range(3)
    )
    whole = lengths.astype(np.int64)
    return TrainingRun(returns, worths, whole, int(n_steps), interrupted)


def _run_in_python(
    agent: Agent, environment: Any, limits: tuple[int, int, int], report: Any, discount: Any
) -> TrainingRun:
    known = getattr(agent, "discount", None)
    discount = next(float(rate) for rate in (known, discount, 1.0) if rate is not None)
    totals: list[float] = []
    worths: list[float] = []
    lengths: list[int] = []
    n_steps, interrupted, ended, largest = 0, False, True, 0.0
    before = float(np.abs(agent.table_).max()) if isinstance(agent, TabularAgent) else 0.0
    try:
        while n_steps < limits[0] and len(totals) < limits[1]:
            state, _ = environment.reset()
            total, worth, weight, length, ended = 0.0, 0.0, 1.0, 0, False
            while not ended and n_steps < limits[0]:
                action = agent.act(state)
                successor, reward, over, cut, _ = environment.step(action)
                length += 1
                n_steps += 1
                cut = bool(cut) or (length >= limits[2] and not over)
                agent.learn(Transition(state, action, float(reward), successor, bool(over), cut))
                largest = max(largest, abs(float(reward)))
                total += reward
                worth += weight * reward
                weight *= discount
                state, ended = successor, over or cut
            if ended:
                totals.append(float(total))
                worths.append(float(worth))
                lengths.append(length)
                report(len(totals), n_steps)
    except KeyboardInterrupt:
        if not may_end_early():
            raise
        interrupted = True
    if not ended:
        agent.break_off()
    if isinstance(agent, TabularAgent):
        agent.refuse_divergence(agent.value_limit(before, largest, n_steps))
    return TrainingRun(
        np.asarray(totals), np.asarray(worths), np.asarray(lengths, dtype=np.int64), n_steps,
        interrupted,
    )  # fmt: skip


def try_policy(
    policy: Any,
    environment: Any,
    *,
    episodes: int,
    max_steps: int = 10_000,
    discount: float | None = None,
    random_state: Seed = None,
) -> TrainingRun:
    """Let a policy act for some episodes without learning, and return what it got.

    Parameters
    ----------
    policy
        An agent, of which the best policy acts, one action for each state, a table of
        probabilities, or a function of the state.
    environment
        As for `train`.
    episodes
        Number of episodes.
    max_steps
        Steps after which an episode is broken off.
    discount
        For discounted returns; None for that of the process, or 1.
    random_state
        Seed of policy and world.

    Examples
    --------
    >>> from verulam.reinforcement import GridWorld, policy_iteration, try_policy
    >>> world = GridWorld("S..G", goal_reward=100.0, discount=0.9)
    >>> plan = policy_iteration(world.process)
    >>> try_policy(plan.policy, world.process, episodes=5).discounted_returns.round(6).tolist()
    [81.0, 81.0, 81.0, 81.0, 81.0]
    """
    check_count("episodes", episodes)
    check_count("max_steps", max_steps)
    world_seed, policy_seed = spawn_seeds(random_state, 2)
    environment = as_environment(environment, world_seed)
    spaces = Spaces.of(environment)
    actor = _Actor(policy, spaces, discount, policy_seed).start(spaces)
    if isinstance(environment, ProcessEnvironment) and not callable(actor.policy()):
        # A policy that never changes acts in the compiled loop, as the agent that evaluates it.
        evaluator = TDPrediction(
            behaviour=actor.policy(), discount=discount, random_state=policy_seed
        )
        return train(evaluator, environment, episodes=episodes, max_steps=max_steps)
    limits = (np.iinfo(np.int64).max, episodes, max_steps)
    return _run_in_python(actor, environment, limits, lambda *_: None, spaces.discount)


class _Actor(Agent):
    """A policy that acts and never learns."""

    def __init__(self, policy: Any, spaces: Spaces, discount: float | None, seed: int) -> None:
        super().__init__(random_state=seed)
        self.discount = discount
        self._function: Callable[[Any], int] | None = None
        if isinstance(policy, Agent):
            policy = policy.policy()
        if callable(policy):
            self._function = policy
            return
        if spaces.n_states is None:
            raise DataError("policy must be a function of the state, which is a vector here.")
        if np.ndim(policy) == 1:
            codes = check_codes("policy", policy, spaces.n_actions, spaces.n_states)
            policy = np.eye(spaces.n_actions)[codes]
        self._table = check_array("policy", policy, (spaces.n_states, spaces.n_actions))
        self._cumulative = cumulative_shares(self._table)

    def act(self, state: Any) -> int:
        if self._function is not None:
            return int(self._function(state))
        return int(draw_code(self._cumulative[state], self.lots.next()))

    def learn(self, transition: Transition) -> None:
        """Learn nothing."""

    def policy(self) -> Any:
        return self._function if self._function is not None else self._table

    def values(self) -> None:
        """Hold nothing."""


def record_transitions(
    policy: Any,
    environment: Any,
    *,
    steps: int,
    max_steps: int = 10_000,
    random_state: Seed = None,
) -> TransitionLog:
    """Let a policy act for some steps and write down what happens.

    Parameters
    ----------
    policy
        As for `try_policy`; None for all actions alike.
    environment
        As for `train`.
    steps
        Number of transitions.
    max_steps
        Steps after which an episode is broken off.
    random_state
        Seed of policy and world.

    Examples
    --------
    >>> from verulam.reinforcement import GridWorld, record_transitions
    >>> log = record_transitions(None, GridWorld("S..G").process, steps=50, random_state=0)
    >>> len(log)
    50
    """
    check_count("steps", steps)
    world_seed, policy_seed = spawn_seeds(random_state, 2)
    environment = as_environment(environment, world_seed)
    spaces = Spaces.of(environment)
    if policy is None and spaces.n_states is not None:
        offered = spaces.offered()
        policy = offered / offered.sum(axis=1, keepdims=True)
    elif policy is None:
        policy = _AnyAction(spaces.n_actions, policy_seed)
    actor = _Recorder(policy, spaces, None, policy_seed).start(spaces)
    limits = (steps, np.iinfo(np.int64).max, check_count("max_steps", max_steps))
    _run_in_python(actor, environment, limits, lambda *_: None, spaces.discount)
    return TransitionLog.of(actor.rows)


class _AnyAction:
    """All actions alike, whatever the state."""

    def __init__(self, n_actions: int, seed: int) -> None:
        self._n_actions, self._random = n_actions, np.random.default_rng(seed)

    def __call__(self, state: Any) -> int:
        return int(self._random.integers(self._n_actions))


class _Recorder(_Actor):
    """A policy that acts and writes down what happens."""

    def start(self, spaces: Spaces) -> "_Recorder":
        super().start(spaces)
        self.rows: list[Transition] = []
        return self

    def learn(self, transition: Transition) -> None:
        self.rows.append(transition)
