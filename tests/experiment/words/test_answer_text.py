"""Every kind of answer as a whole sentence, from records made by hand."""

import re
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from tests.experiment.analysed import responses_of

from verulam.experiment._evidence.evidence import Evidence, RankEvidence
from verulam.experiment._evidence.verdict import Verdict
from verulam.experiment._text import named
from verulam.experiment._words.answer_text import (
    advice_on_rows,
    agreement_sentence,
    choice_sentences,
    not_rejected_sentence,
    repeats_sentence,
)
from verulam.experiment._words.data_sets_text import (
    each_data_set_sentences,
    order_sentence,
    plain_sentence,
    ranks_sentences,
)
from verulam.measures import measure
from verulam.statistics import JointPosterior, Selection, split_posterior

BASELINE, BAYES, LOGISTIC, SVM, TREE, FOREST = (
    "majority class",
    "parametric.NaiveBayes",
    "logistic regression",
    "support vector machine",
    "decision tree",
    "random forest",
)
GRADES = {BASELINE: 0, BAYES: 1, LOGISTIC: 1, TREE: 2, SVM: 3, FOREST: 4, "mean predictor": 0,
          "linear regression": 1}  # fmt: skip
#: Standard error of each mean; a difference of two has the square root of 2 times that.
ERROR = 0.01


def evidence_of(means, choice, *, agreement=0.99, shares=None, error=ERROR, repeats=3, **changes):
    """Return evidence with these means; every pair differs with the same standard error."""
    names = tuple(means)
    count = len(names)
    known = changes.pop("known", measure("error"))
    posterior = JointPosterior(
        names,
        np.array(list(means.values()), dtype=float),
        error**2 * np.eye(count),
        np.zeros((count, count)),
        0.0,
        np.full(count, repeats),
        1e6,
        changes.pop("n_rows", 1000),
        known.greater_is_better,
    )
    rest = (1.0 - agreement) / max(1, count - 1)
    shares = {name: agreement if name == choice else rest for name in names} | (shares or {})
    record = Evidence(
        "data",
        known,
        posterior,
        0.01,
        {name: float(GRADES.get(name, 3)) for name in names},
        names,
        next((name for name in (BASELINE, "mean predictor") if name in names), None),
        0.05,
        "half standard error",
        Selection(choice, agreement, 1.0, shares),
    )
    return replace(record, **changes)


def responses_for(evidence, failures=None, planned=30):
    """Return responses in which some runs of some contestants failed."""
    table = {
        name: [np.nan] * (failures or {}).get(name, 0)
        + [0.2] * (planned - (failures or {}).get(name, 0))
        for name in evidence.names
    }
    table |= {name: [np.nan] * planned for name in failures or {} if name not in table}
    return responses_of({"data": table}, status="failed")


def answer_of(evidence, failures=None):
    return choice_sentences(evidence, responses_for(evidence, failures))


REPEATS = (
    "This rests on 3 repeats of cross-validation; other random splits of these rows would lead to "
    "the same choice nearly always."
)


class TestRecommendation:
    def test_clear_winner(self):
        known = evidence_of({SVM: 0.181, LOGISTIC: 0.223, TREE: 0.26}, SVM)
        assert answer_of(known) == (
            "Use the support vector machine: it errs on 18.1 % of unseen rows (16.1 to 20.1). It "
            "is better than every other contestant; the nearest, logistic regression, is 1.4 to "
            f"7.0 points worse. {REPEATS}"
        )

    def test_clear_winner_of_two(self):
        known = evidence_of({BASELINE: 0.4, BAYES: 0.2}, BAYES)
        assert answer_of(known) == (
            "Use naive Bayes: it errs on 20.0 % of unseen rows (18.0 to 22.0). It is better than "
            f"the majority class, which is 17.2 to 22.8 points worse. {REPEATS}"
        )

    def test_simpler_nearly_as_good(self):
        known = evidence_of({BASELINE: 0.4, LOGISTIC: 0.196, FOREST: 0.19}, LOGISTIC)
        assert answer_of(known) == (
            "Use logistic regression: it errs on 19.6 % of unseen rows (17.6 to 21.6). The random "
            "forest did 0.6 points better here, less than the 1 point that would matter and within "
            "the noise; logistic regression is simpler. It is better than the majority class. "
            f"{REPEATS}"
        )

    def test_simpler_by_another_rule(self):
        known = evidence_of({LOGISTIC: 0.2, FOREST: 0.19}, LOGISTIC, rule="one standard error")
        assert "did 1.0 point better here, which is within the noise; logistic" in answer_of(known)

    def test_of_level_ones_the_simpler_is_the_best(self):
        means = {FOREST: 0.2, LOGISTIC: 0.2 + 1e-16, TREE: 0.3}
        known = evidence_of(means, LOGISTIC)
        assert known.best == LOGISTIC
        assert known.order == (LOGISTIC, FOREST, TREE)
        backwards = evidence_of(dict(reversed(means.items())), LOGISTIC)
        assert answer_of(backwards) == answer_of(known)
        # Equally simple: the chosen one is not said to be behind.
        assert evidence_of({LOGISTIC: 0.2, BAYES: 0.2}, LOGISTIC).best == LOGISTIC

    def test_simpler_and_nearly_level(self):
        known = evidence_of({LOGISTIC: 0.2, FOREST: 0.2 - 1e-6}, LOGISTIC)
        assert known.best == FOREST
        assert answer_of(known) == (
            "Use logistic regression: it errs on 20.0 % of unseen rows (18.0 to 22.0). The random "
            f"forest did just as well here; logistic regression is simpler. {REPEATS}"
        )

    def test_the_same_on_every_row(self):
        losses = np.tile((np.arange(1000) < 200)[:, None], (3, 1, 2)).astype(float)
        known = evidence_of({LOGISTIC: 0.2, FOREST: 0.2}, LOGISTIC, losses=losses)
        assert "The random forest did the same on every row." in answer_of(known)

    def test_better_than_some(self):
        means = {BASELINE: 0.4, TREE: 0.3, LOGISTIC: 0.2, BAYES: 0.208}
        assert answer_of(evidence_of(means, LOGISTIC)) == (
            "Use logistic regression: it errs on 20.0 % of unseen rows (18.0 to 22.0). It is "
            "better than the decision tree and the majority class. The nearest, naive Bayes, did "
            "0.8 points worse here, which may be chance: the truth may be anything from 3.6 points "
            f"worse to 2.0 points better. {REPEATS}"
        )

    def test_a_simpler_one_that_is_probably_near(self):
        means = {BASELINE: 0.4, LOGISTIC: 0.207, SVM: 0.2}
        assert answer_of(evidence_of(means, SVM)) == (
            "Use the support vector machine: it errs on 20.0 % of unseen rows (18.0 to 22.0). It "
            "is better than the majority class. Logistic regression is simpler and probably no "
            f"more than 1 point worse (probability 58 %). {REPEATS}"
        )

    def test_a_simpler_one_that_is_probably_not(self):
        means = {BASELINE: 0.4, LOGISTIC: 0.225, SVM: 0.2}
        assert "simpler" not in answer_of(evidence_of(means, SVM))

    def test_one_rival_is_no_nearest_one(self):
        text = answer_of(evidence_of({LOGISTIC: 0.2, BAYES: 0.208}, LOGISTIC))
        assert "Naive Bayes did 0.8 points worse here, which may be chance" in text

    def test_a_rival_that_is_level(self):
        text = answer_of(evidence_of({LOGISTIC: 0.2, BAYES: 0.2}, LOGISTIC))
        assert (
            "Naive Bayes did just as well here; the truth may be anything from 2.8 points worse to "
            "2.8 points better."
        ) in text

    def test_a_rival_that_did_the_same(self):
        losses = np.tile((np.arange(1000) < 200)[:, None], (3, 1, 2)).astype(float)
        known = evidence_of({LOGISTIC: 0.2, BAYES: 0.2}, LOGISTIC, losses=losses)
        assert "Naive Bayes did the same on every row." in answer_of(known)

    def test_nearly_claimed(self):
        """An interval without 0 is no claim where several pairs are looked at."""
        known = evidence_of({LOGISTIC: 0.2, BAYES: 0.231, TREE: 0.24, SVM: 0.24}, LOGISTIC)
        assert not known.claimed(LOGISTIC, BAYES)
        assert (
            "The nearest, naive Bayes, did 3.1 points worse here (0.3 to 5.9), not quite enough to "
            "rule out chance."
        ) in answer_of(known)

    def test_long_shot(self):
        means = {LOGISTIC: 0.2} | {f"tree {place}": 0.205 for place in range(8)}
        known = evidence_of(means, LOGISTIC, margin=0.002)
        share = known.table.loc[LOGISTIC, "probability_within"]
        assert share < 0.5
        assert (
            "It is the best bet, but the probability that it is within 0.2 points of the best is "
            f"{100 * share:.0f} %."
        ) in answer_of(known)
        assert "that it is the best is" in answer_of(replace(known, margin=0.0))

    def test_toss_up(self):
        means = {BASELINE: 0.4, LOGISTIC: 0.19, BAYES: 0.193, TREE: 0.194}
        shares = {BASELINE: 0.0, BAYES: 0.3, TREE: 0.1}
        known = evidence_of(means, LOGISTIC, agreement=0.6, shares=shares)
        assert answer_of(known) == (
            "It is a toss-up between logistic regression, naive Bayes and the decision tree (19.0, "
            "19.3 and 19.4 %), which differ by less than the 1 point that would matter. We suggest "
            "logistic regression, which errs on 19.0 % of unseen rows "
            "(17.0 to 21.0). It is better than the majority class. This rests on 3 repeats of "
            "cross-validation; other random splits of these rows would lead to the same choice "
            "about 6 times in 10."
        )

    def test_not_shown_to_be_better_than_guessing(self):
        means = {BASELINE: 0.42, BAYES: 0.4, TREE: 0.405}
        for agreement in (0.99, 0.6):
            known = evidence_of(means, BAYES, agreement=agreement, error=0.02)
            assert (
                "It is not shown to be better than the majority class, which did 2.0 points worse "
                "here: the truth may be anything from 7.5 points worse to 3.5 points better."
            ) in answer_of(known)

    def test_an_interval_that_leaves_zero_out_is_no_claim_against_guessing_either(self):
        """The interval is that of one difference; the claim allows for having picked the best."""
        known = evidence_of({BASELINE: 0.231, LOGISTIC: 0.2, TREE: 0.24, SVM: 0.24}, LOGISTIC)
        assert not known.claimed(LOGISTIC, BASELINE)
        for agreement in (0.99, 0.6):
            assert (
                "It is not shown to be better than the majority class, which did 3.1 points worse "
                "here (0.3 to 5.9), not quite enough to rule out chance."
            ) in answer_of(replace(known, selection=replace(known.selection, agreement=agreement)))

    def test_an_end_that_is_written_as_zero_is_neither_better_nor_worse(self):
        half = 1.96 * np.sqrt(2) * ERROR
        known = evidence_of({LOGISTIC: 0.2, BAYES: 0.2 + half - 1e-4}, LOGISTIC)
        assert (
            "Naive Bayes did 2.8 points worse here, which may be chance: the truth may be anything "
            "from 5.5 points worse to just as good."
        ) in answer_of(known)

    @pytest.mark.parametrize(
        ("name", "guess", "rare"),
        [("error", 0.04, True), ("error", 0.11, False), ("accuracy", 0.96, True)],
    )
    def test_errors_show_little_of_a_rare_class(self, name, guess, rare):
        best = guess + (0.02 if name == "accuracy" else -0.02)
        known = evidence_of({BASELINE: guess, BAYES: best}, BAYES, known=measure(name), error=0.001)
        words = "The majority class errs on only 4.0 %, so that errors show little of how well the"
        assert (words in answer_of(known)) == rare

    def test_toss_up_names_nobody_whom_the_table_rules_out(self):
        means = {BAYES: 0.3, LOGISTIC: 0.19, TREE: 0.19}
        shares = {BAYES: 0.1, TREE: 0.4}
        known = evidence_of(means, LOGISTIC, agreement=0.5, shares=shares)
        assert known.table.loc[BAYES, "probability_within"] < 0.01
        assert answer_of(known).startswith(
            "It is a toss-up between logistic regression and the decision tree (19.0 and 19.0 %)"
        )

    def test_why_another_than_the_best_is_suggested(self):
        known = evidence_of({FOREST: 0.19, SVM: 0.195}, SVM, agreement=0.7)
        assert (
            "We suggest the support vector machine, the simpler of the two, which errs on 19.5 % of"
        ) in answer_of(known)
        shares = {TREE: 0.2, FOREST: 0.2}
        means = {FOREST: 0.19, SVM: 0.192, TREE: 0.193}
        known = evidence_of(means, TREE, agreement=0.6, shares=shares)
        assert "We suggest the decision tree, the simplest of them, which" in answer_of(known)
        # Another is as simple: the means decide between the two, and nothing is to be explained.
        known = evidence_of({BAYES: 0.19, LOGISTIC: 0.191}, LOGISTIC, agreement=0.6)
        assert "We suggest logistic regression, which" in answer_of(known)

    def test_toss_up_has_at_least_two(self):
        means = {LOGISTIC: 0.19} | {f"tree {place}": 0.19 + place / 1e4 for place in range(1, 10)}
        shares = {f"tree {place}": 0.03 for place in range(1, 10)}
        known = evidence_of(means, LOGISTIC, agreement=0.73, shares=shares)
        assert answer_of(known).startswith(
            "It is a toss-up between logistic regression and tree 1 (19.0 and 19.0 %), which "
        )

    def test_a_toss_up_of_more_than_the_margin(self):
        known = evidence_of({LOGISTIC: 0.19, BAYES: 0.202}, LOGISTIC, agreement=0.73)
        assert "(19.0 and 20.2 %). We suggest" in answer_of(known)

    @pytest.mark.parametrize(("agreement", "open_choice"), [(0.79, True), (0.8, False)])
    def test_where_a_toss_up_begins(self, agreement, open_choice):
        known = evidence_of({LOGISTIC: 0.19, BAYES: 0.2}, LOGISTIC, agreement=agreement)
        assert answer_of(known).startswith("It is a toss-up") == open_choice

    def test_little_data(self):
        losses = np.zeros((3, 60, 2)) + 0.5
        known = evidence_of(
            {LOGISTIC: 0.3, BAYES: 0.32}, LOGISTIC, error=0.06, n_rows=60, losses=losses
        )
        known.losses[0, 0, 1] = 0.4
        assert answer_of(known).startswith(
            "With 60 rows this can only be a first guess. Use logistic regression: it errs on "
            "30.0 % of unseen rows (18.2 to 41.8). Naive Bayes did 2.0 points worse here"
        )
        assert "guess" not in answer_of(replace(known, margin=0.02))
        claimed = evidence_of(
            {BASELINE: 0.9, LOGISTIC: 0.3}, LOGISTIC, error=0.06, n_rows=60, losses=losses
        )
        assert "guess" not in answer_of(claimed)

    def test_regression(self):
        means = {"mean predictor": 7.82, "linear regression": 3.41}
        known = evidence_of(means, "linear regression", error=0.15, known=measure("rmse"))
        assert answer_of(replace(known, margin=0.078)) == (
            "Use linear regression: it has a root mean squared error of 3.41 (3.12 to 3.70). It is "
            f"better than the mean predictor, which is 3.99 to 4.83 worse. {REPEATS}"
        )

    def test_area(self):
        means = {BASELINE: 0.5, LOGISTIC: 0.86, FOREST: 0.855}
        known = evidence_of(means, LOGISTIC, known=measure("auc"), error=0.025)
        assert answer_of(known) == (
            "Use logistic regression: it has an area under the ROC curve of 0.860 (0.811 to "
            "0.909). It is better than the majority class. The nearest, the random forest, did "
            "0.005 worse here, which may be chance: the truth may be anything from 0.074 worse to "
            f"0.064 better. {REPEATS}"
        )

    def test_one_that_always_scores_the_same_asks_for_no_decimals(self):
        means = {BASELINE: 0.5, LOGISTIC: 0.86, FOREST: 0.855}
        known = evidence_of(means, LOGISTIC, known=measure("auc"), error=0.025)
        rows = known.posterior.rows.copy()
        rows[0, 0] = 1e-12
        known = replace(known, posterior=replace(known.posterior, rows=rows))
        assert "curve of 0.860 (0.811 to 0.909)" in answer_of(known)

    def test_accuracy(self):
        known = evidence_of({BASELINE: 0.6, BAYES: 0.8}, BAYES, known=measure("accuracy"))
        assert answer_of(known).startswith(
            "Use naive Bayes: it is right on 80.0 % of unseen rows (78.0 to 82.0). It is better "
            "than the majority class, which is 17.2 to 22.8 points worse."
        )


class TestNoSignal:
    def test_nothing_beats_the_baseline(self):
        known = evidence_of({BASELINE: 0.4, BAYES: 0.397, TREE: 0.45}, BASELINE)
        assert answer_of(known) == (
            "We saw no sign that these inputs predict the target: no learner did better than the "
            "majority class by the 1 point that would matter. The majority class errs on 40.0 % of "
            "unseen rows (38.0 to 42.0). The best of them, naive Bayes, did 0.3 points better "
            "here; the truth may be anything from 2.5 points worse to 3.1 points better. "
            f"{REPEATS}"
        )

    def test_by_another_rule_the_margin_may_be_exceeded(self):
        known = evidence_of(
            {BASELINE: 0.4, BAYES: 0.387, TREE: 0.45}, BASELINE, rule="one standard error"
        )
        assert answer_of(known).startswith(
            "Use the majority class, the simplest that the rule asked for allows: it errs on "
            "40.0 % of unseen rows (38.0 to 42.0). Naive Bayes did 1.3 points better here; the "
            "truth may be"
        )

    def test_without_a_margin(self):
        known = evidence_of({BASELINE: 0.4, BAYES: 0.41}, BASELINE, margin=0.0)
        assert answer_of(known).startswith(
            "We saw no sign that these inputs predict the target: no learner did better than the "
            "majority class. The majority class errs on 40.0 % of unseen rows (38.0 to 42.0). "
            "Naive Bayes did 1.0 point worse here; the truth may be anything from 3.8 points worse "
            "to 1.8 points better."
        )

    def test_level_with_the_baseline(self):
        known = evidence_of({BASELINE: 0.4, BAYES: 0.4}, BASELINE)
        assert "Naive Bayes did just as well here; the truth may be anything from" in answer_of(
            known
        )
        losses = np.tile((np.arange(1000) < 400)[:, None], (3, 1, 2)).astype(float)
        assert "Naive Bayes did the same on every row." in answer_of(replace(known, losses=losses))

    def test_hardly_predicts(self):
        known = evidence_of({BASELINE: 0.4, BAYES: 0.396}, BASELINE, error=0.001)
        assert known.claimed(BAYES, BASELINE)
        assert answer_of(known) == (
            "These inputs predict the target, but hardly: naive Bayes is better than the majority "
            "class by only 0.40 points, less than the 1 point that would matter. The majority "
            "class, which ignores the inputs, errs on 40.00 % of unseen rows (39.80 to 40.20). "
            f"{REPEATS}"
        )

    def test_of_an_area(self):
        known = evidence_of(
            {BASELINE: 0.5, BAYES: 0.508}, BASELINE, known=measure("auc"), error=0.03
        )
        assert "did 0.008 better here; the truth may be anything from 0.075 worse to 0.091" in (
            answer_of(known)
        )

    def test_who_failed_is_no_learner_that_did_better(self):
        known = evidence_of({BASELINE: 0.4, BAYES: 0.2, TREE: 0.41}, BASELINE)
        text = answer_of(replace(known, eligible=(BASELINE, TREE)), {BAYES: 4})
        assert "The decision tree did 1.0 point worse here" in text
        assert text.startswith("Naive Bayes failed in 4 of 30 runs and was left out of the choice.")


class TestFailures:
    def test_two_contestants_failed(self):
        known = evidence_of({TREE: 0.241, BAYES: 0.3}, TREE)
        assert answer_of(known, {FOREST: 30, "neural network": 30}) == (
            "The random forest and the neural network failed in 30 of 30 runs and were left out of "
            "the choice. Use the decision tree: it errs on 24.1 % of unseen rows (22.1 to 26.1). "
            f"It is better than naive Bayes, which is 3.1 to 8.7 points worse. {REPEATS}"
        )

    def test_some_failed_more_often_than_others(self):
        means = {TREE: 0.241, BAYES: 0.3, FOREST: 0.2, SVM: 0.2}
        known = replace(evidence_of(means, TREE), eligible=(TREE, BAYES))
        assert answer_of(known, {FOREST: 7, SVM: 2}).startswith(
            "The random forest and the support vector machine failed in up to 7 of 30 runs and "
            "were left out of the choice. Use the decision tree"
        )

    def test_who_failed_is_not_beaten_nor_near(self):
        """Of one that is left out, nothing is said but that."""
        known = evidence_of({TREE: 0.241, BAYES: 0.3, FOREST: 0.2}, TREE)
        text = answer_of(replace(known, eligible=(TREE, BAYES)), {FOREST: 7})
        assert text.count("andom forest") == 1
        assert "It is better than naive Bayes, which is" in text

    def test_one_is_left(self):
        known = evidence_of({TREE: 0.241, BAYES: 0.3}, TREE)
        assert answer_of(replace(known, eligible=(TREE,)), {BAYES: 2}) == (
            "Naive Bayes failed in 2 of 30 runs and was left out of the choice. Use the decision "
            "tree: it errs on 24.1 % of unseen rows (22.1 to 26.1). No other contestant is left to "
            "compare it with."
        )

    def test_alone(self):
        assert answer_of(evidence_of({BAYES: 0.2}, BAYES)) == (
            "Naive Bayes errs on 20.0 % of unseen rows (18.0 to 22.0). It is alone: there "
            "was nothing to choose between."
        )


class TestAgreement:
    @pytest.mark.parametrize(
        ("agreement", "words"),
        [(0.62, "about 6 times in 10"), (0.95, "about 19 times in 20"), (0.99, "nearly always")],
    )
    def test_is_said_in_words(self, agreement, words):
        known = evidence_of({BAYES: 0.2, TREE: 0.3}, BAYES, agreement=agreement)
        assert agreement_sentence(known).endswith(f"would lead to the same choice {words}")

    def test_one_repeat_has_none(self):
        known = evidence_of({BAYES: 0.2, TREE: 0.3}, BAYES, repeats=1)
        assert agreement_sentence(known) == ""
        assert "repeat" not in answer_of(known)


class TestAdvice:
    @staticmethod
    def losses(first, second, n_rows=1000, repeats=3):
        columns = [np.arange(n_rows) < first * n_rows, np.arange(n_rows)[::-1] < second * n_rows]
        return np.tile(np.stack(columns, axis=1), (repeats, 1, 1)).astype(float)

    def test_so_many_times_as_many_rows(self):
        losses = self.losses(0.2, 0.22)
        known = evidence_of({BAYES: 0.2, TREE: 0.22}, BAYES, losses=losses)
        times = known.rows_to_tell(BAYES, TREE)
        assert advice_on_rows(known) == (
            f"About {times:g} times as many rows ({times * 1000:,.0f}) would probably tell naive "
            "Bayes and the decision tree apart, if they keep differing by 2.0 points."
        )

    def test_as_many_again(self):
        losses = self.losses(0.2, 0.9)
        known = evidence_of({BAYES: 0.2, TREE: 0.9}, BAYES, losses=losses, error=0.5)
        assert advice_on_rows(known) == (
            "As many rows again would probably tell naive Bayes and the decision tree apart, if "
            "they keep differing by 70.0 points."
        )

    def test_too_many(self):
        losses = self.losses(0.5, 0.501, repeats=1)
        known = evidence_of({BAYES: 0.5, TREE: 0.501}, BAYES, losses=losses, margin=0.0005)
        assert advice_on_rows(known) == (
            "Not even 256 times as many rows would tell naive Bayes and the decision tree apart, "
            "if they keep differing by 0.1 points."
        )

    def test_it_does_not_matter(self):
        losses = self.losses(0.2, 0.205)
        known = evidence_of({BAYES: 0.2, TREE: 0.205}, BAYES, losses=losses)
        assert advice_on_rows(known) == (
            "Here naive Bayes and the decision tree differ by 0.5 points, less than the 1 point "
            "that would matter; about 8 times as many rows (8,000) would fix their difference to "
            "within 1 point."
        )
        level = evidence_of({BAYES: 0.2, TREE: 0.2}, BAYES, losses=self.losses(0.2, 0.2))
        assert advice_on_rows(level) == (
            "Here naive Bayes and the decision tree did equally well; about 8 times as many rows "
            "(8,000) would fix their difference to within 1 point."
        )
        near = evidence_of({BAYES: 0.2, TREE: 0.205}, BAYES, losses=losses, error=0.002)
        assert advice_on_rows(near) == (
            "Which of naive Bayes and the decision tree is better hardly matters: they are at most "
            "about 1.1 points apart."
        )

    def test_whether_a_gain_on_the_baseline_was_missed(self):
        losses = self.losses(0.4, 0.43)
        means = {BASELINE: 0.4, BAYES: 0.43}
        known = evidence_of(means, BASELINE, losses=losses, error=0.03)
        assert advice_on_rows(known) == (
            "About 70 times as many rows (70,000) would fix the difference between the majority "
            "class and naive Bayes to within 1 point, and so show whether a gain that matters was "
            "missed."
        )
        wide = evidence_of(means, BASELINE, losses=losses, error=0.09)
        assert advice_on_rows(wide).startswith("Not even 256 times as many rows would fix the ")
        near = {BASELINE: 0.4, BAYES: 0.425}
        sure = evidence_of(near, BASELINE, losses=losses, error=0.01)
        assert not sure.claimed(BASELINE, BAYES)
        assert advice_on_rows(sure) == (
            "Naive Bayes is not better than the majority class by 1 point or more; more rows are "
            "not needed to see that."
        )

    def test_a_gain_that_is_known_well_enough_may_still_be_chance(self):
        means = {BASELINE: 0.4, BAYES: 0.389, TREE: 0.4, FOREST: 0.4}
        losses = np.zeros((3, 1000, 4))
        losses[:, :400] = 1.0
        losses[:, :18, 1], losses[:, -7:, 1] = 0.0, 1.0
        known = evidence_of(means, BASELINE, losses=losses, error=0.0035)
        assert not known.claimed(BAYES, BASELINE)
        low, high = known.posterior.difference(BAYES, BASELINE)[1:]
        assert (high - low) / 2 < known.margin < -low
        assert advice_on_rows(known) == (
            "About 3 times as many rows (3,000) would probably tell the majority class and naive "
            "Bayes apart, if they keep differing by 1.1 points."
        )

    def test_the_same_on_every_row(self):
        losses = np.repeat(self.losses(0.2, 0.2)[:, :, :1], 2, axis=2)
        known = evidence_of({BAYES: 0.2, TREE: 0.2}, BAYES, losses=losses)
        assert advice_on_rows(known) == (
            "These rows cannot tell naive Bayes and the decision tree apart: they did the same on "
            "each."
        )

    def test_nothing_is_open(self):
        known = evidence_of({BAYES: 0.2, TREE: 0.9}, BAYES, losses=self.losses(0.2, 0.9))
        assert known.claimed(BAYES, TREE)
        assert advice_on_rows(known) == ""
        assert advice_on_rows(evidence_of({BAYES: 0.2, TREE: 0.21}, BAYES)) == ""
        assert advice_on_rows(evidence_of({BAYES: 0.2}, BAYES)) == ""

    def test_who_failed_is_nobody_to_tell_from(self):
        losses = self.losses(0.2, 0.21)
        known = evidence_of({BAYES: 0.2, TREE: 0.21}, BAYES, losses=losses, eligible=(BAYES,))
        assert advice_on_rows(known) == ""

    def test_the_best_is_the_rival_of_a_simpler_choice(self):
        losses = np.concatenate([self.losses(0.2, 0.196), self.losses(0.3, 0.3)], axis=2)[:, :, :3]
        known = evidence_of({LOGISTIC: 0.2, FOREST: 0.196, TREE: 0.22}, LOGISTIC, losses=losses)
        assert not known.claimed(LOGISTIC, TREE)
        assert advice_on_rows(known).startswith(
            "Here logistic regression and the random forest differ by 0.4 points, less than the 1 "
        )


def verdict_of(names, wins=(), best=None, scope="data"):
    """Return a verdict in which some contestants beat others."""
    pairs = [
        {
            "first": one,
            "second": other,
            "difference": 0.1,
            "p_value": 0.01,
            "adjusted_p": 0.01,
            "decision": "reject"
            if (one, other) in wins or (other, one) in wins
            else "fail to reject",
            "better": one if (one, other) in wins else other,
            "worse": other if (one, other) in wins else one,
        }
        for place, one in enumerate(names)
        for other in names[place + 1 :]
    ]
    return Verdict(scope, best or names[0], pd.DataFrame(pairs))


class TestNotRejected:
    def test_the_simplest_that_no_test_rejects(self):
        known = evidence_of({BASELINE: 0.4, BAYES: 0.22, SVM: 0.2}, BAYES)
        verdict = verdict_of([BASELINE, BAYES, SVM], [(BAYES, BASELINE), (SVM, BASELINE)])
        assert not_rejected_sentence(known, verdict, BAYES) == (
            "Use naive Bayes: it errs on 22.0 % of unseen rows (20.0 to 24.0). It is the simplest "
            "of 2 contestants that the tests do not show to be worse than another, which is the "
            "rule that was asked for. The support vector machine did 2.0 points better here; the "
            "truth may be anything from 0.8 points worse to 4.8 points better."
        )

    def test_the_only_one(self):
        known = evidence_of({BASELINE: 0.4, BAYES: 0.2}, BAYES)
        verdict = verdict_of([BASELINE, BAYES], [(BAYES, BASELINE)])
        assert not_rejected_sentence(known, verdict, BAYES) == (
            "Use naive Bayes: it errs on 20.0 % of unseen rows (18.0 to 22.0)."
        )

    def test_the_baseline_is_no_recommendation(self):
        known = evidence_of({BASELINE: 0.25, BAYES: 0.2}, BASELINE)
        verdict = verdict_of([BASELINE, BAYES])
        text = not_rejected_sentence(known, verdict, BASELINE)
        assert text.startswith(
            "We saw no sign that these inputs predict the target: the tests show no contestant to "
            "be better than the majority class, which errs on 25.0 % of unseen rows (23.0 to 27.0)."
        )
        assert text.endswith(
            "Naive Bayes did 5.0 points better here; the truth may be 2.2 to 7.8 points better."
        )


def ranks_of(ranks, choice, agreement=0.7, rule="half standard error"):
    """Return evidence over data sets from a table of ranks."""
    names = list(ranks)
    values = np.array([ranks[name] for name in names], dtype=float).T
    posterior = split_posterior(values, names, test_share=0.0)
    table = pd.DataFrame({"mean_rank": posterior.means}, index=names).sort_values("mean_rank")
    shares = dict.fromkeys(names, 0.0)
    return RankEvidence(
        posterior, Selection(choice, agreement, 1.0, shares), table, len(values), rule
    )


RANKS = {
    FOREST: [1, 2, 1, 2, 1, 1, 2, 1],
    SVM: [2, 1, 2, 1, 2, 2, 1, 2],
    TREE: [3, 3, 3, 4, 3, 3, 4, 3],
    BAYES: [4, 4, 4, 3, 4, 4, 3, 4],
}


class TestRanks:
    def test_the_best_rank(self):
        wins = [(FOREST, TREE), (FOREST, BAYES), (SVM, TREE), (SVM, BAYES)]
        verdict = verdict_of(list(RANKS), wins, scope="all data sets")
        assert ranks_sentences(ranks_of(RANKS, FOREST), verdict) == (
            "Use the random forest: over 8 data sets it ranks best (mean rank 1.38). It ranks "
            "above the decision tree (3.25) and naive Bayes (3.75), adjusted p < 0.05. The tests "
            "cannot tell it from the support vector machine (1.62). Another 8 data sets like these "
            "would lead to the same choice about 7 times in 10."
        )

    def test_a_simpler_one(self):
        text = ranks_sentences(ranks_of(RANKS, SVM), verdict_of(list(RANKS)))
        assert text.startswith(
            "Use the support vector machine: over 8 data sets its mean rank is 1.62. The random "
            "forest ranks best (1.38), but by no more than half the standard error of the "
            "difference; the support vector machine is simpler. The tests cannot tell it from"
        )
        other = ranks_of(RANKS, SVM, rule="one standard error")
        assert "by no more than the standard error" in ranks_sentences(
            other, verdict_of(list(RANKS))
        )

    def test_a_simpler_one_of_equal_rank(self):
        level = {FOREST: [1, 2], LOGISTIC: [2, 1], TREE: [3, 3]}
        text = ranks_sentences(ranks_of(level, LOGISTIC), verdict_of(list(level)))
        assert "The random forest ranks just as well; logistic regression is simpler." in text

    def test_without_tests_nothing_is_said_of_them(self):
        untested = verdict_of(list(RANKS))
        untested.pairs["decision"] = "not tested"
        text = ranks_sentences(ranks_of(RANKS, FOREST), untested)
        assert "tests" not in text
        assert "ranks above" not in text


class TestEachDataSet:
    def test_two_that_agree(self):
        iris = evidence_of({BASELINE: 0.6, BAYES: 0.05}, BAYES, data="iris")
        wine = evidence_of({BASELINE: 0.6, BAYES: 0.03}, BAYES, data="wine")
        assert each_data_set_sentences({"iris": iris, "wine": wine}, None) == (
            "Use naive Bayes, the choice on both data sets: it errs on 5.0 % of unseen rows (3.0 "
            "to 7.0) on iris and 3.0 % of unseen rows (1.0 to 5.0) on wine."
        )
        three = {"iris": iris, "wine": wine, "penguins": wine}
        assert "the choice on all 3 data sets" in each_data_set_sentences(three, None)

    def test_two_that_do_not(self):
        iris = evidence_of({BAYES: 0.05, TREE: 0.1}, BAYES)
        wine = evidence_of({BAYES: 0.1, TREE: 0.05}, TREE)
        assert each_data_set_sentences({"iris": iris, "wine": wine}, None) == (
            "It depends on the data set: use naive Bayes on iris and the decision tree on wine."
        )
        ranks = ranks_of({BAYES: [1, 1, 2], TREE: [2, 2, 1]}, BAYES)
        assert each_data_set_sentences({"iris": iris, "wine": wine}, ranks).endswith(
            "Over all of them naive Bayes ranks best (mean rank 1.33), but 3 data sets are too few "
            "to say more than that."
        )

    def test_one_that_is_level_with_the_choice_everywhere_is_the_choice(self):
        iris = evidence_of({BAYES: 0.05, TREE: 0.1}, BAYES)
        tied = evidence_of({BAYES: 0.02, TREE: 0.02}, TREE)
        words = each_data_set_sentences({"iris": iris, "wine": tied}, None)
        assert words.startswith("Use naive Bayes, the choice on both data sets")

    def test_where_the_baseline_is_chosen_the_inputs_tell_nothing(self):
        iris = evidence_of({BASELINE: 0.6, BAYES: 0.05}, BAYES)
        noise = evidence_of({BASELINE: 0.5, BAYES: 0.51}, BASELINE)
        assert each_data_set_sentences({"iris": iris, "noise": noise}, None) == (
            "It depends on the data set: use naive Bayes on iris and the majority class on noise. "
            "We saw no sign that the inputs predict the target on noise."
        )
        assert each_data_set_sentences({"dust": noise, "noise": noise}, None).startswith(
            "We saw no sign that the inputs predict the target on dust and noise. Use the majority "
            "class, the choice on both data sets: it errs on 50.0 % of unseen rows"
        )


class TestNoEvidence:
    def test_means_alone(self):
        responses = responses_of({"data": {BAYES: [0.05], TREE: [0.1]}}, measure="accuracy")
        text = plain_sentence(responses, verdict_of([TREE, BAYES]))
        assert text.startswith("The decision tree has the best accuracy (0.1).")
        assert "chance" in text

    def test_order(self):
        assert order_sentence([SVM, BAYES, BASELINE], "error") == (
            "By error, best first: the support vector machine, naive Bayes, the majority class."
        )


ALL = [
    evidence_of({SVM: 0.181, LOGISTIC: 0.223, TREE: 0.26}, SVM),
    evidence_of({BASELINE: 0.4, LOGISTIC: 0.196, FOREST: 0.19}, LOGISTIC),
    evidence_of({BASELINE: 0.4, TREE: 0.3, LOGISTIC: 0.2, BAYES: 0.208}, LOGISTIC),
    evidence_of({BASELINE: 0.4, LOGISTIC: 0.207, SVM: 0.2}, SVM),
    evidence_of({BASELINE: 0.4, LOGISTIC: 0.19, BAYES: 0.193}, LOGISTIC, agreement=0.6),
    evidence_of({BASELINE: 0.4, BAYES: 0.397, TREE: 0.45}, BASELINE),
    evidence_of({BASELINE: 0.4, BAYES: 0.396}, BASELINE, error=0.001),
    evidence_of({LOGISTIC: 0.2, BAYES: 0.231, TREE: 0.24, SVM: 0.24}, LOGISTIC),
    evidence_of({BAYES: 0.2}, BAYES),
]


@pytest.mark.parametrize("known", ALL)
def test_sentences_are_sentences(known):
    text = answer_of(known)
    assert "  " not in text
    assert "parametric" not in text
    for part in re.split(r"(?<=[a-z)%])\. ", text.removesuffix(".")):
        assert part[0].isupper()
        assert not part.endswith((".", " ", ","))
    assert text.endswith(".")


@pytest.mark.parametrize("known", ALL)
def test_better_than_is_a_claim(known):
    """Names after "is better than" are those that the evidence shows to be worse."""
    text = answer_of(known)
    match = re.search(r"better than ([^.;:]*)", text)
    if match is None or "no learner did better than" in text:
        return
    winner = known.selection.name if "but hardly" not in text else BAYES
    for name in known.names:
        mentioned = named(name) in match.group(1) or "every other" in match.group(1)
        if mentioned and name != winner:
            assert known.claimed(winner, name)


def test_repeats_by_themselves():
    """The first repeat alone favours the other contestant, by more than half a standard error."""
    losses = np.zeros((3, 200, 2))
    losses[:, :40, 0] = 1.0
    losses[1:, :60, 1] = 1.0
    known = evidence_of({LOGISTIC: 0.2, BAYES: 0.2}, LOGISTIC, n_rows=200, losses=losses)
    assert repeats_sentence(known) == (
        "Of the 3 repeats, 2 would lead to logistic regression by themselves."
    )
    assert repeats_sentence(replace(known, losses=None)) == ""
    both, every = replace(known, losses=losses[1:]), replace(known, losses=losses[[1, 2, 2]])
    assert repeats_sentence(both) == "Both repeats would lead to logistic regression by themselves."
    assert repeats_sentence(every) == (
        "Each of the 3 repeats would lead to logistic regression by itself."
    )
    none = replace(known, selection=replace(known.selection, name=BAYES), losses=losses[1:])
    object.__setattr__(none, "repeats_agreeing", (0, 2))
    assert repeats_sentence(none) == "None of the 2 repeats would lead to naive Bayes by itself."
