"""Growing cells: the net stays one of triangles, and cells go where errors or rows are."""

import networkx as nx
import numpy as np
import pytest

from verulam.base import DataWarning
from verulam.local import GrowingCells
from verulam.local._maps.growing import insert_cell


@pytest.fixture(scope="module")
def rows():
    rng = np.random.default_rng(0)
    dense = rng.normal(size=(900, 2)) * 0.5
    sparse = rng.normal(size=(100, 2)) * 0.5 + np.array([8.0, 0.0])
    return np.vstack([dense, sparse])


def test_a_new_cell_is_put_between_the_worst_and_its_farthest_neighbour():
    units = np.zeros((2, 4))
    units[:, :3] = [[0.0, 1.0, 4.0], [0.0, 1.0, 0.0]]
    joined = np.zeros((4, 4), dtype=bool)
    joined[:3, :3] = ~np.eye(3, dtype=bool)
    signals = np.array([8.0, 4.0, 1.0, 0.0])
    insert_cell(units, joined, signals, 3)
    np.testing.assert_array_equal(units[:, 3], [2.0, 0.0])
    assert not joined[0, 2]
    assert joined[3].tolist() == [True, True, True, False]
    assert signals.sum() == pytest.approx(13.0)
    np.testing.assert_allclose(signals, [6.0, 3.0, 0.75, 3.25])


def test_the_net_is_one_of_triangles(rows):
    learner = GrowingCells(30, random_state=0).fit(rows)
    assert len(learner.cluster_centers_) == 30
    # A triangle has three edges; a cell on an edge inside adds three, on the rim two.
    assert 2 * 30 - 3 <= len(learner.edges_) <= 3 * 30 - 6
    graph = nx.Graph(learner.edges_.tolist())
    assert nx.is_connected(graph)
    assert all(len(set(graph[a]) & set(graph[b])) >= 1 for a, b in graph.edges)


def test_cells_concentrate_by_density(rows):
    learner = GrowingCells(40, signal="wins", random_state=0).fit(rows)
    share = np.mean(learner.cluster_centers_[:, 0] < 4.0)
    assert share > 0.75
    # Every step is a win of one cell, and new cells only divide them: from 3 cells to 6.
    counts = GrowingCells(6, signal="wins", decay=0.0, steps_per_unit=50, random_state=0)
    assert counts.fit(rows).signals_.sum() == pytest.approx(4 * 50)


def test_by_errors_the_rows_are_covered_more_closely(rows):
    few = GrowingCells(5, random_state=0).fit(rows)
    many = GrowingCells(60, random_state=0).fit(rows)
    assert many.quantisation_error_ < 0.6 * few.quantisation_error_
    nearest = np.linalg.norm(rows[:, None] - many.cluster_centers_, axis=2)
    assert many.quantisation_error_ == pytest.approx(nearest.min(axis=1).mean())
    np.testing.assert_array_equal(many.labels_, nearest.argmin(axis=1))
    np.testing.assert_allclose(many.transform(rows), nearest)


def test_few_and_equal_rows():
    same = np.repeat([[1.0, 2.0]], 10, axis=0)
    with pytest.warns(DataWarning, match="max_units=6 is more than the different rows of X, .* 1"):
        learner = GrowingCells(6, random_state=0).fit(same)
    np.testing.assert_allclose(learner.cluster_centers_, same[:6])
    assert len(learner.dead_units_) == 5
    with pytest.raises(ValueError, match="max_units"):
        GrowingCells(2).fit(same)
