"""Outcomes of rules: error, rejection and risk from one table."""

import numpy as np
import pandas as pd
from numpy.testing import assert_allclose

from verulam.decision import Outcome, loss_table
from verulam.decision._outcome import LabelCodes


def test_rates_and_risk_of_a_table():
    table = pd.DataFrame(
        [[0.3, 0.1], [0.05, 0.35], [0.15, 0.05]], index=["a", "b", "reject"], columns=["a", "b"]
    )
    outcome = Outcome(table)
    assert_allclose([outcome.correct, outcome.error, outcome.reject], [0.65, 0.15, 0.2])
    loss = loss_table(["a", "b"], [[0, 4], [1, 0]], reject_cost=0.5)
    assert_allclose(outcome.risk(loss), 4 * 0.1 + 0.05 + 0.5 * 0.2)


def test_codes_grow_with_new_labels_and_no_decision_is_dropped():
    codes = LabelCodes(["a", "b"])
    labels = np.array([["b", "?"], [None, "a"]], dtype=object)
    assert codes(labels).tolist() == [[1, 2], [3, 0]]
    table = codes.outcome(np.eye(4)[:, :2], np.array(["a", "b"])).table
    assert table.index.tolist() == ["a", "b", "?"]


def test_withheld_decisions_are_rejections():
    codes = LabelCodes(["a", "b"])
    codes(np.array(["a", None], dtype=object))
    outcome = codes.outcome(np.array([[0.4, 0.1], [0, 0.3], [0.1, 0.1]]), np.array(["a", "b"]))
    assert_allclose([outcome.correct, outcome.error, outcome.reject], [0.7, 0.1, 0.2])
