"""What is tuned of the learners of the catalogue where a study does not say."""

from collections.abc import Mapping
from typing import Any

from verulam.experiment._design.factors import Factor


def _log(name: str, low: float, high: float, *, whole: bool = False) -> Factor:
    return Factor(name, (low, high), "log", whole=whole)


def _linear(name: str, low: float, high: float, *, whole: bool = False) -> Factor:
    return Factor(name, (low, high), "numeric", whole=whole)


def _one_of(name: str, *levels: Any) -> Factor:
    return Factor(name, levels)


_NEIGHBOURS = (_log("n_neighbors", 1, 40, whole=True), _one_of("weights", "uniform", "distance"))
_TREE = (_linear("max_depth", 1, 20, whole=True), _log("min_samples_leaf", 1, 30, whole=True))
_FOREST = (_linear("max_features", 0.1, 1.0), _log("min_samples_leaf", 1, 20, whole=True))
_NETWORK = (
    _log("alpha", 1e-6, 1.0),
    _log("learning_rate_init", 1e-4, 0.1),
    _one_of("hidden_layer_sizes", (10,), (30,), (100,)),
)
_MACHINE = (_log("C", 1e-2, 1e3), _log("gamma", 1e-4, 10.0))
_LEAVES = (_linear("max_depth", 1, 20, whole=True), _log("min_samples_leaf", 1, 30, whole=True))
_PRUNED = (
    _one_of("pruning", "none", "reduced_error", "pessimistic"),
    _log("min_samples_leaf", 1, 30, whole=True),
)
_COUNT = _log("n_neighbors", 1, 40, whole=True)
_RULES = (_log("min_positives", 1.0, 20.0), _linear("pruning_fraction", 0.2, 0.5))
_STRENGTH = (_log("strength", 1e-3, 1e3),)
_COST = _log("C", 1e-2, 1e3)
_BAGS = (_linear("max_samples", 0.3, 1.0), _linear("max_features", 0.3, 1.0))

#: By name in the catalogue. Ranges suit inputs that are scaled, as the plan has them.
DEFAULT_SPACES: Mapping[str, tuple[Factor, ...]] = {
    "parametric.NaiveBayes": (_log("alpha", 1e-3, 100.0), _log("variance_floor", 1e-9, 1e-1)),
    "parametric.GaussianClassifier": (
        _one_of("covariance", "shared_full", "own_full", "own_diagonal"),
        _linear("shared_weight", 0.0, 0.5),
        _linear("spherical_weight", 0.0, 0.5),
    ),
    "parametric.NearestMean": (_one_of("metric", "euclidean", "mahalanobis", "own_mahalanobis"),),
    "parametric.PolynomialRegression": (
        _linear("degree", 1, 4, whole=True),
        _one_of("interactions", True, False),
    ),
    "tree.DecisionTreeClassifier": _PRUNED,
    "tree.DecisionTreeRegressor": _LEAVES,
    "tree.MultivariateTreeClassifier": (
        _one_of("pruning", "none", "reduced_error"),
        _log("min_samples_leaf", 1, 30, whole=True),
    ),
    "rule.Irep": _RULES,
    "rule.Ripper": (*_RULES, _linear("n_optimisations", 0, 4, whole=True)),
    "rule.SequentialCovering": (
        _one_of("criterion", "entropy", "foil"),
        _log("min_positives", 1.0, 20.0),
    ),
    "rule.TreeRules": (_linear("confidence", 0.05, 0.5),),
    "nonparametric.KNeighboursClassifier": (_COUNT, _one_of("weights", "uniform", "distance")),
    "nonparametric.CondensedNeighbours": (_log("n_neighbors", 1, 15, whole=True),),
    "nonparametric.EditedNeighbours": (_log("n_neighbors", 1, 15, whole=True),),
    "nonparametric.DiscriminantAdaptiveNeighbours": (_COUNT, _log("softening", 0.1, 10.0)),
    "nonparametric.ParzenClassifier": (
        _log("bandwidth", 0.05, 5.0),
        _one_of("shape", "spherical", "diagonal"),
    ),
    "nonparametric.ProbabilisticNeuralNetwork": (_log("width", 0.05, 5.0),),
    "nonparametric.NearestCentre": (_log("n_centres", 1, 20, whole=True),),
    "nonparametric.NeighbourSmoother": (_COUNT,),
    "linear.LogisticDiscriminant": _STRENGTH,
    "linear.QuadraticLogistic": _STRENGTH,
    "linear.Perceptron": (_one_of("average", True, False), _linear("margin", 0.0, 1.0)),
    "linear.Relaxation": (_linear("relaxation", 0.5, 1.9), _log("margin", 0.1, 10.0)),
    "kernel.SupportVectorClassifier": (_COST, _one_of("kernel", "gaussian", "linear")),
    "kernel.SupportVectorRegressor": (_COST, _log("epsilon", 1e-3, 10.0)),
    "kernel.WestonWatkinsClassifier": (_COST,),
    "kernel.MultipleKernelClassifier": (_COST,),
    "kernel.KernelDiscriminants": (_log("ridge", 1e-4, 1.0),),
    "kernel.LargeMarginNeighbours": (
        _log("n_neighbors", 1, 10, whole=True),
        _linear("push_weight", 0.1, 0.9),
    ),
    "k-nearest neighbours": _NEIGHBOURS,
    "k-nearest neighbours smoother": _NEIGHBOURS,
    "decision tree": _TREE,
    "regression tree": _TREE,
    "random forest": _FOREST,
    "random forest regression": _FOREST,
    "logistic regression": (_log("C", 1e-3, 1e3),),
    "perceptron": (_one_of("penalty", "l2", "l1"), _log("alpha", 1e-6, 1e-1)),
    "multilayer perceptron": _NETWORK,
    "multilayer perceptron regression": _NETWORK,
    "support vector machine": _MACHINE,
    "support vector regression": (*_MACHINE, _log("epsilon", 1e-3, 10.0)),
    "nu support vector machine": (_linear("nu", 0.05, 0.8), _log("gamma", 1e-4, 10.0)),
    "nu support vector regression": (*_MACHINE, _linear("nu", 0.05, 0.95)),
    "bagging": _BAGS,
    "bagged regression": _BAGS,
    "random subspace": (_linear("max_features", 0.1, 1.0),),
    "AdaBoost": (_log("n_estimators", 20, 300, whole=True), _log("learning_rate", 0.01, 2.0)),
    "residual boosting": (
        _log("n_estimators", 20, 500, whole=True),
        _log("learning_rate", 0.01, 0.5),
        _linear("max_depth", 1, 6, whole=True),
    ),
    "ridge regression": (_log("alpha", 1e-4, 1e4),),
    "lasso": (_log("alpha", 1e-4, 10.0),),
    "Gaussian process regression": (_log("alpha", 1e-4, 1.0),),
}
