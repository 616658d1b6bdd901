"""Small data: fit and predict on iris, where checks and calls cost more than the method."""

from collections.abc import Callable
from typing import Any

from sklearn.datasets import load_iris
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier as TheirNeighbours
from sklearn.svm import SVC, SVR
from sklearn.tree import DecisionTreeClassifier as TheirTree
from sklearn.tree import DecisionTreeRegressor as TheirRegressor

from benchmarks._timing import alike, close, print_races, race
from verulam.kernel import SupportVectorClassifier, SupportVectorRegressor
from verulam.linear import LogisticDiscriminant
from verulam.nonparametric import KNeighborsClassifier
from verulam.parametric import NaiveBayes
from verulam.tree import DecisionTreeClassifier, DecisionTreeRegressor

PAIRS: tuple[tuple[str, Callable[[], Any], Callable[[], Any]], ...] = (
    ("tree", DecisionTreeClassifier, TheirTree),
    ("regression tree", DecisionTreeRegressor, TheirRegressor),
    ("support vector machine", SupportVectorClassifier, SVC),
    ("support vector regression", SupportVectorRegressor, SVR),
    ("naive Bayes", NaiveBayes, GaussianNB),
    ("nearest neighbours", KNeighborsClassifier, TheirNeighbours),
    ("logistic", LogisticDiscriminant, lambda: LogisticRegression(max_iter=1000)),
)
#: Least share of the rows whose class both predict alike, and largest difference of numbers.
ALIKE, NEAR = 0.97, 0.1


def run() -> None:
    """Print the races of one fit and one prediction of all rows."""
    X, y = load_iris(return_X_y=True)

    def work(make: Callable[[], Any]) -> Callable[[], object]:
        return lambda: make().fit(X, y).predict(X)

    races = []
    for name, ours, theirs in PAIRS:
        same = close(0.0, NEAR) if "regression" in name else alike(ALIKE)
        title = f"{name}, fit and predict"
        races.append(race(title, work(ours), "scikit-learn", work(theirs), same=same))
    print_races("Iris", races)
