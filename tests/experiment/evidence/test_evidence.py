"""Evidence on one data set: its table, intervals, claims, choices, and every kind of design."""

import sqlite3
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import stats
from sklearn.tree import DecisionTreeClassifier
from tests.experiment.analysed import changed_copy, noisy, responses_of
from tests.experiment.studies import Misbehaving

from verulam.base import DataError
from verulam.experiment import DataChoice, LearnerChoice, Results, Study, run
from verulam.experiment._evidence.estimate import evidence_of
from verulam.experiment._evidence.evidence import Evidence, rank_evidence
from verulam.experiment._store.responses import responses
from verulam.experiment._store.row_values import row_values
from verulam.measures import Measure, measure
from verulam.statistics import (
    bayesian_signed_rank,
    corrected_t_test,
    joint_posterior,
    select,
    split_posterior,
)

BASELINE, BAYES, LOGISTIC = "majority class", "parametric.NaiveBayes", "logistic regression"
GRADES = {BASELINE: 0.0, BAYES: 1.0, LOGISTIC: 1.0, "tree": 2.0}
NAMES = ("line", "tree", "forest")
RANKED_GRADES = {"line": 1.0, "tree": 2.0, "forest": 4.0}
RULE = "half standard error"


def table_of(n_rows=60, seed=0):
    random = np.random.default_rng(seed)
    X = random.normal(size=(n_rows, 3))
    y = X[:, 0] + 0.7 * random.normal(size=n_rows) > 0.2
    return pd.DataFrame(X, columns=list("abc")).assign(
        y=np.where(y, "yes", "no"), patient=np.arange(n_rows) // 3
    )


@pytest.fixture(scope="module")
def study(tmp_path_factory):
    """Return a function that carries out a study of one table."""

    def make(resampling, learners=(BASELINE, BAYES, LOGISTIC), table=None, groups=None, **options):
        path = tmp_path_factory.mktemp("evidence") / "runs.sqlite"
        table = table_of() if table is None else table
        left_out = ["patient"] if "patient" in table and groups is None else []
        data = DataChoice(table, target="y", label="table", groups=groups, leave_out=left_out)
        planned = Study("evidence", [data], list(learners), resampling=resampling, **options)
        return run(planned, path, engine="serial", progress=False)

    return make


def evidence(results, measure=None, **options):
    scores = responses(results, measure)
    grades = {name: GRADES.get(name, 3.0) for name in scores.names}
    return evidence_of(results, scores, grades, **options).get("table")


@pytest.fixture(scope="module")
def repeated(study):
    return study("3x5-fold")


@pytest.fixture(scope="module")
def known(repeated):
    return evidence(repeated)


def made(losses, names=("a", "b", "c"), **changes):
    """Return evidence from losses of one's own."""
    losses = np.asarray(losses, dtype=float)
    names = tuple(names)[: losses.shape[2]]
    posterior = joint_posterior(losses, names)
    grades = dict.fromkeys(names, 1.0)
    selection = select(posterior, list(grades.values()), margin=0.01)
    record = Evidence(
        "data", measure("error"), posterior, 0.01, grades, names, None, 0.05,
        "half standard error", selection, losses,
    )  # fmt: skip
    return replace(record, **changes)


def errors(rates, n_rows=100, repeats=2, seed=0):
    """Return errors that every repeat has on the same rows, the more of them the higher a rate."""
    hard = np.random.default_rng(seed).random((n_rows, 1))
    return np.tile((hard < np.array(rates)).astype(float), (repeats, 1, 1))


class TestTable:
    def test_has_the_numbers_of_the_posterior(self, known):
        table = known.table
        assert list(table.index) == list(known.order)
        assert table["estimate"].is_monotonic_increasing
        for name, row in table.iterrows():
            assert (row["low"], row["high"]) == known.interval(name)
            difference = known.posterior.difference(name, known.best)
            limits = row[["difference", "difference_low", "difference_high"]]
            expected = (0, 0, 0) if name == known.best else difference
            assert_allclose(limits.to_list(), expected)
            against = known.posterior.difference(name, BASELINE)[0]
            assert row["difference_baseline"] == pytest.approx(against)
            chances = row[["better", "equal", "worse"]]
            assert chances.sum() == pytest.approx(1)
        assert table["probability_best"].sum() == pytest.approx(1)
        assert (table["probability_within"] >= table["probability_best"]).all()
        assert table["repeats"].tolist() == [3, 3, 3]
        assert table["complexity"].to_dict() == {name: GRADES[name] for name in known.order}

    def test_without_a_baseline_nothing_is_compared_with_it(self, study):
        known = evidence(study("2x5-fold", [BAYES, LOGISTIC]))
        assert known.baseline is None
        assert known.table["difference_baseline"].isna().all()

    def test_one_contestant_has_a_table_too(self, study):
        known = evidence(study("2x5-fold", [BAYES]))
        row = known.table.iloc[0]
        assert row["probability_best"] == row["probability_within"] == 1
        assert known.claims.empty
        assert known.selection.name == BAYES
        with pytest.raises(DataError, match="alone"):
            known.rival(BAYES)


class TestIntervals:
    def test_of_counts_is_that_of_a_share(self, known):
        assert known.interval(BAYES) == known.posterior.share_interval(BAYES)
        assert known.interval(BAYES, 0.5)[1] < known.interval(BAYES)[1]

    def test_of_others_is_cut_at_the_ends_of_the_measure(self, repeated):
        area = evidence(repeated, "auc")
        low, high = area.interval(LOGISTIC)
        plain = area.posterior.interval(LOGISTIC)
        assert low == pytest.approx(plain[0])
        assert high == min(1.0, plain[1])
        loss = evidence(repeated, "log_loss")
        assert loss.interval(BAYES)[0] == max(0.0, loss.posterior.interval(BAYES)[0])

    def test_a_perfect_contestant_may_still_err(self):
        perfect = made(np.zeros((2, 40, 2)))
        low, high = perfect.interval("a")
        assert low == 0
        assert 0.05 < high < 0.12

    def test_a_perfect_area_or_recall_rests_on_the_rarer_class(self, study):
        table = table_of().assign(a=lambda rows: np.where(rows["y"] == "yes", 1.0, -1.0))
        table["y"] = np.where(np.arange(60) < 6, "yes", "no")
        table["a"] = np.where(np.arange(60) < 6, 1.0, -1.0)
        results = study("2x3-fold", ["decision tree"], table, measures=["auc"])
        counts = evidence(results, "error").interval("decision tree")[1]
        area = evidence(results, "auc").interval("decision tree")[0]
        recall = evidence(results, "balanced_accuracy").interval("decision tree")[0]
        assert area < recall < 1 - counts < 1

    def test_a_perfect_number_is_no_share(self):
        known = made(np.zeros((2, 40, 2)), measure=measure("mean_absolute_error"))
        assert known.interval("a") == (0.0, 0.0)


class TestClaims:
    def test_of_evidence_are_those_of_the_posterior(self, known):
        assert known.claims.equals(known.posterior.claims(0.05))
        row = known.claims.iloc[0]
        assert known.claimed(row["better"], row["worse"]) == row["claimed"]
        assert not known.claimed(row["worse"], row["better"])

    def test_where_repeats_are_added_they_allow_for_every_look(self, study, known):
        assert known.looks == ()
        adaptive = evidence(study("2-4x5-fold"))
        assert adaptive.looks == (2, 3, 4)
        assert adaptive.claims.equals(adaptive.posterior.claims(0.05, looks=(2, 3, 4)))
        once = adaptive.posterior.claims(0.05)["adjusted_p"]
        assert (adaptive.claims["adjusted_p"] >= once).all()
        assert adaptive.claims["adjusted_p"].sum() > once.sum()

    def test_alpha_is_that_of_the_study(self, repeated):
        strict = evidence(repeated, alpha=1e-6)
        assert not strict.claims["claimed"].any()

    def test_the_rival_is_the_nearest_that_is_not_beaten(self):
        known = made(errors([0.2, 0.23, 0.6]))
        assert known.rival("b") == known.rival("c") == "a"
        assert known.claimed("a", "c")
        assert known.rival("a") == "b"
        only = made(errors([0.1, 0.6], 200))
        assert only.claimed("a", "b")
        assert only.rival("a") == "b"
        failed = made(errors([0.2, 0.21, 0.25]), eligible=("a", "c"))
        assert failed.rival("a") == "c"


class TestBest:
    def test_is_eligible(self):
        known = made(errors([0.1, 0.2, 0.3]), eligible=("b", "c"))
        assert known.best == "b"
        assert known.order[0] == "a"

    def test_rounding_does_not_decide(self):
        level = joint_posterior(errors([0.3, 0.3, 0.5]), ["a", "b", "c"])
        means = np.array([0.1 + 0.2, 0.3, 0.5])
        known = made(errors([0.3, 0.3, 0.5]), posterior=replace(level, means=means))
        assert known.best == "a"

    def test_the_direction_of_the_measure_counts(self, repeated):
        assert evidence(repeated, "accuracy").best == evidence(repeated, "error").best
        assert evidence(repeated, "accuracy").order == evidence(repeated, "error").order


class TestRepeats:
    def test_agreeing_repeats_are_counted_one_by_one(self):
        losses = errors([0.2, 0.3], repeats=4)
        losses[3] = losses[3][:, ::-1]
        known = made(losses, margin=0.0)
        assert known.selection.name == "a"
        assert known.repeats_agreeing == (3, 4)

    def test_those_without_the_choice_do_not_count(self):
        losses = errors([0.2, 0.3], repeats=4)
        losses[2:, :, 0] = np.nan
        known = made(losses, margin=0.0)
        assert known.repeats_agreeing == (2, 2)

    def test_who_dropped_out_stands_where_it_stood(self):
        losses = errors([0.9, 0.2, 0.3], repeats=4)
        losses[2:, :, 0] = np.nan
        assert made(losses, margin=0.0).repeats_agreeing == (4, 4)

    def test_one_repeat_tells_nothing(self, study):
        assert evidence(study("5-fold")).repeats_agreeing == (0, 0)

    def test_of_a_root_are_those_of_its_own_repeats(self, study):
        random = np.random.default_rng(1)
        table = pd.DataFrame({"a": random.normal(size=60)})
        table["y"] = table["a"] + random.normal(size=60)
        results = study("3x5-fold", ["mean predictor", "linear regression"], table)
        known = evidence(results)
        agreeing, count = known.repeats_agreeing
        by_repeat = results.scores("mean_squared_error").pivot_table(
            "mean_squared_error", "repeat", "learner"
        )
        expected = (by_repeat.idxmin(axis=1) == known.selection.name).sum()
        assert (agreeing, count) == (expected, 3)


class TestRows:
    def test_the_same_losses(self):
        losses = errors([0.2, 0.2, 0.3])
        known = made(losses)
        assert known.same_losses("a", "b")
        assert not known.same_losses("a", "c")
        losses[1, :, 1] = np.nan
        assert made(losses).same_losses("a", "b")
        losses[0, 0, 1] = 1 - losses[0, 0, 1]
        assert not made(losses).same_losses("a", "b")
        assert not replace(known, losses=None).same_losses("a", "b")

    def test_rows_that_would_tell_two_apart(self):
        known = made(errors([0.2, 0.24], 200))
        times = known.rows_to_tell("a", "b")
        assert times == known.rows_to_tell("b", "a")
        assert times > 1
        assert made(errors([0.2, 0.25], 1000)).rows_to_tell("a", "b") < times
        assert made(errors([0.2, 0.2])).rows_to_tell("a", "b") is None
        assert replace(known, losses=None).rows_to_tell("a", "b") is None


class TestDesigns:
    def test_rows_count_where_each_is_tested_once(self, study, repeated):
        for results, repeats in ((repeated, 3), (study("5x2"), 5), (study("holdout"), 1)):
            known = evidence(results)
            values = row_values(results, responses(results))[0]["table"]
            expected = joint_posterior(values.values, values.names)
            assert_allclose(known.posterior.covariance, expected.covariance)
            assert known.posterior.degrees_of_freedom == values.values.shape[1] - 1
            assert known.repeats == repeats
            assert_array_equal(known.losses, values.values)

    def test_leaving_one_out_has_no_other_splits(self, study):
        known = evidence(study("leave-one-out"))
        assert known.posterior.n_rows == 60
        assert known.selection.agreement == known.selection.settled == 1

    @pytest.mark.parametrize(
        ("resampling", "splits"),
        [("6x holdout 0.3", 6), ("out-of-bag 8", 8), ("bootstrap 8", 8), ("disjoint 5", 5)],
    )
    def test_splits_count_elsewhere(self, study, resampling, splits):
        results = study(resampling)
        known = evidence(results)
        assert known.losses is None
        assert known.posterior.degrees_of_freedom == splits - 1
        scores = responses(results)
        table = scores.by_split("table")
        share = {"bootstrap": 0.5, "disjoint": 0.0}.get(
            resampling.split()[0], scores.test_shares["table"]
        )
        expected = split_posterior(table.to_numpy(), list(table.columns), test_share=share)
        assert_allclose(known.posterior.covariance, expected.covariance)
        assert known.repeats == 1
        assert 0 < known.selection.agreement <= 1

    def test_rows_of_a_group_are_no_rows_of_their_own(self, study):
        """The interval is that of a ratio of two sums over groups, plus what splits add."""
        table = table_of().assign(y=lambda rows: rows.groupby("patient")["y"].transform("first"))
        known = evidence(study("2x5-fold", groups="patient", table=table))
        n_groups = table["patient"].nunique()
        assert known.losses.shape[1] == n_groups
        assert (known.repeats, known.unit) == (2, "group")
        assert known.posterior.degrees_of_freedom == n_groups - 1
        place = known.names.index(BASELINE)
        common = (table["y"] == table["y"].mode()[0]).to_numpy()
        assert known.posterior.means[place] == pytest.approx(1 - common.mean())
        gaps = (common - common.mean()).reshape(n_groups, -1).sum(axis=1)
        variance = n_groups / (n_groups - 1) * (gaps**2).sum() / len(table) ** 2
        assert known.posterior.rows[place, place] == pytest.approx(variance)
        # Rows by themselves would seem to tell more.
        alone = evidence(study("2x5-fold", table=table))
        low, high = known.interval(BASELINE)
        assert high - low > 1.4 * np.diff(alone.interval(BASELINE))[0]

    def test_one_group_says_nothing_of_others(self, study):
        table = pd.DataFrame({"x": np.arange(90.0), "y": ["yes", "no", "no"] * 30})
        table["patient"] = np.repeat(["a", "b", "c"], 30)
        results = study("holdout", groups="patient", table=table)
        assert evidence(results) is None

    def test_rows_of_a_group_that_differ_are_worth_what_they_are(self, study):
        random = np.random.default_rng(0)
        table = pd.DataFrame({"x": random.normal(size=400), "patient": np.arange(400) % 20})
        table["y"] = np.where(table["x"] + random.normal(size=400) > 0, "yes", "no")
        low, high = evidence(study("2x5-fold", groups="patient", table=table)).interval(LOGISTIC)
        alone = evidence(study("2x5-fold", table=table)).interval(LOGISTIC)
        assert high - low == pytest.approx(alone[1] - alone[0], rel=0.5)

    def test_older_stores_of_groups_are_judged_by_their_splits(self, study, tmp_path):
        results = study("2x5-fold", groups="patient")
        copied = tmp_path / "old.sqlite"
        copied.write_bytes(results.path.read_bytes())
        with sqlite3.connect(copied) as connection:
            connection.execute("DROP TABLE row_groups")
        connection.close()
        old = Results(copied)
        known = evidence(old)
        assert known.losses is None
        assert known.repeats == 2
        scores = responses(old).by_split("table")
        test = corrected_t_test(scores[BAYES], scores[BASELINE], test_share=0.2)
        limits = known.posterior.difference(BAYES, BASELINE)[1:]
        assert limits == pytest.approx((test.interval.low, test.interval.high), abs=1e-3)

    def test_measures_without_rows_take_the_splits(self, repeated):
        known = evidence(repeated, "kappa")
        assert known.losses is None
        assert known.posterior.degrees_of_freedom == 14
        assert known.repeats == 3

    def test_splits_vary_between_repeats_too(self, study):
        """Where only scores are known, their scatter tells how far other splits would agree."""
        table = table_of(60, 3)
        learners = ["decision tree", BAYES, LOGISTIC]
        known = evidence(study("4x5-fold", learners, table), "kappa")
        assert known.selection.settled < 1
        assert known.selection.agreement < 1
        single = evidence(study("5-fold", learners, table), "kappa")
        assert single.selection.agreement < 1

    def test_claims_count_the_splits_thrice_here_too(self, study):
        """The corrected t test tells unstable learners apart by chance, the more the repeats."""
        learners = ["decision tree", BAYES, LOGISTIC]
        results = study("4x5-fold", learners, table_of(60, 3))
        known = evidence(results, "kappa")
        scores = responses(results, "kappa").by_split("table")
        plain = split_posterior(scores.to_numpy(), list(scores.columns), test_share=0.2)
        assert_allclose(known.posterior.covariance, plain.covariance)
        by_repeat = scores.groupby(level="repeat").mean()
        within = (scores - scores.groupby(level="repeat").transform("mean")) ** 2
        single = within.sum().sum() / 16 / 5
        ratio = (0.5 + 3 * by_repeat.var().sum() / single) / 4
        assert np.trace(known.posterior.splits) == pytest.approx(ratio * single)
        assert (known.claims["high"] - known.claims["low"]).min() > (
            plain.claims()["high"] - plain.claims()["low"]
        ).min()

    def test_replications_are_no_other_splits(self, study):
        tree = DecisionTreeClassifier(splitter="random", max_depth=3)
        learners = [BAYES, LearnerChoice(tree, label="tree")]
        known = evidence(study("5-fold", learners, replications=4))
        posterior, by_seed = known.posterior, joint_posterior(known.losses)
        assert known.repeats == 1
        added = posterior.splits - by_seed.splits
        assert added[1, 1] == pytest.approx(0.5 * posterior.rows[1, 1])
        assert posterior.splits[0, 0] == pytest.approx(0.5 * posterior.rows[0, 0])

    def test_training_shares_count_with_the_largest(self, study, repeated):
        shared = evidence(study("3x5-fold", training_shares=[0.4, 1.0]))
        assert_allclose(shared.posterior.means, evidence(repeated).posterior.means)

    def test_means_are_those_of_the_measure(self, repeated):
        area = evidence(repeated, "auc")
        by_fold = responses(repeated, "auc").by_split("table").mean()
        assert_allclose(area.posterior.means, by_fold[list(area.names)])

    def test_one_split_without_rows_tells_nothing(self, study):
        assert evidence(study("holdout"), "kappa") is None


class TestChoice:
    def test_margin_and_rule_are_those_asked_for(self, repeated):
        known = evidence(repeated, matters=0.03, rule="best mean")
        assert known.margin == 0.03
        assert known.rule == "best mean"
        assert known.selection.name == known.best
        assert evidence(repeated).margin == 0.01
        share = float((table_of()["y"] == "yes").mean())
        entropy = -share * np.log(share) - (1 - share) * np.log(1 - share)
        assert evidence(repeated, "log_loss").margin == pytest.approx(0.02 * entropy)

    def test_of_the_tests_is_left_to_the_analysis(self, repeated):
        known = evidence(repeated, rule="not rejected")
        assert known.rule == "not rejected"
        assert known.selection == evidence(repeated).selection

    def test_everything_within_the_margin_goes_to_the_simplest(self, repeated):
        grades = dict.fromkeys([BASELINE, BAYES, LOGISTIC], 1.0)
        scores = responses(repeated)
        last = evidence_of(repeated, scores, {**grades, LOGISTIC: 0.5}, rule="one standard error")
        first = evidence_of(repeated, scores, {**grades, BAYES: 0.5}, rule="one standard error")
        assert last["table"].selection.name == LOGISTIC
        assert first["table"].selection.name == BAYES

    def test_who_failed_is_not_chosen(self, repeated, tmp_path):
        name = evidence(repeated).selection.name
        query = (
            "UPDATE runs SET status = 'failed' WHERE run IN (SELECT p.run FROM planned p JOIN "
            f"splits s USING (split) WHERE p.learner = '{name}' AND s.fold = 1 AND s.repeat = 0)"
        )
        known = evidence(changed_copy(repeated, tmp_path / "failed.sqlite", query))
        assert name in known.names
        assert name not in known.eligible
        assert known.selection.name != name
        assert known.best != name
        assert not known.table.loc[name, "eligible"]

    def test_who_always_failed_is_not_there(self, study):
        learners = [BASELINE, LearnerChoice(Misbehaving("raise"), label="trouble"), BAYES]
        known = evidence(study("2x3-fold", learners))
        assert known.names == (BASELINE, BAYES)
        alone = study("2x3-fold", [LearnerChoice(Misbehaving("raise"), label="trouble")])
        assert evidence(alone) is None

    def test_where_all_failed_somewhere_all_may_be_chosen(self, repeated, tmp_path):
        query = (
            "UPDATE runs SET status = 'failed' WHERE run IN (SELECT p.run FROM planned p JOIN "
            "splits s USING (split) WHERE s.fold = 1 AND s.repeat = 0)"
        )
        known = evidence(changed_copy(repeated, tmp_path / "all.sqlite", query))
        assert known.eligible == known.names
        assert known.repeats == 2

    def test_the_baseline_is_the_contestant_that_ignores_the_inputs(self, known):
        assert known.baseline == BASELINE

    def test_each_data_set_has_its_own(self, several):
        scores = responses(several)
        by_data = evidence_of(several, scores, dict.fromkeys(scores.names, 1.0))
        assert list(by_data) == ["iris", "wine", "penguins"]
        assert all(known.data == data for data, known in by_data.items())


class TestExtremes:
    @pytest.fixture
    def numbers(self):
        random = np.random.default_rng(0)
        table = pd.DataFrame({"a": random.normal(size=40)})
        return table.assign(y=table["a"] + random.normal(scale=0.5, size=40))

    LEARNERS = ("mean predictor", "linear regression")

    @pytest.mark.parametrize("scale", [1e-100, 1e100])
    def test_scale_does_not_change_the_choice(self, study, numbers, scale):
        plain = evidence(study("2x5-fold", self.LEARNERS, numbers))
        scaled = evidence(study("2x5-fold", self.LEARNERS, numbers.assign(y=scale * numbers["y"])))
        assert scaled.selection.name == plain.selection.name
        assert scaled.posterior.degrees_of_freedom < 39
        assert_allclose(scaled.posterior.means / scale, plain.posterior.means)
        assert scaled.margin / scale == pytest.approx(plain.margin)
        assert_allclose(scaled.claims["adjusted_p"], plain.claims["adjusted_p"], atol=1e-3)

    @pytest.mark.parametrize("scale", [1e-100, 1e100])
    def test_losses_without_a_square_are_no_evidence(self, study, numbers, scale):
        results = study("2x5-fold", self.LEARNERS, numbers.assign(y=scale * numbers["y"]))
        assert evidence(results, "mean_squared_error") is None

    def test_a_constant_target_leaves_everything_level(self, study, numbers):
        known = evidence(study("2x5-fold", self.LEARNERS, numbers.assign(y=3.0)))
        assert known.margin == 0
        assert known.same_losses(*self.LEARNERS)
        assert not known.claims["claimed"].any()

    def test_infinite_scores_are_no_evidence(self, study):
        def endless(truth, predicted):
            return np.inf if len(set(predicted)) == 1 else float(np.mean(truth != predicted))

        endless_measure = Measure.from_function(endless, greater_is_better=False)
        known = evidence(study("2x5-fold"), endless_measure)
        assert BASELINE not in known.names
        always = Measure.from_function(lambda *_: np.inf, greater_is_better=False, name="endless")
        assert evidence(study("2x5-fold"), always) is None


def scores(count=8, means=(0.2, 0.3, 0.21), seed=0):
    """Return for each data set ten scores of each contestant, around means of its own."""
    random = np.random.default_rng(seed)
    return {
        f"data {place}": {
            name: noisy(mean + random.normal(scale=0.02), seed=int(random.integers(1e6)))
            for name, mean in zip(NAMES, means, strict=True)
        }
        for place in range(count)
    }


def margins(tables, size=0.01):
    return {data: SimpleNamespace(margin=size) for data in tables}


def ranked(tables, *, complexity=RANKED_GRADES, rule=RULE, margin=0.01, **options):
    return rank_evidence(responses_of(tables, **options), margins(tables, margin), complexity, rule)


def mean_scores(tables):
    return np.array([[np.mean(table[name]) for name in NAMES] for table in tables.values()])


def test_mean_ranks_and_their_errors():
    tables = scores()
    known = ranked(tables)
    by_hand = stats.rankdata(mean_scores(tables), axis=1)
    assert known.n_data_sets == 8
    for place, name in enumerate(NAMES):
        assert known.mean_rank(name) == pytest.approx(by_hand[:, place].mean())
    difference = by_hand[:, 0] - by_hand[:, 2]
    low, high = stats.ttest_1samp(difference, 0).confidence_interval()
    assert known.posterior.difference("line", "forest")[1:] == pytest.approx((low, high), abs=1e-5)
    assert known.order == tuple(sorted(NAMES, key=known.mean_rank))
    assert known.best == known.order[0]


def test_greater_may_be_better():
    tables = scores()
    turned = {
        data: {name: [1 - value for value in row] for name, row in table.items()}
        for data, table in tables.items()
    }
    plain, other = ranked(tables), ranked(turned, measure="accuracy")
    assert_allclose(plain.table, other.table, atol=1e-9)
    assert plain.selection == other.selection


def test_ties_share_their_ranks():
    tables = {f"data {place}": {"line": [0.1, 0.2], "tree": [0.2, 0.1], "forest": [0.3, 0.4]}
              for place in range(3)}  # fmt: skip
    known = ranked(tables)
    assert known.mean_rank("line") == known.mean_rank("tree") == 1.5


@pytest.mark.parametrize("scale", [1e-14, 1.0, 1e14])
def test_rounding_makes_no_ranks_and_small_measures_have_some(scale):
    tables = {
        f"data {place}": {"line": [(0.1 + 0.2) * scale], "tree": [0.3 * scale],
                          "forest": [0.4 * scale]}
        for place in range(4)
    }  # fmt: skip
    known = ranked(tables, measure="mean_squared_error")
    assert known.table["mean_rank"].to_dict() == {"line": 1.5, "tree": 1.5, "forest": 3.0}


def test_the_simplest_within_half_a_standard_error_is_chosen():
    tables = scores(7, (0.2, 0.4, 0.2), seed=3)
    known = ranked(tables)
    gap = known.mean_rank("line") - known.mean_rank("forest")
    error = known.posterior.standard_errors[0, 2]
    assert 0 < gap < error / 2
    assert (known.best, known.selection.name) == ("forest", "line")
    assert ranked(tables, rule="best mean").selection.name == "forest"
    assert ranked(tables, complexity=dict.fromkeys(NAMES, 1.0)).selection.name == "forest"
    assert known.rule == RULE


def test_the_margin_of_a_measure_is_none_of_ranks():
    tables = scores(7, (0.2, 0.4, 0.2), seed=3)
    assert ranked(tables, margin=1e-9).selection.name == ranked(tables).selection.name == "line"


def test_the_rule_of_the_tests_is_left_to_the_analysis():
    tables = scores()
    other = ranked(tables, rule="not rejected")
    assert other.selection == ranked(tables).selection
    assert other.rule == RULE


def test_agreement_is_that_of_as_many_other_data_sets():
    tables = scores(6, (0.2, 0.4, 0.23), seed=1)
    known = ranked(tables, rule="best mean")
    first, second = known.order[:2]
    gap = known.mean_rank(second) - known.mean_rank(first)
    place = known.posterior.names.index
    error = known.posterior.standard_errors[place(first), place(second)]
    assert known.selection.agreement == pytest.approx(
        stats.norm.cdf(gap / (np.sqrt(2) * error)), abs=0.05
    )


def test_chances_are_those_of_the_signed_ranks_in_units_of_the_margin():
    tables = scores(10, (0.2, 0.3, 0.21))
    known = ranked(tables)
    means = mean_scores(tables)
    best = NAMES.index(known.best)
    for place, name in enumerate(NAMES):
        row = known.table.loc[name, ["better", "equal", "worse"]].to_numpy()
        if place == best:
            assert row.tolist() == [0, 1, 0]
            continue
        test = bayesian_signed_rank(
            means[:, place], means[:, best], rope=0.01, draws=4000, random_state=0
        )
        assert_allclose(row, [test.left, test.rope, test.right], atol=1e-9)
        assert row[2] > row[0]


def test_data_sets_may_have_margins_of_their_own():
    tables = scores(10)
    by_data = {
        data: SimpleNamespace(margin=10.0 ** (place % 3)) for place, data in enumerate(tables)
    }
    known = rank_evidence(responses_of(tables), by_data, RANKED_GRADES, RULE)
    assert (known.table["equal"] > 0.99).all()


@pytest.mark.parametrize("count", [2, 4])
def test_few_data_sets_have_no_chances(count):
    known = ranked(scores(count))
    assert known.table[["better", "equal", "worse"]].isna().all().all()
    assert known.table["mean_rank"].notna().all()


def test_without_a_margin_there_are_no_chances():
    tables = scores()
    assert ranked(tables, margin=0.0).table["equal"].isna().all()
    some = {data: SimpleNamespace(margin=0.01) for data in list(tables)[1:]}
    partly = rank_evidence(responses_of(tables), some, RANKED_GRADES, RULE)
    assert partly.table["equal"].isna().all()


def test_who_lacks_a_data_set_is_left_out():
    tables = scores()
    tables["data 0"]["tree"] = [np.nan] * 10
    known = ranked(tables)
    assert set(known.order) == {"line", "forest"}
    assert known.n_data_sets == 8


def test_data_sets_without_results_do_not_count():
    tables = scores()
    tables["data 0"] = {name: [np.nan] * 10 for name in NAMES}
    known = ranked(tables)
    assert known.n_data_sets == 7
    assert set(known.order) == set(NAMES)


def test_too_little_for_ranks():
    assert ranked(scores(1)) is None
    tables = {f"data {place}": {"line": [0.1, 0.2]} for place in range(5)}
    assert ranked(tables) is None


def test_always_the_same_order_is_no_accident():
    tables = {
        f"data {place}": {"line": [0.1], "tree": [0.2], "forest": [0.3]} for place in range(6)
    }
    known = ranked(tables)
    assert known.selection.name == "line"
    assert known.selection.agreement > 0.98
    assert known.posterior.claims()["claimed"].all()
