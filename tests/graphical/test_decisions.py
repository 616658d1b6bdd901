"""Influence diagrams: umbrellas, rejection and risk, the worth of knowing."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from verulam.base import DataError
from verulam.decision import loss_table
from verulam.graphical import BestChoice, InfluenceDiagram, Table, Utility, to_dot

TWO = ("no", "yes")


@pytest.fixture(scope="module")
def umbrella():
    return InfluenceDiagram(
        {
            "rain": Table(TWO, [0.7, 0.3]),
            "forecast": Table(TWO, [[0.8, 0.2], [0.1, 0.9]], ("rain",)),
        },
        {"umbrella": ("leave", "take")},
        {"comfort": Utility(("rain", "umbrella"), [[100, 60], [0, 80]])},
    )


def test_best_choice_by_hand(umbrella):
    best = umbrella.decide()
    assert isinstance(best, BestChoice)
    assert best.choice == {"umbrella": "leave"}
    assert_allclose(best.expected_utility, 70)
    assert_allclose(best.table.to_numpy(), [70, 0.7 * 60 + 0.3 * 80])
    rainy = 0.27 / (0.27 + 0.14)
    wet = umbrella.decide({"forecast": "yes"})
    assert wet.choice == {"umbrella": "take"}
    assert_allclose(wet.expected_utility, (1 - rainy) * 60 + rainy * 80)


def test_worth_of_knowing(umbrella):
    policy = umbrella.policy(["forecast"])
    informed = (policy["probability"] * policy["expected_utility"]).sum()
    assert policy["umbrella"].tolist() == ["leave", "take"]
    assert_allclose(umbrella.value_of_information("forecast"), informed - 70)
    assert_allclose(umbrella.value_of_information("rain"), 0.7 * 100 + 0.3 * 80 - 70)
    assert umbrella.value_of_information("rain", {"forecast": "yes"}) > 0


@pytest.mark.parametrize("reject_cost", [0.1, 0.3, 0.66])
def test_classification_is_least_risk(reject_cost):
    """Figure 14.14: the class is chance, the action a decision; as in `verulam.decision`."""
    loss = np.array([[0.0, 1.0, 2.0], [1.0, 0.0, 1.0], [3.0, 1.0, 0.0]])  # action by class
    classes = ("a", "b", "c")
    losses = loss_table(classes, loss, reject_cost=reject_cost)
    table = np.array([[0.7, 0.2, 0.1], [0.3, 0.4, 0.3], [0.05, 0.15, 0.8]])
    diagram = InfluenceDiagram(
        {"class": Table(classes, [0.5, 0.3, 0.2]), "x": Table((0, 1, 2), table, ("class",))},
        {"action": (*classes, "reject")},
        {"gain": Utility(("action", "class"), -losses.matrix)},
    )
    for x in range(3):
        posterior = diagram.network.query("class", {"x": x}).values
        best = diagram.decide({"x": x})
        assert best.choice["action"] == losses.actions[losses.best(posterior[np.newaxis])[0]]
        assert_allclose(best.expected_utility, -losses.risks(posterior[np.newaxis]).min())


def test_decisions_that_change_the_world():
    cure = [[[0.1, 0.9], [0.2, 0.8]], [[0.9, 0.1], [0.3, 0.7]]]
    diagram = InfluenceDiagram(
        {
            "ill": Table(TWO, [0.6, 0.4]),
            "well": Table(TWO, cure, ("ill", "treat")),
        },
        {"treat": TWO, "rest": TWO},
        {
            "health": Utility(("well",), [0.0, 10.0]),
            "cost": Utility(("treat",), [0.0, -1.0]),
            "leisure": Utility(("rest",), [0.0, 0.5]),
        },
    )
    assert diagram.decide({"ill": "yes"}).choice == {"treat": "yes", "rest": "yes"}
    assert diagram.decide({"ill": "no"}).choice == {"treat": "no", "rest": "yes"}
    fixed = diagram.decide({"ill": "yes", "treat": "no"})
    assert fixed.choice == {"treat": "no", "rest": "yes"}
    assert_allclose(fixed.expected_utility, 1.0 + 0.5)
    assert len(diagram.decide().table) == 4
    with pytest.raises(DataError, match="'well' depends on a decision"):
        diagram.value_of_information("well")


def test_shapes_for_drawing(umbrella):
    text = to_dot(umbrella)
    assert '"umbrella" [shape=box]' in text
    assert '"comfort" [shape=diamond]' in text
    assert '"rain" -> "comfort"' in text


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (({}, {}, {}), "at least one decision"),
        (({"a": Table(TWO, [0.5, 0.5])}, {"a": TWO}, {"u": Utility(("a",), [0, 1])}), "two nodes"),
        (({"a": Table(TWO, [0.5, 0.5])}, {"d": ()}, {"u": Utility(("a",), [0, 1])}), "one option"),
        (({"a": Table(TWO, [0.5, 0.5])}, {"d": TWO}, {"u": 3}), "expected a Utility"),
        (
            ({"a": Table(TWO, [0.5, 0.5])}, {"d": TWO}, {"u": Utility(("a",), [1, 2, 3])}),
            r"values must have the shape \(2,\), an axis for each of a; their shape is \(3,\)",
        ),
        (
            ({"a": Table(TWO, [0.5, 0.5])}, {"d": TWO}, {"u": Utility(("a",), [1, np.nan])}),
            "values must be finite, and one is nan",
        ),
        (
            ({"a": Table(TWO, [0.5, 0.5])}, {"d": TWO}, {"u": Utility(("b",), [1, 2])}),
            "no node 'b'",
        ),
    ],
)
def test_wrong_diagrams_are_refused(arguments, message):
    with pytest.raises(DataError, match=message):
        InfluenceDiagram(*arguments)
