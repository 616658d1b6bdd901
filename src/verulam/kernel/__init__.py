"""Kernel machines: support vectors for classes, numbers and one class, and kernels as objects."""

from verulam.kernel._algebra import Centred, Columns, Normalised, Product, Scaled, Sum
from verulam.kernel._canonical_correlation import KernelCorrelations
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
from verulam.kernel._kernel import Kernel
from verulam.kernel._large_margin import LargeMarginComponents, LargeMarginNeighbours
from verulam.kernel._localised_kernels import Gates, LocalisedKernelClassifier
from verulam.kernel._manifold_kernels import isomap_gram, locally_linear_gram
from verulam.kernel._multiple_kernels import MultipleKernelClassifier
from verulam.kernel._principal_components import CentredSpectrum, KernelPrincipalComponents
from verulam.kernel._product_kernels import Linear, Polynomial, Sigmoid, polynomial_features
from verulam.kernel._series_kernels import Anova, BSpline, Fourier, Spline
from verulam.kernel._several_kernels import SeveralKernels
from verulam.kernel._space import KernelSpace
from verulam.kernel._string_kernels import (
    EditKernel,
    SpectrumKernel,
    SubsequenceKernel,
    edit_distances,
)
from verulam.kernel._tree_kernels import SubsetTreeKernel, SubtreeKernel

__all__ = [
    "KERNELS",
    "Anova",
    "BSpline",
    "Centred",
    "CentredSpectrum",
    "ChiSquare",
    "Columns",
    "DiffusionKernel",
    "DistanceKernel",
    "DocumentKernel",
    "EditKernel",
    "ExponentialRadial",
    "Fourier",
    "FunctionKernel",
    "Gates",
    "Gaussian",
    "GramReport",
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
    "LocalisedKernelClassifier",
    "Mahalanobis",
    "MultipleKernelClassifier",
    "Normalised",
    "ObjectKernel",
    "Polynomial",
    "Precomputed",
    "Product",
    "RandomWalkKernel",
    "Scaled",
    "SeveralKernels",
    "ShortestPathKernel",
    "Sigmoid",
    "SpectrumKernel",
    "Spline",
    "SubsequenceKernel",
    "SubsetTreeKernel",
    "SubtreeKernel",
    "Sum",
    "WeisfeilerLehmanKernel",
    "as_graph",
    "as_kernel",
    "centre_gram",
    "edit_distances",
    "gram_report",
    "isomap_gram",
    "locally_linear_gram",
    "mercer_check",
    "normalise_gram",
    "polynomial_features",
]
