"""Tables of losses: forms of input, risks by hand, ties, and what is refused."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from verulam.decision import LossTable, loss_table


def test_zero_one_loss_gives_the_complement_of_the_posterior():
    probabilities = np.random.default_rng(0).dirichlet(np.ones(4), size=20)
    table = loss_table(range(4))
    assert_allclose(table.risks(probabilities), 1 - probabilities)
    assert_array_equal(table.best(probabilities), probabilities.argmax(axis=1))


def test_risk_is_the_sum_of_losses_by_posterior():
    loss = [[0, 5, 2], [1, 0, 3]]
    table = loss_table(["a", "b", "c"], loss, actions=["left", "right"])
    assert_allclose(table.risks(np.array([0.5, 0.3, 0.2])), [1.9, 1.1])
    assert table.actions[table.best(np.array([0.5, 0.3, 0.2]))] == "right"


def test_named_losses_are_put_in_the_order_of_the_classes():
    frame = pd.DataFrame({"b": [5.0, 0.0], "a": [0.0, 1.0]}, index=["go", "stay"])
    nested = {"go": {"b": 5, "a": 0}, "stay": {"a": 1, "b": 0}}
    for loss in (frame, nested):
        table = loss_table(["a", "b"], loss)
        assert_array_equal(table.matrix, [[0, 5], [1, 0]])
        assert table.actions.tolist() == ["go", "stay"]


def test_reject_action_is_last_and_may_cost_differently_by_class():
    assert_array_equal(loss_table([0, 1], reject_cost=0.3).matrix[-1], [0.3, 0.3])
    table = loss_table([0, 1], reject_cost={1: 0.1, 0: 0.4})
    assert_array_equal(table.matrix[-1], [0.4, 0.1])
    assert table.actions.tolist() == [0, 1, "reject"]


def test_ties_go_to_the_first_class_but_not_against_rejection():
    tie = np.array([0.5, 0.5])
    assert loss_table([0, 1]).best(tie) == 0
    assert loss_table([0, 1], reject_cost=0.5).best(tie) == 2


def test_labels_stay_numeric_where_the_reject_label_is():
    assert loss_table([0, 1], reject_cost=0.3, reject_label=-1).actions.dtype.kind == "i"
    assert loss_table([0, 1], reject_cost=0.3).actions.dtype == object
    assert loss_table(["a", "b"], reject_cost=0.3).actions.dtype.kind == "U"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"loss": [[0, 1, 2], [1, 0, 2]]}, r"column for each of the 2 classes.*shape is \(2, 3\)"),
        ({"loss": [0, 1]}, r"loss must have a row per action.*shape is \(2,\)"),
        ({"loss": [[0, np.nan], [1, 0]]}, "loss must hold finite numbers"),
        ({"loss": [[0, -1], [1, 0]]}, "loss must not be negative"),
        ({"loss": [[0, 1], [1, 0], [2, 2]]}, "3 rows for 2 classes: name the rows with `actions`"),
        ({"loss": [[0, 1], [1, 0]], "actions": ["x", "x"]}, "actions must be 2 different names"),
        ({"actions": ["x", "y"]}, "but loss is None"),
        ({"loss": pd.DataFrame({"a": [0, 1], "z": [1, 0]})}, r"columns are \['a', 'z'\]"),
        (
            {"loss": {"x": {"a": 0, "b": 1}, "y": {"a": 1, "b": 0}}, "actions": ["x", "y"]},
            "brings its own",
        ),
        ({"reject_cost": 1.0}, "reject_cost must lie between 0 and 1 .both excluded"),
        ({"reject_cost": 0.0}, "reject_cost must lie between 0 and 1"),
        ({"reject_cost": 12, "loss": [[0, 9], [1, 0]]}, "between 0 and 9, the largest loss"),
        ({"reject_cost": [0.1, 0.2, 0.3]}, "reject_cost must hold one number for each"),
        ({"reject_cost": 0.1, "reject_label": "a"}, "reject_label='a' is the name of another"),
    ],
)
def test_bad_losses_are_refused(arguments, message):
    with pytest.raises(ValueError, match=message):
        loss_table(["a", "b"], **arguments)


def test_a_tie_with_rejection_is_rejected_and_one_between_classes_is_not():
    table = LossTable(
        np.array(["a", "b", "reject"], dtype=object),
        np.array(["a", "b"]),
        np.array([[0.0, 1.0], [1.0, 0.0], [0.25, 0.25]]),
        can_reject=True,
    )
    assert table.best(np.array([[0.75, 0.25], [0.875, 0.125], [0.5, 0.5]])).tolist() == [2, 0, 2]
    certain = LossTable(table.actions[:2], table.classes, table.matrix[:2])
    assert certain.best(np.array([0.5, 0.5])) == 0
