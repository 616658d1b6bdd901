"""Version spaces: EnjoySport, and borders that hold exactly the consistent conjunctions."""

from itertools import product

import numpy as np
import pandas as pd
import pytest

from verulam.base import DataError
from verulam.data import dataset
from verulam.theory import Conjunction, VersionSpace


@pytest.fixture
def enjoy_sport():
    table = dataset("enjoy_sport")
    return VersionSpace.of(table.inputs, table.target_values, positive="yes")


def test_enjoy_sport(enjoy_sport):
    assert str(enjoy_sport.specific_) == "<sunny, warm, ?, strong, ?, ?>"
    assert {str(hypothesis) for hypothesis in enjoy_sport.general_} == {
        "<sunny, ?, ?, ?, ?, ?>",
        "<?, warm, ?, ?, ?, ?>",
    }
    hypotheses = list(enjoy_sport.hypotheses())
    assert len(hypotheses) == 6
    assert hypotheses[0] == enjoy_sport.specific_
    assert all(enjoy_sport.contains(hypothesis) for hypothesis in hypotheses)
    assert enjoy_sport.n_examples_ == 4


def test_answers_where_the_borders_agree(enjoy_sport):
    assert enjoy_sport.classify(("sunny", "warm", "normal", "strong", "cool", "change")) is True
    assert enjoy_sport.vote(("sunny", "warm", "normal", "strong", "cool", "change")) == 1.0
    assert enjoy_sport.classify(("rainy", "cold", "high", "strong", "warm", "same")) is False
    doubtful = ("sunny", "cold", "normal", "strong", "warm", "same")
    assert enjoy_sport.classify(doubtful) is None
    assert enjoy_sport.vote(doubtful) == pytest.approx(2 / 6)


def _all_conjunctions(attributes):
    yield Conjunction(None)
    for values in product(*[(*domain, None) for domain in attributes.values()]):
        yield Conjunction(values)


@pytest.mark.parametrize("seed", range(12))
def test_the_borders_hold_exactly_the_consistent_conjunctions(seed):
    random = np.random.default_rng(seed)
    attributes = {"a": "xyz", "b": "uv", "c": "pqr"}
    domains = [list(domain) for domain in attributes.values()]
    concept = Conjunction(("x", None, "q") if seed % 2 else (None, "u", None))
    space = VersionSpace(attributes)
    seen = []
    for _ in range(1 + seed):
        example = tuple(random.choice(domain) for domain in domains)
        seen.append((example, concept.covers(example)))
        space.update(*seen[-1])
    consistent = {
        hypothesis
        for hypothesis in _all_conjunctions(attributes)
        if all(hypothesis.covers(example) == label for example, label in seen)
    }
    assert set(space.hypotheses()) == consistent
    assert {h for h in _all_conjunctions(attributes) if space.contains(h)} == consistent


def test_the_order_of_examples_does_not_matter():
    table = dataset("enjoy_sport")
    rows = list(table.inputs.astype(str).itertuples(index=False, name=None))
    labels = [label == "yes" for label in table.target_values]
    attributes = {name: table.inputs[name].astype(str).unique() for name in table.inputs}
    spaces = []
    for order in ([0, 1, 2, 3], [2, 3, 1, 0]):
        space = VersionSpace(attributes)
        for place in order:
            space.update(rows[place], labels[place])
        spaces.append((space.specific_, set(space.general_)))
    assert spaces[0] == spaces[1]


def test_one_hypothesis_is_left_in_the_end():
    space = VersionSpace({"a": "xy", "b": "uv"})
    space.update(("x", "u"), True).update(("x", "v"), True)
    assert not space.is_settled
    space.update(("y", "u"), False)
    assert space.is_settled
    assert str(space) == "S: <x, ?>\nG: <x, ?>"


def test_contradictions_empty_the_space():
    space = VersionSpace({"a": "xy"}).update("x", True).update("x", False)
    assert space.is_empty
    assert list(space.hypotheses()) == []
    assert not space.contains(Conjunction(("x",)))
    with pytest.raises(DataError, match="none can answer"):
        space.classify("x")
    with pytest.raises(DataError, match="none can vote"):
        space.vote("x")


def test_nothing_is_positive_before_any_example():
    space = VersionSpace({"a": "xy"})
    assert str(space.specific_) == "<nothing>"
    assert space.classify("x") is None
    assert len(list(space.hypotheses())) == 4


def test_bad_input_is_named():
    with pytest.raises(DataError, match="at least one value"):
        VersionSpace({"a": []})
    with pytest.raises(DataError, match="must differ"):
        VersionSpace({"a": ["x", "x"]})
    with pytest.raises(DataError, match=r"attributes: expected a mapping of names.*got list"):
        VersionSpace([["x", "y"]])
    space = VersionSpace({"a": "xy", "b": "uv"})
    with pytest.raises(DataError, match="has 2 attributes; got 1"):
        space.update("x", True)
    with pytest.raises(DataError, match="b is 'w'; expected one of 'u', 'v'"):
        space.update("xw", True)
    with pytest.raises(DataError, match="no row of y has"):
        VersionSpace.of([["x"]], ["no"], positive="yes")
    with pytest.raises(DataError, match="1 rows and y 2"):
        VersionSpace.of([["x"]], ["no", "yes"], positive="yes")
    with pytest.raises(DataError, match="column 'a' has missing values"):
        VersionSpace.of(pd.DataFrame({"a": ["x", None]}), ["no", "yes"], positive="yes")
    large = VersionSpace({str(place): range(9) for place in range(9)})
    with pytest.raises(DataError, match="would have to be tried"):
        list(large.hypotheses())
