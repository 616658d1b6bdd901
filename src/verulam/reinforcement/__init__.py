"""Reinforcement learning: plan in known processes, learn by acting, act under uncertainty."""

from verulam.base import publish as _publish
from verulam.reinforcement._agents.approximation import JointLinear, LinearValues, NetworkValues
from verulam.reinforcement._agents.batch import Dyna, FittedQ, ModelLearner
from verulam.reinforcement._agents.chance import RandomAgent
from verulam.reinforcement._agents.codings import (
    Cells,
    CodedEnvironment,
    Identity,
    OneHot,
    RadialBasis,
    Tiles,
)
from verulam.reinforcement._agents.comparison import AgentComparison, compare_agents
from verulam.reinforcement._agents.files import load_agent, save_agent
from verulam.reinforcement._agents.gradient import GradientQLearning, GradientSarsa, GradientTD
from verulam.reinforcement._agents.protocol import Agent, Spaces, Transition, TransitionLog
from verulam.reinforcement._agents.tabular import QLearning, Sarsa, TDPrediction
from verulam.reinforcement._agents.training import (
    TrainingRun,
    record_transitions,
    train,
    try_policy,
)
from verulam.reinforcement._exploration.automata import LearningAutomaton
from verulam.reinforcement._exploration.bandits import (
    Bandit,
    BanditRun,
    ThompsonSampling,
    UpperConfidence,
    play_bandit,
)
from verulam.reinforcement._exploration.rules import EpsilonGreedy, GLIECheck, Softmax, check_glie
from verulam.reinforcement._partial.alpha_vectors import AlphaVectors, after_action
from verulam.reinforcement._partial.files import read_pomdp, write_pomdp
from verulam.reinforcement._partial.influence import (
    DiagramNode,
    InfluenceDiagram,
    influence_diagram,
)
from verulam.reinforcement._partial.process import (
    PartialEnvironment,
    PartiallyObservableProcess,
    fully_observed,
)
from verulam.reinforcement._partial.solvers import (
    BeliefValues,
    belief_action_values,
    point_based_values,
    reachable_beliefs,
    solve_exactly,
    value_of_information,
)
from verulam.reinforcement._processes.environment import (
    ProcessEnvironment,
    discounted_return,
    returns_to_go,
)
from verulam.reinforcement._processes.planning import (
    HorizonPlan,
    Plan,
    bellman_action_values,
    bellman_backup,
    bellman_residual,
    evaluate_policy,
    finite_horizon,
    greedy_policy,
    linear_program,
    policy_iteration,
    value_iteration,
)
from verulam.reinforcement._processes.process import MarkovDecisionProcess
from verulam.reinforcement._worlds.games import TicTacToePlayer, minimax_player, self_play
from verulam.reinforcement._worlds.grid import GridWorld, cliff_world, four_rooms
from verulam.reinforcement._worlds.named import WORLDS, named_world
from verulam.reinforcement._worlds.options import (
    Option,
    OptionModel,
    learn_with_options,
    option_model,
    plan_with_options,
    subtask,
)
from verulam.reinforcement._worlds.scheduling import SchedulingWorld
from verulam.reinforcement._worlds.tiger import classic_tiger, tiger

__all__ = [
    "WORLDS",
    "Agent",
    "AgentComparison",
    "AlphaVectors",
    "Bandit",
    "BanditRun",
    "BeliefValues",
    "Cells",
    "CodedEnvironment",
    "DiagramNode",
    "Dyna",
    "EpsilonGreedy",
    "FittedQ",
    "GLIECheck",
    "GradientQLearning",
    "GradientSarsa",
    "GradientTD",
    "GridWorld",
    "HorizonPlan",
    "Identity",
    "InfluenceDiagram",
    "JointLinear",
    "LearningAutomaton",
    "LinearValues",
    "MarkovDecisionProcess",
    "ModelLearner",
    "NetworkValues",
    "OneHot",
    "Option",
    "OptionModel",
    "PartialEnvironment",
    "PartiallyObservableProcess",
    "Plan",
    "ProcessEnvironment",
    "QLearning",
    "RadialBasis",
    "RandomAgent",
    "Sarsa",
    "SchedulingWorld",
    "Softmax",
    "Spaces",
    "TDPrediction",
    "ThompsonSampling",
    "TicTacToePlayer",
    "Tiles",
    "TrainingRun",
    "Transition",
    "TransitionLog",
    "UpperConfidence",
    "after_action",
    "belief_action_values",
    "bellman_action_values",
    "bellman_backup",
    "bellman_residual",
    "check_glie",
    "classic_tiger",
    "cliff_world",
    "compare_agents",
    "discounted_return",
    "evaluate_policy",
    "finite_horizon",
    "four_rooms",
    "fully_observed",
    "greedy_policy",
    "influence_diagram",
    "learn_with_options",
    "linear_program",
    "load_agent",
    "minimax_player",
    "named_world",
    "option_model",
    "plan_with_options",
    "play_bandit",
    "point_based_values",
    "policy_iteration",
    "reachable_beliefs",
    "read_pomdp",
    "record_transitions",
    "returns_to_go",
    "save_agent",
    "self_play",
    "solve_exactly",
    "subtask",
    "tiger",
    "train",
    "try_policy",
    "value_iteration",
    "value_of_information",
    "write_pomdp",
]

_publish(__name__)
