"""Kernel machines: support vectors for classes, numbers and one class, and kernels as objects."""

from verulam.base import publish as _publish
from verulam.kernel._algebra import Centred, Columns, Normalised, Product, Scaled, Sum
from verulam.kernel._binary_machine import BinaryMachine, NotSeparableError
from verulam.kernel._calibration import Calibration, platt_calibration, softmax_calibration
from verulam.kernel._canonical_correlation import KernelCorrelations
from verulam.kernel._class_descriptions import ClassDescriptions
from verulam.kernel._classifier import SupportVectorClassifier
from verulam.kernel._codes import add_confused_pair, code_matrix
from verulam.kernel._cost_path import CostPath, cost_path
from verulam.kernel._dense_dual import solve_densely
from verulam.kernel._discriminant_components import KernelDiscriminants
from verulam.kernel._distance_kernels import (
    ChiSquare,
    DistanceKernel,
    ExponentialRadial,
    Gaussian,
    Laplace,
    Mahalanobis,
)
from verulam.kernel._document_kernels import DocumentKernel
from verulam.kernel._dual import DualProblem, DualSolution, solve_dual
from verulam.kernel._empirical_map import EmpiricalKernelMap, feature_map
from verulam.kernel._factor_grid import FactorGrid, factor_grid
from verulam.kernel._general_kernels import (
    KERNELS,
    FunctionKernel,
    ObjectKernel,
    Precomputed,
    as_kernel,
)
from verulam.kernel._gram import (
    GramReport,
    centre_gram,
    gram_report,
    mercer_check,
    normalise_gram,
)
from verulam.kernel._graph_kernels import (
    DiffusionKernel,
    LabelledGraph,
    RandomWalkKernel,
    ShortestPathKernel,
    WeisfeilerLehmanKernel,
    as_graph,
)
from verulam.kernel._instances import InstanceReport, margin_report, tube_report
from verulam.kernel._kernel import Kernel
from verulam.kernel._large_margin import LargeMarginComponents, LargeMarginNeighbours
from verulam.kernel._local_kernels import LocalMahalanobis
from verulam.kernel._localised_kernels import Gates, LocalisedKernelClassifier
from verulam.kernel._losses import (
    MARGIN_LOSSES,
    MARGIN_SUBGRADIENTS,
    hinge_loss,
    insensitive_loss,
    insensitive_subgradient,
)
from verulam.kernel._manifold_kernels import isomap_gram, locally_linear_gram
from verulam.kernel._model_kernels import (
    FisherKernel,
    GenerativeKernel,
    gaussian_mixture_scores,
    multinomial_scores,
)
from verulam.kernel._multiple_kernels import MultipleKernelClassifier
from verulam.kernel._one_class import OneClassMachine, SupportVectorDescription
from verulam.kernel._prefilter import near_boundary
from verulam.kernel._primal import PrimalMachine, primal_machine
from verulam.kernel._principal_components import CentredSpectrum, KernelPrincipalComponents
from verulam.kernel._product_kernels import Linear, Polynomial, Sigmoid, polynomial_features
from verulam.kernel._ranking_machine import PreferenceKernel, RankingMachine
from verulam.kernel._regressor import SupportVectorRegressor
from verulam.kernel._row_cache import RowCache
from verulam.kernel._sequence_scores import hidden_markov_scores
from verulam.kernel._series_kernels import Anova, BSpline, Fourier, Spline
from verulam.kernel._several_kernels import SeveralKernels
from verulam.kernel._space import KernelSpace
from verulam.kernel._sparse_metric import SparseMetric
from verulam.kernel._string_kernels import (
    EditKernel,
    SpectrumKernel,
    SubsequenceKernel,
    edit_distances,
)
from verulam.kernel._teaching_solvers import TaughtMachine, kernel_perceptron, lagrangian_machine
from verulam.kernel._tree_kernels import SubsetTreeKernel, SubtreeKernel
from verulam.kernel._weston_watkins import WestonWatkinsClassifier

__all__ = [
    "KERNELS",
    "MARGIN_LOSSES",
    "MARGIN_SUBGRADIENTS",
    "Anova",
    "BSpline",
    "BinaryMachine",
    "Calibration",
    "Centred",
    "CentredSpectrum",
    "ChiSquare",
    "ClassDescriptions",
    "Columns",
    "CostPath",
    "DiffusionKernel",
    "DistanceKernel",
    "DocumentKernel",
    "DualProblem",
    "DualSolution",
    "EditKernel",
    "EmpiricalKernelMap",
    "ExponentialRadial",
    "FactorGrid",
    "FisherKernel",
    "Fourier",
    "FunctionKernel",
    "Gates",
    "Gaussian",
    "GenerativeKernel",
    "GramReport",
    "InstanceReport",
    "Kernel",
    "KernelCorrelations",
    "KernelDiscriminants",
    "KernelPrincipalComponents",
    "KernelSpace",
    "LabelledGraph",
    "Laplace",
    "LargeMarginComponents",
    "LargeMarginNeighbours",
    "Linear",
    "LocalMahalanobis",
    "LocalisedKernelClassifier",
    "Mahalanobis",
    "MultipleKernelClassifier",
    "Normalised",
    "NotSeparableError",
    "ObjectKernel",
    "OneClassMachine",
    "Polynomial",
    "Precomputed",
    "PreferenceKernel",
    "PrimalMachine",
    "Product",
    "RandomWalkKernel",
    "RankingMachine",
    "RowCache",
    "Scaled",
    "SeveralKernels",
    "ShortestPathKernel",
    "Sigmoid",
    "SparseMetric",
    "SpectrumKernel",
    "Spline",
    "SubsequenceKernel",
    "SubsetTreeKernel",
    "SubtreeKernel",
    "Sum",
    "SupportVectorClassifier",
    "SupportVectorDescription",
    "SupportVectorRegressor",
    "TaughtMachine",
    "WeisfeilerLehmanKernel",
    "WestonWatkinsClassifier",
    "add_confused_pair",
    "as_graph",
    "as_kernel",
    "centre_gram",
    "code_matrix",
    "cost_path",
    "edit_distances",
    "factor_grid",
    "feature_map",
    "gaussian_mixture_scores",
    "gram_report",
    "hidden_markov_scores",
    "hinge_loss",
    "insensitive_loss",
    "insensitive_subgradient",
    "isomap_gram",
    "kernel_perceptron",
    "lagrangian_machine",
    "locally_linear_gram",
    "margin_report",
    "mercer_check",
    "multinomial_scores",
    "near_boundary",
    "normalise_gram",
    "platt_calibration",
    "polynomial_features",
    "primal_machine",
    "softmax_calibration",
    "solve_densely",
    "solve_dual",
    "tube_report",
]

_publish(__name__)
