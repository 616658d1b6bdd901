"""Trees in DOT."""

import numpy as np
import pytest

from verulam.data import dataset
from verulam.tree import (
    DecisionTreeClassifier,
    MultivariateTreeClassifier,
    export_dot,
)


@pytest.fixture
def titanic():
    data = dataset("titanic")
    return data.inputs, data.target_values


def test_dot_has_every_node_and_edge(titanic):
    tree = DecisionTreeClassifier(max_depth=3).fit(*titanic)
    text = export_dot(tree)
    assert text.count(" -> ") == len(tree.tree_) - 1
    assert text.count("[label=") == 2 * len(tree.tree_) - 1
    cut = export_dot(tree, max_depth=1)
    assert cut.count(" -> ") == 2
    assert cut.count(' ...", style="rounded,dashed"]') == 2


def test_dot_of_slanted_nodes():
    X = np.random.default_rng(0).uniform(size=(80, 2))
    tree = MultivariateTreeClassifier().fit(X, X[:, 0] > X[:, 1])
    text = export_dot(tree)
    assert text.count(" -> ") == len(tree.tree_.structure) - 1
    assert f'0 [label="{tree.node_text(0)}"];' in text
    assert '0 -> 1 [label="no"];' in text
