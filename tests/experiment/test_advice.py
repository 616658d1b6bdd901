"""What it would take to know more, in words."""

import re

import numpy as np
from tests.experiment.analysed import noisy, responses_of

from verulam.experiment._advice import advice_on_splits, advice_over_data
from verulam.experiment._data_tests import verdict_over_data
from verulam.experiment._power_advice import data_sets_needed, splits_needed
from verulam.experiment._split_tests import verdict_on_splits

RNG = np.random.default_rng(5)


def on_splits(scores, share=0.1):
    responses = responses_of({"iris": scores}, test_share=share)
    verdict = verdict_on_splits(
        responses,
        "iris",
        resampling="k-fold",
        alpha=0.05,
        row_losses=lambda name: np.zeros(3, bool),
    )
    return advice_on_splits(responses, verdict, 0.05)


def over_data(means):
    count = len(next(iter(means.values())))
    tables = {f"{i}": {name: [v[i]] * 2 for name, v in means.items()} for i in range(count)}
    responses = responses_of(tables)
    return advice_over_data(responses, verdict_over_data(responses, alpha=0.05), 0.05)


def test_nothing_to_add_where_all_is_settled():
    assert on_splits({"a": noisy(0.1, seed=1), "b": noisy(0.5, seed=2)}) == ""


def test_more_splits():
    first = np.array(noisy(0.2, seed=1))
    differences = np.array([0.01, 0.02, 0.0, 0.01, 0.02, 0.0, 0.01, 0.02, -0.01, 0.01]) - 0.0015
    effect = differences.mean() / differences.std(ddof=1)
    needed = splits_needed(effect, 0.05, alpha=0.05)
    text = on_splits({"a": (first + differences).tolist(), "b": first.tolist()}, share=0.05)
    assert text.startswith("To tell b from a with power 0.8, if the difference stays at 0.0075: ")
    assert f"about {needed - 10} more splits" in text


def test_more_rows_where_splits_do_not_help():
    scores = {"a": noisy(0.201, seed=1), "b": noisy(0.2, seed=2)}
    assert "times as many rows are needed" in on_splits(scores)


def test_as_many_rows_as_nobody_has_are_only_called_many():
    first = np.array(noisy(0.2, seed=1))
    noise = np.array([1.0, -1.0] * 5)
    text = {
        gap: on_splits({"a": (first + gap + 0.01 * noise).tolist(), "b": first.tolist()})
        for gap in (1e-6, 1e-3)
    }
    assert "for power 0.8 more than 1,000 times as many rows are needed." in text[1e-6]
    assert re.search(r"for power 0.8 about \d{2,3} times as many rows are needed.", text[1e-3])


def test_equal_scores_cannot_be_told_apart():
    scores = noisy(0.2)
    assert "their scores are the same on each" in on_splits({"a": scores, "b": scores})


def test_equal_means_cannot_be_told_apart():
    scores = {"a": [0.1, 0.3, 0.1, 0.3], "b": [0.3, 0.1, 0.3, 0.1]}
    assert "their means are the same" in on_splits(scores)


def test_one_split():
    assert "measure on more splits" in on_splits({"a": [0.2], "b": [0.1]})


def test_more_data_sets_for_two():
    first = RNG.uniform(0.1, 0.5, 8)
    differences = np.array([0.02, -0.01, 0.03, -0.02, 0.01, 0.01, -0.01, 0.02])
    needed = data_sets_needed(differences, alpha=0.05)
    text = over_data({"a": first + differences, "b": first})
    assert text.endswith(f"about {needed - 8} more data sets.")
    assert "b from a" in text


def test_more_data_sets_for_many():
    base = RNG.uniform(0.1, 0.5, 8)
    means = {"a": base + 0.01, "b": base, "c": base + 0.2}
    text = over_data(means)
    assert "To tell b from a" in text
    assert "more data sets" in text
