"""Nonparametric methods: the data speak for themselves, within a neighbourhood."""

from verulam.nonparametric._additive_model import AdditiveModel
from verulam.nonparametric._bandwidths import BandwidthCurve, plug_in_bandwidth, select_bandwidth
from verulam.nonparametric._detectors import DensityDetector, GaussianDetector, MixtureDetector
from verulam.nonparametric._dimensionality import (
    DimensionalityReport,
    dimensionality,
    required_sample_size,
)
from verulam.nonparametric._grid_density import GridDensity, density_on_grid
from verulam.nonparametric._hamming_density import HammingDensity
from verulam.nonparametric._histogram import HistogramDensity
from verulam.nonparametric._k_neighbours import (
    KNeighboursClassifier,
    NeighbourCurve,
    NeighbourReason,
    select_neighbour_count,
)
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
from verulam.nonparametric._naive_density import NaiveDensity
from verulam.nonparametric._neighbour_density import NearestNeighbourDensity
from verulam.nonparametric._parzen import ParzenClassifier
from verulam.nonparametric._probabilistic_network import ProbabilisticNeuralNetwork
from verulam.nonparametric._regressogram import Regressogram
from verulam.nonparametric._running import RunningLine, RunningMean, RunningMedian
from verulam.nonparametric._shrinking import (
    Convergence,
    convergence,
    growing_count,
    region_density,
    shrinking_width,
)
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
    "Convergence",
    "DensityDetector",
    "DimensionalityReport",
    "FactorComparison",
    "GaussianDetector",
    "GridDensity",
    "HammingDensity",
    "HistogramDensity",
    "KNeighboursClassifier",
    "KernelDensity",
    "KernelSmoother",
    "LocalOutlierFactor",
    "LocalPolynomial",
    "Loess",
    "MixtureDetector",
    "NaiveDensity",
    "NearestNeighbourDensity",
    "NeighbourCurve",
    "NeighbourReason",
    "NeighbourSmoother",
    "ParzenClassifier",
    "ProbabilisticNeuralNetwork",
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
    "convergence",
    "density_on_grid",
    "dimensionality",
    "growing_count",
    "plug_in_bandwidth",
    "region_density",
    "required_sample_size",
    "select_bandwidth",
    "select_neighbour_count",
    "select_smoothing",
    "shrinking_width",
]
