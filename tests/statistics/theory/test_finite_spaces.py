"""Finite spaces: the axioms, inclusion and exclusion, Bayes' rule."""

from itertools import product

import numpy as np
import pytest

from verulam.base import DataError
from verulam.statistics import FiniteSpace

DICE = FiniteSpace(list(product(range(1, 7), repeat=2)))


def total(outcome):
    return sum(outcome)


def test_axioms():
    assert DICE.probability(DICE.outcomes) == pytest.approx(1.0)
    assert DICE.probability(()) == 0.0
    seven = DICE.probability(lambda o: total(o) == 7)
    assert seven == pytest.approx(1 / 6)
    assert DICE.probability(DICE.complement(lambda o: total(o) == 7)) == pytest.approx(5 / 6)


def test_inclusion_and_exclusion():
    events = [lambda o: o[0] == 6, lambda o: o[1] == 6, lambda o: total(o) > 9]
    union = frozenset().union(*(DICE.event(event) for event in events))
    assert DICE.union_probability(*events) == pytest.approx(DICE.probability(union))


def test_conditioning_and_independence():
    assert DICE.conditional(lambda o: o[0] == 6, lambda o: total(o) >= 11) == pytest.approx(2 / 3)
    assert DICE.independent(lambda o: o[0] == 6, lambda o: total(o) == 7)
    assert not DICE.independent(lambda o: o[0] == 6, lambda o: total(o) == 8)
    with pytest.raises(DataError, match="probability zero"):
        DICE.conditional({(1, 1)}, ())


def test_total_probability_and_bayes():
    causes = {"low": lambda o: o[0] <= 3, "high": lambda o: o[0] > 3}
    event = DICE.event(lambda o: total(o) >= 9)
    posterior = DICE.posterior(event, causes)
    assert posterior.sum() == pytest.approx(1.0)
    by_hand = sum(
        DICE.conditional(event, cause) * DICE.probability(cause) for cause in causes.values()
    )
    assert by_hand == pytest.approx(DICE.probability(event))
    expected = DICE.conditional(event, causes["high"]) * 0.5 / DICE.probability(event)
    assert posterior["high"] == pytest.approx(expected)
    with pytest.raises(DataError, match="exclude one another and cover"):
        DICE.posterior(event, {"low": causes["low"]})


def test_variable_and_sample():
    variable = DICE.variable(total)
    assert variable.mean == pytest.approx(7)
    assert variable.variance == pytest.approx(35 / 6)
    drawn = DICE.sample(5000, random_state=0)
    assert np.mean([total(outcome) for outcome in drawn]) == pytest.approx(7, abs=0.1)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: FiniteSpace([]), "at least one"),
        (lambda: FiniteSpace([1, 1]), "differ from one another"),
        (lambda: FiniteSpace([1, 2], [0.5, 0.6]), "sum to one"),
        (lambda: FiniteSpace([1, 2], [1.5, -0.5]), "not negative"),
        (lambda: FiniteSpace([1, 2]).probability([3]), "3 is not an outcome"),
    ],
)
def test_bad_spaces_are_refused(call, message):
    with pytest.raises(DataError, match=message):
        call()
