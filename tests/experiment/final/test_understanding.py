"""What a model says of itself: weights, trees, rules, answers and worst errors, in its card."""

import json

import numpy as np
import pandas as pd
import pytest
from sklearn.inspection import partial_dependence
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from verulam.experiment import ModelCard, compare, finalise, load_model
from verulam.experiment._final.insight import ModelInsight, plain_figure
from verulam.experiment._final.understanding import (
    coefficients,
    innermost,
    input_names,
    model_text,
)
from verulam.experiment._learning.decisions import TunedThreshold
from verulam.experiment._preparation.preparation import prepared
from verulam.rule import Ripper
from verulam.tree import DecisionTreeClassifier as OurTree


def houses(n_rows=150):
    random = np.random.default_rng(0)
    frame = pd.DataFrame(
        {
            "area": random.uniform(50, 250, n_rows),
            "town": pd.Categorical(random.choice(["Ely", "Rye"], n_rows)),
            "sold": pd.Timestamp("2024-01-01") + pd.to_timedelta(np.arange(n_rows), unit="D"),
        }
    )
    frame["price"] = 2.0 * frame["area"] + 50.0 * (frame["town"] == "Rye")
    frame["price"] += random.normal(0, 1, n_rows)
    # One value is a slip of the pen.
    frame.loc[17, "price"] = 9_999.0
    return frame


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    folder = tmp_path_factory.mktemp("understanding")
    comparison = compare(
        houses(),
        ["mean predictor", "linear regression", ("regression tree", DecisionTreeRegressor())],
        target="price",
        resampling="3-fold",
        store=folder / "s.sqlite",
        progress=False,
    )
    return {
        name: finalise(
            comparison.analysis.results,
            name,
            path=folder / f"{name}.skops",
            source=houses(),
            study=comparison.study,
        )
        for name in ("linear regression", "regression tree")
    }


def test_weights_of_a_linear_model_have_intervals(made):
    insight = made["linear regression"].card.insight
    weights = {row["column"]: row for row in insight.coefficients}
    # Parts of seasons mean nothing by themselves; the time passed does.
    assert {*weights} == {"area", "town_Ely", "town_Rye", "sold (time)", "sold_year"} - (
        {"sold_year"} - {*weights}
    )
    learner = innermost(made["linear regression"].model.estimator)
    names = input_names(made["linear regression"].model.estimator, ["area", "town", "sold"])
    area = learner.coef_[names.index("table__numbers__area")]
    assert weights["area"]["value"] == pytest.approx(area)
    assert weights["area"]["low"] < weights["area"]["value"] < weights["area"]["high"]


def test_the_interval_of_a_weight_is_that_of_the_corrected_t_test():
    X, y = np.arange(8.0)[:, None], np.arange(8.0)
    final = LinearRegression().fit(X, y)
    refits = [LinearRegression().fit(X, slope * y) for slope in (1.0, 2.0, 3.0)]
    (row,) = coefficients(final, refits, ["x"], 0.5)
    half = 4.302653 * np.sqrt((1 / 3 + 0.5) * 1.0)
    assert (row.column, row.value) == ("x", pytest.approx(1.0))
    assert (row.low, row.high) == (pytest.approx(1 - half, 1e-6), pytest.approx(1 + half, 1e-6))
    assert coefficients(SVC().fit(X, y > 3), [], ["x"], 0.5) == ()
    (alone,) = coefficients(final, [], ["x"], 0.0)
    assert alone.low is None


def test_weights_of_several_classes_name_them():
    random = np.random.default_rng(1)
    X, y = random.normal(size=(90, 2)), np.repeat(["a", "b", "c"], 30)
    fitted = LogisticRegression().fit(X, y)
    rows = {row.column: row.value for row in coefficients(fitted, [], ["u", "v"], 0.5)}
    assert rows["v for c"] == pytest.approx(fitted.coef_[2, 1])
    assert len(rows) == 6


def test_a_tree_is_read_in_the_units_of_the_table(made):
    text = made["regression tree"].card.insight.text
    thresholds = [
        float(line.split()[-1][:-1]) for line in text.splitlines() if "area up to" in line
    ]
    assert thresholds
    assert all(50 <= threshold <= 250 for threshold in thresholds)
    assert "    " + text.splitlines()[0] in made["regression tree"].card.to_markdown()
    assert "<pre>" in made["regression tree"].card.to_html()


def test_trees_rules_and_what_nobody_can_read():
    frame = pd.DataFrame({"size": np.arange(40.0), "colour": pd.Categorical(["r", "g"] * 20)})
    y = np.where(frame["size"] > 24.5, "big", "small")
    tree = prepared(DecisionTreeClassifier(), frame).estimator.fit(frame, y)
    assert model_text(tree, list(frame)).splitlines() == [
        "size up to 24.5:", "  small (100% of 25)", "size above 24.5:", "  big (100% of 15)",
    ]  # fmt: skip
    ours = prepared(OurTree(preset="c4.5"), frame).estimator.fit(frame, y)
    assert model_text(ours, list(frame)) == "size <= 24.5: small (25)\nsize > 24.5: big (15)"
    wrapped = TunedThreshold(prepared(DecisionTreeClassifier(), frame).estimator).fit(frame, y)
    assert model_text(wrapped, list(frame)).startswith("size up to ")
    assert "THEN" in model_text(Ripper(random_state=0).fit(frame, y), list(frame)).upper()
    numbers = frame[["size"]]
    assert model_text(SVC().fit(numbers, y), ["size"]) == ""


def test_answers_are_partial_dependences(made):
    model = made["linear regression"].model
    table = houses()
    rows = {row["column"]: row for row in made["linear regression"].card.insight.dependences}
    areas = rows["area"]
    expected = partial_dependence(
        model.estimator, table[["area", "town", "sold"]], ["area"],
        custom_values={"area": np.array(areas["values"])}, kind="average",
    )["average"][0]  # fmt: skip
    np.testing.assert_allclose(areas["answers"], expected, rtol=1e-9)
    towns = dict(zip(rows["town"]["values"], rows["town"]["answers"], strict=True))
    assert {*towns} == {"Ely", "Rye"}
    for day, answer in zip(rows["sold"]["values"], rows["sold"]["answers"], strict=True):
        then = table[["area", "town"]].assign(sold=np.datetime64(day, "us"))
        assert model.estimator.predict(then).mean() == pytest.approx(answer)


def test_the_worst_error_is_the_slip_of_the_pen(made):
    for name in made:
        worst = made[name].card.insight.worst[0]
        assert (worst["row"], worst["target"]) == (18, 9_999.0)
        assert "| 18 | 9999 |" in made[name].card.to_markdown()


def test_a_card_survives_its_file(made):
    card = made["linear regression"].card
    again = load_model(made["linear regression"].path).card
    assert again.insight.text == card.insight.text
    assert again.to_markdown() == card.to_markdown()
    # Cards of format 2 had importances alone.
    old = json.loads(json.dumps(card.to_dict())) | {"format": 2}
    old["importances"] = old.pop("insight")["importances"]
    assert ModelCard.from_dict(old).importances == tuple(old["importances"])
    assert ModelCard.from_dict(old).insight.worst == ()


def test_what_there_is_nothing_to_say_of_has_no_heading():
    assert ModelInsight().sections() == []
    only = ModelInsight(text="IF a THEN b")
    assert [part.title for part in only.sections()] == ["How to read it"]
    assert plain_figure(1234.5678) == "1235"
