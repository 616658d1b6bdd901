"""Neural networks: perceptrons that can be watched, masked, tied, stopped, grown and pruned."""

from verulam.base import publish as _publish
from verulam.neural._codes.autoencoder import Autoencoder
from verulam.neural._codes.hopfield import HopfieldNetwork, Recall
from verulam.neural._images.hints import centre_images, deskew_images, virtual_examples
from verulam.neural._images.windows import WindowLayer, window_layer
from verulam.neural._network.curvature import hessian_diagonal, hessian_product
from verulam.neural._network.inspection import gradient_norms, input_importance
from verulam.neural._network.layout import Layout, layout_of
from verulam.neural._network.network import Network, TrainingError, activate, mean_error
from verulam.neural._perceptron.classifier import MLPClassifier
from verulam.neural._perceptron.regressor import MLPRegressor
from verulam.neural._structure.cascade import (
    CascadeCorrelationClassifier,
    CascadeCorrelationRegressor,
)
from verulam.neural._structure.growing import Growth, grow
from verulam.neural._structure.pruning import Pruning, prune
from verulam.neural._structure.search import StructureSearch, search_structure

__all__ = [
    "Autoencoder",
    "CascadeCorrelationClassifier",
    "CascadeCorrelationRegressor",
    "Growth",
    "HopfieldNetwork",
    "Layout",
    "MLPClassifier",
    "MLPRegressor",
    "Network",
    "Pruning",
    "Recall",
    "StructureSearch",
    "TrainingError",
    "WindowLayer",
    "activate",
    "centre_images",
    "deskew_images",
    "gradient_norms",
    "grow",
    "hessian_diagonal",
    "hessian_product",
    "input_importance",
    "layout_of",
    "mean_error",
    "prune",
    "search_structure",
    "virtual_examples",
    "window_layer",
]

_publish(__name__)
