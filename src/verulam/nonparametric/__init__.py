"""Nonparametric methods: the data speak for themselves, within a neighbourhood."""

from verulam.base import publish as _publish
from verulam.nonparametric._additive.additive_model import AdditiveModel
from verulam.nonparametric._additive.spline import SmoothingSpline
from verulam.nonparametric._density.bandwidths import (
    BandwidthCurve,
    plug_in_bandwidth,
    select_bandwidth,
)
from verulam.nonparametric._density.convergence import (
    Convergence,
    convergence,
    growing_count,
    region_density,
    shrinking_width,
)
from verulam.nonparametric._density.dimensionality import (
    DimensionalityReport,
    dimensionality,
    required_sample_size,
)
from verulam.nonparametric._density.grid import GridDensity, density_on_grid
from verulam.nonparametric._density.hamming import HammingDensity
from verulam.nonparametric._density.histogram import HistogramDensity
from verulam.nonparametric._density.kernel_density import KernelDensity
from verulam.nonparametric._density.naive import NaiveDensity
from verulam.nonparametric._density.nearest_neighbour import NearestNeighbourDensity
from verulam.nonparametric._density.selection import LikelihoodCurve, select_density
from verulam.nonparametric._metrics.column_weights import learn_column_weights
from verulam.nonparametric._metrics.discriminant import DiscriminantAdaptiveNeighbours
from verulam.nonparametric._metrics.relevance import RelevanceAdaptiveNeighbours
from verulam.nonparametric._neighbours.single_search import (
    PartialSearch,
    PrestructuredPrototypes,
    partial_distance_search,
)
from verulam.nonparametric._outliers.detectors import (
    DensityDetector,
    GaussianDetector,
    MixtureDetector,
)
from verulam.nonparametric._outliers.local_outliers import (
    FactorComparison,
    LocalOutlierFactor,
    compare_outlier_factors,
)
from verulam.nonparametric._prototypes.condensing import (
    CondensedNeighbours,
    CondensedSet,
    PenalisedNeighbours,
    SubsetChoice,
    condense,
    drop_needless,
    search_subset,
)
from verulam.nonparametric._prototypes.editing import (
    EditedNeighbours,
    VoronoiEditing,
    voronoi_pairs,
)
from verulam.nonparametric._prototypes.nearest_centre import NearestCentre
from verulam.nonparametric._smoothing.bands import Band
from verulam.nonparametric._smoothing.base import TrainingSmooth
from verulam.nonparametric._smoothing.kernel_smoother import (
    KernelSmoother,
    LocalPolynomial,
    NeighbourSmoother,
)
from verulam.nonparametric._smoothing.loess import Loess
from verulam.nonparametric._smoothing.regressogram import Regressogram
from verulam.nonparametric._smoothing.running_mean_line import RunningLine, RunningMean
from verulam.nonparametric._smoothing.running_median import RunningMedian
from verulam.nonparametric._smoothing.selection import (
    BiasVariance,
    SmoothingCurve,
    bias_variance,
    select_smoothing,
)
from verulam.nonparametric._voting.bayes_risk import NeighbourRisk, neighbour_risk
from verulam.nonparametric._voting.k_neighbours import (
    KNeighborsClassifier,
    NeighbourCurve,
    NeighbourReason,
    select_neighbour_count,
)
from verulam.nonparametric._voting.similarity import SimilarityRepresentation
from verulam.nonparametric._window_classifiers.parzen import ParzenClassifier
from verulam.nonparametric._window_classifiers.probabilistic_network import (
    ProbabilisticNeuralNetwork,
)
from verulam.nonparametric._window_classifiers.reduced_coulomb import (
    CoulombAnswers,
    CoulombStage,
    ReducedCoulombEnergy,
)
from verulam.nonparametric._windows.functions import WINDOWS, Window, ball_volume

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
    "KNeighborsClassifier",
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
