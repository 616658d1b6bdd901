"""Summaries of response and costs."""

import numpy as np
import pandas as pd
import pytest
from tests.experiment.analysed import evidence_on, noisy, responses_of

from verulam.experiment._analysis.tests import verdict_over_data
from verulam.experiment._evidence.evidence import rank_evidence
from verulam.experiment._evidence.tables import (
    pareto_front,
    summarise_all,
    summarise_data,
    with_evidence,
    with_ranks,
)

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


def test_words_beside_the_best():
    scores = {"a": noisy(0.2, seed=1), "b": noisy(0.201, seed=2), "c": noisy(0.5, seed=3)}
    responses = responses_of({"iris": {**scores, "d": [np.nan] * 10}})
    known = evidence_on(responses, "iris")
    table = with_evidence(summarise_data(responses, "iris"), known, None)
    assert table["against_best"].to_dict() == {
        "a": "best",
        "b": "not distinguishable",
        "c": "worse",
        "d": "not tested",
    }
    assert table["estimate"][:3].tolist() == pytest.approx(table["mean"][:3].tolist())
    assert table["adjusted_p"]["b"] > 0.05 > table["adjusted_p"]["c"]
    assert table["adjusted_p"][["a", "d"]].isna().all()
    assert table["difference"][:3].tolist() == pytest.approx([0.0, 0.001, 0.3])


def test_words_without_evidence():
    responses = responses_of({"iris": {"a": [0.2], "b": [0.1]}})
    table = with_evidence(summarise_data(responses, "iris"), None, None)
    assert table["against_best"].tolist() == ["not tested"] * 2
    assert table["probability_best"].isna().all()


def test_words_over_data_sets():
    random = np.random.default_rng(3)
    base = random.uniform(0.1, 0.4, 10)
    steps = random.normal([0.0, 0.0, 0.3], 0.01, (10, 3))
    tables = {
        f"{place}": {name: [x + step] for name, step in zip("abc", row, strict=True)}
        for place, (x, row) in enumerate(zip(base, steps, strict=True))
    }
    responses = responses_of(tables)
    ranks = rank_evidence(responses, {}, dict.fromkeys("abc", 1.0), "half standard error")
    verdict = verdict_over_data(responses, alpha=0.05)
    words = with_ranks(summarise_all(responses), ranks, verdict)["against_best"]
    assert words["c"] == "worse"
    assert sorted(words[["a", "b"]]) == ["best", "not distinguishable"]
    untested = with_ranks(summarise_all(responses), ranks, None)
    assert untested["against_best"].tolist() == ["not tested"] * 3


@pytest.mark.parametrize(("greater", "front"), [(False, ("a", "c")), (True, ("a", "b"))])
def test_front(greater, front):
    table = pd.DataFrame({"score": [0.5, 0.6, 0.2], "cost": [1.0, 2.0, 3.0]}, list("abc"))
    assert pareto_front(table, "score", "cost", greater_is_better=greater) == front


def test_equals_are_both_on_the_front_and_the_unknown_is_not():
    table = pd.DataFrame({"score": [0.5, 0.5, np.nan], "cost": [1.0, 1.0, 0.1]}, list("abc"))
    assert pareto_front(table, "score", "cost") == ("a", "b")
