"""Search spaces of hyperparameters, as a study says or by default, and settings from them."""

from collections.abc import Mapping, Sequence
from itertools import product
from typing import Any

import numpy as np

from verulam.base import DataError, nearest_names
from verulam.catalogue import entry
from verulam.design import Factor

#: The value of each parameter.
Setting = dict[str, Any]
_RANGE_KEYS = ("low", "high", "scale", "whole")
_KINDS = {"linear": "numeric", "log": "log"}


def _log(name: str, low: float, high: float, *, whole: bool = False) -> Factor:
    return Factor(name, (low, high), "log", whole=whole)


def _linear(name: str, low: float, high: float, *, whole: bool = False) -> Factor:
    return Factor(name, (low, high), "numeric", whole=whole)


def _one_of(name: str, *levels: Any) -> Factor:
    return Factor(name, levels)


_COUNT = _log("n_neighbors", 1, 40, whole=True)
_NEIGHBOURS = (_COUNT, _one_of("weights", "uniform", "distance"))
_FOREST = (_linear("max_features", 0.1, 1.0), _log("min_samples_leaf", 1, 20, whole=True))
_NETWORK = (
    _log("alpha", 1e-6, 1.0),
    _log("learning_rate", 1e-4, 0.1),
    _one_of("hidden_layer_sizes", (10,), (30,), (100,)),
)
_GAMMA = _log("gamma", 1e-4, 10.0)
_LEAVES = (_linear("max_depth", 1, 20, whole=True), _log("min_samples_leaf", 1, 30, whole=True))
_PRUNED = (
    _one_of("pruning", "none", "reduced_error", "pessimistic"),
    _log("min_samples_leaf", 1, 30, whole=True),
)
_RULES = (_log("min_positives", 1.0, 20.0), _linear("pruning_fraction", 0.2, 0.5))
_ALPHA = (_log("alpha", 1e-3, 1e3),)
_COST = _log("C", 1e-2, 1e3)
_WIDTH = _log("kernel__width", 0.2, 70.0)
_EPSILON = _log("epsilon", 1e-3, 10.0)
_RADIAL = (
    _log("n_units", 3, 60, whole=True),
    _log("spread_share", 0.3, 3.0),
    _log("alpha", 1e-6, 1.0),
)
_EXPERTS = (_linear("n_experts", 2, 8, whole=True), _log("alpha", 1e-4, 10.0))
_TREE_OF_EXPERTS = (
    _one_of("branching", (2,), (4,), (2, 2), (3, 3), (2, 2, 2)),
    _log("alpha", 1e-4, 10.0),
)
_SOFT_TREE = (_linear("max_depth", 1, 5, whole=True), _log("alpha", 1e-4, 1.0))
_PROTOTYPES = _log("n_prototypes", 1, 10, whole=True)
_LOCALITY = (_log("n_neighbors", 10, 200, whole=True),)
_CASCADE = (_log("max_units", 1, 30, whole=True), _log("alpha", 1e-5, 1.0))
_BAGS = (_linear("max_samples", 0.3, 1.0), _linear("max_features", 0.3, 1.0))

#: By name in the catalogue. Ranges suit inputs that are scaled, as the plan has them.
DEFAULT_SPACES: Mapping[str, tuple[Factor, ...]] = {
    "parametric.NaiveBayes": (_log("alpha", 1e-3, 100.0), _log("variance_floor", 1e-9, 1e-1)),
    "parametric.GaussianClassifier": (
        _one_of("covariance_type", "tied", "full", "diag"),
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
    "nonparametric.KNeighborsClassifier": _NEIGHBOURS,
    "nonparametric.CondensedNeighbours": (_log("n_neighbors", 1, 15, whole=True),),
    "nonparametric.EditedNeighbours": (_log("n_neighbors", 1, 15, whole=True),),
    "nonparametric.DiscriminantAdaptiveNeighbours": (_COUNT, _log("softening", 0.1, 10.0)),
    "nonparametric.ParzenClassifier": (
        _log("bandwidth", 0.05, 5.0),
        _one_of("shape", "spherical", "diagonal"),
    ),
    "nonparametric.ProbabilisticNeuralNetwork": (_log("bandwidth", 0.05, 5.0),),
    "nonparametric.NearestCentre": (_log("n_clusters", 1, 20, whole=True),),
    "nonparametric.NeighbourSmoother": (_COUNT,),
    "linear.LogisticDiscriminant": _ALPHA,
    "linear.QuadraticLogistic": _ALPHA,
    "linear.Perceptron": (_one_of("average", True, False), _linear("margin", 0.0, 1.0)),
    "linear.Relaxation": (_linear("relaxation", 0.5, 1.9), _log("margin", 0.1, 10.0)),
    "kernel.SupportVectorClassifier": (_COST, _WIDTH),
    "kernel.SupportVectorRegressor": (_COST, _WIDTH, _EPSILON),
    "kernel.WestonWatkinsClassifier": (_COST,),
    "kernel.MultipleKernelClassifier": (_COST,),
    "kernel.KernelDiscriminants": (_log("alpha", 1e-4, 1.0),),
    "kernel.LargeMarginNeighbours": (
        _log("n_neighbors", 1, 10, whole=True),
        _linear("push_weight", 0.1, 0.9),
    ),
    "neural.MLPClassifier": _NETWORK,
    "neural.MLPRegressor": _NETWORK,
    "neural.CascadeCorrelationClassifier": _CASCADE,
    "neural.CascadeCorrelationRegressor": _CASCADE,
    "neural.ProjectionPursuitRegressor": (
        _linear("n_terms", 1, 8, whole=True),
        _log("smoothing", 1e-4, 1.0),
    ),
    "local.RBFNetworkClassifier": _RADIAL,
    "local.RBFNetworkRegressor": _RADIAL,
    "local.MixtureOfExpertsClassifier": _EXPERTS,
    "local.MixtureOfExpertsRegressor": _EXPERTS,
    "local.HierarchicalExpertsClassifier": _TREE_OF_EXPERTS,
    "local.HierarchicalExpertsRegressor": _TREE_OF_EXPERTS,
    "local.SoftDecisionTreeClassifier": _SOFT_TREE,
    "local.SoftDecisionTreeRegressor": _SOFT_TREE,
    "local.LearningVectorQuantisation": (_PROTOTYPES, _one_of("rule", "lvq1", "lvq2.1", "lvq3")),
    "local.GeneralisedVectorQuantisation": (
        _PROTOTYPES,
        _one_of("relevances", None, "columns"),
    ),
    "local.GrowingCellsClassifier": (_log("max_units", 5, 80, whole=True),),
    "local.LocalLearningClassifier": _LOCALITY,
    "local.LocalLearningRegressor": _LOCALITY,
    "local.ResourceAllocatingNetwork": (
        _log("least_distance", 0.1, 2.0),
        _linear("overlap", 0.3, 1.5),
    ),
    "neural network": _NETWORK,
    "neural network regression": _NETWORK,
    "k-nearest neighbours": _NEIGHBOURS,
    "k-nearest neighbours smoother": (_COUNT,),
    "decision tree": _PRUNED,
    "regression tree": _LEAVES,
    "ensemble.RandomForestClassifier": _FOREST,
    "ensemble.RandomForestRegressor": _FOREST,
    "logistic regression": _ALPHA,
    "perceptron": (_one_of("penalty", "l2", "l1"), _log("alpha", 1e-6, 1e-1)),
    "support vector machine": (_COST, _WIDTH),
    "support vector regression": (_COST, _WIDTH, _EPSILON),
    "nu support vector machine": (_linear("nu", 0.05, 0.8), _GAMMA),
    "nu support vector regression": (_COST, _GAMMA, _linear("nu", 0.05, 0.95)),
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
}

#: By the name of a class of scikit-learn, where the catalogue has one of ours for the method.
_SPACES_OF_SCIKIT_LEARN: Mapping[str, tuple[Factor, ...]] = {
    "DecisionTreeClassifier": _LEAVES,
    "DecisionTreeRegressor": _LEAVES,
    "KNeighborsClassifier": _NEIGHBOURS,
    "KNeighborsRegressor": _NEIGHBOURS,
    "LogisticRegression": (_log("C", 1e-3, 1e3),),
    "SVC": (_COST, _GAMMA),
    "SVR": (_COST, _GAMMA, _EPSILON),
}


def search_space(parameters: Mapping[str, Any], where: str = "tune") -> tuple[Factor, ...]:
    """Return the parameters that a table of a study stands for.

    Parameters
    ----------
    parameters
        For each parameter a list of values, a `Factor`, or a range: a mapping with `low` and
        `high`, perhaps `scale` ("linear" or "log") and `whole`.
    where
        What the table is called, for messages.

    Examples
    --------
    >>> space = search_space({"C": {"low": 0.1, "high": 10, "scale": "log"}, "kernel": ["rbf"]})
    >>> [(factor.name, factor.kind, factor.levels) for factor in space]
    [('C', 'log', (0.1, 10)), ('kernel', 'categorical', ('rbf',))]
    """
    return tuple(_factor(name, values, f"{where}.{name}") for name, values in parameters.items())


def default_space(learner: Any) -> tuple[Factor, ...]:
    """Return what is tuned of a learner where nobody says; nothing for those not in the table.

    Parameters
    ----------
    learner
        Name in the catalogue, or an estimator.

    Examples
    --------
    >>> [factor.name for factor in default_space("support vector machine")]
    ['C', 'kernel__width']
    """
    if isinstance(learner, str):
        return DEFAULT_SPACES.get(entry(learner).name, ())
    for name, space in DEFAULT_SPACES.items():
        if entry(name).learner_class is type(learner):
            return space
    library, name = type(learner).__module__.partition(".")[0], type(learner).__name__
    return _SPACES_OF_SCIKIT_LEARN.get(name, ()) if library == "sklearn" else ()


def draw_setting(space: Sequence[Factor], random: np.random.Generator) -> Setting:
    """Return a setting at random, each parameter by itself, evenly on its scale."""
    return {factor.name: _drawn(factor, random) for factor in space}


def distinct_settings(space: Sequence[Factor]) -> float:
    """Return how many settings there are; infinite where a parameter may be any number."""
    counts = [_count(factor) for factor in space]
    return float(np.prod(counts)) if counts else 0.0


def grid_settings(space: Sequence[Factor], most: int) -> list[Setting]:
    """Return every combination of evenly spaced values: as many a range as `most` allows.

    Parameters
    ----------
    space
        The parameters; lists are taken whole.
    most
        Largest number of settings.

    Examples
    --------
    >>> space = search_space({"C": {"low": 1, "high": 100, "scale": "log"}, "p": [1, 2]})
    >>> [(round(setting["C"]), setting["p"]) for setting in grid_settings(space, 7)]
    [(1, 1), (1, 2), (10, 1), (10, 2), (100, 1), (100, 2)]
    """
    # All ranges get as many values: one more for each, until the budget, or until whole numbers
    # leave nothing new between.
    steps = 1
    while _grid_size(space, steps + 1) <= most and _grid_size(space, steps + 1) > _grid_size(
        space, steps
    ):
        steps += 1
    values = [_spaced(factor, steps) for factor in space]
    names = [factor.name for factor in space]
    settings = [dict(zip(names, combination, strict=True)) for combination in product(*values)]
    if len(settings) > most:
        raise DataError(
            f"A grid over {', '.join(names)} has {len(settings)} settings, above the budget of "
            f"{most}; search at random instead, or raise the budget."
        )
    return settings


def setting_key(setting: Setting) -> str:
    """Return what tells whether two settings are the same."""
    return repr(sorted(setting.items()))


def _factor(name: str, values: Any, where: str) -> Factor:
    if isinstance(values, Factor):
        return values
    if isinstance(values, Mapping):
        return _range(name, values, where)
    if isinstance(values, str) or not isinstance(values, Sequence) or not values:
        raise DataError(
            f"{where}: {values!r}; expected a list of values, or a table with low and high."
        )
    try:
        return Factor(name, tuple(values))
    except ValueError as error:
        raise DataError(f"{where}: {error}") from error


def _range(name: str, bounds: Mapping[str, Any], where: str) -> Factor:
    for key in bounds:
        if key not in _RANGE_KEYS:
            nearest = nearest_names(key, _RANGE_KEYS, count=1)[0]
            raise DataError(f"{where}.{key}: no such key. Nearest: {nearest}.")
    for key in ("low", "high"):
        if key not in bounds:
            raise DataError(f"{where}.{key}: missing.")
    scale = bounds.get("scale", "linear")
    if scale not in _KINDS:
        raise DataError(f"{where}.scale: {scale!r}; expected linear or log.")
    low, high = bounds["low"], bounds["high"]
    whole = bounds.get("whole", isinstance(low, int) and isinstance(high, int) and scale != "log")
    try:
        factor = Factor(name, (low, high), _KINDS[scale], whole=bool(whole))  # type: ignore[arg-type] # one of the kinds
    except ValueError as error:
        raise DataError(f"{where}: {error}") from error
    if low >= high:
        raise DataError(f"{where}: low is {low!r}, not below high, {high!r}.")
    return factor


def _drawn(factor: Factor, random: np.random.Generator) -> Any:
    if factor.kind == "categorical":
        return factor.levels[int(random.integers(len(factor.levels)))]
    return factor.decoded([random.uniform(-1.0, 1.0)]).tolist()[0]


def _count(factor: Factor) -> float:
    if factor.kind == "categorical":
        return len(factor.levels)
    return factor.high - factor.low + 1 if factor.whole else np.inf


def _spaced(factor: Factor, steps: int) -> list[Any]:
    if factor.kind == "categorical":
        return list(factor.levels)
    places = np.linspace(-1.0, 1.0, steps) if steps > 1 else np.zeros(1)
    return list(dict.fromkeys(factor.decoded(places).tolist()))


def _grid_size(space: Sequence[Factor], steps: int) -> int:
    return int(np.prod([len(_spaced(factor, steps)) for factor in space]))
