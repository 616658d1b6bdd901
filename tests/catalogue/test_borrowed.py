"""The list of borrowed learners is true: classes, parameters, sections and rows exist."""

import numpy as np
import pytest

from verulam.base import abilities
from verulam.catalogue import entry, read_map
from verulam.catalogue._borrowed import BORROWED
from verulam.catalogue._search import places, read_sections

ROWS = {row.id: row for row in read_map()}
UNITS = {
    "SIT1305 I": "U1.",
    "SIT1305 II": "U2.",
    "SIT1305 III": "U3.",
    "SIT1305 IV": "U4.",
    "SIT1305 V": "U5.",
}


@pytest.mark.parametrize("borrowed", BORROWED, ids=lambda borrowed: borrowed.name)
def test_entry(borrowed):
    item = entry(borrowed.name)
    made = item.make()
    assert type(made).__module__.partition(".")[0] == borrowed.path.partition(".")[0]
    assert item.source == ("ours" if borrowed.path.startswith("verulam.") else "borrowed")
    assert item.abilities.task in {
        "classification",
        "regression",
        "density",
        "clustering",
        "outliers",
        "transformation",
    }
    for name, value in borrowed.parameters.items():
        assert getattr(made, name) == value
    assert item.summary


@pytest.mark.parametrize("borrowed", BORROWED, ids=lambda borrowed: borrowed.name)
def test_section_and_rows_belong_together(borrowed):
    if not borrowed.section:
        assert borrowed.name in {"majority class", "mean predictor"}
        return
    assert borrowed.rows
    assert set(borrowed.rows) <= set(ROWS)
    if borrowed.section in UNITS:
        assert any(row.startswith(UNITS[borrowed.section]) for row in borrowed.rows)
        return
    section = borrowed.section.removeprefix("Alpaydin ")
    assert section in read_sections()
    chapter = section.split(".")[0]
    assert any(row.split(".")[0] == chapter for row in borrowed.rows)
    assert any(_names(ROWS[row].section, section) for row in borrowed.rows)


def _names(cell, section):
    """Tell whether a cell of the map names the section, or an equation that stands in it."""
    wanted = tuple(int(part) for part in section.split("."))
    found = read_sections()
    ranges = [
        item.equations
        for number, item in found.items()
        if (number == section or number.startswith(f"{section}.")) and item.equations
    ]
    return any(
        place.first == wanted
        or wanted[:2] == place.first
        or any(place.overlaps(*equations) for equations in ranges)
        for place in places(cell)
    )


def test_a_task_is_given_only_where_the_class_does_not_tell():
    for borrowed in BORROWED:
        if borrowed.task:
            assert abilities(entry(borrowed.name).make()).task == "other"


def test_isolation_forest_is_among_the_detectors():
    rng = np.random.default_rng(0)
    rows = np.vstack([rng.normal(size=(95, 3)), rng.normal(scale=0.1, size=(5, 3)) + 9.0])
    found = entry("isolation forest").make(contamination=0.05, random_state=0).fit_predict(rows)
    assert np.flatnonzero(found == -1).tolist() == [95, 96, 97, 98, 99]
    assert "U1.p" in entry("isolation forest").rows


def test_birch_summarises_rows_in_a_tree_of_clustering_features():
    rng = np.random.default_rng(0)
    centres = np.array([[0.0, 0.0], [9.0, 0.0], [0.0, 9.0]])
    rows = np.repeat(centres, 200, axis=0) + rng.normal(size=(600, 2))
    birch = entry("BIRCH").make(n_clusters=3, threshold=0.8).fit(rows)
    assert "U3.j" in entry("BIRCH").rows
    assert len(set(zip(birch.labels_, np.repeat(np.arange(3), 200), strict=True))) == 3
    # Far fewer entries than rows, and together they hold the count and the sum of all of them.
    parts = birch.root_.subclusters_
    assert len(birch.subcluster_centers_) < 200
    assert sum(part.n_samples_ for part in parts) == 600
    np.testing.assert_allclose(sum(part.linear_sum_ for part in parts), rows.sum(axis=0))
    for part in parts:
        mean = part.linear_sum_ / part.n_samples_
        np.testing.assert_allclose(part.centroid_, mean)
