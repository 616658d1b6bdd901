"""Sequences: Markov chains, hidden Markov models and their family."""

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
from verulam.sequence._transitions import (
    Transitions,
    VaryingTransitions,
    cyclic,
    left_to_right,
)

__all__ = [
    "BestPath",
    "Emissions",
    "Filtered",
    "Smoothed",
    "Transitions",
    "VaryingTransitions",
    "best_paths",
    "cyclic",
    "draw_paths",
    "emissions_from_logarithms",
    "filter_states",
    "left_to_right",
    "smooth_states",
]
