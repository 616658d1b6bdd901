"""What a report shows where one of two classes is rare, and of the worst rows."""

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import RidgeClassifier

from verulam.experiment import compare
from verulam.experiment._report.figures import confusion_figures, threshold_figures
from verulam.experiment._report.report import render, worst_tables
from verulam.measures import precision_recall


@pytest.fixture(scope="module")
def comparison():
    random = np.random.default_rng(0)
    y = np.where(np.arange(300) % 15 == 0, "ill", "well")
    frame = pd.DataFrame(random.normal(size=(300, 2)), columns=["a", "b"])
    frame["a"] += 2.0 * (y == "ill")
    learners = ["majority class", "logistic regression"]
    return compare(frame.assign(y=y), learners, target="y", resampling="2x3-fold", progress=False)


def test_curves_are_those_of_the_rare_class_and_open(comparison):
    figures = {figure.title: figure for figure in threshold_figures(comparison.analysis)}
    assert [figure.folded for figure in figures.values()] == [False] * 3
    precision = figures["Precision and recall on data"]
    assert "Of the rows called ill, the share that are" in precision.caption
    pooled = comparison.analysis.predictions.pooled("data", "logistic regression")
    assert pooled.share_of(0) == pytest.approx(20 / 300)
    np.testing.assert_allclose(pooled.support(0), 1 - pooled.support(1))
    curve = precision_recall(pooled.targets == "ill", pooled.support(0))
    assert curve.area > 3 * 20 / 300


def test_every_row_is_in_the_confusion_matrix_once(comparison):
    (figure,) = confusion_figures(comparison.analysis)
    pooled = comparison.analysis.predictions.pooled("data", "logistic regression")
    assert len(pooled.targets) == 600
    shares = pooled.row_shares
    hits = (pooled.targets == pooled.predicted) & (pooled.targets == "well")
    assert f">{shares[hits].sum():g}<" in figure.svg.replace(" ", "")
    assert "Every row of the data counts once" in figure.caption


def test_the_worst_rows_are_listed(comparison):
    (table,) = worst_tables(comparison.analysis)
    assert table["title"] == "Logistic regression on data"
    assert [head for head, _ in table["heads"]] == [
        "row", "is", "predicted", "predicted wrongly", "probability of its class",
    ]  # fmt: skip
    chances = [float(row[-1].key) for row in table["rows"]]
    assert chances == sorted(chances)
    assert all(int(row[0].text) % 15 == 1 for row in table["rows"][:3])
    assert '<section id="worst">' in render(comparison.analysis)


def test_the_worst_rows_of_a_learner_without_probabilities_have_none():
    random = np.random.default_rng(2)
    frame = pd.DataFrame(random.normal(size=(60, 2)), columns=["a", "b"])
    frame["y"] = np.where(frame["a"] + random.normal(size=60) > 0, "yes", "no")
    options = {"target": "y", "resampling": "2x2-fold", "progress": False}
    comparison = compare(frame, {"ridge": RidgeClassifier()}, **options)
    (table,) = worst_tables(comparison.analysis)
    assert [head for head, _ in table["heads"]] == ["row", "is", "predicted", "predicted wrongly"]
    assert {len(row) for row in table["rows"]} == {4}
    assert {row[-1].text for row in table["rows"]} <= {"100%", "50%"}


def test_the_measure_that_is_blind_is_told():
    random = np.random.default_rng(1)
    frame = pd.DataFrame({"x": random.random(150), "y": ["rare"] * 9 + ["no"] * 141})
    options = {"target": "y", "resampling": "2-fold", "progress": False}
    blind = compare(frame, ["majority class"], measure="error", **options)
    text = " ".join(str(blind).split())
    assert "is right in 94.0 % and finds none of them" in text
    seeing = compare(frame, ["majority class"], measure="balanced_accuracy", **options)
    assert "finds none of them" not in str(seeing)
    assert "There are only 9 of them" in " ".join(str(seeing).split())


def test_the_html_of_a_comparison_has_the_words_of_its_text(comparison):
    html = comparison._repr_html_()
    assert "<th>95 % interval</th>" in html
    assert "logistic regression *</th>" in html
    # No names of columns as programs write them.
    assert not any(name in html for name in ("difference_low", "probability_best", "against_best"))
    assert "max-width:54rem" in html
