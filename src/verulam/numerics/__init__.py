"""Shared numerics: stable functions, Gaussian densities, moments, distances, schedules."""

from verulam.base import publish as _publish
from verulam.numerics._alignment import aligned_zeros, full_lines
from verulam.numerics._compiling import announced
from verulam.numerics._distances import distances
from verulam.numerics._gaussian import (
    GaussianFactor,
    factorise,
    gaussian_log_density,
    mahalanobis_squares,
    precision_root,
)
from verulam.numerics._loop_cache import cache_folder, njit
from verulam.numerics._moments import (
    DiagonalMoments,
    FullMoments,
    PooledMoments,
    diagonal_moments,
    full_moments,
    gap_patterns,
    overall_moments,
    pooled_moments,
)
from verulam.numerics._schedules import (
    Schedule,
    ScheduleCheck,
    check_schedule,
    constant,
    exponential,
    inverse,
    search_then_converge,
)
from verulam.numerics._special import (
    PosteriorMixin,
    column_signs,
    largest_linear_function,
    linear_functions,
    log_softmax,
    log_sum_exp,
    logit,
    normalise_rows,
    sigmoid,
    sigmoid_slope,
    softmax,
    softmax_jacobian,
)
from verulam.numerics._training.line_search import SEARCHES, train_by_search
from verulam.numerics._training.loop import (
    DivergenceError,
    Epoch,
    History,
    Objective,
    Stopping,
    rule_of,
    train,
)
from verulam.numerics._training.rules import (
    Adam,
    AdaptiveRate,
    GradientDescent,
    RuleMemory,
)
from verulam.numerics._training.step_loops import take_step

__all__ = [
    "SEARCHES",
    "Adam",
    "AdaptiveRate",
    "DiagonalMoments",
    "DivergenceError",
    "Epoch",
    "FullMoments",
    "GaussianFactor",
    "GradientDescent",
    "History",
    "Objective",
    "PooledMoments",
    "PosteriorMixin",
    "RuleMemory",
    "Schedule",
    "ScheduleCheck",
    "Stopping",
    "aligned_zeros",
    "announced",
    "cache_folder",
    "check_schedule",
    "column_signs",
    "constant",
    "diagonal_moments",
    "distances",
    "exponential",
    "factorise",
    "full_lines",
    "full_moments",
    "gap_patterns",
    "gaussian_log_density",
    "inverse",
    "largest_linear_function",
    "linear_functions",
    "log_softmax",
    "log_sum_exp",
    "logit",
    "mahalanobis_squares",
    "njit",
    "normalise_rows",
    "overall_moments",
    "pooled_moments",
    "precision_root",
    "rule_of",
    "search_then_converge",
    "sigmoid",
    "sigmoid_slope",
    "softmax",
    "softmax_jacobian",
    "take_step",
    "train",
    "train_by_search",
]

_publish(__name__)
