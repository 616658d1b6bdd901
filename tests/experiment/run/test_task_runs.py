"""Densities and clusterings as runs: held-out log-likelihood, silhouette and stability."""

import numpy as np
import pandas as pd
import pytest
from scipy import stats
from sklearn.cluster import KMeans
from sklearn.metrics import adjusted_rand_score, silhouette_score

from verulam import compare
from verulam.base import DataError
from verulam.cluster import GaussianMixture
from verulam.data import Dataset, dataset
from verulam.experiment import (
    LearnerChoice,
    Study,
    analyse,
    finalise,
    make_plan,
    read_study,
    report,
    run,
)
from verulam.experiment._run.task_runs import TASK_RUNS


def blobs(n_rows=90, seed=0):
    random = np.random.default_rng(seed)
    centres = np.array([[0.0, 0.0], [8.0, 0.0], [0.0, 8.0]])
    rows = centres[np.arange(n_rows) % 3] + random.normal(size=(n_rows, 2))
    return pd.DataFrame({"x": rows[:, 0], "y": 100.0 * rows[:, 1]})


@pytest.fixture(scope="module")
def densities(tmp_path_factory):
    learners = [
        LearnerChoice("parametric.GaussianDensity", label="Gaussian"),
        LearnerChoice("cluster.GaussianMixture", label="mixture", parameters={"n_components": 3}),
    ]
    study = Study("blobs", [blobs()], learners, task="density", resampling="2x3-fold")
    store = tmp_path_factory.mktemp("densities") / "runs.sqlite"
    return run(study, store, engine="serial", progress=False)


@pytest.fixture(scope="module")
def clusterings(tmp_path_factory):
    learners = [
        LearnerChoice("cluster.KMeans", label="k-means", factors={"n_clusters": [2, 3, 6]}),
        LearnerChoice(
            "cluster.AgglomerativeClustering", label="links", parameters={"n_clusters": 3}
        ),
    ]
    study = Study("blobs", [blobs()], learners, task="clustering", resampling="3x2")
    store = tmp_path_factory.mktemp("clusterings") / "runs.sqlite"
    return run(study, store, engine="serial", progress=False)


def test_the_log_likelihood_is_that_of_held_out_rows(densities):
    """The same numbers by hand: scaled columns, moments of the training rows, SciPy's density."""
    plan = make_plan(
        Study("x", [blobs()], ["parametric.GaussianDensity"], task="density", resampling="2x3-fold")
    )
    table = blobs().to_numpy()
    scaled = (table - table.mean(axis=0)) / table.std(axis=0)
    np.testing.assert_allclose(plan.data[0].inputs.to_numpy(), scaled)
    split = plan.data[0].splits[4]
    train, test = scaled[split.train], scaled[split.test]
    normal = stats.multivariate_normal(train.mean(axis=0), np.cov(train.T, bias=True))
    scores = densities.scores("log_likelihood")
    mine = scores[
        (scores["learner"] == "Gaussian") & (scores["repeat"] == 1) & (scores["fold"] == 1)
    ]
    assert mine["log_likelihood"].item() == pytest.approx(normal.logpdf(test).mean())


def test_units_move_no_difference():
    """An affine map of the columns moves all log-likelihoods alike."""
    learners = ["parametric.GaussianDensity", "nonparametric.KernelDensity"]
    options = {"task": "density", "progress": False, "resampling": "3-fold"}
    plain, moved = (compare(rows, learners, **options) for rows in (blobs(), 5 * blobs() - 3))
    np.testing.assert_allclose(plain.ranking()["estimate"], moved.ranking()["estimate"], rtol=1e-6)


def test_the_density_of_three_heaps_is_a_mixture(densities):
    analysis = analyse(densities)
    assert analysis.recommended == "mixture"
    assert analysis.measure.name == "log_likelihood"
    assert "has a log-likelihood of" in analysis.answer.sentence
    assert "is better than Gaussian" in analysis.answer.sentence
    evidence = analysis.evidence["data"]
    assert evidence.losses.shape[1:] == (90, 2)
    assert evidence.margin == 0.02


def test_a_row_of_density_zero_fails_with_a_sentence(tmp_path):
    rows = pd.DataFrame({"x": [0.0, 0.1, 0.2, 0.3, 0.4, 50.0]})
    study = Study("far", [rows], ["nonparametric.HistogramDensity"], task="density",
                  resampling="3-fold")  # fmt: skip
    results = run(study, tmp_path / "runs.sqlite", engine="serial", progress=False)
    assert "the density of 1 held-out rows is 0" in results.failures()["error"].iloc[0]


def test_silhouettes_and_stability_by_hand(clusterings):
    plan = make_plan(
        Study(
            "x",
            [blobs()],
            [LearnerChoice(KMeans(3, random_state=0, n_init=1))],
            task="clustering",
            resampling="3x2",
        )
    )
    planned, one = plan.data[0], plan.runs[0]
    rows = planned.inputs.to_numpy()
    fitted = TASK_RUNS["clustering"].fit(
        plan.contestants[0][0].estimator, planned, one, one.split.train
    )
    left = TASK_RUNS["clustering"].predictions(fitted, planned, one)
    labels = KMeans(3, random_state=0, n_init=1).fit(rows[one.split.train])
    expected = labels.predict(rows[one.split.test])
    assert adjusted_rand_score(left["values"], expected) == 1.0
    mean = silhouette_score(rows[one.split.test], expected)
    assert left["scores"].mean() == pytest.approx(mean)
    halves = left["probabilities"]
    assert halves.shape == (45, 2)
    assert adjusted_rand_score(*halves.T) == 1.0
    scores = clusterings.scores(["silhouette", "stability"])
    means = scores[scores["learner"] == "k-means"].groupby("setting")
    assert means["silhouette"].mean().idxmax() == "n_clusters=3"
    assert means["stability"].mean()["n_clusters=3"] == 1.0
    assert means["stability"].mean()["n_clusters=6"] < 0.9


def test_a_clustering_that_cannot_predict_gives_the_cluster_of_the_nearest_row(clusterings):
    scores = clusterings.scores(["silhouette", "stability"])
    links = scores[scores["learner"] == "links"]
    assert (links["stability"] == 1.0).all()
    best = scores[scores["setting"] == "n_clusters=3"]["silhouette"].mean()
    assert links["silhouette"].mean() == pytest.approx(best)


def test_the_number_of_clusters_is_answered(clusterings, tmp_path):
    analysis = analyse(clusterings)
    assert analysis.recommended in ("k-means (n_clusters=3)", "links")
    assert "has a silhouette of" in analysis.answer.sentence
    page = report(analysis, tmp_path / "blobs.html").read_text(encoding="utf-8")
    assert "Silhouette" in page
    stable = analyse(clusterings, measure="stability")
    assert "has a stability of" in stable.answer.sentence


def test_one_cluster_and_clusters_of_one_row_have_no_silhouette():
    plan = make_plan(
        Study(
            "x",
            [blobs(12)],
            [LearnerChoice(KMeans(1, n_init=1), label="one")],
            task="clustering",
            resampling="3-fold",
        )
    )
    one = plan.runs[0]
    clustering = TASK_RUNS["clustering"]
    fitted = clustering.fit(plan.contestants[0][0].estimator, plan.data[0], one, one.split.train)
    assert not clustering.predictions(fitted, plan.data[0], one)["scores"].any()


def test_defaults_of_both_tasks_on_iris(tmp_path):
    comparison = compare("iris", task="density", progress=False, resampling="3-fold")
    assert comparison.recommended.startswith("Gaussian mixture")
    assert comparison.notices[0] == "species, which could be predicted, is no input."
    assert set(comparison.preparation.values()) == {"numbers scaled, for all alike"}
    file = tmp_path / "iris.toml"
    file.write_text(
        'task = "clustering"\ndata = ["iris"]\nresampling = "holdout"\n'
        '[[learners]]\nname = "k-means"\nfactors = {n_clusters = [2, 3]}\n'
    )
    study = read_study(file)
    assert study.task == "clustering"
    assert len(make_plan(study).runs) == 2


def planned_densities(table, learners, **options):
    study = Study("x", [table], learners, task="density", resampling="3-fold", **options)
    return make_plan(study)


def test_gaps_words_and_constant_columns_are_left_out():
    table = blobs(20).assign(town=["a", "b"] * 10, one=1.0, rare=0.0)
    table.loc[3, ["x", "rare"]] = np.nan, 1.0
    plan = planned_densities(table, ["kernel density", GaussianMixture(2)])
    assert plan.data[0].inputs.shape == (19, 2)
    assert np.isfinite(plan.data[0].inputs.to_numpy()).all()
    assert "1 row with gaps left out, of 20." in plan.notices
    assert any("town and rare" in notice for notice in plan.notices)


def test_rows_with_gaps_stay_where_every_density_sums_over_them(tmp_path):
    """The log-density of a row with a gap is that of its other column, by the marginal normal."""
    table = blobs(20)
    table.loc[3, "x"] = np.nan
    table.loc[4] = np.nan
    learners = ["parametric.IncompleteGaussianDensity", LearnerChoice(GaussianMixture(1))]
    plan = planned_densities(table, learners)
    planned = plan.data[0]
    assert planned.inputs.shape == (19, 2)
    assert "1 row with gaps, of 20: what is missing is summed over." in plan.notices
    one = next(run for run in plan.runs if 3 in run.split.test and run.contestant == 0)
    fitted = TASK_RUNS["density"].fit(
        plan.contestants[0][0].estimator, planned, one, one.split.train
    )
    left = TASK_RUNS["density"].predictions(fitted, planned, one)["values"]
    y = planned.inputs["y"].to_numpy()
    scale = y[one.split.train].std()
    expected = stats.norm(y[one.split.train].mean(), scale).logpdf(y[3])
    assert left[np.flatnonzero(one.split.test == 3)].item() == pytest.approx(expected, rel=1e-4)


def weather(n_rows=60, seed=0):
    """Return categories that hang together, a number of many values, and some gaps."""
    random = np.random.default_rng(seed)
    sky = random.integers(0, 3, n_rows)
    table = pd.DataFrame(
        {
            "sky": pd.Categorical.from_codes(sky, ["clear", "cloud", "rain"]),
            "wet": pd.Categorical((sky == 2) ^ (random.random(n_rows) < 0.05)),
            "warmth": 20.0 - 5.0 * sky + random.normal(size=n_rows),
        }
    )
    table.loc[2, "sky"] = np.nan
    return table


def test_categories_and_gaps_reach_the_densities_that_take_them(tmp_path):
    """By a study file and by `compare`: a network beside independence, on the whole table."""
    weather().to_csv(tmp_path / "weather.csv", index=False)
    (tmp_path / "weather.toml").write_text(
        'task = "density"\nresampling = "3-fold"\ndata = ["weather.csv"]\n'
        '[[learners]]\nname = "graphical.BayesianNetworkDensity"\n'
        'factors = {structure = ["independent", "tree"]}\n'
    )
    study = read_study(tmp_path / "weather.toml")
    results = run(study, tmp_path / "runs.sqlite", engine="serial", progress=False)
    assert results.status() == {"done": 6}
    assert analyse(results).recommended.endswith("(structure=tree)")
    comparison = compare(weather(), task="density", resampling="3-fold", progress=False)
    assert "structure=tree" in comparison.recommended or "search" in comparison.recommended
    assert comparison.preparation == {"Bayesian network density": "categories, for all alike"}
    assert "1 row with gaps, of 60: what is missing is summed over." in comparison.notices
    assert any("more than 5 values: warmth" in notice for notice in comparison.notices)


def test_the_probability_of_categories_by_hand():
    """Independent columns: products of (count + 1) / (rows + levels), one column where one is gone.

    Numbers are cut where fifths of the rows are below, once for all splits.
    """
    table = weather()
    independent = LearnerChoice(
        "graphical.BayesianNetworkDensity", parameters={"structure": "independent"}
    )
    plan = planned_densities(table, [independent])
    planned = plan.data[0]
    cuts = np.quantile(table["warmth"], [0.2, 0.4, 0.6, 0.8], method="inverted_cdf")
    bins = np.searchsorted(cuts, table["warmth"], side="left")
    assert (planned.inputs["warmth"].cat.codes == bins).all()
    one = next(run for run in plan.runs if 2 in run.split.test)
    fitted = TASK_RUNS["density"].fit(
        plan.contestants[0][0].estimator, planned, one, one.split.train
    )
    left = TASK_RUNS["density"].predictions(fitted, planned, one)["values"]
    codes = np.column_stack([planned.inputs[name].cat.codes for name in ("sky", "wet", "warmth")])
    train, expected = codes[one.split.train], np.zeros(len(one.split.test))
    for column, levels in enumerate((3, 2, 5)):
        present = train[train[:, column] >= 0, column]
        shares = (np.bincount(present, minlength=levels) + 1.0) / (len(present) + levels)
        tested = codes[one.split.test, column]
        expected += np.where(tested >= 0, np.log(shares[tested]), 0.0)
    np.testing.assert_allclose(left, expected)


def test_a_density_of_categories_that_takes_no_gaps_leaves_their_rows_out():
    learners = ["graphical.BayesianNetworkDensity", "nonparametric.HammingDensity"]
    plan = planned_densities(weather(), learners)
    assert len(plan.data[0].inputs) == 59
    assert "1 row with gaps left out, of 60." in plan.notices


def test_densities_of_numbers_and_of_categories_are_two_sample_spaces(tmp_path):
    """They are refused together, and kept apart in a store."""
    with pytest.raises(DataError, match=r"probabilities of categories, .* densities of numbers"):
        planned_densities(
            weather(), ["graphical.BayesianNetworkDensity", "parametric.GaussianDensity"]
        )
    keys = {
        planned_densities(blobs(), [name]).data[0].key
        for name in ("graphical.BayesianNetworkDensity", "parametric.GaussianDensity")
    }
    assert len(keys) == 2
    words = pd.DataFrame({"note": [f"a word or {i}" for i in range(12)]})
    with pytest.raises(DataError, match="no column of categories or numbers that vary"):
        planned_densities(Dataset.from_frame(words), ["graphical.BayesianNetworkDensity"])


def test_groups_stay_together_and_rows_can_be_locked_away():
    table = blobs(24).assign(town=np.repeat(list("abcdef"), 4))
    plan = make_plan(
        Study(
            "x",
            [table],
            [GaussianMixture(1)],
            task="density",
            resampling="3-fold by town",
            test_share=0.3,
        )
    )
    planned = plan.data[0]
    assert len(planned.locked)
    for split in planned.splits:
        towns = [set(planned.groups[part]) for part in (split.train, split.test, planned.locked)]
        assert not towns[0] & towns[1]
        assert not towns[2] & (towns[0] | towns[1])


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"task": "ranking"}, "Unknown task 'ranking'"),
        ({"task": "density", "tuning": {}}, "tuning: has no place in a study of density"),
        ({"task": "density", "preparations": ["ranks"]}, "cannot be compared"),
        ({"task": "density", "resampling": "bootstrap 5"}, "bootstrap makes no sense"),
        ({"task": "clustering", "reject_cost": 0.5}, "nothing is decided"),
        ({"task": "clustering", "measures": ["log_likelihood"]}, "'log_likelihood' is for density"),
        ({"task": "clustering", "learners": ["naive bayes"]}, "is for classification, but data"),
        ({"task": "density", "learners": ["k-means"]}, "'cluster.KMeans' is for clustering"),
    ],
)
def test_what_does_not_fit_is_refused(options, message):
    settings = {"learners": ["cluster.GaussianMixture"], **options}
    with pytest.raises((DataError, LookupError), match=message):
        make_plan(Study("x", [blobs(30)], **settings))


def test_tables_that_hold_too_little_are_refused():
    for table, message in (
        (pd.DataFrame({"a": ["x", "y"] * 5}), "numbers that vary.*of categories are graphical"),
        (pd.DataFrame({"a": [1.0, 2.0, 3.0]}), "3 rows with values; at least 4"),
    ):
        with pytest.raises(DataError, match=message):
            make_plan(Study("x", [Dataset.from_frame(table)], [GaussianMixture()], task="density"))


def test_no_model_is_made_of_a_density(densities):
    with pytest.raises(DataError, match=r"study of density.*fit the learner"):
        finalise(densities)


def test_the_same_rows_under_two_tasks_are_two_data_sets(tmp_path):
    """A store keeps both: the key of the data tells the task."""
    path = tmp_path / "runs.sqlite"
    iris = dataset("iris")
    for task, learner in (("density", "cluster.GaussianMixture"), ("clustering", "k-means")):
        run(
            Study(task, [iris], [learner], task=task, resampling="holdout"),
            path,
            engine="serial",
            progress=False,
        )
    plain = Study("plain", [iris], ["naive bayes"], resampling="holdout")
    assert run(plain, path, engine="serial", progress=False).status() == {"done": 1}
