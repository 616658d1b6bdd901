"""Pictures of associations: every candidate drawn, rules where their measures put them."""

import numpy as np
import pytest

from verulam.association import apriori, association_rules
from verulam.base import DataError
from verulam.data import dataset
from verulam.plots import apriori_lattice, rule_map


def test_every_candidate_is_drawn_with_its_count():
    trace = apriori(dataset("baskets").inputs, 2)
    axes = apriori_lattice(trace)
    texts = [text.get_text() for text in axes.texts]
    assert len(texts) == len(trace.to_frame())
    assert "I1 I2 I5\n2" in texts
    assert "I1 I2 I3 I5" in texts  # pruned, so that it has no count
    assert axes.get_yticklabels()[0].get_text() == "1 item"


def test_rules_stand_at_their_support_and_confidence():
    rules = association_rules(dataset("baskets").inputs, 2)
    axes = rule_map(rules, named=3)
    places = axes.collections[0].get_offsets()
    expected = np.column_stack([rules.together / 9, rules.confidence])
    np.testing.assert_allclose(
        places[np.lexsort(places.T)], expected[np.lexsort(expected.T)], atol=1e-12
    )
    assert len(axes.texts) == 3


def test_bad_input_is_named():
    with pytest.raises(DataError, match="252 candidates; at most 40"):
        apriori_lattice(apriori([list(range(10)), [0, 1]], 1))
    with pytest.raises(DataError, match="no rules to draw"):
        rule_map(association_rules([["a"], ["b"]], 1))
