"""Tables as people have them, from a first look to predictions, with no hand edit."""

import numpy as np
import pandas as pd
import pytest
import skrub
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.metrics import roc_auc_score
from tests.experiment.real_tables import customers, houses, patients

from verulam.base import DataError, spawn_seeds
from verulam.cli import main
from verulam.data import Dataset, dataset, read
from verulam.experiment import (
    compare,
    finalise,
    load_model,
    make_plan,
    predict,
    predict_file,
    read_study,
    resampling,
)
from verulam.experiment._final.explanation import explain_row
from verulam.experiment._preparation.inspection import inspect_table
from verulam.experiment._preparation.preparation import columns_become, usable_inputs
from verulam.measures import as_measure


def verulam(capsys, *words, code=0):
    """Run a command; return its output in one line."""
    with pytest.raises(SystemExit) as caught:
        main([str(word) for word in words])
    assert (caught.value.code or 0) == code
    captured = capsys.readouterr()
    return " ".join((captured.out + captured.err).split())


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("real")
    customers(1200).to_csv(folder / "customers.csv", index=False)
    houses(500).to_csv(folder / "houses.csv", index=False)
    patients().to_csv(folder / "patients.csv", index=False)
    return folder


def test_customers_from_a_first_look_to_predictions(folder, capsys):
    text = verulam(capsys, "describe", folder / "customers.csv", "--target", "churned")
    assert "customer_id only names the rows. It is left out" in text
    assert "of the rows are churned=yes" in text
    assert "age is negative in" in text
    assert "30 components" in text
    assert "time passed," in text
    store = folder / "customers.sqlite"
    text = verulam(
        capsys, "compare", folder / "customers.csv", "--target", "churned", "--no-report",
        "--learners", "majority class,logistic regression,parametric.NaiveBayes",
        "--resampling", "2x5-fold", "--jobs", "1", "--store", store,
    )  # fmt: skip
    # The common class is never called good because it errs seldom.
    assert "Use the majority class" not in text
    assert "compared by the area under the ROC curve" in text
    assert "customer_id only names the rows, and is left out" in text
    assert "dates as time and season, texts as components" in text


@pytest.fixture(scope="module")
def model_file(folder):
    """Return the file of a model that tells who leaves."""
    comparison = compare(
        folder / "customers.csv", ["majority class", "logistic regression"], target="churned",
        resampling="2x5-fold", random_state=0, store=folder / "leaving.sqlite", progress=False,
    )  # fmt: skip
    return finalise(comparison.analysis.results, path=folder / "leaving.skops").path


def test_a_model_in_use(folder, model_file, capsys):
    new = customers(300, seed=9)
    new.drop(columns="churned").to_csv(folder / "new.csv", index=False)
    verulam(capsys, "predict", model_file, folder / "new.csv", "-o", folder / "p.csv")
    predicted = pd.read_csv(folder / "p.csv")
    assert len(predicted) == 300
    area = roc_auc_score(new["churned"] == "yes", predicted["probability_yes"])
    # Dates and texts carry the signal; without them there is the number of calls.
    assert area > 0.7
    card = load_model(model_file).card
    costs = {row["column"]: row for row in card.importances}
    assert {"last_order", "note"} <= {*list(costs)[:3]}
    assert costs["last_order"]["low"] < costs["last_order"]["mean"] < costs["last_order"]["high"]
    assert abs(costs["monthly"]["mean"]) < costs["last_order"]["mean"] / 3
    # The later the last order, the less probable it is that a customer leaves.
    (dates,) = [item for item in card.insight.dependences if item["column"] == "last_order"]
    assert list(dates["values"]) == sorted(dates["values"])
    assert dates["values"][-1].startswith("2024-")
    assert dates["answers"][0] > dates["answers"][-1]
    assert "## What it goes by" in card.to_markdown()
    assert "<h2>What it goes by</h2>" in card.to_html()
    assert "It goes most by: " in str(card)
    # The words are those of the file, whatever they became.
    text = verulam(capsys, "explain", model_file, folder / "new.csv", "--row", "3")
    assert text.startswith("churned = ")
    assert "the probability: with" in text
    words = verulam(capsys, "explain", model_file, folder / "new.csv", "--row", "999", code=2)
    assert "--row 999" in words


def test_an_explanation_is_what_the_model_says_with_typical_values(model_file):
    model = load_model(model_file)
    row = customers(5, seed=11).drop(columns="churned").iloc[2]
    explained = model.explain(row)
    (predicted,) = predict(model, row.to_frame().T)["probability_no"]
    assert explained.prediction == "no"
    assert explained.value == pytest.approx(predicted, rel=1e-9)
    typical = {column.name: column.typical for column in model.card.inputs}
    assert typical["calls"] == customers(1200)["calls"].median()
    (other,) = predict(model, row.to_frame().T.assign(calls=typical["calls"]))["probability_no"]
    effect = explained.table.loc["calls"]
    assert effect["typical_prediction"] == pytest.approx(other, rel=1e-9)
    assert effect["effect"] == pytest.approx(predicted - other, rel=1e-9)
    assert (explained.table["effect"].abs().diff().dropna() <= 0).all()
    with pytest.raises(DataError, match="got a table of 5 rows; expected one"):
        model.explain(customers(5))
    with pytest.raises(DataError, match="got int; expected a mapping"):
        model.explain(7)
    with pytest.raises(DataError, match="lacks the column 'calls'"):
        model.explain(row.drop("calls"))


@pytest.mark.slow
def test_texts_and_dates_are_used_as_well_as_boosting_on_a_prepared_table(folder):
    data = read(folder / "customers.csv", target="churned")
    comparison = compare(
        data, ["logistic regression", "gradient boosting"], resampling="5-fold", progress=False
    )
    assert comparison.measure.name == "auc"
    table, targets = data.inputs, np.asarray(data.target_values) == "yes"
    scores = []
    # The splits of the comparison, drawn again.
    seed = spawn_seeds(0, 1)[0]
    for split in resampling("5-fold").draw(targets, None, seed, task="classification"):
        learner = skrub.tabular_pipeline(HistGradientBoostingClassifier(random_state=0))
        learner.fit(table.iloc[split.train], targets[split.train])
        shares = learner.predict_proba(table.iloc[split.test])[:, 1]
        scores.append(roc_auc_score(targets[split.test], shares))
    assert comparison.ranking()["mean"].max() >= np.mean(scores)


def test_houses_with_money_units_and_towns(folder, capsys):
    text = verulam(capsys, "describe", folder / "houses.csv", "--target", "price")
    assert "The rows are in the order of sold." in text
    store = folder / "houses.sqlite"
    text = verulam(
        capsys, "compare", folder / "houses.csv", "--target", "price", "--no-report", "--jobs", "1",
        "--learners", "mean predictor,linear regression,support vector regression",
        "--resampling", "expanding 4 by sold", "--store", store,
    )  # fmt: skip
    assert "4 periods, each tested after all before it, by sold" in text
    assert "repeated words by their mean target, texts as components, targets scaled" in text
    verulam(capsys, "finalise", store, "--learner", "best", "-o", folder / "h.skops")
    houses(500).drop(columns="price").head(20).to_csv(folder / "unsold.csv", index=False)
    verulam(capsys, "predict", folder / "h.skops", folder / "unsold.csv", "-o", folder / "u.csv")
    prices = houses(500)["price"].head(20).str.replace("[£,]", "", regex=True).astype(float)
    ratio = pd.read_csv(folder / "u.csv")["prediction"] / prices
    assert ratio.between(0.5, 2.0).all()


def test_rows_of_one_patient_stay_together(folder, capsys):
    command = (
        "compare", folder / "patients.csv", "--target", "diagnosis", "--no-report", "--jobs", "1",
        "--learners", "majority class,k-nearest neighbours", "--resampling", "2x5-fold",
    )  # fmt: skip
    text = verulam(capsys, *command)
    assert "all rows of a value have the same diagnosis" in text
    assert "Rows of one patient are kept on one side of every split" in text
    # Neighbours know the other visits: nothing is left of that where patients are kept together.
    assert "toss-up" in text or "no sign that these inputs predict the target" in text
    text = verulam(capsys, *command, "--groups", "none", "--leave-out", "patient")
    assert "Use k-nearest neighbours" in text
    text = verulam(capsys, *command, "--groups", "visit")
    assert "with equal visit kept together" not in text
    assert "no column 'visits'" in verulam(capsys, *command, "--groups", "visits", code=2)


def findings(frame, target=None):
    data = Dataset.from_frame(frame, target=target)
    return {(finding.kind, finding.columns) for finding in inspect_table(data)}


def test_what_deserves_a_look():
    random = np.random.default_rng(0)
    n = 200
    y = np.where(random.random(n) < 0.5, "a", "b")
    frame = pd.DataFrame(
        {
            "order_id": random.permutation(n) + 5000,
            "serial": [f"X-{number:05d}" for number in random.permutation(n)],
            "comment": [f"a long story number {number} of many" for number in range(n)],
            "leak": np.where(y == "a", 1.0, 2.0) + random.random(n) / 10,
            "age": np.where(np.arange(n) == 3, -5, 40 + random.integers(0, 20, n)),
            "shop": random.choice(["London", "Londom", "Paris", "Berlin"], n),
            "type": random.integers(1, 9, n),
            "weight": random.random(n),
            "y": y,
        }
    )
    seen = findings(frame, "y")
    assert ("identifier", ("order_id", "serial")) in seen
    assert ("leak", ("leak",)) in seen
    assert ("impossible", ("age",)) in seen
    assert ("spelling", ("shop",)) in seen
    assert ("codes", ("type",)) in seen
    assert not any("comment" in columns or "weight" in columns for _, columns in seen)
    for most in (n, 5):  # so many different words are text, and categories
        sums = ["soon", *(str(100 + number % most) for number in range(n - 1))]
        assert ("unread", ("sum",)) in findings(frame.assign(sum=sums), "y")
    assert ("constant", ("place",)) in findings(frame.assign(place="here"), "y")
    signs = np.where(y == "a", 1.0, -1.0)
    assert ("codes", ("y",)) in findings(frame.assign(y=signs), "y")
    assert ("duplicates", ()) in findings(pd.concat([frame, frame.head(20)]), "y")


def test_a_target_of_one_number_is_told_and_no_column_tells_it():
    random = np.random.default_rng(0)
    frame = pd.DataFrame({"a": random.random(200), "y": 1.5})
    assert findings(frame, "y") == {("constant", ("y",))}
    huge = frame.assign(y=frame["a"] * 1e200 + 1e199 * random.random(200))
    assert findings(huge, "y") <= {("leak", ("a",))}


def test_a_comparison_says_what_gives_answers_away():
    random = np.random.default_rng(0)
    frame = pd.DataFrame(random.normal(size=(120, 2)), columns=["a", "b"])
    frame["y"] = np.where(frame["a"] + random.normal(size=120) > 0, "yes", "no")
    frame["later"] = (frame["y"] == "yes") + random.random(120) / 10
    twice = pd.concat([frame, frame.head(30)])
    learners = ["majority class", "parametric.NaiveBayes"]
    text = str(compare(twice, learners, target="y", resampling="2-fold", progress=False))
    words = " ".join(text.split())
    assert "later alone tells y: 100.0% of each class by itself." in words
    assert "30 rows of 150 repeat an earlier one in every column." in words
    plain = frame.drop(columns="later")
    text = str(compare(plain, learners, target="y", resampling="2-fold", progress=False))
    assert "alone tells" not in text
    assert "repeat an earlier" not in text


def test_dates_of_arrow_and_periods_are_read():
    days = pd.Series(pd.date_range("2024-03-01", periods=3, tz="Europe/Berlin"))
    frame = pd.DataFrame(
        {
            "arrow": days.astype("timestamp[ns, tz=Europe/Berlin][pyarrow]"),
            "month": pd.period_range("2024-03", periods=3, freq="M"),
        }
    )
    data = Dataset.from_frame(frame)
    assert set(data.kinds.values()) == {"date"}
    # In UTC, as other dates with a zone.
    assert data.table["arrow"].iloc[0] == pd.Timestamp("2024-02-29 23:00")
    assert data.table["month"].iloc[2] == pd.Timestamp("2024-05-01")


def test_columns_are_called_left_out_only_where_they_are():
    frame = pd.DataFrame({"x": [1.5, 2.5, 4.0] * 10, "here": "yes", "half": ["yes", None] * 15})
    frame["empty"] = np.nan
    columns = ("here", "empty")
    (finding,) = inspect_table(Dataset.from_frame(frame))
    assert finding.columns == columns
    assert str(finding) == (
        "here and empty are the same in every row. Nothing can be learnt from them: they are left "
        "out."
    )
    usable, _ = usable_inputs(frame)
    assert set(frame) - set(usable) == set(columns)
    (alone,) = inspect_table(Dataset.from_frame(frame[["here"]]))
    assert str(alone) == "here is the same in every row. Nothing can be learnt from it."
    assert list(usable_inputs(frame[["here"]])[0]) == ["here"]


def test_each_column_is_said_to_become_what_it_becomes(tmp_path, capsys):
    random = np.random.default_rng(4)
    frame = pd.DataFrame(
        {
            "Customer No.": [f"C{number}" for number in random.permutation(100)],
            "patient": np.repeat([f"p{number}" for number in range(20)], 5),
            "here": "yes",
            "half": ["yes", None] * 50,
            "x": random.random(100),
        }
    )
    data = Dataset.from_frame(frame, target="x")
    assert columns_become(data, inspect_table(data)) == [
        "left out", "keeps its rows together", "left out", "1 column of 0 and 1", "target",
    ]  # fmt: skip
    alone = Dataset.from_frame(frame[["here", "x"]], target="x")
    assert columns_become(alone, inspect_table(alone))[0] == "1 column of 0 and 1"
    frame.to_csv(tmp_path / "t.csv", index=False)
    # What is proposed can be typed as it stands.
    words = verulam(capsys, "describe", tmp_path / "t.csv", "--target", "x")
    assert '(--keep "Customer No.") uses it.' in words


def test_long_numbers_of_one_length_that_come_again_may_be_codes():
    random = np.random.default_rng(5)
    frame = pd.DataFrame({"x": random.random(200), "y": random.random(200)})
    towns = random.choice([10115, 10117, 20095, 80331], 200)
    assert ("codes", ("where",)) in findings(frame.assign(where=towns), "y")
    assert ("codes", ("PLZ",)) in findings(frame.assign(PLZ=towns // 1000), "y")
    for amounts in (
        random.choice([10_000, 20_000, 50_000], 200),  # rounded
        random.choice([9_117, 10_115, 80_331], 200),  # of several lengths
        random.integers(10_000, 99_999, 200),  # hardly one twice
        random.integers(10_001, 10_008, 200),  # one after the other
        random.choice([20240103, 20240107, 20240118, 20240229], 200),  # days
    ):
        assert findings(frame.assign(where=amounts), "y") == set()


def test_nothing_deserves_a_look_in_plain_tables():
    random = np.random.default_rng(1)
    frame = pd.DataFrame(random.random((100, 3)), columns=["a", "b", "c"])
    assert findings(frame.assign(y=random.random(100)), "y") == set()
    assert findings(frame) == set()


@pytest.mark.parametrize("name", ["iris", "wine", "penguins", "titanic", "german_credit"])
def test_bundled_tables_have_no_groups_and_no_leaks(name):
    kinds = {finding.kind for finding in inspect_table(dataset(name))}
    assert not kinds & {"group", "identifier", "order", "leak"}


def test_a_number_that_each_group_shares():
    random = np.random.default_rng(2)
    towns = random.integers(0, 40, 300)
    frame = pd.DataFrame({"place": [f"p{t}" for t in towns], "x": random.random(300)})
    frame["y"] = random.random(40)[towns]
    assert ("group", ("place",)) in findings(frame, "y")
    frame["y"] = random.random(300)
    assert ("group", ("place",)) not in findings(frame, "y")
    renamed = frame.rename(columns={"place": "customer"})
    assert ("group", ("customer",)) in findings(renamed, "y")


def test_a_number_that_the_target_follows_names_no_group():
    random = np.random.default_rng(4)
    frame = pd.DataFrame({"score": random.integers(0, 80, 200), "x": random.random(200)})
    passed = frame.assign(y=np.where(frame["score"] > 40, "pass", "fail"))
    assert findings(passed, "y") == {("leak", ("score",))}
    squares = frame.assign(y=frame["score"] ** 2.0)
    assert ("group", ("score",)) not in findings(squares, "y")
    # Numbers that only name what has the outcome.
    drawn = frame.assign(y=np.where(random.random(80) < 0.5, "a", "b")[frame["score"]])
    assert ("group", ("score",)) in findings(drawn, "y")
    drawn = frame.assign(y=random.random(80)[frame["score"]])
    assert ("group", ("score",)) in findings(drawn, "y")


def test_years_do_not_only_number_the_rows():
    random = np.random.default_rng(5)
    frame = pd.DataFrame({"year": range(1900, 1960), "x": random.random(60), "y": range(60)})
    frame["y"] = random.random(60)
    assert findings(frame, "y") == set()
    assert ("identifier", ("row",)) in findings(frame.rename(columns={"year": "row"}), "y")


def test_numbers_are_read_as_they_were_written_in_training(tmp_path, capsys):
    random = np.random.default_rng(6)
    frame = pd.DataFrame({"x": random.random(60), "price": random.uniform(100, 5000, 60).round(2)})
    frame["y"] = frame["price"] / 10 + frame["x"]
    german = [f"{price:,.2f} €".translate(str.maketrans(",.", ".,")) for price in frame["price"]]
    comparison = compare(
        frame.assign(price=german), ["mean predictor", "linear regression"], target="y",
        resampling="2-fold", store=tmp_path / "s.sqlite", progress=False,
    )  # fmt: skip
    source = frame.assign(price=german)
    made = finalise(comparison.analysis.results, path=tmp_path / "m.skops", source=source)
    (tmp_path / "new.csv").write_text("x,price\n0.5,1.200\n0.5,1200\n0.5,3.500\n")
    predict_file(made.model, tmp_path / "new.csv", tmp_path / "p.csv")
    predicted = pd.read_csv(tmp_path / "p.csv")["prediction"]
    assert predicted.tolist() == pytest.approx([120.5, 120.5, 350.5])
    with pytest.raises(SystemExit):
        main(["explain", str(made.path), str(tmp_path / "new.csv"), "--row", "3"])
    assert "y = 350.5." in capsys.readouterr().out
    rows = pd.DataFrame({"x": [0.5, 0.5], "price": ["1.200,00 €", "3.500,00 €"]})
    rows.to_excel(tmp_path / "new.xlsx", index=False)
    rows.to_json(tmp_path / "new.jsonl", orient="records", lines=True)
    for name in ("new.xlsx", "new.jsonl"):
        predict_file(made.model, tmp_path / name, tmp_path / "p.csv")
        assert pd.read_csv(tmp_path / "p.csv")["prediction"].tolist() == pytest.approx(
            [120.5, 350.5]
        )
        text = verulam(capsys, "explain", made.path, tmp_path / name, "--row", "2")
        assert "y = 350.5." in text
    (tmp_path / "dollars.csv").write_text("x,price\n0.5,$1200\n")
    with pytest.raises(DataError, match=r"'price', row 1: '\$1200' is not a number in €"):
        predict_file(made.model, tmp_path / "dollars.csv", tmp_path / "p.csv")


@pytest.mark.parametrize(("count", "few"), [(9, True), (10, False)])
def test_few_rows_of_a_rare_class_are_remarked(count, few):
    random = np.random.default_rng(7)
    frame = pd.DataFrame({"x": random.random(150), "y": ["rare"] * count + ["no"] * (150 - count)})
    comparison = compare(frame, ["majority class"], target="y", resampling="2-fold", progress=False)
    text = " ".join(str(comparison).split())
    assert "compared by the area under the ROC curve" in text
    assert (f"There are only {count} of them: the intervals are too narrow" in text) is few


class Contrary:
    """Predicts another class than its probabilities do, as a support vector machine may."""

    classes_ = np.array(["no", "yes"])

    def predict(self, X):
        return np.array(["no"] * len(X))

    def predict_proba(self, X):
        return np.column_stack([np.full(len(X), 0.4), np.full(len(X), 0.6)])


def test_the_probability_explained_is_that_of_the_prediction(model_file):
    card = load_model(model_file).card
    row = customers(5, seed=11).drop(columns="churned").iloc[0]
    explained = explain_row(card, Contrary(), row)
    assert (explained.prediction, explained.value) == ("no", 0.4)


def test_a_study_for_a_table(folder, capsys, monkeypatch):
    monkeypatch.chdir(folder)
    text = verulam(capsys, "init", "patients.csv", "--target", "diagnosis")
    assert text == "Wrote patients.toml. Next: verulam plan patients.toml"
    plan = make_plan(read_study("patients.toml"))
    assert plan.study.data[0].groups == "patient"
    assert plan.data[0].groups is not None
    assert "gradient boosting" in {choice.learner for choice in plan.study.learners}
    assert "patient has 120 values" in (folder / "patients.toml").read_text().replace("\n# ", " ")
    verulam(capsys, "init", "customers.csv", "--target", "churned")
    assert as_measure(read_study("customers.toml").measures[0]).name == "auc"
    verulam(capsys, "init", "houses.csv", "--target", "price")
    assert read_study("houses.toml").question == "What predicts price best?"
    assert "is already there" in verulam(capsys, "init", "houses.csv", "--target", "price", code=2)
    (folder / "houses.toml").unlink()
    words = verulam(capsys, "init", "houses.csv", code=2)
    assert "--target: name the column of houses.csv to predict, one of area, rooms" in words


def test_shuffling_a_useless_column_costs_nothing(tmp_path):
    random = np.random.default_rng(3)
    frame = pd.DataFrame(random.random((120, 3)), columns=["strong", "weak", "none"])
    frame["y"] = 5 * frame["strong"] + frame["weak"] + 0.1 * random.normal(size=120)
    comparison = compare(
        frame, ["mean predictor", "linear regression"], target="y", resampling="5-fold",
        store=tmp_path / "s.sqlite", progress=False,
    )  # fmt: skip
    results = comparison.analysis.results
    made = finalise(results, path=tmp_path / "m.skops", source=frame)
    costs = {row["column"]: row["mean"] for row in made.card.importances}
    assert list(costs)[:2] == ["strong", "weak"]
    assert abs(costs["none"]) < 0.02 < costs["weak"] < costs["strong"]
    explained = made.explain({"strong": 0.9, "weak": 0.5, "none": 0.5})
    assert explained.table.index[0] == "strong"
    assert not explained.by_probability
    assert "strong = 0.9 raises it: with" in str(explained)
