"""How well people can read what a learner has learnt: a grade for every learner."""

#: What the grades mean, the best first.
GRADES = {
    3: "the fitted model can be read as a whole",
    2: "each prediction can be explained by what it rests on",
    1: "neither, without tools made for it",
}

#: Grades of our own packages and of scikit-learn's: most learners of a package are alike.
_THEMES = {
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
_EXCEPTIONS = {
    "GaussianClassifier": 2,
    "QuadraticDiscriminantAnalysis": 2,
    "PolynomialRegression": 2,
    "IncompleteGaussianDensity": 2,
    "LinearSVC": 3,
    "LinearSVR": 3,
    "NearestCentroid": 3,
    "KernelPCA": 1,
}


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
    library, *theme = path.split(".")
    name = path.rpartition(".")[2]
    if library not in _THEMES or not theme:
        return None
    return _EXCEPTIONS.get(name, _THEMES[library].get(theme[0]))
