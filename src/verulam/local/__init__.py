"""Local models: competing units, maps, prototypes, radial bases and experts."""

from verulam.base import publish as _publish
from verulam.local._competitive.discriminants import HebbianDiscriminants
from verulam.local._competitive.hebbian import HebbianComponents
from verulam.local._competitive.inhibition import (
    Inhibition,
    RegionCodes,
    Winners,
    distributed_codes,
    lateral_inhibition,
    local_codes,
    winner_take_all,
)
from verulam.local._competitive.online_k_means import OnlineKMeans, Whitening
from verulam.local._competitive.resonance import AdaptiveResonance
from verulam.local._experts.hierarchy import (
    HierarchicalExpertsClassifier,
    HierarchicalExpertsRegressor,
)
from verulam.local._experts.learner import ExpertDiagnostics, trace_experts
from verulam.local._experts.local_learning import LocalLearningClassifier, LocalLearningRegressor
from verulam.local._experts.mixture import MixtureOfExpertsClassifier, MixtureOfExpertsRegressor
from verulam.local._experts.soft_tree import SoftDecisionTreeClassifier, SoftDecisionTreeRegressor
from verulam.local._maps.batch_map import SelfOrganisingMap
from verulam.local._maps.generative import GenerativeTopographicMap, Sheet
from verulam.local._maps.grid import UnitGrid
from verulam.local._maps.growing import GrowingCells
from verulam.local._maps.growing_classifier import GrowingCellsClassifier
from verulam.local._maps.neuroscale import NeuroScale
from verulam.local._maps.online_map import OnlineSelfOrganisingMap
from verulam.local._maps.ring import Tour, tour_by_map
from verulam.local._prototypes.classical import LearningVectorQuantisation
from verulam.local._prototypes.generalised import GeneralisedVectorQuantisation
from verulam.local._radial.allocating import ResourceAllocatingNetwork
from verulam.local._radial.classifier import RBFNetworkClassifier
from verulam.local._radial.features import RBFFeatures
from verulam.local._radial.regressor import RBFNetworkRegressor
from verulam.local._radial.rules import Condition, FuzzyRule, parse_rules
from verulam.local._radial.units import RadialUnits

__all__ = [
    "AdaptiveResonance",
    "Condition",
    "ExpertDiagnostics",
    "FuzzyRule",
    "GeneralisedVectorQuantisation",
    "GenerativeTopographicMap",
    "GrowingCells",
    "GrowingCellsClassifier",
    "HebbianComponents",
    "HebbianDiscriminants",
    "HierarchicalExpertsClassifier",
    "HierarchicalExpertsRegressor",
    "Inhibition",
    "LearningVectorQuantisation",
    "LocalLearningClassifier",
    "LocalLearningRegressor",
    "MixtureOfExpertsClassifier",
    "MixtureOfExpertsRegressor",
    "NeuroScale",
    "OnlineKMeans",
    "OnlineSelfOrganisingMap",
    "RBFFeatures",
    "RBFNetworkClassifier",
    "RBFNetworkRegressor",
    "RadialUnits",
    "RegionCodes",
    "ResourceAllocatingNetwork",
    "SelfOrganisingMap",
    "Sheet",
    "SoftDecisionTreeClassifier",
    "SoftDecisionTreeRegressor",
    "Tour",
    "UnitGrid",
    "Whitening",
    "Winners",
    "distributed_codes",
    "lateral_inhibition",
    "local_codes",
    "parse_rules",
    "tour_by_map",
    "trace_experts",
    "winner_take_all",
]

_publish(__name__)
