"""States: points, generators, JSON and links, and what is refused."""

import base64
import json
import zlib
from dataclasses import replace

import numpy as np
import pytest

from verulam.base import DataError
from verulam.lab import (
    Generated,
    LearnerSetting,
    PlaneState,
    Points,
    from_json,
    from_link,
    to_json,
    to_link,
)
from verulam.lab._state import GENERATORS, extent_of, generate, ring

DRAWN = Points((0.0, 1.5), (2.0, -1.0), (0, 4), ("a", "b"))


@pytest.mark.parametrize(
    "state",
    [
        PlaneState(),
        PlaneState(data=DRAWN, extent=(-1.0, 2.0, -3.0, 3.0), seed=7, folds=5),
        PlaneState(
            task="regression",
            data=Generated("noisy sine", 30, 0.1, 5),
            learners=(
                LearnerSetting("tree.DecisionTreeRegressor", {"max_depth": 3}),
                LearnerSetting("kernel.SupportVectorRegressor", {"kernel__width": 0.5}),
            ),
        ),
    ],
)
def test_states_survive_text_and_links(state):
    assert from_json(to_json(state)) == state
    assert from_link("http://127.0.0.1:5007/plane" + to_link(state)) == state


def test_two_hundred_points_make_a_short_link():
    points = generate(Generated("spirals", 200))
    assert len(to_link(PlaneState(data=points))) < 4000
    assert len(to_link(PlaneState())) < 500


def changed(**parts):
    record = json.loads(to_json(PlaneState(data=DRAWN)))
    record.update(parts)
    return json.dumps(record)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("nonsense", "no JSON"),
        ("[]", "version None"),
        (changed(version=99), "version 99"),
        (changed(task="cooking"), "'cooking' is none of"),
        (changed(learners=[]), "1 to 4"),
        (changed(learners=[{"name": "x", "parameters": {"a": [1]}}]), "'a' must be a number"),
        (changed(extent=[1, 0, 0, 1]), "must rise"),
        (changed(extent=[0, 1e300, 0, 1]), "no number of the plane"),
        (changed(resolution=100000), "from 20 to 400"),
        (
            changed(data={"horizontal": [0], "vertical": [], "codes": [], "names": "ab"}),
            "two places",
        ),
        (
            changed(data={"horizontal": [0], "vertical": [0], "codes": [9], "names": "ab"}),
            "9 is no",
        ),
        (changed(kind="generated", data={"name": "magic"}), "'magic' is none of"),
        (to_json(PlaneState(data=DRAWN)).replace("1.5", "NaN"), "no JSON"),
    ],
)
def test_other_texts_are_refused(text, message):
    with pytest.raises(DataError, match=message):
        from_json(text)


def test_damaged_links_are_refused():
    link = to_link(PlaneState())
    with pytest.raises(DataError, match="after #s="):
        from_link("http://example.org")
    with pytest.raises(DataError, match="damaged"):
        from_link("#s=AAAA")
    with pytest.raises(DataError, match=r"cut or too long|damaged"):
        from_link(link[:-20])
    bomb = base64.urlsafe_b64encode(zlib.compress(b" " * 50_000_000)).decode()
    with pytest.raises(DataError, match="too long"):
        from_link("#s=" + bomb)


@pytest.mark.parametrize("name", GENERATORS)
def test_generators_draw_what_their_seed_says(name):
    recipe = Generated(name, 40, 0.2, 3)
    points = generate(recipe)
    assert len(points) == 40
    assert points == generate(recipe)
    assert points != generate(replace(recipe, seed=4))
    assert set(points.codes) == ({0} if GENERATORS[name] == "regression" else {0, 1})


def test_gaussians_have_their_means_and_covariances():
    spreads = ((1.0, 0.5, 2.0), (1.0, 0.0, 1.0))
    recipe = Generated("Gaussians", 8000, means=((5.0, -1.0), (0.0, 0.0)), covariances=spreads)
    points = generate(recipe)
    rows = points.rows[np.array(points.codes) == 0]
    np.testing.assert_allclose(rows.mean(axis=0), [5.0, -1.0], atol=0.1)
    np.testing.assert_allclose(np.cov(rows.T), [[1.0, 0.5], [0.5, 2.0]], atol=0.15)


def test_a_ring_goes_around_its_cloud():
    rows, codes = ring(400, 0.1, 0)
    radii = np.hypot(*rows.T)
    assert radii[codes == 0].max() < 1.0 < radii[codes == 1].min()


def test_points_are_added_moved_and_taken_away():
    more = DRAWN.added(0.123456, 3.0, 2)
    assert more.horizontal[-1] == 0.1235
    assert more.labels.tolist() == ["A", "E", "C"]
    assert more.moved(0, 9.0, 8.0).rows[0].tolist() == [9.0, 8.0]
    assert more.without(2) == DRAWN
    assert extent_of(Points()) == (-3.0, 3.0, -3.0, 3.0)
    left, right, bottom, top = extent_of(DRAWN)
    assert left < 0.0 < 1.5 < right
    assert bottom < -1.0 < 2.0 < top
