"""Agents under the texts' names: they learn by acting, and are compared in environments."""

from collections.abc import Mapping
from typing import Any

from verulam.catalogue._borrowed import Borrowed

#: What agents are for, where learners predict, cluster or estimate densities.
CONTROL = "control"


def _agent(name: str, kind: str, section: str, **parameters: Any) -> Borrowed:
    settings: Mapping[str, Any] = parameters
    return Borrowed(name, f"verulam.reinforcement.{kind}", section, (), settings, CONTROL)


AGENTS: tuple[Borrowed, ...] = (
    _agent("random agent", "RandomAgent", ""),
    _agent("Q-learning", "QLearning", "Alpaydin 18.5.3"),
    _agent("Q-learning with traces", "QLearning", "Alpaydin 18.5.4", trace_decay=0.9),
    _agent("Sarsa", "Sarsa", "Alpaydin 18.5.3"),
    _agent("Sarsa with traces", "Sarsa", "Alpaydin 18.5.4", trace_decay=0.9),
    _agent("Dyna", "Dyna", "Alpaydin 18.5.2"),
    _agent("model learner", "ModelLearner", "Alpaydin 18.5.2"),
    _agent("fitted Q", "FittedQ", "Alpaydin 18.6"),
    _agent("gradient Q-learning", "GradientQLearning", "Alpaydin 18.6"),
    _agent("gradient Sarsa", "GradientSarsa", "Alpaydin 18.6"),
)
