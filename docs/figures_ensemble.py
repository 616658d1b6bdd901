"""Pictures of the guide's page on ensembles."""

from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

from verulam.data import dataset, four_spirals
from verulam.ensemble import (
    AdaBoostClassifier,
    BaggingClassifier,
    CascadeClassifier,
    EigenLearners,
    RandomForestClassifier,
    diversity,
    margin_trace,
    out_of_fold_outputs,
    output_code,
)
from verulam.linear import LogisticDiscriminant
from verulam.nonparametric import KNeighborsClassifier
from verulam.parametric import NaiveBayes, NearestMean
from verulam.plots import (
    boosting_errors,
    boosting_round,
    cascade_coverage,
    code_map,
    eigenlearner_map,
    kappa_error,
    majority_curves,
    margin_curves,
)
from verulam.tree import DecisionTreeClassifier


def draw_ensemble(folder: Path) -> None:
    """Draw the page's pictures into `folder`."""
    pictures = {
        "majority": majority_curves().figure,
        "rounds": _rounds(),
        "margins": _margins(),
        "codes": _codes(),
        "kappa": _kappa(),
        "forest": _forest(),
        "cascade": _cascade(),
        "loadings": _loadings(),
    }
    for name, figure in pictures.items():
        figure.savefig(folder / f"ensemble-{name}.png", dpi=110)
        plt.close(figure)


def _rounds() -> plt.Figure:
    """Return boosting of shallow trees on four spirals, with a bag beside it at the end."""
    spirals = four_spirals(200, random_state=1)
    X, y = spirals.inputs.to_numpy(), np.asarray(spirals.target_values)
    tree = DecisionTreeClassifier(max_depth=2)
    boost = AdaBoostClassifier(tree, n_estimators=60).fit(X, y)
    bag = BaggingClassifier(tree, n_estimators=60, random_state=0).fit(X, y)
    figure, axes = plt.subplots(2, 3, figsize=(10.5, 7), layout="constrained")
    for ax, count in zip(axes.flat, (1, 2, 3, 10, len(boost.estimators_)), strict=False):
        late = count == len(boost.estimators_)
        boosting_round(boost, X, y, count, other=bag if late else None, ax=ax)
        ax.set(xticks=[], yticks=[])
    boosting_errors(boost, ax=axes.flat[-1])
    return figure


def _margins() -> plt.Figure:
    """Return margins of boosted stumps on the cancer data."""
    cancer = dataset("breast_cancer")
    boost = AdaBoostClassifier(n_estimators=200).fit(cancer.inputs, cancer.target_values)
    trace = margin_trace(boost, cancer.inputs, cancer.target_values)
    return margin_curves(trace, [1, 5, 20, 200]).figure


def _codes() -> plt.Figure:
    """Return the three codes of four classes."""
    kinds = ("one_vs_all", "one_vs_one", "exhaustive")
    widths = [output_code(4, kind).shape[1] + 1 for kind in kinds]
    figure, axes = plt.subplots(1, 3, figsize=(9.5, 2.6), layout="constrained", width_ratios=widths)
    for ax, kind in zip(axes, kinds, strict=True):
        code_map(output_code(4, kind), ax=ax)
        ax.set_title(kind.replace("_", " "), fontsize=10)
    return figure


def _kappa() -> plt.Figure:
    """Return the pairs of five learners of German credit."""
    credit = dataset("german_credit")
    members = [
        ("Bayes", NaiveBayes()),
        ("tree", DecisionTreeClassifier(min_samples_leaf=10)),
        ("neighbours", KNeighborsClassifier(n_neighbors=9)),
        ("logistic", LogisticDiscriminant()),
        ("means", NearestMean()),
    ]
    outputs = out_of_fold_outputs(members, credit.inputs, credit.target_values, random_state=0)
    return kappa_error(diversity(outputs, credit.target_values)).figure


def _forest() -> plt.Figure:
    """Return errors out of the bag, of forests that try one, some or all columns at a node."""
    credit = dataset("german_credit")
    figure, ax = plt.subplots(figsize=(6.5, 3.8), layout="constrained")
    for max_features, label in ((1, "1 column"), ("sqrt", "4 columns"), (None, "all 20 columns")):
        forest = RandomForestClassifier(
            300, max_features=max_features, oob_score=True, random_state=0
        ).fit(credit.inputs, credit.target_values)
        ax.plot(np.arange(1, 301), 100 * forest.oob_errors_, label=label)
    ax.set(xlabel="Trees", ylabel="Error out of the bag (%)", xscale="log")
    ax.set_xticks([1, 3, 10, 30, 100, 300], ["1", "3", "10", "30", "100", "300"])
    ax.legend(title="Tried at each node")
    return figure


def _cascade() -> plt.Figure:
    """Return what the stages of a cascade answer about passengers they have not seen."""
    titanic = dataset("titanic")
    train, test = slice(0, 600), slice(600, None)
    cascade = CascadeClassifier(
        [("naive Bayes", NaiveBayes()), ("bag of trees", BaggingClassifier(n_estimators=20))],
        thresholds=0.9, costs=[1, 20], remainder="exceptions", random_state=0,
    )  # fmt: skip
    cascade.fit(titanic.inputs[train], titanic.target_values[train])
    coverage = cascade.coverage(titanic.inputs[test], titanic.target_values[test])
    return cascade_coverage(coverage).figure


def _loadings() -> plt.Figure:
    """Return the eigenlearners of the wine data."""
    wine = dataset("wine")
    eigen = EigenLearners(n_components=3, random_state=0).fit(wine.inputs, wine.target_values)
    return eigenlearner_map(eigen).figure
