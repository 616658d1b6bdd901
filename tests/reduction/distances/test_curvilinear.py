"""Curvilinear components: unfolding, local distances, new rows."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.spatial.distance import cdist, pdist

from verulam.base import DataError
from verulam.reduction import CurvilinearComponents, PrincipalComponents, embedding_quality


def arc(n_rows, turns=1.5):
    angle = np.linspace(0, turns * np.pi, n_rows)
    return np.column_stack([np.cos(angle), np.sin(angle)]), angle


@pytest.mark.parametrize("weighting", ["step", "exponential"])
def test_an_arc_is_unrolled(weighting):
    rows, _ = arc(80, 1.0)
    line = CurvilinearComponents(1, weighting=weighting, random_state=0).fit_transform(rows)[:, 0]
    steps = np.diff(line)
    assert (steps > 0).all() or (steps < 0).all()
    # Longer than its shadow of width 2, close to its length of pi.
    assert 2.7 < np.ptp(line) < 3.3


def test_a_folded_sheet_is_unfolded_where_components_overlay_it():
    random = np.random.default_rng(0)
    along, across = random.uniform(0, 1.2 * np.pi, 250), random.uniform(0, 1, 250)
    sheet = np.column_stack([np.cos(along), np.sin(along), across])
    flat = CurvilinearComponents(random_state=0).fit_transform(sheet)
    truth = np.column_stack([along, across])
    correlation = np.corrcoef(pdist(flat), pdist(truth))[0, 1]
    linear = np.corrcoef(pdist(PrincipalComponents(2).fit_transform(sheet)), pdist(truth))[0, 1]
    assert correlation > linear
    quality = embedding_quality(sheet, flat)
    assert quality.trustworthiness > 0.98


def test_a_plane_keeps_its_distances():
    rows = np.random.default_rng(0).normal(size=(50, 2))
    places = CurvilinearComponents(random_state=0).fit_transform(rows)
    assert_allclose(cdist(places, places), cdist(rows, rows), atol=1e-6)


def test_close_places_keep_their_distances_best():
    rows = np.random.default_rng(0).normal(size=(120, 5))
    places = CurvilinearComponents(random_state=1).fit_transform(rows)
    before, after = pdist(rows), pdist(places)
    near = after < np.quantile(after, 0.05)
    start = PrincipalComponents(2).fit_transform(rows)
    shadow = pdist(start)
    close = shadow < np.quantile(shadow, 0.05)
    assert np.abs(before - after)[near].mean() < 0.5 * np.abs(before - shadow)[close].mean()


def test_new_rows_land_between_their_neighbours():
    rows, _ = arc(101, 1.0)
    learner = CurvilinearComponents(1, random_state=0).fit(rows[::2])
    line = learner.embedding_[:, 0]
    between = learner.transform(rows[1::2])[:, 0]
    middle = (line[:-1] + line[1:]) / 2
    assert np.abs(between - middle).max() < 0.6 * np.abs(np.diff(line)).max()
    assert_allclose(learner.transform(rows[::2])[:, 0], line)


def test_radius_and_seed():
    rows, _ = arc(40)
    learner = CurvilinearComponents(1, first_radius=1.5, n_iter=5, random_state=3).fit(rows)
    assert learner.last_radius_ == pytest.approx(0.015)
    again = CurvilinearComponents(1, first_radius=1.5, n_iter=5, random_state=3).fit(rows)
    assert_allclose(again.embedding_, learner.embedding_)
    given = CurvilinearComponents(
        1, first_radius=1.5, n_iter=5, random_state=3, metric="precomputed"
    ).fit(cdist(rows, rows))
    assert_allclose(given.embedding_, learner.embedding_, atol=1e-9)


def test_bad_input():
    with pytest.raises(DataError, match="does not vary"):
        CurvilinearComponents().fit(np.ones((5, 2)))
    with pytest.raises(ValueError, match="first_radius"):
        CurvilinearComponents(first_radius=0).fit(arc(10)[0])
    with pytest.raises(DataError, match="square matrix"):
        CurvilinearComponents(metric="precomputed").fit(np.ones((5, 2)))
