"""Neural networks: perceptrons that can be watched, masked, tied, stopped, grown and pruned."""

from verulam.base import publish as _publish
from verulam.neural._codes.autoencoder import Autoencoder
from verulam.neural._codes.hopfield import HopfieldNetwork, Recall
from verulam.neural._codes.pretraining import Pretraining, pretrain
from verulam.neural._codes.sammon import SammonNetwork, StressError
from verulam.neural._convolution.classifier import ConvolutionalClassifier
from verulam.neural._convolution.maps import ImageError, MapLayer, MapLayout, MapNetwork
from verulam.neural._images.hints import (
    centre_images,
    deskew_images,
    scale_images,
    tangent_vectors,
    virtual_examples,
)
from verulam.neural._images.windows import WindowLayer, window_layer
from verulam.neural._network.curvature import hessian_diagonal, hessian_product
from verulam.neural._network.hints import IntervalHint, InvarianceHint, TangentHint
from verulam.neural._network.inspection import gradient_norms, input_importance
from verulam.neural._network.layout import Layout, layout_of
from verulam.neural._network.network import Network, TrainingError, activate, mean_error
from verulam.neural._network.priors import Evidence, SoftSharing, evidence
from verulam.neural._perceptron.classifier import MLPClassifier
from verulam.neural._perceptron.regressor import MLPRegressor
from verulam.neural._projection_pursuit import ProjectionPursuitRegressor, RidgeFunction
from verulam.neural._structure.cascade import (
    CascadeCorrelationClassifier,
    CascadeCorrelationRegressor,
)
from verulam.neural._structure.growing import Growth, grow
from verulam.neural._structure.pruning import Pruning, prune
from verulam.neural._structure.search import StructureSearch, complexity_curve, search_structure
from verulam.neural._time.delay import TimeDelayClassifier, TimeDelayRegressor
from verulam.neural._time.real_time import Sensitivities
from verulam.neural._time.recurrence import (
    RecurrentLayout,
    RecurrentNetwork,
    recurrent_layout,
)
from verulam.neural._time.recurrent_classifier import RecurrentClassifier
from verulam.neural._time.recurrent_regressor import RecurrentRegressor
from verulam.neural._time.tasks import next_steps
from verulam.neural._time.unfolding import SequenceError

__all__ = [
    "Autoencoder",
    "CascadeCorrelationClassifier",
    "CascadeCorrelationRegressor",
    "ConvolutionalClassifier",
    "Evidence",
    "Growth",
    "HopfieldNetwork",
    "ImageError",
    "IntervalHint",
    "InvarianceHint",
    "Layout",
    "MLPClassifier",
    "MLPRegressor",
    "MapLayer",
    "MapLayout",
    "MapNetwork",
    "Network",
    "Pretraining",
    "ProjectionPursuitRegressor",
    "Pruning",
    "Recall",
    "RecurrentClassifier",
    "RecurrentLayout",
    "RecurrentNetwork",
    "RecurrentRegressor",
    "RidgeFunction",
    "SammonNetwork",
    "Sensitivities",
    "SequenceError",
    "SoftSharing",
    "StressError",
    "StructureSearch",
    "TangentHint",
    "TimeDelayClassifier",
    "TimeDelayRegressor",
    "TrainingError",
    "WindowLayer",
    "activate",
    "centre_images",
    "complexity_curve",
    "deskew_images",
    "evidence",
    "gradient_norms",
    "grow",
    "hessian_diagonal",
    "hessian_product",
    "input_importance",
    "layout_of",
    "mean_error",
    "next_steps",
    "pretrain",
    "prune",
    "recurrent_layout",
    "scale_images",
    "search_structure",
    "tangent_vectors",
    "virtual_examples",
    "window_layer",
]

_publish(__name__)
