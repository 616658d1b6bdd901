"""Theory of learning: how many examples are enough, and what a class of hypotheses can tell."""

from verulam.base import publish as _publish
from verulam.theory._bounds import LearningBound, box_bound, finite_class_bound, vc_bound
from verulam.theory._hypotheses import HypothesisPosterior
from verulam.theory._shattering import (
    Shattering,
    VCDimension,
    n_dichotomies,
    shatters,
    vc_dimension,
)
from verulam.theory._simulation import (
    BiasVariance,
    LearningSimulation,
    bias_variance,
    simulate_learning,
)
from verulam.theory._version_space import Conjunction, VersionSpace

__all__ = [
    "BiasVariance",
    "Conjunction",
    "HypothesisPosterior",
    "LearningBound",
    "LearningSimulation",
    "Shattering",
    "VCDimension",
    "VersionSpace",
    "bias_variance",
    "box_bound",
    "finite_class_bound",
    "n_dichotomies",
    "shatters",
    "simulate_learning",
    "vc_bound",
    "vc_dimension",
]

_publish(__name__)
