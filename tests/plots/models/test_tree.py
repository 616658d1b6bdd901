"""Drawn trees: a box for every node, a line for every branch, and nothing over anything else."""

import itertools

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest

from verulam.base import DataError, DataWarning
from verulam.data import dataset
from verulam.plots import tree_diagram
from verulam.plots._models.tree_layout import arrange
from verulam.tree import (
    DecisionTreeClassifier,
    DecisionTreeRegressor,
    MultivariateTreeClassifier,
)


@pytest.fixture(scope="module")
def iris_tree():
    iris = dataset("iris")
    return DecisionTreeClassifier(preset="c4.5").fit(iris.inputs, iris.target_values)


def texts_of(axes):
    return [text.get_text() for text in axes.texts]


def overlaps(axes):
    """Return pairs of texts, boxes included, that lie over one another, or out of the figure."""
    figure = axes.figure
    figure.canvas.draw()
    boxes = [text.get_bbox_patch().get_window_extent() for text in axes.texts]
    width, height = figure.canvas.get_width_height()
    outside = [
        text.get_text()
        for text, box in zip(axes.texts, boxes, strict=True)
        if box.x0 < 0 or box.y0 < 0 or box.x1 > width or box.y1 > height
    ]
    crossing = [
        (axes.texts[one].get_text(), axes.texts[other].get_text())
        for one, other in itertools.combinations(range(len(boxes)), 2)
        if boxes[one].overlaps(boxes[other])
    ]
    return outside + crossing


def test_boxes_and_lines():
    buys = dataset("buys_computer")
    tree = DecisionTreeClassifier(preset="id3").fit(buys.inputs, buys.target_values)
    axes = tree_diagram(tree)
    n_nodes = len(tree.tree_)
    assert len(axes.lines) == n_nodes - 1
    assert len(axes.texts) == 2 * n_nodes - 1
    assert texts_of(axes).count("age") == 1
    assert "middle_aged" in texts_of(axes)


def test_figures_grow_with_the_tree():
    random = np.random.default_rng(0)
    X = random.normal(size=(400, 4))
    y = X[:, 0] * X[:, 1] + 0.5 * random.normal(size=400) > 0
    sizes = []
    for n_leaves in (3, 20, 45):
        axes = tree_diagram(DecisionTreeClassifier(max_leaf_nodes=n_leaves).fit(X, y))
        assert not overlaps(axes)
        assert {text.get_fontsize() for text in axes.texts} <= {8.0, 7.2}
        sizes.append(axes.figure.get_size_inches())
    assert (np.diff(sizes, axis=0) > 0).all()


def test_raw_tables_with_long_names():
    random = np.random.default_rng(0)
    names = ["Married-civilian-spouse-absent", "under_score_names_are_long", "$50k and $ more", "b"]
    table = pd.DataFrame(
        {
            "the_marital_status_of_the_person": pd.Categorical(random.choice(names, 300)),
            "$ income $": 2000 + 2000 * random.random(300),
        }
    )
    named = table["the_marital_status_of_the_person"].isin(names[:2])
    y = np.where(named & (table["$ income $"] > 3000.0), "a class with a long name", "other")
    for preset in ("id3", "cart"):
        axes = tree_diagram(DecisionTreeClassifier(preset=preset, random_state=0).fit(table, y))
        assert not overlaps(axes)
        assert "$ income $" in texts_of(axes)


def test_thresholds_are_those_of_the_printed_tree():
    """Rounded to 190, the first would leave a car of 190 on the wrong side."""
    X = pd.DataFrame({"size 2.125": [190.0, 191.0, 1977.0, 1978.0, -0.0125, -0.0126]})
    tree = DecisionTreeRegressor().fit(X, [1.23456, 2.0, 3.0, 4.0, 5.0, 6.0])
    texts = texts_of(tree_diagram(tree))
    thresholds = {
        line.split(" 2.125 ")[1].split(":")[0] for line in tree.export_text().splitlines()
    }
    assert {"<= 190.5", "> 190.5", "> 1977.5", "<= -0.01255"} <= thresholds
    assert thresholds <= set(texts)
    assert "size 2.125" in texts
    assert "1.23\n(1)" in texts
    single = MultivariateTreeClassifier("univariate").fit(X.to_numpy(), X.iloc[:, 0] > 190.5)
    assert texts_of(tree_diagram(single))[0] == "x1 > 190.5"


@pytest.mark.parametrize("layout", [None, "constrained"])
def test_letters_shrink_on_small_axes(iris_tree, layout):
    figure, (left, right) = plt.subplots(1, 2, figsize=(4.8, 4.0), layout=layout)
    axes = tree_diagram(iris_tree, ax=left)
    right.plot([1, 2])
    assert axes is left
    assert len(axes.lines) == len(iris_tree.tree_) - 1
    assert not overlaps(axes)
    assert 5.0 <= axes.texts[0].get_fontsize() < 8.0
    assert figure.get_size_inches().tolist() == [4.8, 4.0]


def test_what_does_not_fit_is_cut_with_a_warning(iris_tree):
    axes = plt.subplots(figsize=(2.2, 2.2))[1]
    with pytest.warns(DataWarning, match=r"drawn to depth \d of \d: .* `max_depth`"):
        tree_diagram(iris_tree, ax=axes)
    assert not overlaps(axes)
    assert any(text.endswith("\n...") for text in texts_of(axes))
    assert axes.texts[0].get_fontsize() >= 5.0


def test_depth_is_cut_where_it_is_asked(iris_tree):
    axes = tree_diagram(iris_tree, max_depth=1)
    assert len(axes.lines) == 2
    assert sum(text.endswith("\n...") for text in texts_of(axes)) == 1
    assert texts_of(tree_diagram(iris_tree, max_depth=0)) == ["setosa\n(150, 100 of\nothers)\n..."]
    assert not any("..." in text for text in texts_of(tree_diagram(iris_tree, max_depth=99)))
    with pytest.raises(DataError, match="max_depth=-1"):
        tree_diagram(iris_tree, max_depth=-1)


def test_huge_trees_are_cut_before_they_are_arranged(monkeypatch):
    X = np.arange(64.0)[:, None]
    tree = DecisionTreeRegressor().fit(X, X[:, 0])
    for name, value in (("LARGEST_FIGURE", (64.0, 2.0)), ("MOST_NODES", 40)):
        with monkeypatch.context() as patch:
            patch.setattr(f"verulam.plots._models.tree.{name}", value)
            with pytest.warns(DataWarning, match=r"\d of 6: "):
                axes = tree_diagram(tree)
        assert 2 < len(axes.lines) < 40


def test_multivariate_nodes_show_their_question():
    X = np.random.default_rng(0).uniform(size=(80, 2))
    tree = MultivariateTreeClassifier().fit(X, X[:, 0] > X[:, 1])
    axes = tree_diagram(tree)
    assert not overlaps(axes)
    assert {"no", "yes"} <= set(texts_of(axes))
    assert any("x1" in text and "x2" in text and "> 0" in text for text in texts_of(axes))


@pytest.mark.parametrize(
    ("node", "end"), [("lda", "> 0"), ("sphere", "<= {radius:.4g}"), ("quadratic", "> 0")]
)
def test_long_questions_are_cut_before_their_relation(node, end):
    wine = dataset("wine")
    tree = MultivariateTreeClassifier(node, max_depth=1).fit(wine.inputs, wine.target_values)
    question = texts_of(tree_diagram(tree))[0]
    assert question.endswith(end.format(radius=getattr(tree.discriminant(0), "radius", 0.0)))
    assert "\n...\n" in question


def test_very_deep_trees_are_laid_out_a_few_times_only(monkeypatch):
    """Each row cuts off one: as deep as a tree can be, of which 40 inches show only the top."""
    X = np.arange(600.0)[:, None]
    y = np.where(np.arange(600) % 2, 1.0, -1.0) * np.exp(-np.arange(600) / 50.0)
    tree = DecisionTreeRegressor().fit(X, y)
    calls = []
    monkeypatch.setattr(
        "verulam.plots._models.tree.arrange", lambda nodes: calls.append(0) or arrange(nodes)
    )
    with pytest.warns(DataWarning, match=r"of \d{3}: there is no room"):
        tree_diagram(tree)
    assert len(calls) < 12
