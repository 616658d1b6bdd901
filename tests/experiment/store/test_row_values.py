"""What each row contributes: against losses by hand from stored predictions, for every design."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.metrics import balanced_accuracy_score, roc_auc_score
from sklearn.tree import DecisionTreeClassifier
from tests.experiment.analysed import changed_copy

from verulam.experiment import DataChoice, LearnerChoice, Store, Study, run
from verulam.experiment._store.responses import responses
from verulam.experiment._store.row_values import (
    ValidatedTargets,
    _area_influence,
    _recall_influence,
    row_values,
)
from verulam.experiment._store.rows import unpack
from verulam.measures import Measure
from verulam.statistics._two.auc import area_components

BASELINE, BAYES = "majority class", "parametric.NaiveBayes"


def classes(n_rows=40, seed=0, share=0.4):
    """Return rows of two classes that two columns tell apart by and large."""
    random = np.random.default_rng(seed)
    y = random.random(n_rows) < share
    X = random.normal(size=(n_rows, 2)) + 1.2 * y[:, None]
    return pd.DataFrame(X, columns=["a", "b"]).assign(y=np.where(y, "yes", "no"))


def numbers(n_rows=40, seed=0, scale=1.0):
    random = np.random.default_rng(seed)
    X = random.normal(size=(n_rows, 2))
    y = scale * (X[:, 0] + random.normal(scale=0.5, size=n_rows))
    return pd.DataFrame(X, columns=["a", "b"]).assign(y=y)


@pytest.fixture(scope="module")
def study(tmp_path_factory):
    """Return a function that carries out a study of one table."""

    def make(table, learners=(BASELINE, BAYES), **options):
        path = tmp_path_factory.mktemp("rows") / "runs.sqlite"
        data = [DataChoice(table, target="y", label="table", groups=options.pop("groups", None))]
        planned = Study("rows", data, list(learners), **options)
        return run(planned, path, engine="serial", progress=False)

    return make


def contributions(results, measure=None):
    """Return the only table of contributions of a study, or None."""
    tables, _ = row_values(results, responses(results, measure))
    return tables.get("table")


def stored(results, learner, repeat):
    """Return rows, predictions and probabilities of a repeat, as they lie in the store."""
    query = (
        "SELECT s.test, r.predicted, r.probabilities FROM planned p JOIN splits s USING (split) "
        "JOIN runs r USING (run) WHERE p.learner = ? AND s.repeat = ?"
    )
    with Store(results.path, read_only=True) as store:
        parts = list(store.rows(query, (learner, repeat)))
    rows = np.concatenate([unpack(test) for test, _, _ in parts])
    predicted = np.concatenate([unpack(part) for _, part, _ in parts])
    order = np.argsort(rows)
    probabilities = None
    if parts[0][2] is not None:
        probabilities = np.concatenate([unpack(part) for _, _, part in parts])[order]
    return rows[order], predicted[order], probabilities


@pytest.mark.parametrize(
    ("resampling", "repeats", "rows"),
    [("3x4-fold", 3, 40), ("5x2", 5, 40), ("leave-one-out", 1, 40), ("holdout 0.25", 1, None)],
)
def test_errors_are_those_of_the_stored_predictions(study, resampling, repeats, rows):
    table = classes()
    results = study(table, resampling=resampling)
    known = contributions(results)
    assert known.names == (BASELINE, BAYES)
    assert known.means is None
    assert_array_equal(known.repeats, [repeats, repeats])
    codes = (table["y"] == "yes").to_numpy().astype(int)
    for repeat in range(repeats):
        for place, name in enumerate(known.names):
            tested, predicted, _ = stored(results, name, repeat)
            assert rows is None or len(tested) == rows
            assert_array_equal(known.values[repeat, :, place], predicted != codes[tested])


def test_accuracy_is_what_the_error_leaves(study):
    results = study(classes(), resampling="2x4-fold")
    errors, hits = contributions(results, "error"), contributions(results, "accuracy")
    assert_array_equal(hits.values, 1 - errors.values)


def test_log_loss_is_that_of_the_stored_probabilities(study):
    table = classes()
    results = study(table, resampling="2x4-fold")
    known = contributions(results, "log_loss")
    codes = (table["y"] == "yes").to_numpy().astype(int)
    for repeat in range(2):
        _, _, probabilities = stored(results, BAYES, repeat)
        by_hand = -np.log(probabilities[np.arange(40), codes])
        assert_allclose(known.values[repeat, :, 1], by_hand)


def test_the_root_of_a_mean_has_an_influence(study):
    """The values are the derivative of the measure by the weight of a row, times the rows."""
    table = numbers()
    learners = ["mean predictor", "linear regression"]
    results = study(table, learners, resampling="2x4-fold")
    known = contributions(results)
    squares = np.stack(
        [
            [(stored(results, name, r)[1] - table["y"].to_numpy()) ** 2 for name in known.names]
            for r in range(2)
        ]
    )
    for place in range(2):
        by_row = squares[:, place].mean(axis=0)
        value = np.sqrt(by_row.mean())
        assert known.means[place] == pytest.approx(value)
        step = 1e-6
        moved = np.sqrt((by_row.sum() + step * by_row) / (40 + step))
        slope = (moved - value) / step * 40
        # The influence itself, which has the mean 0: values differ from it by a constant.
        influence = known.values[:, :, place].mean(axis=0)
        assert_allclose(influence - influence.mean(), slope, atol=1e-4)


def test_mean_squared_and_absolute_errors_are_plain(study):
    table = numbers()
    results = study(table, ["linear regression"], resampling="2x4-fold")
    _, predicted, _ = stored(results, "linear regression", 1)
    residuals = predicted - table["y"].to_numpy()
    squares = contributions(results, "mean_squared_error").values
    assert_allclose(squares[1, :, 0], residuals**2)
    assert_allclose(contributions(results, "mean_absolute_error").values[1, :, 0], abs(residuals))


def test_a_perfect_fit_has_no_influence(study):
    table = numbers().assign(y=lambda rows: 2 * rows["a"] - rows["b"])
    known = contributions(
        study(table, ["mean predictor", "linear regression"], resampling="4-fold")
    )
    assert known.means[1] == pytest.approx(0, abs=1e-12)
    assert np.isfinite(known.values).all()
    constant = contributions(study(table.assign(y=3.0), ["mean predictor"], resampling="4-fold"))
    assert_array_equal(constant.values, 0)


def test_the_area_has_the_influence_of_ranks_within_folds_around_their_mean(study):
    table = classes(60)
    results = study(table, resampling="2x3-fold", measures=["auc"])
    known = contributions(results)
    positive = (table["y"] == "yes").to_numpy()
    by_fold = results.scores("auc").groupby("learner")["auc"].mean()
    assert_allclose(known.means, by_fold[list(known.names)])
    for repeat in range(2):
        _, _, probabilities = stored(results, BAYES, repeat)
        pooled = roc_auc_score(positive, probabilities[:, 1])
        # Ranks within folds: near the area of all rows together, but not that itself.
        assert known.values[repeat, :, 1].mean() == pytest.approx(pooled, abs=0.05)
    assert known.worth == min(positive.sum(), (~positive).sum())


def test_a_constant_score_has_no_variance_though_folds_differ(study):
    table = classes(63)
    known = contributions(study(table, resampling="2x10-fold", measures=["auc"]))
    # The share of a class in the training rows, which guessing gives, differs from fold to fold.
    assert known.names[0] == "majority class"
    assert_allclose(known.values[:, :, 0], 0.5)


def test_areas_have_delongs_covariance():
    """The covariance of the values over the rows is that of the areas, with ties, a rare class."""
    random = np.random.default_rng(3)
    positive = random.random(60) < 0.15
    scores = np.round(random.normal(size=(3, 60)) + positive, 1)
    values = np.stack([_area_influence(row, positive) for row in scores], axis=1)
    known = area_components(scores, positive)
    assert_allclose(values.mean(axis=0), known.areas)
    assert_allclose(np.cov(values, rowvar=False) / 60, known.covariance)


def test_tied_scores_have_half_the_area_and_no_variance():
    values = _area_influence(np.ones(20), np.arange(20) < 5)
    assert_allclose(values, 0.5)


def test_balanced_accuracy_is_the_mean_recall(study):
    table = classes(60, share=0.25)
    results = study(table, resampling="2x3-fold", measures=["balanced_accuracy"])
    known = contributions(results)
    codes = (table["y"] == "yes").to_numpy().astype(int)
    for repeat in range(2):
        _, predicted, _ = stored(results, BAYES, repeat)
        by_hand = balanced_accuracy_score(codes, predicted)
        assert known.values[repeat, :, 1].mean() == pytest.approx(by_hand)
    counts = np.bincount(codes)
    assert known.worth == pytest.approx(4 / (1 / counts).sum())


def test_the_variance_of_recalls_is_that_within_classes():
    random = np.random.default_rng(0)
    codes = np.repeat([0, 1, 3], [40, 15, 5])
    hits = (random.random(60) < 0.7).astype(float)
    values = _recall_influence(hits, codes)
    within = [np.var(hits[codes == code], ddof=1) / (codes == code).sum() for code in (0, 1, 3)]
    assert np.var(values, ddof=1) / 60 == pytest.approx(sum(within) / 9)
    recalls = [hits[codes == code].mean() for code in (0, 1, 3)]
    assert values.mean() == pytest.approx(np.mean(recalls))
    assert_allclose(_recall_influence(np.ones(60), codes), 1.0)
    lonely = _recall_influence(np.array([1.0, 0.0, 1.0]), np.array([0, 0, 1]))
    assert np.isfinite(lonely).all()


def test_measures_that_no_row_has_a_part_in_have_none(study):
    results = study(classes(60), resampling="2x3-fold", measures=["f_score"])
    for measure in ("f_score", "kappa", "average_precision"):
        assert contributions(results, measure) is None
    three = classes(60).assign(y=lambda rows: np.where(rows.index % 3 == 0, "maybe", rows["y"]))
    assert contributions(study(three, resampling="2x3-fold"), "auc") is None


def test_a_measure_of_ones_own_has_rows_where_it_says_so(study):
    results = study(classes(), resampling="2x4-fold")

    def cost(truth, predicted):
        return float(np.mean(rows(truth, predicted)))

    def rows(truth, predicted):
        return np.where(np.asarray(truth) == np.asarray(predicted), 0.0, 5.0)

    plain = Measure.from_function(cost, greater_is_better=False)
    assert contributions(results, plain) is None
    by_row = Measure.from_function(cost, greater_is_better=False, rows=rows)
    assert_array_equal(contributions(results, by_row).values, 5 * contributions(results).values)


@pytest.mark.parametrize("resampling", ["3x holdout 0.3", "out-of-bag 5"])
def test_designs_in_which_no_repeat_tests_all_rows_have_none(study, resampling):
    assert contributions(study(classes(), resampling=resampling)) is None


def test_targets_come_once_for_each_validated_row(study):
    table = classes()
    for resampling in ("3x4-fold", "bootstrap 5", "out-of-bag 5"):
        results = study(table, resampling=resampling)
        _, targets = row_values(results, responses(results))
        known = targets["table"]
        assert known.classes.tolist() == ["no", "yes"]
        expected = (table["y"] == "yes").to_numpy()[known.rows]
        assert_array_equal(known.targets, expected)
    assert_array_equal(known.at(known.rows[2:5]), known.targets[2:5])
    assert_array_equal(ValidatedTargets(known.targets, known.classes).at([1]), known.targets)


def test_a_repeat_with_a_failed_run_is_absent(study, tmp_path):
    results = study(classes(), resampling="2x4-fold")
    query = (
        "UPDATE runs SET status = 'failed' WHERE run IN (SELECT p.run FROM planned p JOIN splits s "
        "USING (split) WHERE p.learner = 'parametric.NaiveBayes' AND s.fold = 1 AND s.repeat = 0)"
    )
    known = contributions(changed_copy(results, tmp_path / "failed.sqlite", query))
    assert known.names == (BASELINE, BAYES)
    assert np.isnan(known.values[0, :, 1]).all()
    assert np.isfinite(known.values[:, :, 0]).all()
    assert_array_equal(known.values[1], contributions(results).values[1])
    assert_array_equal(known.repeats, [2, 1])
    every = query.replace(" AND s.repeat = 0", "")
    known = contributions(changed_copy(results, tmp_path / "gone.sqlite", every))
    assert known.names == (BASELINE,)


@pytest.mark.parametrize("measure", ["error", "auc", "balanced_accuracy"])
def test_an_unfinished_study_is_judged_by_the_rows_that_all_have(study, tmp_path, measure):
    results = study(classes(60), resampling="4-fold", measures=[measure])
    early = "DELETE FROM runs WHERE run IN (SELECT p.run FROM planned p JOIN splits s USING (split)"
    part = changed_copy(results, tmp_path / "part.sqlite", f"{early} WHERE s.fold > 1)")
    known = contributions(part)
    assert known.names == (BASELINE, BAYES)
    assert known.values.shape == (1, 30, 2)


def test_training_shares_count_with_the_largest(study):
    table = classes()
    whole = contributions(study(table, resampling="2x4-fold"))
    shared = study(table, resampling="2x4-fold", training_shares=[0.5, 1.0])
    assert_array_equal(contributions(shared).values, whole.values)


def test_replications_are_repeats_of_the_same_splits(study):
    chancy = LearnerChoice(DecisionTreeClassifier(splitter="random", max_depth=2), label="chancy")
    results = study(classes(), [BAYES, chancy], resampling="4-fold", replications=3)
    known = contributions(results)
    assert known.values.shape == (3, 40, 2)
    assert np.isfinite(known.values[:, :, 1]).all()
    assert not np.array_equal(known.values[0, :, 1], known.values[1, :, 1])
    # Chance has no part in naive Bayes, whose replications are one run.
    assert np.isnan(known.values[1:, :, 0]).all()
    assert_array_equal(known.repeats, [1, 1])


def test_several_data_sets_are_kept_apart(several):
    tables, targets = row_values(several, responses(several))
    assert {data: known.values.shape for data, known in tables.items()} == {
        "iris": (1, 150, 3),
        "wine": (1, 178, 3),
        "penguins": (1, 344, 3),
    }
    assert {data: len(known.classes) for data, known in targets.items()} == dict.fromkeys(tables, 3)


class TestExtremes:
    """A fit that diverges takes nothing from the others."""

    @pytest.mark.parametrize("odd", [np.inf, np.nan])
    def test_losses_that_are_no_numbers_leave_the_contestant_out(self, study, odd):
        results = study(numbers(), ["mean predictor", "linear regression"], resampling="2x4-fold")

        def far(truth, predicted):
            losses = np.abs(np.asarray(truth) - np.asarray(predicted))
            return np.where((np.ptp(predicted) == 0) & (losses == losses.max()), odd, losses)

        def mean(truth, predicted):
            return float(np.mean(far(truth, predicted)))

        measure = Measure.from_function(mean, greater_is_better=False, task="regression", rows=far)
        known = contributions(results, measure)
        assert known.names == ("linear regression",)
        assert known.repeats.tolist() == [2]

    @pytest.mark.parametrize("scale", [1e155, 1e-155])
    def test_losses_without_a_square_have_no_contributions(self, study, scale):
        table = numbers(scale=scale)
        results = study(table, ["mean predictor"], resampling="2x4-fold")
        assert contributions(results, "mean_absolute_error") is None

    @pytest.mark.parametrize("scale", [1e140, 1e-60])
    def test_others_have(self, study, scale):
        results = study(numbers(scale=scale), ["mean predictor"], resampling="2x4-fold")
        known = contributions(results, "root_mean_squared_error")
        assert known.means[0] / scale == pytest.approx(1.1, rel=0.3)
        assert known.values.mean() == pytest.approx(known.means[0] / 2)
