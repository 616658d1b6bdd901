"""Kernel machines: support vectors for classes, numbers and one class, and kernels as objects."""

from verulam.base import publish as _publish
from verulam.kernel._kernels.base import (
    Centred,
    Columns,
    Kernel,
    Normalised,
    Product,
    Scaled,
    Sum,
)
from verulam.kernel._kernels.general import (
    KERNELS,
    FunctionKernel,
    ObjectKernel,
    Precomputed,
    as_kernel,
)
from verulam.kernel._kernels.gram import (
    GramReport,
    centre_gram,
    gram_report,
    mercer_check,
    normalise_gram,
)
from verulam.kernel._kernels.hyperparameters import (
    GramGradient,
    gram_gradient,
    log_hyperparameters,
    with_log_hyperparameters,
)
from verulam.kernel._kernels.polynomial import Linear, Polynomial, Sigmoid, polynomial_features
from verulam.kernel._kernels.radial import (
    ChiSquare,
    DistanceKernel,
    ExponentialRadial,
    Gaussian,
    Laplace,
    Mahalanobis,
)
from verulam.kernel._kernels.series import Anova, BSpline, Fourier, Spline
from verulam.kernel._metric.large_margin import LargeMarginComponents, LargeMarginNeighbours
from verulam.kernel._metric.sparse_metric import SparseMetric
from verulam.kernel._multiple.localised_mkl import LocalisedKernelClassifier
from verulam.kernel._multiple.locally_scaled_rbf import LocalMahalanobis
from verulam.kernel._multiple.mkl import MultipleKernelClassifier
from verulam.kernel._object_kernels.documents import DocumentKernel
from verulam.kernel._object_kernels.generative import (
    FisherKernel,
    GenerativeKernel,
    gaussian_mixture_scores,
    hidden_markov_scores,
    multinomial_scores,
)
from verulam.kernel._object_kernels.graphs import (
    DiffusionKernel,
    LabelledGraph,
    RandomWalkKernel,
    ShortestPathKernel,
    WeisfeilerLehmanKernel,
    as_graph,
)
from verulam.kernel._object_kernels.strings import (
    EditKernel,
    SpectrumKernel,
    SubsequenceKernel,
    edit_distances,
)
from verulam.kernel._object_kernels.trees import SubsetTreeKernel, SubtreeKernel
from verulam.kernel._projection.cca import KernelCorrelations
from verulam.kernel._projection.discriminant import KernelDiscriminants
from verulam.kernel._projection.feature_maps import EmpiricalKernelMap, feature_map
from verulam.kernel._projection.manifold import isomap_gram, locally_linear_gram
from verulam.kernel._projection.pca import KernelPrincipalComponents
from verulam.kernel._ranking.kernel_ranking import PreferenceKernel, RankingMachine
from verulam.kernel._solvers.dual import DualSolution, solve_dual
from verulam.kernel._solvers.dual_problems import DualProblem
from verulam.kernel._solvers.interior_point import solve_densely
from verulam.kernel._svm.binary import BinaryMachine, NotSeparableError
from verulam.kernel._svm.calibration import platt_calibration, softmax_calibration
from verulam.kernel._svm.class_descriptions import ClassDescriptions
from verulam.kernel._svm.classifier import SupportVectorClassifier
from verulam.kernel._svm.cost_path import CostPath, cost_path
from verulam.kernel._svm.factor_grid import FactorGrid, factor_grid
from verulam.kernel._svm.loss_functions import (
    MARGIN_LOSSES,
    MARGIN_SUBGRADIENTS,
    hinge_loss,
    insensitive_loss,
    insensitive_subgradient,
)
from verulam.kernel._svm.margin_report import (
    InstanceReport,
    margin_report,
    near_boundary,
    tube_report,
)
from verulam.kernel._svm.one_class import OneClassMachine, SupportVectorDescription
from verulam.kernel._svm.output_codes import add_confused_pair, code_matrix
from verulam.kernel._svm.regressor import SupportVectorRegressor
from verulam.kernel._svm.weston_watkins import WestonWatkinsClassifier
from verulam.kernel._teaching.dual_solvers import kernel_perceptron, lagrangian_machine
from verulam.kernel._teaching.primal import PrimalMachine, primal_machine

__all__ = [
    "KERNELS",
    "MARGIN_LOSSES",
    "MARGIN_SUBGRADIENTS",
    "Anova",
    "BSpline",
    "BinaryMachine",
    "Centred",
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
    "Gaussian",
    "GenerativeKernel",
    "GramGradient",
    "GramReport",
    "InstanceReport",
    "Kernel",
    "KernelCorrelations",
    "KernelDiscriminants",
    "KernelPrincipalComponents",
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
    "Scaled",
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
    "gram_gradient",
    "gram_report",
    "hidden_markov_scores",
    "hinge_loss",
    "insensitive_loss",
    "insensitive_subgradient",
    "isomap_gram",
    "kernel_perceptron",
    "lagrangian_machine",
    "locally_linear_gram",
    "log_hyperparameters",
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
    "with_log_hyperparameters",
]

_publish(__name__)
