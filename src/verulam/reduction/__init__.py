"""Reduction of dimensions: fewer columns, by selection, by projection or by keeping distances."""

from verulam.base import publish as _publish
from verulam.reduction._distances.classical import ClassicalScaling
from verulam.reduction._distances.curvilinear import CurvilinearComponents
from verulam.reduction._distances.projection import StressProjection
from verulam.reduction._distances.quality import (
    EmbeddingQuality,
    embedding_quality,
    reconstruction_error,
)
from verulam.reduction._distances.stress import StressGradient, StressScaling, stress
from verulam.reduction._geometry import (
    ball_volume,
    cube_share,
    distance_concentration,
    gaussian_share,
    shell_share,
)
from verulam.reduction._linear.components import PrincipalComponents, ProbabilisticComponents
from verulam.reduction._linear.correlations import CanonicalCorrelations
from verulam.reduction._linear.discriminants import (
    DiscriminantProjection,
    Scatters,
    class_scatters,
)
from verulam.reduction._linear.factors import FactorAnalysis, FactorFit
from verulam.reduction._linear.rotation import Rotation, promax, varimax
from verulam.reduction._selection.search import SearchStep, SubsetSelector
from verulam.reduction._spatial_filters import spatial_filter_energies, spatial_filters

__all__ = [
    "CanonicalCorrelations",
    "ClassicalScaling",
    "CurvilinearComponents",
    "DiscriminantProjection",
    "EmbeddingQuality",
    "FactorAnalysis",
    "FactorFit",
    "PrincipalComponents",
    "ProbabilisticComponents",
    "Rotation",
    "Scatters",
    "SearchStep",
    "StressGradient",
    "StressProjection",
    "StressScaling",
    "SubsetSelector",
    "ball_volume",
    "class_scatters",
    "cube_share",
    "distance_concentration",
    "embedding_quality",
    "gaussian_share",
    "promax",
    "reconstruction_error",
    "shell_share",
    "spatial_filter_energies",
    "spatial_filters",
    "stress",
    "varimax",
]

_publish(__name__)
