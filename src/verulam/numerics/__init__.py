"""Shared numerics: stable functions, Gaussian densities, moments, distances, schedules."""

from verulam.base import publish as _publish
from verulam.numerics._compiling import announced
from verulam.numerics._distances import distances
from verulam.numerics._gaussian import (
    GaussianFactor,
    factorise,
    gaussian_log_density,
    mahalanobis_squares,
    precision_root,
)
from verulam.numerics._moments import (
    DiagonalMoments,
    FullMoments,
    PooledMoments,
    diagonal_moments,
    full_moments,
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

__all__ = [
    "DiagonalMoments",
    "FullMoments",
    "GaussianFactor",
    "PooledMoments",
    "PosteriorMixin",
    "Schedule",
    "ScheduleCheck",
    "announced",
    "check_schedule",
    "constant",
    "diagonal_moments",
    "distances",
    "exponential",
    "factorise",
    "full_moments",
    "gaussian_log_density",
    "inverse",
    "largest_linear_function",
    "linear_functions",
    "log_softmax",
    "log_sum_exp",
    "logit",
    "mahalanobis_squares",
    "normalise_rows",
    "overall_moments",
    "pooled_moments",
    "precision_root",
    "search_then_converge",
    "sigmoid",
    "sigmoid_slope",
    "softmax",
    "softmax_jacobian",
]

_publish(__name__)
