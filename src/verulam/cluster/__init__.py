"""Clusters: partitions around means and medoids, mixtures of Gaussians, hierarchies."""

from verulam.base import publish as _publish
from verulam.cluster._features import (
    ClusterFeatures,
    ClusterwiseClassifier,
    ClusterwiseRegressor,
)
from verulam.cluster._hierarchy.agglomerative import AgglomerativeClustering
from verulam.cluster._hierarchy.chameleon import Chameleon
from verulam.cluster._hierarchy.divisive import DivisiveClustering
from verulam.cluster._hierarchy.merge_tree import MergeTree
from verulam.cluster._mixture.classifier import MixtureClassifier
from verulam.cluster._mixture.components import COVARIANCE_TYPES, Components
from verulam.cluster._mixture.gaussian_mixture import GaussianMixture
from verulam.cluster._mixture.gradient import (
    MixtureDescent,
    MixtureGradient,
    descend_mixture,
    mixture_gradient,
)
from verulam.cluster._mixture.online import OnlineGaussianMixture
from verulam.cluster._mixture.selection import MixtureSelection, select_mixture
from verulam.cluster._partition.fuzzy import FuzzyKMeans
from verulam.cluster._partition.k_means import KMeans, KMeansPass
from verulam.cluster._partition.medoids import KMedoids
from verulam.cluster._quality import ClusterQuality, cluster_quality, silhouettes

__all__ = [
    "COVARIANCE_TYPES",
    "AgglomerativeClustering",
    "Chameleon",
    "ClusterFeatures",
    "ClusterQuality",
    "ClusterwiseClassifier",
    "ClusterwiseRegressor",
    "Components",
    "DivisiveClustering",
    "FuzzyKMeans",
    "GaussianMixture",
    "KMeans",
    "KMeansPass",
    "KMedoids",
    "MergeTree",
    "MixtureClassifier",
    "MixtureDescent",
    "MixtureGradient",
    "MixtureSelection",
    "OnlineGaussianMixture",
    "cluster_quality",
    "descend_mixture",
    "mixture_gradient",
    "select_mixture",
    "silhouettes",
]

_publish(__name__)
