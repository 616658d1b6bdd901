"""Single rows explained in the card and in the report."""

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression

from verulam.base import DataError
from verulam.data import dataset
from verulam.experiment import DataChoice, ModelCard, Study, compare, finalise, report, run
from verulam.experiment._final.explanation import class_support
from verulam.experiment._report.report import understanding

RNG = np.random.default_rng(3)
SIZE = RNG.uniform(10, 100, 80)
HOUSES = pd.DataFrame(
    {
        "size": SIZE,
        "town": RNG.choice(["Ely", "Bath"], 80),
        "price": [
            f"£{1000 * s + e:,.2f}" for s, e in zip(SIZE, RNG.normal(0, 50, 80), strict=True)
        ],
    }
)
FLOWERS = ["majority class", "logistic regression"]


@pytest.fixture(scope="module")
def priced(tmp_path_factory):
    path = tmp_path_factory.mktemp("houses") / "houses.csv"
    HOUSES.to_csv(path, index=False)
    study = Study(
        "houses", [DataChoice(str(path), target="price")], ["mean predictor", "linear regression"],
        resampling="3-fold",
    )  # fmt: skip
    results = run(study, path.with_suffix(".sqlite"), engine="serial", progress=False)
    return results, finalise(results, "linear regression")


def test_numbers_are_explained_at_three_heights_and_where_worst(priced):
    _, made = priced
    explained = made.card.insight.explained
    kinds = [row["kind"] for row in explained]
    assert kinds[:3] == ["a low prediction", "a middle prediction", "a high prediction"]
    assert kinds[3:] == ["predicted badly"] * 2
    predicted = [float(row["predicted"].replace(",", "")) for row in explained[:3]]
    assert predicted == sorted(predicted)
    for row in explained:
        truth = 1000 * SIZE[row["row"] - 1]
        assert float(row["target"].replace(",", "")) == pytest.approx(truth, rel=0.05)
    assert explained[2]["reasons"].startswith("size = ")


def test_gaps_that_typical_values_fill_are_remarked(priced):
    _, made = priced
    whole = made.explain({"size": 90.0, "town": "Ely"})
    assert whole.remarks == ()
    gap = made.explain({"size": None, "town": "Ely"})
    assert gap.remarks == ("1 value of 'size' is missing, and the typical one was taken.",)
    assert str(gap).endswith(gap.remarks[0])
    assert gap._repr_html_().endswith("is missing, and the typical one was taken.</p>")
    assert pd.isna(gap.table.loc["size", "value"])
    assert gap.table.loc["size", "effect"] == 0
    assert gap.table.loc["town", "value"] == "Ely"


def test_reasons_are_those_of_explain(priced):
    _, made = priced
    row = made.card.insight.explained[0]
    explanation = made.explain(HOUSES.iloc[row["row"] - 1].to_dict())
    assert explanation.reasons == row["reasons"]
    assert explanation.predicted == row["predicted"]
    name, first = next(explanation.table.iterrows())
    assert name == "size"
    assert f"with {first['typical']:.4g}: {first['typical_prediction']:,.0f})" in row["reasons"]
    assert str(made.card.response).count("e+") == 0


def test_the_card_shows_them_and_keeps_them(priced):
    _, made = priced
    for page in (made.card.to_html(), made.card.to_markdown()):
        assert "Single rows" in page
        assert "a middle prediction" in page
    assert ModelCard.from_dict(made.card.to_dict()).insight == made.card.insight


def test_a_report_of_the_store_says_what_the_learner_goes_by(priced, tmp_path):
    results, made = priced
    page = report(results, tmp_path / "page.html").read_text()
    assert "What the recommended learner goes by" in page
    assert made.card.insight.explained[2]["reasons"].split(";")[0] in page
    assert page.count("<h2>Worst errors</h2>") == 1


def test_classes_are_explained_by_probability(tmp_path):
    comparison = compare("iris", FLOWERS, resampling="3-fold", progress=False)
    known = understanding(comparison.analysis, comparison.study)
    part = {part.title: part for part in known.sections}["Single rows"]
    kinds = [row[1] for row in part.rows]
    assert {"typical for setosa", "typical for versicolor", "typical for virginica"} <= {*kinds}
    for row in part.rows[:3]:
        label, chance = row[3].split(" ")
        assert label in row[1]
        assert 0.5 < float(chance.strip("()")) <= 1.0
    assert "Single rows" in comparison.report(tmp_path / "iris.html").read_text()


def test_what_cannot_be_built_again_is_said(tmp_path):
    frame = HOUSES.assign(price=SIZE)
    study = Study("s", [DataChoice(frame, target="price")], ["linear regression"])
    results = run(study, tmp_path / "runs.sqlite", engine="serial", progress=False)
    page = report(results, tmp_path / "page.html").read_text()
    assert "What linear regression goes by is not shown: data: a DataFrame cannot be opened" in page
    page = report(results, tmp_path / "page.html", study=study).read_text()
    assert "cost of shuffling" in page


class Overfed(LogisticRegression):
    """A learner that fails on more rows than the splits have."""

    def fit(self, X, y, sample_weight=None):
        if len(X) > 120:
            raise ValueError("too many rows for me")
        return super().fit(X, y, sample_weight)


def test_a_learner_that_fails_on_all_rows_still_has_a_report(tmp_path):
    contestants = {"greedy": Overfed(max_iter=500), "nobody": "majority class"}
    comparison = compare("iris", contestants, resampling="3-fold", progress=False)
    assert comparison.recommended == "greedy"
    page = comparison.report(tmp_path / "page.html").read_text()
    assert "What greedy goes by is not shown: too many rows for me" in page


def test_baselines_go_by_nothing():
    comparison = compare("iris", ["majority class"], resampling="3-fold", progress=False)
    assert understanding(comparison.analysis, comparison.study) is None


class Scores:
    """Scores of two columns' sums, and no probabilities."""

    def __init__(self, weights, classes, threshold=0.0):
        self.weights, self.classes_ = np.asarray(weights), np.asarray(classes)
        self.threshold_ = threshold

    def decision_function(self, X):
        return np.asarray(X) @ self.weights


def test_leads_of_scores_stand_in_for_probabilities():
    X = [[1.0, 0.0], [0.0, 3.0]]
    two = class_support(Scores([1.0, -1.0], ["no", "yes"], threshold=0.25), X)
    assert not two.are_probabilities
    np.testing.assert_allclose(two.values, [[-0.75, 0.75], [3.25, -3.25]])
    three = class_support(Scores([[1.0, 0.0, 0.5], [0.0, 1.0, 0.5]], ["a", "b", "c"]), X)
    np.testing.assert_allclose(three.values, [[0.5, -1.0, -0.5], [-3.0, 1.5, -1.5]])
    with pytest.raises(DataError, match="neither probabilities nor scores"):
        class_support(object(), X)


@pytest.fixture(scope="module")
def machine(tmp_path_factory):
    store = tmp_path_factory.mktemp("machine") / "s.sqlite"
    learners = ["majority class", "support vector machine"]
    compare("penguins", learners, resampling="2-fold", store=store, progress=False)
    return finalise(store, "support vector machine")


def test_a_learner_without_probabilities_is_explained_by_its_score(machine):
    assert not hasattr(machine.model.estimator, "predict_proba")
    row = dataset("penguins").inputs.iloc[0]
    explained = machine.explain(row)
    assert (explained.by_probability, explained.by_score) == (False, True)
    assert f"a score of {explained.value:.3f} (below 0 it would be another" in str(explained)
    assert "the score: with" in str(explained)
    # What the score falls to is what the model says of such a row.
    name, first = next(explained.table.iterrows())
    changed = machine.explain(row.to_dict() | {name: first["typical"]})
    sign = 1 if changed.prediction == explained.prediction else -1
    assert np.sign(first["typical_prediction"]) == sign
    kinds = [item["kind"] for item in machine.card.insight.explained]
    assert kinds[:3] == [f"typical for {name}" for name in ("Adelie", "Gentoo", "Chinstrap")]
    assert all("(score " in item["predicted"] for item in machine.card.insight.explained)


def test_shares_of_rows_stand_in_for_mean_probabilities(machine):
    table, estimator = dataset("penguins").inputs, machine.model.estimator
    answers = machine.card.insight.dependences
    assert all(item["shares"] for item in answers)
    first = next(item for item in answers if item["label"] == "Gentoo")
    rows = np.sort(np.random.default_rng(0).choice(len(table), 300, replace=False))
    for value, share in zip(first["values"], first["answers"], strict=True):
        predicted = estimator.predict(table.iloc[rows].assign(**{first["column"]: value}))
        assert share == pytest.approx(np.mean(predicted == "Gentoo"))
    assert f"| {first['column']}, share predicted Gentoo |" in (
        machine.card.to_markdown().replace("\\_", "_")
    )
    assert ModelCard.from_dict(machine.card.to_dict()).insight.dependences == answers
