"""Drawn trees: a box for every node, a line for every branch."""

import numpy as np

from verulam.data import dataset
from verulam.plots import tree_diagram
from verulam.tree import (
    DecisionTreeClassifier,
    DecisionTreeRegressor,
    MultivariateTreeClassifier,
)


def test_boxes_and_lines():
    buys = dataset("buys_computer")
    tree = DecisionTreeClassifier(preset="id3").fit(buys.inputs, buys.target_values)
    axes = tree_diagram(tree)
    n_nodes = len(tree.tree_)
    assert len(axes.lines) == n_nodes - 1
    assert len(axes.texts) == 2 * n_nodes - 1
    texts = [text.get_text() for text in axes.texts]
    assert texts.count("age") == 1
    assert "middle_aged" in texts
    assert len(tree_diagram(tree, max_depth=1).lines) == 3


def test_numbers_and_leaves_do_not_overlap():
    X = np.arange(8.0)[:, None]
    axes = tree_diagram(DecisionTreeRegressor(max_depth=2).fit(X, X[:, 0]))
    places = [text.get_position() for text in axes.texts]
    assert len(set(places)) == len(places)


def test_multivariate_nodes_show_their_question():
    X = np.random.default_rng(0).uniform(size=(80, 2))
    tree = MultivariateTreeClassifier().fit(X, X[:, 0] > X[:, 1])
    texts = [text.get_text() for text in tree_diagram(tree).texts]
    assert {"no", "yes"} <= set(texts)
    assert any("x1" in text and "x2" in text and "> 0" in text for text in texts)
