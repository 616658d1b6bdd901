"""Answers: whom to recommend and in which words."""

import numpy as np
import pytest
from tests.experiment.analysed import noisy, responses_of

from verulam.experiment._answers import answer, listed, measure_words, with_order
from verulam.experiment._data_tests import verdict_over_data
from verulam.experiment._split_tests import verdict_on_splits

RNG = np.random.default_rng(7)


def answered(tables, resampling="k-fold", **options):
    responses = responses_of(tables, **options)
    verdicts = {}
    for data in responses.data:
        verdict = verdict_on_splits(
            responses,
            data,
            resampling=resampling,
            alpha=0.05,
            row_losses=lambda name: np.zeros(3, bool),
        )
        if verdict is not None:
            verdicts[data] = verdict
    return answer(responses, verdicts, verdict_over_data(responses, alpha=0.05), alpha=0.05)


def test_the_best_where_it_beats_all():
    said = answered({"iris": {"a": noisy(0.4, seed=1), "b": noisy(0.1, seed=2)}})
    assert said.recommended == "b"
    assert said.order == ("b", "a")
    assert said.sentence.startswith("Use b. It has the lowest mean error (0.1")
    assert said.sentence.endswith("the tests reject that the other does equally well.")
    assert said.advice == ""


def test_the_simpler_where_tests_cannot_tell():
    said = answered({"iris": {"a": noisy(0.2, seed=1), "b": noisy(0.199, seed=1, spread=0.02)}})
    assert said.recommended == "a"
    assert "fail to reject that a does equally well; a is the simpler one" in said.sentence
    assert said.advice


def test_a_simpler_one_that_loses_to_another_is_said_to_lose():
    means = {"a": 0.3, "b": 0.25, "d": 0.9}
    scores = {name: noisy(mean, seed=ord(name), spread=0.004) for name, mean in means.items()}
    said = answered({"iris": scores | {"c": noisy(0.2, seed=3, spread=0.2)}})
    assert said.recommended == "b"
    assert "that a and b do equally well; b is the simplest of these that nobody" in said.sentence
    assert said.sentence.endswith("is shown to beat (a loses to b).")


def test_identical_contestants():
    scores = noisy(0.2)
    said = answered({"iris": {"a": scores, "b": scores}})
    assert said.recommended == "a"
    assert said.order == ("a", "b")


def test_baseline_only_where_nothing_beats_it():
    base, other = noisy(0.5, seed=1), noisy(0.5, seed=2)
    equal = answered({"iris": {"b": other, "base": base}}, baselines=("base",))
    assert equal.recommended == "base"
    assert equal.sentence.startswith("No learner is shown to beat the baseline base")
    beaten = answered({"iris": {"b": noisy(0.1), "base": base}}, baselines=("base",))
    assert beaten.recommended == "b"


def test_best_and_simplest():
    scores = {"a": noisy(0.2, seed=1), "b": noisy(0.202, seed=4, spread=0.02)}
    said = answered({"iris": scores | {"c": noisy(0.5, seed=3)}})
    assert said.recommended == "a"
    assert "cannot tell apart: the others are b." in said.sentence
    assert said.order == ("a", "b", "c")


def test_more_data_are_needed():
    means = {"a": 0.2, "b": 0.2, "c": 0.214, "d": 0.214}
    scores = {name: noisy(mean, seed=ord(name) - 96) for name, mean in means.items()}
    said = answered({"iris": scores})
    assert said.sentence.startswith("The contestants are not all equal, but no pair can be named")
    assert said.recommended == "a"
    said = answered({"iris": scores}, baselines=("c",))
    assert "Until then use c, the simplest, or " in said.sentence
    assert said.sentence.endswith("which has the lowest mean error (0.2), against 0.214 of c.")


def test_no_test_possible():
    said = answered({"iris": {"a": [0.3], "b": [0.2]}}, "holdout", measure="kappa")
    assert said.recommended == "a"
    assert "may be chance" in said.sentence


def test_nothing_finished():
    said = answered({"iris": {"a": [np.nan], "b": [np.nan]}})
    assert said.recommended is None
    assert said.sentence.startswith("No run has finished")


def test_one_contestant():
    said = answered({"iris": {"a": [0.1, 0.3]}, "wine": {"a": [0.5, 0.5]}})
    assert said.recommended == "a"
    assert "0.2 on iris and 0.5 on wine" in said.sentence


def test_contestants_without_results_are_not_passed_over_in_silence():
    missing = {name: [np.nan] * 10 for name in "cdefgh"}
    scores = {"a": noisy(0.4, seed=1), "b": noisy(0.1, seed=2), **missing}
    lasting = answered({"iris": scores}).sentence
    assert "0.1) of the 2 of 8 contestants that have been run so far, and" in lasting
    failed = answered({"iris": scores}, status="failed")
    assert failed.sentence == (
        "Use b. It has the lowest mean error (0.1) of the 2 of 8 contestants that could be run, "
        "and the tests reject that the other of them does equally well."
    )
    twice = answered({"iris": scores, "wine": scores}, status="failed")
    assert "and of the 2 of 8 contestants that could be run it is the simplest" in twice.sentence


def test_what_was_not_scored_has_run_all_the_same():
    scores = {"a": noisy(0.4, seed=1), "b": noisy(0.1, seed=2), "c": [np.nan] * 10}
    said = answered({"iris": scores}, status="done")
    assert "of the 2 of 3 contestants that have results" in said.sentence


@pytest.mark.parametrize(
    ("status", "reason"), [("failed", "could be run"), ("left", "has been run so far")]
)
def test_the_only_one_with_results_is_not_the_best(status, reason):
    said = answered({"iris": {"a": [0.68], "b": [np.nan]}}, "holdout", status=status)
    assert said.recommended is None
    assert said.order == ("a",)
    assert said.sentence == (
        f"Nothing can be compared: a is the only one of 2 contestants that {reason}. "
        "a has a mean error of 0.68 on iris."
    )


def test_over_data_sets():
    base = RNG.uniform(0.1, 0.4, 8)
    tables = {f"{i}": {"a": [x + 0.3] * 2, "b": [x] * 2} for i, x in enumerate(base)}
    said = answered(tables)
    assert said.recommended == "b"
    assert "best mean rank by error" in said.sentence


def test_too_few_data_sets_each_by_itself():
    tables = {
        name: {"a": noisy(0.2, seed=1), "b": noisy(0.199, seed=2), "c": noisy(0.5, seed=3)}
        for name in ("iris", "wine")
    }
    said = answered(tables)
    assert said.recommended == "a"
    assert "On none of the 2 data sets" in said.sentence
    assert "at least 6" in said.advice


def test_what_each_data_set_rules_out_is_not_recommended():
    names = ["a", "b", "c"]
    tables = {
        data: {
            "base": noisy(0.6, seed=9),
            **{
                name: noisy(0.05 + 1e-4 * ((place + turn) % 3), seed=place + 3 * turn + 1)
                for place, name in enumerate(names)
            },
        }
        for turn, data in enumerate(("iris", "wine", "penguins"))
    }
    said = answered(tables, baselines=("base",))
    assert said.recommended == "a"
    assert said.order == ("a", "b", "c", "base")
    assert said.sentence.startswith(
        "Use a. The tests over 3 data sets do not decide, but on each data set by itself they rule "
        "out base; a is the simplest that they rule out on none."
    )
    assert "base" not in said.advice
    assert with_order(said).sentence.startswith(
        "Order not decided by the tests over data sets (simplest first, those ruled out on each "
        "data set last): a, b, c, base. Use a."
    )


def test_an_order_that_no_test_supports_is_not_called_one():
    same = answered({"iris": {"a": noisy(0.2, seed=1), "b": noisy(0.2, seed=2)}})
    assert with_order(same).sentence.startswith(
        "Order not decided by the tests (simplest first): a, b. "
    )


def test_untested_data_sets_do_not_praise_the_baseline():
    tables = {name: {"base": [0.6], "a": [0.1]} for name in ("iris", "wine")}
    said = answered(tables, "holdout", measure="log_loss", baselines=("base",))
    assert said.sentence == (
        "No learner is shown to beat the baseline base on any of the 2 data sets: use it, or "
        "gather more data. a has the best mean rank by log loss."
    )
    assert with_order(said).sentence.startswith("Order not decided by tests over data sets (")


def test_it_may_depend_on_the_data_set():
    low, high = noisy(0.1, seed=1), noisy(0.5, seed=2)
    said = answered({"iris": {"a": low, "b": high}, "wine": {"a": high, "b": low}})
    assert said.recommended is None
    assert said.sentence == "It depends on the data set: use a on iris and b on wine."


@pytest.mark.parametrize(
    ("names", "text"), [(["a"], "a"), (["a", "b"], "a and b"), (["a", "b", "c"], "a, b and c")]
)
def test_lists(names, text):
    assert listed(names) == text


def test_abbreviations_stay_large():
    tables = {"iris": {"a": [0.1]}}
    assert measure_words(responses_of(tables)) == "error"
    title = responses_of(tables, measure="auc").measure.title
    expected = title if title[:2].isupper() else title[0].lower() + title[1:]
    assert measure_words(responses_of(tables, measure="auc")) == expected


def test_order_for_those_who_ask():
    said = answered({"iris": {"a": noisy(0.4, seed=1), "b": noisy(0.1, seed=2)}})
    assert with_order(said).sentence == f"From best to worst: b, a. {said.sentence}"
    alone = answered({"iris": {"a": [0.1, 0.3]}})
    assert with_order(alone) is alone


def test_same_difference_on_two_splits_tells_nothing():
    said = answered({"iris": {"a": [0.25, 0.35], "b": [0.15, 0.25]}})
    assert said.recommended == "a"
    assert "fail to reject" in said.sentence
    assert said.sentence.endswith(
        "with only 2 scores of each, these tests can tell next to nothing."
    )
    assert said.advice.endswith("draw more splits.")
