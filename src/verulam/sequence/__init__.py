"""Sequences: Markov chains, hidden Markov models and their family."""

from verulam.base import publish as _publish
from verulam.sequence._chains.emissions import AdditiveEmission, AdditiveStates, ChainEmission
from verulam.sequence._chains.mean_field import ChainBeliefs, FactorialParameters
from verulam.sequence._chains.models import coupled_model, factorial_model, switching_model
from verulam.sequence._chains.pedigree import (
    MeiosisEmission,
    MeiosisTransitions,
    pedigree_model,
)
from verulam.sequence._chains.product_states import (
    ChainInitial,
    ChainTransitions,
    chain_posteriors,
    split_states,
)
from verulam.sequence._chains.variational import VariationalFactorial
from verulam.sequence._data.quantised import VectorQuantiser
from verulam.sequence._data.sequences import Sequences, input_windows, read_sequences
from verulam.sequence._dynamics.kalman import (
    LinearSystem,
    StateEstimates,
    kalman_filter,
    kalman_smoother,
    linear_system,
)
from verulam.sequence._dynamics.simulation import StateForecast
from verulam.sequence._dynamics.switching import (
    RegimeDraws,
    SwitchingDynamicalSystem,
    SwitchingSystem,
)
from verulam.sequence._dynamics.system import LinearDynamicalSystem
from verulam.sequence._emissions.categorical import CategoricalEmission, SymbolProbabilities
from verulam.sequence._emissions.classifier import ClassifierEmission, ClassifierStates
from verulam.sequence._emissions.counts import MultinomialEmission, PoissonEmission
from verulam.sequence._emissions.gaussian import GaussianEmission, GaussianStates
from verulam.sequence._emissions.mixture import MixtureEmission
from verulam.sequence._emissions.multistream import StreamEmission
from verulam.sequence._emissions.phased import PhasedEmission
from verulam.sequence._emissions.regression import AutoregressiveEmission, RegressionEmission
from verulam.sequence._emissions.urns import UrnPosteriors, urns_without_replacement
from verulam.sequence._extensions.arc_emissions import ArcTransitions, arc_model
from verulam.sequence._extensions.composite import (
    CompositeHMM,
    CompositeSegment,
    compose_models,
    parallel_paths,
)
from verulam.sequence._extensions.durations import (
    DurationTransitions,
    duration_probabilities,
    semi_markov_model,
)
from verulam.sequence._extensions.hierarchy import (
    FlatHierarchy,
    HierarchicalTransitions,
    HierarchyLevel,
    flatten_hierarchy,
    hierarchical_model,
)
from verulam.sequence._extensions.infinite import InfiniteHiddenMarkovModel
from verulam.sequence._learners.classifier import HMMClassifier
from verulam.sequence._learners.forecasting import Forecast, OnlineFilter
from verulam.sequence._learners.hidden_markov import HiddenMarkovModel
from verulam.sequence._learners.hybrid import HybridModel, fit_hybrid
from verulam.sequence._learners.markov_chain import (
    MarkovChain,
    OrderTest,
    order_test,
    stationary_distribution,
)
from verulam.sequence._learners.queries import PathProbabilities, SampledSequences
from verulam.sequence._learners.selection import (
    Alignment,
    StateCurve,
    add_states,
    align_states,
    select_states,
)
from verulam.sequence._model.emission import Emission
from verulam.sequence._model.forward_backward import ForwardBackward, forward_backward
from verulam.sequence._model.inference import (
    BestPath,
    EmissionLikelihoods,
    Filtered,
    Smoothed,
    best_paths,
    draw_paths,
    emissions_from_logarithms,
    filter_states,
    smooth_states,
)
from verulam.sequence._model.logistic_transitions import LogisticTransitions
from verulam.sequence._model.parameters import (
    HMMParameters,
    HMMParts,
    InitialProbabilities,
    TransitionMatrix,
)
from verulam.sequence._model.transitions import (
    Transitions,
    VaryingTransitions,
    cyclic,
    left_to_right,
)

__all__ = [
    "AdditiveEmission",
    "AdditiveStates",
    "Alignment",
    "ArcTransitions",
    "AutoregressiveEmission",
    "BestPath",
    "CategoricalEmission",
    "ChainBeliefs",
    "ChainEmission",
    "ChainInitial",
    "ChainTransitions",
    "ClassifierEmission",
    "ClassifierStates",
    "CompositeHMM",
    "CompositeSegment",
    "DurationTransitions",
    "Emission",
    "EmissionLikelihoods",
    "FactorialParameters",
    "Filtered",
    "FlatHierarchy",
    "Forecast",
    "ForwardBackward",
    "GaussianEmission",
    "GaussianStates",
    "HMMClassifier",
    "HMMParameters",
    "HMMParts",
    "HiddenMarkovModel",
    "HierarchicalTransitions",
    "HierarchyLevel",
    "HybridModel",
    "InfiniteHiddenMarkovModel",
    "InitialProbabilities",
    "LinearDynamicalSystem",
    "LinearSystem",
    "LogisticTransitions",
    "MarkovChain",
    "MeiosisEmission",
    "MeiosisTransitions",
    "MixtureEmission",
    "MultinomialEmission",
    "OnlineFilter",
    "OrderTest",
    "PathProbabilities",
    "PhasedEmission",
    "PoissonEmission",
    "RegimeDraws",
    "RegressionEmission",
    "SampledSequences",
    "Sequences",
    "Smoothed",
    "StateCurve",
    "StateEstimates",
    "StateForecast",
    "StreamEmission",
    "SwitchingDynamicalSystem",
    "SwitchingSystem",
    "SymbolProbabilities",
    "TransitionMatrix",
    "Transitions",
    "UrnPosteriors",
    "VariationalFactorial",
    "VaryingTransitions",
    "VectorQuantiser",
    "add_states",
    "align_states",
    "arc_model",
    "best_paths",
    "chain_posteriors",
    "compose_models",
    "coupled_model",
    "cyclic",
    "draw_paths",
    "duration_probabilities",
    "emissions_from_logarithms",
    "factorial_model",
    "filter_states",
    "fit_hybrid",
    "flatten_hierarchy",
    "forward_backward",
    "hierarchical_model",
    "input_windows",
    "kalman_filter",
    "kalman_smoother",
    "left_to_right",
    "linear_system",
    "order_test",
    "parallel_paths",
    "pedigree_model",
    "read_sequences",
    "select_states",
    "semi_markov_model",
    "smooth_states",
    "split_states",
    "stationary_distribution",
    "switching_model",
    "urns_without_replacement",
]

_publish(__name__)
