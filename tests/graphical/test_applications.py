"""Small applications: species, texts, stories and hierarchies."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose
from scipy.linalg import expm

from verulam.base import DataError
from verulam.graphical import (
    log_likelihood_of_sites,
    phylogeny,
    rate_hierarchy,
    story_over_days,
    topic_text,
)

SPECIES = {
    "ape": ("root", 0.2),
    "human": ("ape", 0.05),
    "chimp": ("ape", 0.06),
    "mouse": ("root", 0.5),
}
WORDS = [[0.5, 0.4, 0.1], [0.1, 0.1, 0.8]]
VOCABULARY = ["goal", "team", "vote"]


def test_changes_follow_evolutionary_distance():
    rate = np.full((4, 4), 1 / 3) - np.eye(4) * (4 / 3)
    for name, (_, distance) in SPECIES.items():
        table = phylogeny(SPECIES).factor(name).values
        assert_allclose(table, expm(rate * distance), atol=1e-12)
    assert_allclose(phylogeny({"far": ("root", 50.0)}).factor("far").values, 0.25)


def test_pruning_is_enumeration():
    tree = phylogeny(SPECIES)
    leaves = {"human": "ACG-T", "chimp": "ACGAA", "mouse": "ATGCC"}
    total = 0.0
    for site in range(5):
        known = {name: text[site] for name, text in leaves.items() if text[site] in "ACGT"}
        total += tree.query("root", known, method="enumeration").log_evidence
    assert_allclose(log_likelihood_of_sites(tree, leaves), total)
    with pytest.raises(DataError, match="one length"):
        log_likelihood_of_sites(tree, {"human": "A", "chimp": "AC"})
    with pytest.raises(DataError, match="distance of 'x'"):
        phylogeny({"x": ("root", -1.0)})


def test_texts_have_one_topic():
    text = topic_text([0.3, 0.7], WORDS, VOCABULARY, 3)
    rows = text.sample(8000, random_state=0)
    shares = rows.groupby("topic", observed=True)["word 1"].value_counts(normalize=True)
    assert_allclose(shares[0]["goal"], 0.5, atol=0.03)
    assert_allclose(shares[1]["vote"], 0.8, atol=0.03)
    weights = np.array([0.3 * 0.5 * 0.4, 0.7 * 0.1 * 0.1])
    posterior = text.query("topic", {"word 0": "goal", "word 2": "team"})
    assert_allclose(posterior.values, weights / weights.sum())


def test_a_story_lasts_for_days():
    days = story_over_days([0.5, 0.5], WORDS, VOCABULARY, persistence=0.95)
    seen = pd.DataFrame({"word": ["goal", None, None, "goal"]})
    between = days.smooth(seen, "topic").iloc[1:3, 0]
    restless = story_over_days([0.5, 0.5], WORDS, VOCABULARY, persistence=0.0)
    assert (between > 0.9).all()
    assert_allclose(restless.smooth(seen, "topic").iloc[1], [0.5, 0.5])
    history = days.sample(200, random_state=0)["topic"].to_numpy()
    assert np.mean(history[1:] == history[:-1]) > 0.9
    with pytest.raises(DataError, match="persistence"):
        story_over_days([1.0], [[1.0]], ["a"], persistence=2)


def test_groups_inform_each_other_through_the_mean():
    network = rate_hierarchy(3, 10)
    levels = np.array(network.states["mean"])

    def expected(evidence):
        return network.query("rate 2", evidence).values @ levels

    nothing, low = expected({}), expected({"successes 0": 1, "successes 1": 0})
    high = expected({"successes 0": 9, "successes 1": 10})
    assert low < nothing - 0.1 < nothing + 0.1 < high
    own = network.query("rate 0", {"successes 0": 9}).values @ levels
    shrunk = network.query("rate 0", {"successes 0": 9, "successes 1": 1, "successes 2": 1}).values
    assert shrunk @ levels < own
    with pytest.raises(DataError, match="two levels"):
        rate_hierarchy(1, 1, n_levels=1)
