"""Answers: whom to recommend, in which order all stand, and what is said of those left out."""

import re

import numpy as np
import pytest
from scipy import stats
from tests.experiment.analysed import evidence_on, noisy, responses_of

from verulam.experiment._analysis.answer import (
    advice_over_data,
    answer,
    data_sets_for_ranks,
    data_sets_needed,
    with_order,
)
from verulam.experiment._analysis.tests import verdict_on_splits, verdict_over_data
from verulam.experiment._evidence.evidence import rank_evidence
from verulam.experiment._words.data_sets_text import plain_sentence
from verulam.statistics import sample_size

RNG = np.random.default_rng(7)
SIMPLE_FIRST = {"a": 1.0, "b": 4.0}
RULE = "half standard error"
OVER_DATA_RNG = np.random.default_rng(5)


def answered(tables, complexity=None, resampling="k-fold", *, rule=RULE, losses=None, **options):
    responses = responses_of(tables, **options)
    verdicts, evidence = {}, {}
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
            known = evidence_on(responses, data, complexity, rule=rule, losses=losses)
            evidence |= {} if known is None else {data: known}
    grades = {name: (complexity or {}).get(name, 1.0) for name in responses.names}
    ranks = rank_evidence(responses, evidence, grades, rule)
    over_data = verdict_over_data(responses, alpha=0.05)
    return answer(responses, verdicts, over_data, evidence, ranks, alpha=0.05)


def ordered(said, tables, **options):
    return with_order(said, responses_of(tables, **options))


def row_losses(*shares, repeats=2, rows=300, seed=0, flips=0.0):
    """Return errors of rows: the same hard rows for all, of which each gets a share wrong.

    Flips are rows that other splits decide otherwise.
    """
    random = np.random.default_rng(seed)
    hard = random.random(rows)
    losses = {}
    for name, share in zip("abcdef", shares, strict=False):
        own = np.tile(hard < share, (repeats, 1))
        own ^= random.random((repeats, rows)) < flips
        losses[name] = own.astype(float)
    return losses


def on_rows(losses, **options):
    folds = 10
    scores = {
        name: np.concatenate([np.array_split(each, folds) for each in own]).mean(axis=1).tolist()
        for name, own in losses.items()
    }
    return answered({"iris": scores}, losses=losses, **options)


def test_the_best_where_it_beats_all():
    said = answered({"iris": {"a": noisy(0.4, seed=1), "b": noisy(0.1, seed=2)}})
    assert said.recommended == "b"
    assert said.order == ("b", "a")
    assert re.match(
        r"Use b: it errs on 10\.0+ % of unseen rows \(8\.80? to 11\.20?\)", said.sentence
    )
    assert re.search(r"It is better than a, which is 23\.2\d? to 36\.[78]\d? points", said.sentence)
    assert said.advice == ""


@pytest.mark.parametrize("turned", [False, True])
def test_the_simpler_where_the_difference_is_small_and_noisy(turned):
    """By its grade, and not by its place in the list."""
    scores = {"a": noisy(0.2, seed=1), "b": noisy(0.199, seed=3, spread=0.02)}
    scores = dict(reversed(scores.items())) if turned else scores
    said = answered({"iris": scores}, SIMPLE_FIRST)
    assert said.recommended == "a"
    assert said.order == ("b", "a")
    assert re.search(
        r"b did 0\.10? points better here, less than the 1 point that would matter and within the "
        r"noise; a is simpler\.$",
        said.sentence,
    )
    complex_first = answered({"iris": scores}, {"a": 4.0, "b": 1.0})
    assert complex_first.recommended == "b"


def test_what_no_test_rejects_is_not_taken_for_equal():
    scores = {"a": noisy(0.23, seed=1, spread=0.1), "b": noisy(0.2, seed=3, spread=0.1)}
    said = answered({"iris": scores}, SIMPLE_FIRST)
    assert said.recommended == "b"
    assert "better than" not in said.sentence
    assert re.search(r"3(\.0+)? points worse here, which may be chance", said.sentence)


def test_the_rule_of_the_tests_is_there_for_those_who_ask():
    scores = {"a": noisy(0.23, seed=1, spread=0.1), "b": noisy(0.2, seed=3, spread=0.1)}
    for tables in (scores, dict(reversed(scores.items()))):
        said = answered({"iris": tables}, SIMPLE_FIRST, rule="not rejected")
        assert said.recommended == "a"
        assert "the simplest of 2 contestants that the tests do not show" in said.sentence
        assert re.search(r"b did 3(\.0+)? points better here", said.sentence)
    beaten = {"a": noisy(0.4, seed=1), "b": noisy(0.1, seed=2)}
    said = answered({"iris": beaten}, SIMPLE_FIRST, rule="not rejected")
    assert said.recommended == "b"
    assert "the simplest of" not in said.sentence


def test_by_the_tests_none_with_failures_is_recommended():
    """It beats all on the splits that it has."""
    scores = {"a": noisy(0.4, seed=1), "b": noisy(0.3, seed=2), "c": [*noisy(0.01, 9), np.nan]}
    said = answered({"iris": scores}, rule="not rejected", status="failed")
    assert said.recommended == "b"
    assert said.sentence.startswith("c failed and was left out of the choice. Use b: ")


@pytest.mark.parametrize(
    ("rule", "recommended"),
    [(RULE, "b"), ("one standard error", "a"), ("best mean", "b"), ("not rejected", "a")],
)
def test_rules_by_name(rule, recommended):
    scores = {"a": noisy(0.22, seed=1, spread=0.1), "b": noisy(0.2, seed=3, spread=0.1)}
    assert answered({"iris": scores}, SIMPLE_FIRST, rule=rule).recommended == recommended


def test_identical_contestants():
    scores = noisy(0.2)
    said = answered({"iris": {"b": scores, "a": scores}}, SIMPLE_FIRST)
    assert said.recommended == "a"
    assert "b did just as well here" in said.sentence
    losses = row_losses(0.2, 0.2)
    same = on_rows(losses)
    assert "b did the same on every row." in same.sentence
    assert "tell a and b apart: they did the same on each." in same.advice


def test_baseline_only_where_nothing_beats_it_by_what_matters():
    base, other = noisy(0.5, seed=1), noisy(0.499, seed=2)
    grades = {"base": 0.0}
    equal = answered({"iris": {"b": other, "base": base}}, grades, baselines=("base",))
    assert equal.recommended == "base"
    assert re.match(
        r"We saw no sign that these inputs predict the target: no learner did better than base "
        r"by the 1 point that would matter\. base errs on 50\.0+ % of unseen rows",
        equal.sentence,
    )
    assert re.search(
        r" did 0\.10? points better here; the truth may be anything from 0\.\d+ points worse "
        r"to 0\.\d+ points better",
        equal.sentence,
    )
    noise = noisy(0.45, seed=4, spread=0.1)
    unclear = answered({"iris": {"b": noise, "base": base}}, grades, baselines=("base",))
    assert unclear.recommended == "b"
    assert "It is not shown to be better than base, which did" in unclear.sentence
    beaten = answered({"iris": {"b": noisy(0.1), "base": base}}, grades, baselines=("base",))
    assert beaten.recommended == "b"
    assert "It is better than base" in beaten.sentence


def test_a_baseline_that_is_beaten_by_too_little():
    losses = row_losses(0.5, 0.496, rows=20_000)
    grades = {"a": 0.0, "b": 1.0}
    said = on_rows(losses, complexity=grades, baselines=("a",))
    # The same rows for both: a small difference without noise, which the rule does not forgive.
    assert said.recommended == "b"
    assert "It is better than a" in said.sentence
    noise = on_rows(row_losses(0.5, 0.496, rows=2_000, flips=0.05), complexity=grades,
                    baselines=("a",))  # fmt: skip
    assert noise.recommended == "a"
    assert noise.sentence.startswith("We saw no sign that these inputs predict the target")


def test_the_order_is_that_of_the_means():
    means = dict(zip("abcdef", RNG.uniform(0.1, 0.3, 6), strict=True))
    scores = {name: noisy(mean, seed=ord(name), spread=0.05) for name, mean in means.items()}
    grades = dict(zip("abcdef", RNG.permutation(6).tolist(), strict=True))
    for measure, backwards in (("error", False), ("accuracy", True)):
        said = answered({"iris": scores}, grades, measure=measure)
        assert list(said.order) == sorted(means, key=means.get, reverse=backwards)
        assert ordered(said, {"iris": scores}, measure=measure).sentence == (
            f"By {measure}, best first: {', '.join(said.order)}. {said.sentence}"
        )


def test_a_choice_that_other_splits_would_change_is_a_toss_up():
    firm = on_rows(row_losses(0.1, 0.3))
    assert firm.sentence.startswith("Use a: ")
    assert firm.sentence.endswith("lead to the same choice nearly always.")
    losses = row_losses(0.2, 0.2, 0.5, flips=0.1)
    said = on_rows(losses)
    assert said.sentence.startswith("It is a toss-up between ")
    assert "c" not in said.sentence.partition("We suggest")[0].partition("between")[2]
    assert f"We suggest {said.recommended}" in said.sentence
    assert "This rests on 2 repeats of cross-validation; other random splits" in said.sentence


def test_better_is_said_of_what_is_shown_alone():
    losses = row_losses(0.2, 0.24, 0.3, 0.5, flips=0.02, rows=400)
    responses = responses_of({"iris": {name: noisy(0.2) for name in losses}})
    known = evidence_on(responses, "iris", losses=losses)
    said = on_rows(losses)
    claimed = [name for name in known.order if known.claimed(said.recommended, name)]
    assert 0 < len(claimed) < 3
    told = said.sentence.partition("It is better than ")[2].partition(".")[0]
    assert told.replace(" and ", ", ").split(", ") == claimed


def test_what_would_settle_it_is_a_number_of_rows():
    said = on_rows(row_losses(0.20, 0.25, flips=0.05, rows=200))
    assert said.recommended == "a"
    assert "as many rows" in said.advice
    assert "if they keep differing by " in said.advice
    near = on_rows(row_losses(0.20, 0.205, flips=0.01, rows=400))
    assert "would fix their difference to within 1 point" in near.advice
    assert on_rows(row_losses(0.1, 0.5)).advice == ""


def test_no_interval_possible():
    said = answered({"iris": {"a": [0.3], "b": [0.2]}}, None, "holdout", measure="kappa")
    assert said.recommended == "a"
    assert said.order == ("a", "b")
    assert said.sentence == (
        "a has the best Cohen's kappa (0.3). The design tells nothing of how far that may be "
        "chance; use cross-validation to know."
    )


def test_cross_validation_is_no_advice_where_it_was_used():
    responses = responses_of({"iris": {"a": [0.3, 0.4], "b": [0.2, 0.1]}}, measure="kappa")
    verdict = verdict_on_splits(
        responses, "iris", resampling="k-fold", alpha=0.05, row_losses=lambda name: None
    )
    text = plain_sentence(responses, verdict)
    assert text.endswith("The design tells nothing of how far that may be chance.")


def test_nothing_finished():
    said = answered({"iris": {"a": [np.nan], "b": [np.nan]}})
    assert said.recommended is None
    assert said.sentence.startswith("No run has finished")


def test_one_contestant():
    alone = answered({"iris": {"a": noisy(0.2)}})
    assert alone.recommended == "a"
    assert alone.sentence.endswith("It is alone: there was nothing to choose between.")
    said = answered({"iris": {"a": [0.1, 0.3]}, "wine": {"a": [0.5, 0.6]}})
    assert said.recommended == "a"
    assert re.search(
        r"errs on 20(\.0+)? % .*\) on iris and 55(\.0+)? % .*\) on wine", said.sentence
    )


@pytest.mark.parametrize(
    ("status", "one", "several"),
    [
        ("left", "had no result yet", "had no result yet"),
        ("failed", "failed in 10 of 10 runs", "failed"),
        ("done", "could not be scored by error", "could not be scored by error"),
    ],
)
def test_contestants_without_results_are_not_passed_over_in_silence(status, one, several):
    missing = {name: [np.nan] * 10 for name in "cdefgh"}
    scores = {"a": noisy(0.4, seed=1), "b": noisy(0.1, seed=2), **missing}
    said = answered({"iris": scores}, status=status)
    assert said.recommended == "b"
    words = "c, d, e, f, g and h {} and were left out of the choice. Use b"
    assert said.sentence.startswith(words.format(one))
    twice = answered({"iris": scores, "wine": scores}, status=status)
    assert twice.sentence.startswith(words.format(several))
    tables = {f"{i}": scores for i in range(6)}
    over = answered(tables, status=status)
    assert over.sentence.startswith(words.format(f"{several} on some data set"))


def test_one_failure_leaves_a_contestant_out_of_the_choice():
    scores = {"a": noisy(0.4, seed=1), "b": noisy(0.1, seed=2), "c": [*noisy(0.01, 9), np.nan]}
    said = answered({"iris": scores}, status="failed")
    assert said.recommended == "b"
    assert said.sentence.startswith("c failed in 1 of 10 runs and was left out of the choice.")


@pytest.mark.parametrize(
    ("status", "reason"), [("failed", "failed"), ("left", "had no result yet")]
)
def test_the_only_one_with_results_is_not_the_best(status, reason):
    said = answered({"iris": {"a": [0.68], "b": [np.nan]}}, None, "holdout", status=status)
    assert said.recommended is None
    assert said.order == ("a",)
    assert said.sentence.startswith(f"b {reason} and was left out of the choice. ")
    several = {"a": noisy(0.3), "b": [np.nan] * 10}
    said = answered({"iris": several}, status=status)
    assert said.recommended is None
    assert said.sentence.startswith(f"b {reason}")
    assert "there was nothing to choose between" in said.sentence


def test_over_data_sets():
    base = RNG.uniform(0.1, 0.4, 8)
    tables = {f"{i}": {"a": [x + 0.3] * 2, "b": [x] * 2} for i, x in enumerate(base)}
    said = answered(tables)
    assert said.recommended == "b"
    assert said.sentence.startswith("Use b: over 8 data sets it ranks best (mean rank 1.00). ")
    assert "It ranks above a (2.00), adjusted p < 0.05." in said.sentence
    assert ordered(said, tables).sentence.startswith(
        "By mean rank of the error, best first: b, a. "
    )


def test_over_data_sets_the_order_is_that_of_the_mean_ranks():
    base = RNG.uniform(0.2, 0.4, 12)
    tables = {
        f"{i}": {name: [x + step] * 2 for name, step in zip("abcd", steps, strict=True)}
        for i, (x, steps) in enumerate(
            zip(base, RNG.normal([0.03, 0.0, 0.02, 0.01], 0.02, (12, 4)), strict=True)
        )
    }
    said = answered(tables)
    ranks = responses_of(tables).by_data().rank(axis=1).mean()
    assert list(said.order) == ranks.sort_values(kind="stable").index.tolist()
    assert said.recommended == said.order[0]


def test_too_few_data_sets_each_by_itself():
    tables = {
        name: {"a": noisy(0.2, seed=1), "b": noisy(0.199, seed=2), "c": noisy(0.5, seed=3)}
        for name in ("iris", "wine")
    }
    said = answered(tables, {"a": 1.0, "b": 4.0, "c": 0.0})
    assert said.recommended == "a"
    assert said.sentence.startswith("Use a, the choice on ")
    assert re.search(r" on iris and 20\.0+ % .*\) on wine\.$", said.sentence)
    assert "at least 6" in said.advice


def test_untested_data_sets_do_not_praise_the_baseline():
    tables = {"iris": {"base": [0.6], "a": [0.1]}, "wine": {"base": [0.2], "a": [0.3]}}
    said = answered(tables, None, "holdout", measure="log_loss", baselines=("base",))
    assert said.recommended is None
    assert said.sentence.startswith(
        "a has the best log loss on iris (0.1) and base has the best log loss on wine (0.2). "
    )


def test_it_may_depend_on_the_data_set():
    low, high = noisy(0.1, seed=1), noisy(0.5, seed=2)
    said = answered({"iris": {"a": low, "b": high}, "wine": {"a": high, "b": low}})
    assert said.recommended is None
    assert said.sentence == (
        "It depends on the data set: use a on iris and b on wine. Over all of them a and b rank "
        "best (mean rank 1.50), but 2 data sets are too few to say more than that."
    )


def test_one_alone_has_no_order():
    tables = {"iris": {"a": [0.1, 0.3]}}
    alone = answered(tables)
    assert ordered(alone, tables) is alone


def test_the_same_difference_on_two_splits_tells_little():
    said = answered({"iris": {"a": [0.25, 0.35], "b": [0.15, 0.25]}}, SIMPLE_FIRST)
    assert said.recommended == "b"
    assert "better than" not in said.sentence
    assert "which may be chance" in said.sentence


def over_data(means, name, **options):
    count = len(next(iter(means.values())))
    tables = {f"{i}": {each: [v[i]] * 2 for each, v in means.items()} for i in range(count)}
    responses = responses_of(tables, **options)
    verdict = verdict_over_data(responses, alpha=0.05)
    return advice_over_data(responses, verdict, 0.05, name=name)


def test_nothing_to_add_where_all_is_settled():
    first = OVER_DATA_RNG.uniform(0.1, 0.5, 8)
    assert over_data({"a": first + 0.2, "b": first}, "b") == ""


def test_more_data_sets_for_two():
    first = OVER_DATA_RNG.uniform(0.1, 0.5, 8)
    differences = np.array([0.02, -0.01, 0.03, -0.02, 0.01, 0.01, -0.01, 0.02])
    needed = data_sets_needed(differences, alpha=0.05)
    text = over_data({"a": first + differences, "b": first}, "b")
    assert text == (
        "To tell b from a with power 0.8, if they keep differing so: "
        f"about {needed - 8} more data sets."
    )


def test_more_data_sets_for_many_are_those_of_the_pair_among_all_pairs():
    base = OVER_DATA_RNG.uniform(0.1, 0.5, 8)
    means = {"a": base + 0.01, "b": base, "c": base + 0.2}
    needed = data_sets_for_ranks(1.0, 3, alpha=0.05 / 3)
    assert over_data(means, "b").endswith(f"about {needed - 8} more data sets.")


def test_the_rival_of_a_simpler_choice_is_the_best():
    base = OVER_DATA_RNG.uniform(0.1, 0.5, 8)
    # Mean ranks 1.625 of a and 1.375 of b.
    shift = np.array([1, 1, 1, 1, 1, -1, -1, -1])
    means = {"a": base + 0.001 * shift, "b": base, "c": base + 0.2}
    assert "tell a from b" in over_data(means, "a")
    assert "tell b from a" in over_data(means, "b")


def test_of_a_measure_that_is_to_be_great_the_greatest_ranks_first():
    base = OVER_DATA_RNG.uniform(0.5, 0.7, 8)
    means = {"a": base + 0.01, "b": base, "c": base - 0.2}
    assert "tell a from b" in over_data(means, "a", measure="accuracy")


def test_equal_ranks_cannot_be_told_apart():
    base = OVER_DATA_RNG.uniform(0.1, 0.5, 8)
    turned = np.array([1, -1] * 4)
    means = {"a": base + 0.01 * turned, "b": base, "c": base + 0.2}
    assert over_data(means, "a") == "No reasonable number of data sets would tell a from b."


def test_data_sets():
    differences = np.array([0.1, -0.05, 0.2, 0.05, 0.1])
    plain = sample_size(differences.mean() / differences.std(ddof=1))
    assert data_sets_needed(differences, alpha=0.05) == np.ceil(plain * np.pi / 3)


@pytest.mark.parametrize("differences", [np.zeros(4), np.array([1.0, -1.0])])
def test_no_difference_needs_infinitely_many(differences):
    assert data_sets_needed(differences, alpha=0.05) is None


def test_tiny_differences_are_not_searched_for():
    assert data_sets_needed(np.array([1.0, -1.0, 1e-9]), alpha=0.05) is None


def test_ranks():
    # Demsar's standard error of a difference of mean ranks is sqrt(L (L + 1) / (6 N)).
    needed = data_sets_for_ranks(1.0, 4, alpha=0.05)
    z = 1.0 / np.sqrt(4 * 5 / (6 * needed))
    assert stats.norm.sf(stats.norm.isf(0.025) - z) >= 0.8
    fewer = 1.0 / np.sqrt(4 * 5 / (6 * (needed - 1)))
    assert stats.norm.sf(stats.norm.isf(0.025) - fewer) < 0.8
    assert data_sets_for_ranks(0.0, 4, alpha=0.05) is None
