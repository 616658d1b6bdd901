"""Summaries of response and costs."""

import numpy as np
import pandas as pd
import pytest
from tests.experiment.analysed import responses_of

from verulam.experiment._costs import pareto_front, summarise_all, summarise_data

SCORES = {"a": [0.1, 0.3], "b": [0.1, 0.2], "c": [0.4, np.nan]}


def test_one_data_set():
    table = summarise_data(responses_of({"iris": SCORES}), "iris")
    assert table.index.tolist() == ["a", "b", "c"]
    assert table["mean"].tolist() == pytest.approx([0.2, 0.15, 0.4])
    assert table["standard_deviation"]["a"] == pytest.approx(np.std([0.1, 0.3], ddof=1))
    assert table["rank"].tolist() == [2.0, 1.0, 3.0]
    assert table["fit_seconds"].tolist() == pytest.approx([0.1, 0.2, 0.3])
    assert table["done"].tolist() == [2, 2, 1]
    assert table["left"].tolist() == [0, 0, 1]


def test_ranks_follow_the_direction_and_are_shared():
    table = summarise_data(responses_of({"iris": SCORES}, measure="accuracy"), "iris")
    assert table["rank"].tolist() == [2.0, 3.0, 1.0]
    equal = {"a": [0.1 + 0.2], "b": [0.3]}
    assert summarise_data(responses_of({"x": equal}), "x")["rank"].tolist() == [1.5, 1.5]


def test_several_data_sets():
    tables = {"iris": {"a": [0.1], "b": [0.2]}, "wine": {"a": [0.3], "b": [0.3]}}
    table = summarise_all(responses_of(tables))
    assert table["mean_rank"].tolist() == [1.25, 1.75]
    assert table["wins"].tolist() == [2, 1]
    assert table["data_sets"].tolist() == [2, 2]
    assert "mean" not in table


@pytest.mark.parametrize(("greater", "front"), [(False, ("a", "c")), (True, ("a", "b"))])
def test_front(greater, front):
    table = pd.DataFrame({"score": [0.5, 0.6, 0.2], "cost": [1.0, 2.0, 3.0]}, list("abc"))
    assert pareto_front(table, "score", "cost", greater_is_better=greater) == front


def test_equals_are_both_on_the_front_and_the_unknown_is_not():
    table = pd.DataFrame({"score": [0.5, 0.5, np.nan], "cost": [1.0, 1.0, 0.1]}, list("abc"))
    assert pareto_front(table, "score", "cost") == ("a", "b")
