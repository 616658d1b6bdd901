"""The main job, end to end on small data."""

import gc

import numpy as np
import pandas as pd
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.model_selection import StratifiedKFold, cross_val_score
from sklearn.naive_bayes import GaussianNB
from sklearn.tree import DecisionTreeClassifier

from verulam.base import DataError, UnknownNameError, spawn_seeds
from verulam.data import dataset
from verulam.experiment import compare, finalise, load_model
from verulam.experiment._study.choices import DEFAULT_LEARNERS, labelled_learners

QUIET = {"progress": False}


class Breaks(ClassifierMixin, BaseEstimator):
    """Fails to fit, or else to predict."""

    def __init__(self, stage="fit"):
        self.stage = stage

    def fit(self, X, y):
        if self.stage == "fit":
            raise RuntimeError("no\nluck")
        self.classes_ = np.unique(y)
        return self

    def predict(self, X):
        raise ValueError("cannot predict")


def test_scores_are_those_of_scikit_learn():
    """The same folds and the same learner give cross_val_score's numbers."""
    iris = dataset("iris")
    comparison = compare(
        iris, {"tree": DecisionTreeClassifier(random_state=3)}, resampling="5-fold", **QUIET
    )
    seed = spawn_seeds(spawn_seeds(0, 1)[0], 1)[0]
    splitter = StratifiedKFold(5, shuffle=True, random_state=seed)
    expected = cross_val_score(
        DecisionTreeClassifier(random_state=3), iris.inputs, iris.target_values, cv=splitter
    )
    np.testing.assert_allclose(1 - comparison.scores()["score"], expected)


def test_every_learner_runs_on_every_split():
    comparison = compare("iris", ["majority class", "naive bayes"], resampling="2x4-fold", **QUIET)
    table = comparison.scores()
    assert len(table) == 2 * 4 * 2
    assert set(zip(table["repeat"], table["fold"], strict=True)) == {
        (repeat, fold) for repeat in range(2) for fold in range(4)
    }
    assert (table[["fit_seconds", "predict_seconds"]] > 0).all().all()
    assert comparison.design == "stratified 4-fold cross-validation, repeated 2 times"


def test_same_seed_same_scores_whatever_the_order_and_the_processes():
    learners = {"tree": DecisionTreeClassifier(max_features=1), "bayes": GaussianNB()}
    turned = dict(reversed(learners.items()))
    first = compare("iris", learners, resampling="3-fold", random_state=5, n_jobs=2, **QUIET)
    second = compare("iris", turned, resampling="3-fold", random_state=5, **QUIET)
    key = ["learner", "repeat", "fold"]
    ours, others = (run.scores().set_index(key)["score"].sort_index() for run in (first, second))
    pd.testing.assert_series_equal(ours, others)


def test_another_seed_gives_other_scores():
    scores = [
        compare(
            "penguins", ["decision tree"], resampling="3-fold", random_state=seed, **QUIET
        ).scores()["score"]
        for seed in (0, 1)
    ]
    assert not np.allclose(*scores)


def test_a_mixed_table_with_gaps():
    comparison = compare(
        "penguins", ["naive bayes", "logistic regression"], resampling="4-fold", **QUIET
    )
    assert comparison.failures.empty
    assert comparison.preparation == {
        "naive Bayes": "the table as it is",
        "logistic regression": (
            "numbers imputed (median) and scaled, categories imputed (mode) and one-hot encoded"
        ),
    }
    assert (comparison.ranking()["mean"] < 0.1).all()


def test_regression():
    comparison = compare("diabetes", resampling="5-fold", **QUIET)
    assert comparison.measure.name == "root_mean_squared_error"
    assert comparison.design == "5-fold cross-validation"
    assert comparison.ranking().loc["mean predictor", "against_best"] == "worse"


@pytest.mark.parametrize("measure", ["accuracy", "log_loss", "auc"])
def test_measures_get_what_they_need(measure):
    learners = ["majority class", "logistic regression"]
    comparison = compare("breast_cancer", learners, measure=measure,
                         resampling="3-fold", **QUIET)  # fmt: skip
    assert comparison.failures.empty
    assert comparison.ranking()["against_best"].to_dict() == {
        "majority class": "worse",
        "logistic regression": "best",
    }


def test_failures_are_rows():
    learners = {"good": GaussianNB(), "bad": Breaks(), "worse": Breaks("predict")}
    comparison = compare("iris", learners, resampling="3-fold", **QUIET)
    failures = comparison.failures
    assert list(failures["learner"]) == ["bad"] * 3 + ["worse"] * 3
    assert list(failures["stage"]) == ["fit"] * 3 + ["predict"] * 3
    assert failures["error"].iloc[0] == "RuntimeError: no luck"
    assert failures["score"].isna().all()
    assert comparison.ranking()["against_best"].to_dict() == {
        "good": "best",
        "bad": "not tested",
        "worse": "not tested",
    }
    assert comparison.recommended is None
    assert "bad and worse failed in 3 of 3 runs and were left out" in comparison.conclusion
    assert "Failed runs:\n- bad: RuntimeError: no luck" in str(comparison)


def test_a_measure_that_a_learner_cannot_serve_is_a_failure():
    comparison = compare(
        "iris", ["perceptron", "naive bayes"], measure="log_loss", resampling="3-fold", **QUIET
    )
    assert set(comparison.failures["learner"]) == {"perceptron"}
    assert "needs predict_proba" in comparison.failures["error"].iloc[0]


def test_warnings_are_noticed():
    short = {"short": LogisticRegression(max_iter=2)}
    comparison = compare("iris", short, resampling="3-fold", **QUIET)
    assert comparison.notices[0].startswith("short: 3 of its runs warned, first with Convergence")


def test_fewer_folds_for_a_small_class_only_where_the_measure_needs_it():
    frame = pd.DataFrame({"x": np.arange(20.0), "y": ["a"] * 17 + ["b"] * 3})
    given = {"target": "y", "resampling": "10-fold", **QUIET}
    comparison = compare(frame, ["majority class"], **given)
    notice = "Not every fold tests every class: class 'b' has only 3 rows."
    assert comparison.notices == (notice,)
    assert comparison.design == "stratified 10-fold cross-validation"
    assert len(comparison.scores()) == 10
    assert comparison.scores("auc")["score"].notna().sum() == 3
    curve = compare(frame, ["majority class"], measure="auc", **given)
    assert curve.notices == ("3 folds instead of 10: class 'b' has only 3 rows.",)
    assert curve.design == "stratified 3-fold cross-validation"
    assert len(curve.scores()) == 3


def test_a_kept_store_is_used_again(tmp_path):
    store = tmp_path / "runs.sqlite"
    first = compare("iris", ["majority class"], resampling="3-fold", store=store, **QUIET)
    both = compare(
        "iris", ["majority class", "naive bayes"], resampling="3-fold", store=store, **QUIET
    )
    scores = both.scores()
    times = scores[scores["learner"] == "majority class"]["fit_seconds"]
    assert times.tolist() == first.scores()["fit_seconds"].tolist()
    assert len(scores) == 6


@pytest.mark.parametrize(
    ("arguments", "options", "error", "message"),
    [
        (("iris", ["naive bays"]), {}, UnknownNameError, "Unknown learner 'naive bays'. Nearest: "),
        (("irsi",), {}, UnknownNameError, "Unknown data ?set 'irsi'. Nearest: iris"),
        (("no/such.csv",), {}, DataError, r"no/such\.csv"),
        (("iris",), {"target": "colour"}, DataError, "colour.*columns are: sepal"),
        (("iris", ["ridge regression"]), {}, ValueError, "is for regression, but data set 'iris'"),
        (("iris", [Ridge()]), {}, ValueError, "'Ridge' is for regression"),
        (("diabetes", ["naive bayes"]), {}, ValueError, "is for classification, but"),
        (("iris",), {"measure": "r2"}, ValueError, "Measure 'r2' is for regression"),
        (
            ("iris",),
            {"measure": "eror"},
            UnknownNameError,
            "Unknown measure 'eror'. Nearest: error",
        ),
        (("iris",), {"resampling": "1-fold"}, DataError, "folds=1; expected a whole number"),
        (("iris",), {"n_jobs": 0}, DataError, "n_jobs: 0; expected a number of at least 1"),
        (("iris",), {"resampling": "ten"}, DataError, "resampling"),
        (("iris", []), {}, ValueError, "at least one learner"),
        (("iris", [3]), {}, DataError, r"learners\[0\]: got int; expected the name"),
        (
            ("iris", ["naive bayes", "NaiveBayes"]),
            {},
            DataError,
            "'naive Bayes' is there twice; give each a label of its own .*a mapping",
        ),
        ((["iris", "wine"],), {}, DataError, "got list; .*For several data sets, make a Study"),
        ((([[1.0]], ["a"]),), {}, DataError, r"got tuple; .*Dataset\.from_arrays\(X, y\)"),
        ((3,), {}, DataError, "data: got int; expected a name, a file, a DataFrame"),
        (("iris",), {"measure": "error", "measures": ["auc"]}, ValueError, "only one of them"),
        (("iris",), {"measures": "error"}, ValueError, "measures: expected a list"),
        (("iris",), {"measures": ["error", "r2"]}, ValueError, "Measure 'r2' is for regression"),
        (("iris",), {"matters": -0.1}, DataError, "matters: -0.1; expected a number of at least 0"),
        (("iris",), {"rule": "best"}, DataError, "^rule: 'best'; expected one of half"),
        (("iris",), {"time_budget": 0}, DataError, "^time_budget: 0; expected a number of"),
        (("iris",), {"leave_out": ["petals"]}, UnknownNameError, "leave_out: .*column 'petals'"),
        (("iris",), {"leave_out": ["species"]}, DataError, "'species' is the target"),
        (("baskets",), {}, DataError, "has no target"),
    ],
)
def test_bad_arguments(arguments, options, error, message):
    with pytest.raises(error, match=message):
        compare(*arguments, **options, **QUIET)


def test_the_same_learner_twice_scores_the_same():
    comparison = compare(
        "iris", {"a": GaussianNB(), "b": GaussianNB()}, resampling="3-fold", **QUIET
    )
    scores = comparison.scores().pivot_table("score", index="fold", columns="learner")
    assert scores["a"].tolist() == scores["b"].tolist()
    assert scores.notna().all().all()


def test_repeats_end_where_the_choice_is_settled():
    learners = ["majority class", "logistic regression"]
    settled = compare("breast_cancer", learners, **QUIET)
    assert settled.analysis.results.description["resampling"] == "2-10x10-fold"
    assert settled.evidence.repeats == 2
    assert len(settled.scores()) == 2 * 2 * 10
    assert settled.analysis.results.status() == {"done": 40}
    assert "rests on 2 repeats of cross-validation" in settled.conclusion
    assert settled.recommended == "logistic regression"


def equals(count):
    """Return learners that differ by chance alone, of which every split makes another the best."""
    trees = (DecisionTreeClassifier(max_features=1, random_state=seed) for seed in range(count))
    return dict(zip(("first", "second", "third"), trees, strict=False))


def test_repeats_go_on_while_other_splits_would_change_the_choice():
    open_one = compare("wine", equals(2), resampling="2-4x5-fold", random_state=3, **QUIET)
    known = open_one.evidence
    assert known.repeats > 2
    assert known.repeats == 4 or known.selection.settled >= 0.95
    assert f"rests on {known.repeats} repeats" in open_one.conclusion
    assert "left" not in open_one.analysis.results.status()


def test_a_budget_of_time_ends_the_repeats(tmp_path):
    store = tmp_path / "runs.sqlite"
    learners = equals(3)
    given = {"resampling": "2-4x5-fold", "random_state": 2, **QUIET}
    short = compare("wine", learners, time_budget=1e-6, store=store, **given)
    assert short.evidence.repeats == 2
    assert short.evidence.eligible == short.evidence.names
    assert len(short.evidence.names) == 3
    assert short.design.endswith(
        "5-fold cross-validation, repeated 2 times, when the budget was spent"
    )
    assert short.design in " ".join(str(short).split())
    longer = compare("wine", learners, store=store, **given)
    assert longer.evidence.repeats > 2
    assert longer.conclusion == compare("wine", learners, **given).conclusion


def test_the_order_of_the_learners_does_not_change_the_answer():
    learners = ["k-nearest neighbours", "naive bayes", "decision tree", "majority class"]
    there = compare("iris", learners, **QUIET)
    back = compare("iris", learners[::-1], **QUIET)
    assert there.recommended == back.recommended
    assert there.conclusion == back.conclusion
    pd.testing.assert_series_equal(there.ranking()["estimate"], back.ranking()["estimate"])


def test_a_difference_that_matters_can_be_named():
    learners = ["decision tree", "k-nearest neighbours"]
    strict, generous = (
        compare("wine", learners, resampling="2x5-fold", matters=matters, **QUIET)
        for matters in (0.0, 0.5)
    )
    assert strict.evidence.margin == 0.0
    assert generous.evidence.margin == 0.5
    assert strict.recommended == strict.ranking().index[0]
    assert (generous.ranking()["probability_within"] > 0.99).all()


@pytest.mark.parametrize("rule", ["best mean", "one standard error", "not rejected"])
def test_a_rule_can_be_asked_for(rule):
    learners = ["majority class", "nearest mean", "k-nearest neighbours"]
    found = compare("iris", learners, rule=rule, resampling="2x5-fold", **QUIET)
    assert found.analysis.results.description["analysis"] == {"rule": rule}
    assert found.recommended != "majority class"
    if rule == "best mean":
        assert found.recommended == found.ranking().index[0]


def test_noise_has_no_winner_but_the_baseline():
    random = np.random.default_rng(3)
    frame = pd.DataFrame(random.normal(size=(120, 4)), columns=list("abcd"))
    frame["y"] = random.permutation(["yes"] * 80 + ["no"] * 40)
    learners = ["k-nearest neighbours", "decision tree", "majority class", "naive bayes"]
    found = compare(frame, learners, target="y", **QUIET)
    assert found.recommended == "majority class"
    assert found.conclusion.startswith("We saw no sign that these inputs predict the target")


def test_defaults_on_a_small_table_of_all_kinds():
    """One of each kind on mixed columns with gaps, and all of them run."""
    comparison = compare("titanic", resampling="2-fold", **QUIET)
    assert comparison.failures.empty
    names = DEFAULT_LEARNERS["classification"]
    assert comparison.learners == [choice.label for choice in labelled_learners(names)]
    assert comparison.ranking()["against_best"]["majority class"] == "worse"
    assert comparison.recommended != "majority class"


def test_nothing_is_left_behind(tmp_path, monkeypatch):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    comparison = compare("iris", ["majority class"], resampling="2-fold", **QUIET)
    assert len(list(tmp_path.iterdir())) == 1
    assert len(comparison.scores("log_loss")) == 2
    del comparison
    gc.collect()
    assert list(tmp_path.iterdir()) == []
    monkeypatch.setattr("verulam.experiment._compare.run", lambda *_, **__: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        compare("iris", ["majority class"], **QUIET)
    assert list(tmp_path.iterdir()) == []


def test_a_file_can_be_finalised_from_the_store(tmp_path):
    table = tmp_path / "members.csv"
    random = np.random.default_rng(0)
    rows = pd.DataFrame(
        {
            "age": random.normal(size=60),
            "member": random.random(60) < 0.5,
            "city": random.choice(["a", "b"], 60),
        }
    )
    rows["bought"] = np.where(rows["age"] > 0, "yes", "no")
    rows.loc[3, "age"] = np.nan
    rows.to_csv(table, index=False)
    store = tmp_path / "runs.sqlite"
    learners = ["majority class", "logistic regression"]
    compare(table, learners, target="bought", resampling="3-fold", progress=False, store=store)
    made = finalise(store, learner="logistic regression")
    assert load_model(made.path).estimator.predict(rows.drop(columns="bought")).shape == (60,)


def test_a_negative_seed_is_refused():
    with pytest.raises(ValueError, match="random_state: -1; expected a whole number of at least 0"):
        compare("iris", ["majority class"], random_state=-1, **QUIET)


def test_our_neighbours_are_those_borrowed():
    """Both see scaled numbers, so that they stand on an equal footing."""
    learners = {"ours": "nonparametric.KNeighborsClassifier", "theirs": "k-nearest neighbours"}
    means = compare("wine", learners, resampling="5-fold", **QUIET).ranking()["mean"]
    assert means["ours"] == pytest.approx(means["theirs"], abs=0.02)
    assert means["ours"] < 0.1  # about 0.3 where units decide


def test_several_measures_the_first_decides():
    found = compare("iris", ["nearest mean"], measures=["accuracy", "error"], **QUIET)
    assert found.measure.name == "accuracy"
    assert set(found.scores()["measure"]) == {"accuracy", "error"}


def test_columns_that_number_the_rows_are_left_out_unless_they_are_kept(tmp_path):
    table = dataset("iris").table.assign(plant=range(1, 151)).drop(index=[3, 5, 80])
    names = ["nearest mean", "majority class"]
    told = compare(table, names, target="species", resampling="2-fold", **QUIET)
    assert told.notices[0].startswith("plant only names the rows, and is left out; keep")
    page = told.report(tmp_path / "r.html").read_text(encoding="utf-8")
    assert "plant only names the rows" in page
    used = compare(table, names, target="species", resampling="2-fold", keep=["plant"], **QUIET)
    assert used.notices == ()
    assert not used.scores()["score"].equals(told.scores()["score"])
    without = compare(
        table, names, target="species", resampling="2-fold", leave_out=["plant"], **QUIET
    )
    assert without.notices == ()
    plain = compare(
        table.drop(columns="plant"), names, target="species", resampling="2-fold", **QUIET
    )
    pd.testing.assert_series_equal(without.scores()["score"], plain.scores()["score"])
    pd.testing.assert_series_equal(told.scores()["score"], plain.scores()["score"])
