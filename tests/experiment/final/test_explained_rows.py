"""Single rows explained in the card and in the report."""

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression

from verulam.experiment import DataChoice, ModelCard, Study, compare, finalise, report, run
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
