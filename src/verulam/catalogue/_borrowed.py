"""Learners under the texts' names: those of other libraries, and ours with settings of a kind."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal


@dataclass(frozen=True)
class Borrowed:
    """Where a borrowed learner comes from.

    Attributes
    ----------
    name
        The name in the texts.
    path
        Dotted name of the class.
    section
        Where the texts treat it.
    rows
        The rows of the map that it covers.
    parameters
        What differs from the other library's defaults.
    task
        The task, where the class itself does not tell.
    """

    name: str
    path: str
    section: str
    rows: tuple[str, ...] = ()
    parameters: Mapping[str, Any] = field(default_factory=dict)
    task: str = ""

    @property
    def source(self) -> Literal["ours", "borrowed"]:
        """Whose class it is."""
        return "ours" if self.path.startswith("verulam.") else "borrowed"


#: A perceptron that is done in a moment: one small layer, few epochs and much weight decay. Picked
#: on seven bundled tables, where it is about as accurate as training to the end, at a twentieth of
#: the time.
QUICK_NETWORK: Mapping[str, Any] = {
    "hidden_layer_sizes": 32,
    "learning_rate": 0.01,
    "batch_size": 32,
    "alpha": 3.0,
    "max_iter": 15,
    "n_iter_no_change": 15,
    "tol": 0,
}


def _ours(name: str, path: str, section: str, rows: str, **parameters: Any) -> Borrowed:
    """Return a learner of ours under the name that the texts give it."""
    return Borrowed(name, f"verulam.{path}", section, tuple(rows.split()), parameters)


def _sklearn(
    name: str, path: str, section: str, rows: str = "", *, task: str = "", **parameters: Any
) -> Borrowed:
    """Return a learner of scikit-learn; `rows` are those of the map, with spaces between."""
    return Borrowed(name, f"sklearn.{path}", section, tuple(rows.split()), parameters, task)


BORROWED: tuple[Borrowed, ...] = (
    _sklearn("majority class", "dummy.DummyClassifier", ""),
    _ours(
        "k-nearest neighbours",
        "nonparametric.KNeighborsClassifier",
        "Alpaydin 8.4",
        "8.i U3.q B4.i",
        # So that the order of the distance can be set alone, as with scikit-learn's.
        metric="minkowski",
    ),
    # A tree that nobody prunes learns the noise too; its pruning costs no other fit.
    _ours("decision tree", "tree.DecisionTreeClassifier", "Alpaydin 9.2.1", "9.f", preset="c4.5"),
    # With the penalty that is its default: on separable data the likelihood has no maximum.
    _ours(
        "logistic regression",
        "linear.LogisticDiscriminant",
        "Alpaydin 10.7",
        "10.k 10.p U3.af U3.ag",
    ),
    _sklearn("perceptron", "linear_model.Perceptron", "SIT1305 IV", "U4.b"),
    _ours(
        "support vector machine",
        "kernel.SupportVectorClassifier",
        "Alpaydin 13.5",
        "13.d 13.i B5.ai B5.am",
    ),
    _sklearn("nu support vector machine", "svm.NuSVC", "Alpaydin 13.4", "13.g"),
    _sklearn("bagging", "ensemble.BaggingClassifier", "Alpaydin 17.6", "17.u U5.t B7.e"),
    _sklearn(
        "random subspace",
        "ensemble.BaggingClassifier",
        "Alpaydin 17.2",
        "17.f",
        max_features=0.5,
        bootstrap=False,
    ),
    _sklearn("AdaBoost", "ensemble.AdaBoostClassifier", "Alpaydin 17.7", "17.y"),
    _sklearn(
        "gradient boosting", "ensemble.HistGradientBoostingClassifier", "Alpaydin 17.12", "17.ac"
    ),
    _sklearn(
        "Fisher's linear discriminant",
        "discriminant_analysis.LinearDiscriminantAnalysis",
        "SIT1305 II",
        "U2.y U2.z",
    ),
    Borrowed(
        "neural network",
        "verulam.neural.MLPClassifier",
        "Alpaydin 11.8.2",
        ("11.w",),
        QUICK_NETWORK,
    ),
    _sklearn("mean predictor", "dummy.DummyRegressor", ""),
    Borrowed(
        "neural network regression",
        "verulam.neural.MLPRegressor",
        "Alpaydin 11.8.2",
        ("11.w",),
        QUICK_NETWORK,
    ),
    _ours(
        "k-nearest neighbours smoother", "nonparametric.NeighbourSmoother", "Alpaydin 8.8.2", "8.z"
    ),
    # Smaller leaves learn the noise too, and pruning would take rows or fits of its own.
    _ours(
        "regression tree",
        "tree.DecisionTreeRegressor",
        "Alpaydin 9.2.2",
        "9.j",
        min_samples_leaf=10,
    ),
    _ours("support vector regression", "kernel.SupportVectorRegressor", "Alpaydin 13.10", "13.ae"),
    _sklearn("nu support vector regression", "svm.NuSVR", "Alpaydin 13.10", "13.af"),
    _sklearn("linear regression", "linear_model.LinearRegression", "Alpaydin 16.4.1", "16.m"),
    _sklearn("ridge regression", "linear_model.Ridge", "Alpaydin 16.4.1", "16.o"),
    _sklearn("lasso", "linear_model.Lasso", "Alpaydin 16.4.1", "16.p"),
    _sklearn("bagged regression", "ensemble.BaggingRegressor", "Alpaydin 17.6", "17.u"),
    _sklearn("residual boosting", "ensemble.GradientBoostingRegressor", "Alpaydin 17.12", "17.ac"),
    _sklearn(
        "gradient boosting regression",
        "ensemble.HistGradientBoostingRegressor",
        "Alpaydin 17.12",
        "17.ac",
    ),
    _sklearn("kernel density", "neighbors.KernelDensity", "Alpaydin 8.2.2", "8.b 8.e U3.n B4.c"),
    _sklearn("one-class support vector machine", "svm.OneClassSVM", "Alpaydin 13.12", "13.aj"),
    _sklearn("isolation forest", "ensemble.IsolationForest", "SIT1305 I", "U1.p"),
    _sklearn("local outlier factor", "neighbors.LocalOutlierFactor", "SIT1305 I", "U1.p"),
    _sklearn("BIRCH", "cluster.Birch", "SIT1305 III", "U3.j"),
    _sklearn("spectral clustering", "cluster.SpectralClustering", "Alpaydin 13.14", "13.aq"),
    _sklearn("kernel principal components", "decomposition.KernelPCA", "Alpaydin 13.14", "13.an"),
    _sklearn("Isomap", "manifold.Isomap", "Alpaydin 13.14", "13.aq"),
    _sklearn(
        "locally linear embedding", "manifold.LocallyLinearEmbedding", "Alpaydin 13.14", "13.aq"
    ),
    _sklearn(
        "Laplacian eigenmaps",
        "manifold.SpectralEmbedding",
        "Alpaydin 13.14",
        "13.aq",
        task="transformation",
    ),
    _sklearn(
        "latent Dirichlet allocation",
        "decomposition.LatentDirichletAllocation",
        "Alpaydin 16.11",
        "16.av",
    ),
)
