"""Sequences: Markov chains, hidden Markov models and their family."""

from verulam.sequence._categorical import CategoricalEmission, SymbolProbabilities
from verulam.sequence._chain_parts import InitialProbabilities, TransitionMatrix
from verulam.sequence._emission import Emission
from verulam.sequence._gaussian import GaussianEmission, GaussianStates
from verulam.sequence._hidden_markov import HiddenMarkovModel
from verulam.sequence._inference import (
    BestPath,
    Emissions,
    Filtered,
    Smoothed,
    best_paths,
    draw_paths,
    emissions_from_logarithms,
    filter_states,
    smooth_states,
)
from verulam.sequence._model import Model, Parts
from verulam.sequence._sequences import Sequences, read_sequences
from verulam.sequence._tasks import Drawn, Forecast, OnlineFilter
from verulam.sequence._transitions import (
    Transitions,
    VaryingTransitions,
    cyclic,
    left_to_right,
)

__all__ = [
    "BestPath",
    "CategoricalEmission",
    "Drawn",
    "Emission",
    "Emissions",
    "Filtered",
    "Forecast",
    "GaussianEmission",
    "GaussianStates",
    "HiddenMarkovModel",
    "InitialProbabilities",
    "Model",
    "OnlineFilter",
    "Parts",
    "Sequences",
    "Smoothed",
    "SymbolProbabilities",
    "TransitionMatrix",
    "Transitions",
    "VaryingTransitions",
    "best_paths",
    "cyclic",
    "draw_paths",
    "emissions_from_logarithms",
    "filter_states",
    "left_to_right",
    "read_sequences",
    "smooth_states",
]
