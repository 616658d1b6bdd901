"""Nonparametric methods: the data speak for themselves, within a neighbourhood."""

from verulam.nonparametric._additive_model import AdditiveModel
from verulam.nonparametric._bandwidths import (
    BandwidthCurve,
    plug_in_bandwidth,
    select_bandwidth,
)
from verulam.nonparametric._detectors import DensityDetector, GaussianDetector, MixtureDetector
from verulam.nonparametric._grid_density import GridDensity, density_on_grid
from verulam.nonparametric._kernel_density import KernelDensity
from verulam.nonparametric._kernel_smoother import (
    KernelSmoother,
    LocalPolynomial,
    NeighbourSmoother,
)
from verulam.nonparametric._local_outliers import (
    FactorComparison,
    LocalOutlierFactor,
    compare_outlier_factors,
)
from verulam.nonparametric._loess import Loess
from verulam.nonparametric._regressogram import Regressogram
from verulam.nonparametric._running import RunningLine, RunningMean, RunningMedian
from verulam.nonparametric._smoothing import Band, TrainingSmooth
from verulam.nonparametric._smoothing_selection import (
    BiasVariance,
    SmoothingCurve,
    bias_variance,
    select_smoothing,
)
from verulam.nonparametric._spline import SmoothingSpline
from verulam.nonparametric._windows import WINDOWS, Window, ball_volume

__all__ = [
    "WINDOWS",
    "AdditiveModel",
    "Band",
    "BandwidthCurve",
    "BiasVariance",
    "DensityDetector",
    "FactorComparison",
    "GaussianDetector",
    "GridDensity",
    "KernelDensity",
    "KernelSmoother",
    "LocalOutlierFactor",
    "LocalPolynomial",
    "Loess",
    "MixtureDetector",
    "NeighbourSmoother",
    "Regressogram",
    "RunningLine",
    "RunningMean",
    "RunningMedian",
    "SmoothingCurve",
    "SmoothingSpline",
    "TrainingSmooth",
    "Window",
    "ball_volume",
    "bias_variance",
    "compare_outlier_factors",
    "density_on_grid",
    "plug_in_bandwidth",
    "select_bandwidth",
    "select_smoothing",
]
