"""Explanations read as a short table and sort by strength."""

import numpy as np
import pandas as pd
import pytest

from verulam.parametric import Explanation, NaiveBayes


@pytest.fixture
def explanation():
    X = pd.DataFrame(
        {"sky": pd.Categorical(["sun", "sun", "rain", "rain"]), "heat": [30.0, 27.0, 19.0, np.nan]}
    )
    y = np.array(["out", "out", "in", "in"], dtype=object)
    query = pd.DataFrame({"sky": X["sky"][:1], "heat": [np.nan]})
    return NaiveBayes().fit(X, y).explain(query)[0]


def test_text(explanation):
    lines = str(explanation).splitlines()
    assert lines[0] == "Predicted 'out' with probability 0.750; log-odds against 'in':"
    assert lines[2].split() == ["sky", "=", "sun", "+1.099"]
    assert lines[3].split() == ["heat", "=", "missing", "+0.000"]
    assert lines[-1].split() == ["total", "+1.099"]


def test_table_puts_the_strongest_first(explanation):
    frame = explanation.to_frame()
    assert frame.index[0] == "sky"
    assert frame.loc["sky", "value"] == "sun"
    assert set(frame.index) == {"prior", "sky", "heat"}


def test_contributions_add_up_to_the_log_odds():
    record = Explanation(
        label="a",
        rival="b",
        probability=0.75,
        log_odds=pd.Series({"prior": np.log(1.5), "x": np.log(2.0)}),
        values=pd.Series({"x": "1"}),
    )
    assert str(record).splitlines()[-1].split() == ["total", f"{np.log(3.0):+.3f}"]
    assert list(record.to_frame().index) == ["x", "prior"]
