"""The density: its probabilities, gaps, trees and unlikely rows."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose

from verulam.base import DataError
from verulam.graphical import (
    BayesianNetworkDensity,
    chow_liu,
    learn_tables,
    sprinkler,
    structure_score,
)


@pytest.fixture(scope="module")
def rows():
    return sprinkler().sample(3000, random_state=0)


def test_scores_are_probabilities_of_rows(rows):
    model = BayesianNetworkDensity(structure=sprinkler(), alpha=0.0).fit(rows)
    learned = learn_tables(sprinkler(), rows, alpha=0.0)
    assert_allclose(model.score_samples(rows), learned.network.log_evidence(rows))
    assert_allclose(model.score(rows), learned.log_likelihood)
    every = model.network_.joint()
    assert_allclose(every.values.sum(), 1)


def test_gaps_are_summed_over(rows):
    model = BayesianNetworkDensity().fit(rows)
    gaps = rows.iloc[:40].mask(np.random.default_rng(0).random((40, 4)) < 0.5)
    expected = [
        np.log(model.network_.probability(gaps.iloc[row].dropna().to_dict())) for row in range(40)
    ]
    assert_allclose(model.score_samples(gaps), expected, atol=1e-10)


def test_tree_is_chow_and_lius(rows):
    model = BayesianNetworkDensity(structure="tree").fit(rows)
    assert model.network_.graph.arcs == chow_liu(rows).arcs
    independent = BayesianNetworkDensity(structure="independent").fit(rows)
    assert independent.network_.graph.arcs == ()
    search = BayesianNetworkDensity(structure="search").fit(rows)
    scores = [m.score(rows) for m in (independent, model, search)]
    assert scores == sorted(scores)
    assert search.search_.score >= structure_score(sprinkler(), rows) - 1e-9


def test_unlikely_rows_are_flagged(rows):
    model = BayesianNetworkDensity(structure="search").fit(rows)
    odd = pd.DataFrame(
        {"cloudy": ["yes"], "sprinkler": ["yes"], "rain": ["no"], "wet": ["no"]}
    ).astype({name: rows[name].dtype for name in rows})
    assert model.unlikely(odd).all()
    assert model.unlikely(rows, share=0.05).mean() < 0.08
    with pytest.raises(DataError, match="share"):
        model.unlikely(rows, share=0)


def test_impossible_rows_have_probability_zero():
    rows = pd.DataFrame({"a": ["x", "y"], "b": ["x", "y"]}).astype("category")
    model = BayesianNetworkDensity(alpha=0.0).fit(rows)
    other = rows.assign(b=rows["b"].to_numpy()[::-1])
    assert (model.score_samples(other) == -np.inf).all()
    assert_allclose(model.score_samples(rows), np.log([0.5, 0.5]))


def test_parts_add_up_to_the_whole(rows):
    whole = BayesianNetworkDensity(structure="search").fit(rows)
    parts = BayesianNetworkDensity(structure="search")
    for start in range(0, 3000, 1000):
        parts.partial_fit(rows.iloc[start : start + 1000])
    assert parts.network_.graph.arcs == whole.network_.graph.arcs
    assert_allclose(parts.score_samples(rows), whole.score_samples(rows))


def test_wrong_graphs_are_refused(rows):
    with pytest.raises(DataError, match="node 'snow', which is no column"):
        BayesianNetworkDensity(structure=[("snow", "wet")]).fit(rows)
