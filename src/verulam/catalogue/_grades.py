"""Grades of learners: how complex a model one fits, and how well people can read it."""

from collections.abc import Iterator, Mapping
from typing import Any

#: What the grades of complexity mean, the simplest first.
COMPLEXITY_GRADES = {
    0: "a baseline that ignores the inputs",
    1: "a linear function, or a few numbers for each class",
    2: "rules, a tree, or a curved function of known form",
    3: "a function that the stored rows, kernels or hidden states shape",
    4: "many models or units together",
}
#: Complexity of the learners of our own packages and of scikit-learn's, which are mostly alike.
_COMPLEXITY_OF_PACKAGES = {
    "verulam": {
        "association": 2,
        "bayes": 1,
        "cluster": 3,
        "ensemble": 4,
        "graphical": 3,
        "kernel": 3,
        "linear": 1,
        "local": 3,
        "neural": 4,
        "nonparametric": 3,
        "parametric": 1,
        "reduction": 1,
        "reinforcement": 2,
        "rule": 2,
        "sequence": 3,
        "theory": 2,
        "tree": 2,
    },
    "sklearn": {
        "cluster": 3,
        "covariance": 2,
        "cross_decomposition": 1,
        "decomposition": 1,
        "discriminant_analysis": 1,
        "dummy": 0,
        "ensemble": 4,
        "gaussian_process": 4,
        "isotonic": 2,
        "kernel_approximation": 3,
        "kernel_ridge": 3,
        "linear_model": 1,
        "manifold": 3,
        "mixture": 3,
        "naive_bayes": 1,
        "neighbors": 3,
        "neural_network": 4,
        "random_projection": 1,
        "semi_supervised": 3,
        "svm": 3,
        "tree": 2,
    },
}
#: Libraries all of whose learners are alike.
_COMPLEXITY_OF_LIBRARIES = dict.fromkeys(
    ("xgboost", "lightgbm", "catboost", "ngboost", "torch", "keras", "tensorflow", "skorch",
     "scikeras", "tabpfn"),
    4,
)  # fmt: skip
#: Classes that differ from the others of their package; None where it depends on a part.
_COMPLEXITY_OF_CLASSES: dict[str, int | None] = {
    # Linear, among kernels and neighbours.
    "ClassicalMDS": 1,
    "LinearSVC": 1,
    "LinearSVR": 1,
    "NearestCentroid": 1,
    # Agents: one that learns nothing, tables, and functions of states.
    "RandomAgent": 0,
    "QLearning": 1,
    "Sarsa": 1,
    "TDPrediction": 1,
    "FittedQ": 3,
    "GradientQLearning": 3,
    "GradientSarsa": 3,
    "GradientTD": 3,
    # Curved, but of a form that is known beforehand.
    "AdditiveModel": 2,
    "BasisExpansion": 2,
    "GaussianDensity": 2,
    "GaussianDetector": 2,
    "HistogramDensity": 2,
    "IncompleteGaussianDensity": 2,
    "MarkovChain": 2,
    "PolynomialFeatures": 2,
    "PolynomialRegression": 2,
    "QuadraticDiscriminantAnalysis": 2,
    "QuadraticLogistic": 2,
    "Regressogram": 2,
    "Scorecard": 2,
    "SmoothingSpline": 2,
    "SplineTransformer": 2,
    # Kernels and mixtures, among linear projections and conjugate priors.
    "DirichletProcessMixture": 3,
    "KernelPCA": 3,
    "LatentDirichletAllocation": 3,
    "VotedPerceptron": 3,
    # Many units or experts together.
    "GaussianProcess": 4,
    "GaussianProcessClassifier": 4,
    "GaussianProcessRegressor": 4,
    "HierarchicalExpertsClassifier": 4,
    "HierarchicalExpertsRegressor": 4,
    "Madaline": 4,
    "MixtureOfExpertsClassifier": 4,
    "MixtureOfExpertsRegressor": 4,
    # What these wrap unless told otherwise is linear.
    "CalibratedClassifierCV": 1,
    "TransformedTargetRegressor": 1,
    "SelfTrainingClassifier": None,
}
#: Learners around another that have a grade of their own only where that one is left out.
_WRAPPERS = frozenset(
    {
        "CalibratedClassifierCV",
        "OneVersusRest",
        "PairwiseClassifier",
        "RANSACRegressor",
        "TransformedTargetRegressor",
    }
)
#: Where a learner holds the one that it tunes, calibrates or asks.
_INNER = ("estimator", "base_estimator", "learner", "classifier", "regressor", "trainer")
#: Parameters on which the grade of a class depends.
_DECISIVE_PARAMETERS = ("kernel", "covariance_type")
#: Packages whose learners are linear with a linear kernel.
_OF_KERNELS = frozenset({"kernel", "kernel_ridge", "svm"})
#: What the grades of interpretability mean, the best first.
GRADES = {
    3: "the fitted model can be read as a whole",
    2: "each prediction can be explained by what it rests on",
    1: "neither, without tools made for it",
}
#: Interpretability of the learners of a package, which are mostly alike.
_INTERPRETABILITY_OF_PACKAGES = {
    "verulam": {
        "association": 3,
        "bayes": 2,
        "cluster": 2,
        "decision": 3,
        "ensemble": 1,
        "graphical": 2,
        "kernel": 1,
        "linear": 3,
        "local": 2,
        "neural": 1,
        "nonparametric": 2,
        "parametric": 3,
        "reduction": 2,
        "reinforcement": 2,
        "rule": 3,
        "sequence": 2,
        "theory": 3,
        "tree": 3,
    },
    "sklearn": {
        "cluster": 2,
        "decomposition": 2,
        "discriminant_analysis": 3,
        "dummy": 3,
        "ensemble": 1,
        "gaussian_process": 1,
        "isotonic": 3,
        "linear_model": 3,
        "manifold": 1,
        "mixture": 2,
        "naive_bayes": 3,
        "neighbors": 2,
        "neural_network": 1,
        "svm": 1,
        "tree": 3,
    },
}
#: Classes that differ from the others of their package.
_INTERPRETABILITY_OF_CLASSES = {
    "GaussianClassifier": 2,
    "QuadraticDiscriminantAnalysis": 2,
    "PolynomialRegression": 2,
    "IncompleteGaussianDensity": 2,
    "LinearSVC": 3,
    "LinearSVR": 3,
    "NearestCentroid": 3,
    "KernelPCA": 1,
}


def complexity_of(path: str, parameters: Mapping[str, Any] | None = None) -> int | None:
    """Return how complex the models of a class are, from 0 (simplest) to 4; None where unknown.

    Parameters
    ----------
    path
        Dotted name of the class.
    parameters
        Arguments of the class: a linear kernel makes a machine linear, and full covariances of
        their own make a Gaussian classifier quadratic.

    Notes
    -----
    Simplicity is one of the costs by which learners are chosen (Alpaydin 19.1), and of two
    learners that err alike Occam's razor prefers the simpler. It is a property of the kind of
    model, not of how long one fit took or how many bytes it fills: 0 is a baseline that ignores
    the inputs; 1 linear functions, naive Bayes, nearest means, discriminants with a shared
    covariance; 2 trees, rules, polynomials, splines, additive models, and Gaussians with a full
    covariance each; 3 neighbours, kernels, support vectors, mixtures, local models, hidden states
    and graphs; 4 ensembles, networks with hidden units and Gaussian processes. What wraps another
    learner has no grade by its path; `complexity_of_estimator` looks inside.

    Examples
    --------
    >>> complexity_of("sklearn.dummy.DummyClassifier"), complexity_of("sklearn.svm.SVC")
    (0, 3)
    >>> complexity_of("sklearn.svm.SVC", {"kernel": "linear"})
    1
    >>> complexity_of("elsewhere.Learner") is None
    True
    """
    library, *inside = path.split(".")
    if library in _COMPLEXITY_OF_LIBRARIES:
        return _COMPLEXITY_OF_LIBRARIES[library]
    if library not in _COMPLEXITY_OF_PACKAGES or not inside:
        return None
    package, name = inside[0], inside[-1]
    parameters = parameters or {}
    if package in _OF_KERNELS and _is_linear(parameters.get("kernel")):
        return 1
    if name == "GaussianClassifier" and parameters.get("covariance_type") == "full":
        return 2
    return _COMPLEXITY_OF_CLASSES.get(name, _COMPLEXITY_OF_PACKAGES[library].get(package))


def complexity_of_estimator(estimator: Any) -> int | None:
    """Return how complex the models of a learner are, from 0 (simplest) to 4; None where unknown.

    A pipeline has the grade of its last step, unless an earlier one expands the inputs; whatever
    tunes, calibrates or wraps another learner has the grade of that one. A class that knows
    better has an attribute ``_complexity``.

    Parameters
    ----------
    estimator
        A learner, fitted or not.

    Examples
    --------
    >>> from sklearn.linear_model import LinearRegression
    >>> from sklearn.model_selection import GridSearchCV
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import PolynomialFeatures, StandardScaler
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> complexity_of_estimator(GridSearchCV(DecisionTreeClassifier(), {"max_depth": [1, 2]}))
    2
    >>> complexity_of_estimator(make_pipeline(StandardScaler(), LinearRegression()))
    1
    >>> complexity_of_estimator(make_pipeline(PolynomialFeatures(3), LinearRegression()))
    2
    """
    declared = getattr(estimator, "_complexity", None)
    if declared is not None:
        return int(declared)
    steps = list(_steps(estimator))
    if steps:
        return _pipeline_grade(steps)
    grade = _class_grade(estimator)
    if grade is None or type(estimator).__name__ in _WRAPPERS:
        for name in _INNER:
            inner = getattr(estimator, name, None)
            if inner is not None and inner is not estimator:
                return complexity_of_estimator(inner)
    return grade


def grade_of(path: str) -> int | None:
    """Return how well a learner can be read, from 3 (best) to 1; None where nobody has said.

    Parameters
    ----------
    path
        Dotted name of its class.

    Notes
    -----
    Interpretability is one of the costs by which learners are chosen (Alpaydin 19.1). The grade
    is that of the kind of model: rules, trees, linear functions and naive Bayes are read as a
    whole (3); of neighbours, densities and networks of variables one sees what a prediction rests
    on (2); kernels, ensembles and networks of units show neither (1). A class of its own that
    knows better has an attribute ``_interpretability``.

    Examples
    --------
    >>> grade_of("sklearn.tree.DecisionTreeClassifier"), grade_of("sklearn.svm.SVC")
    (3, 1)
    >>> grade_of("elsewhere.Learner") is None
    True
    """
    library, *inside = path.split(".")
    if library not in _INTERPRETABILITY_OF_PACKAGES or not inside:
        return None
    package, name = inside[0], inside[-1]
    return _INTERPRETABILITY_OF_CLASSES.get(
        name, _INTERPRETABILITY_OF_PACKAGES[library].get(package)
    )


def _is_linear(kernel: Any) -> bool:
    name = kernel if isinstance(kernel, str) else type(kernel).__name__
    return name.lower() == "linear"


def _class_grade(estimator: Any) -> int | None:
    """Return the grade of the class, or of the nearest class that it derives from."""
    parameters = {name: getattr(estimator, name, None) for name in _DECISIVE_PARAMETERS}
    for base in type(estimator).__mro__:
        grade = complexity_of(f"{base.__module__}.{base.__qualname__}", parameters)
        if grade is not None:
            return grade
    return None


def _steps(estimator: Any) -> Iterator[Any]:
    """Yield the parts of a pipeline, whoever wrote its class."""
    steps = getattr(estimator, "steps", None)
    if isinstance(steps, list | tuple):
        for step in steps:
            yield step[-1] if isinstance(step, list | tuple) and step else step


def _pipeline_grade(steps: list[Any]) -> int | None:
    last = complexity_of_estimator(steps[-1])
    if not last:
        return last
    # A linear function of polynomials or of kernels is no linear function of the inputs. What
    # only prepares a table has no grade, nor has a selection of columns, whoever makes it.
    return max([last, *(_class_grade(step) or 0 for step in steps[:-1])])
