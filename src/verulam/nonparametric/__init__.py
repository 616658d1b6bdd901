"""Nonparametric methods: the data speak for themselves, within a neighbourhood."""

from verulam.base import publish as _publish
from verulam.nonparametric._adaptive_neighbours import (
    DiscriminantAdaptiveNeighbours,
    RelevanceAdaptiveNeighbours,
)
from verulam.nonparametric._additive_model import AdditiveModel
from verulam.nonparametric._bands import Band
from verulam.nonparametric._bandwidths import BandwidthCurve, plug_in_bandwidth, select_bandwidth
from verulam.nonparametric._column_weights import learn_column_weights
from verulam.nonparametric._condensing import (
    CondensedNeighbours,
    CondensedSet,
    PenalisedNeighbours,
    SubsetChoice,
    condense,
    drop_needless,
    search_subset,
)
from verulam.nonparametric._coulomb import CoulombAnswers, CoulombStage, ReducedCoulombEnergy
from verulam.nonparametric._density_selection import LikelihoodCurve, select_density
from verulam.nonparametric._detectors import DensityDetector, GaussianDetector, MixtureDetector
from verulam.nonparametric._dimensionality import (
    DimensionalityReport,
    dimensionality,
    required_sample_size,
)
from verulam.nonparametric._editing import EditedNeighbours
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
from verulam.nonparametric._nearest_centre import NearestCentre
from verulam.nonparametric._neighbour_density import NearestNeighbourDensity
from verulam.nonparametric._neighbour_risk import NeighbourRisk, neighbour_risk
from verulam.nonparametric._neighbour_search import (
    PartialSearch,
    PrestructuredPrototypes,
    partial_distance_search,
)
from verulam.nonparametric._parzen import ParzenClassifier
from verulam.nonparametric._probabilistic_network import ProbabilisticNeuralNetwork
from verulam.nonparametric._regressogram import Regressogram
from verulam.nonparametric._running import RunningLine, RunningMean
from verulam.nonparametric._running_median import RunningMedian
from verulam.nonparametric._shrinking import (
    Convergence,
    convergence,
    growing_count,
    region_density,
    shrinking_width,
)
from verulam.nonparametric._similarity import SimilarityRepresentation
from verulam.nonparametric._smoothing import TrainingSmooth
from verulam.nonparametric._smoothing_selection import (
    BiasVariance,
    SmoothingCurve,
    bias_variance,
    select_smoothing,
)
from verulam.nonparametric._spline import SmoothingSpline
from verulam.nonparametric._voronoi import VoronoiEditing, voronoi_pairs
from verulam.nonparametric._windows import WINDOWS, Window, ball_volume

__all__ = [
    "WINDOWS",
    "AdditiveModel",
    "Band",
    "BandwidthCurve",
    "BiasVariance",
    "CondensedNeighbours",
    "CondensedSet",
    "Convergence",
    "CoulombAnswers",
    "CoulombStage",
    "DensityDetector",
    "DimensionalityReport",
    "DiscriminantAdaptiveNeighbours",
    "EditedNeighbours",
    "FactorComparison",
    "GaussianDetector",
    "GridDensity",
    "HammingDensity",
    "HistogramDensity",
    "KNeighboursClassifier",
    "KernelDensity",
    "KernelSmoother",
    "LikelihoodCurve",
    "LocalOutlierFactor",
    "LocalPolynomial",
    "Loess",
    "MixtureDetector",
    "NaiveDensity",
    "NearestCentre",
    "NearestNeighbourDensity",
    "NeighbourCurve",
    "NeighbourReason",
    "NeighbourRisk",
    "NeighbourSmoother",
    "PartialSearch",
    "ParzenClassifier",
    "PenalisedNeighbours",
    "PrestructuredPrototypes",
    "ProbabilisticNeuralNetwork",
    "ReducedCoulombEnergy",
    "Regressogram",
    "RelevanceAdaptiveNeighbours",
    "RunningLine",
    "RunningMean",
    "RunningMedian",
    "SimilarityRepresentation",
    "SmoothingCurve",
    "SmoothingSpline",
    "SubsetChoice",
    "TrainingSmooth",
    "VoronoiEditing",
    "Window",
    "ball_volume",
    "bias_variance",
    "compare_outlier_factors",
    "condense",
    "convergence",
    "density_on_grid",
    "dimensionality",
    "drop_needless",
    "growing_count",
    "learn_column_weights",
    "neighbour_risk",
    "partial_distance_search",
    "plug_in_bandwidth",
    "region_density",
    "required_sample_size",
    "search_subset",
    "select_bandwidth",
    "select_density",
    "select_neighbour_count",
    "select_smoothing",
    "shrinking_width",
    "voronoi_pairs",
]

_publish(__name__)
