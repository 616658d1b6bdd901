"""What is put between a table and a learner."""

import numpy as np
import pandas as pd
import pytest
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.dummy import DummyClassifier
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.pipeline import make_pipeline
from sklearn.svm import SVR

from verulam.experiment._preparation.preparation import (
    DateParts,
    TextComponents,
    becomes,
    prepared,
    usable_inputs,
)
from verulam.parametric import GaussianClassifier, NaiveBayes


@pytest.fixture
def mixed():
    return pd.DataFrame(
        {
            "number": [1.0, 2.0, np.nan, 4.0],
            "category": pd.Categorical(["a", "b", None, "a"]),
        }
    )


def test_numbers_are_filled_with_the_median_and_scaled(mixed):
    table = prepared(LogisticRegression(), mixed).estimator[0].fit_transform(mixed)
    filled = np.array([1.0, 2.0, 2.0, 4.0])
    np.testing.assert_allclose(table[:, 0], (filled - filled.mean()) / filled.std())
    np.testing.assert_array_equal(table[:, 1:], [[1, 0], [0, 1], [1, 0], [1, 0]])


def test_statistics_come_from_the_training_rows_alone(mixed):
    pipeline = prepared(LogisticRegression(), mixed).estimator
    pipeline.fit(mixed[:2], [0, 1])
    later = pd.DataFrame({"number": [1e6], "category": pd.Categorical(["c"])})
    table = pipeline[0].transform(later)
    # Mean 1.5 and spread 0.5 of the two training rows; a category that is new has no column.
    np.testing.assert_allclose(table, [[(1e6 - 1.5) / 0.5, 0, 0]])


def test_a_column_without_a_single_value():
    empty = pd.DataFrame({"number": [1.0, 2.0], "void": [np.nan, np.nan]})
    table = prepared(LogisticRegression(), empty).estimator[0].fit_transform(empty)
    assert table.shape == (2, 2)
    assert np.isfinite(table).all()


@pytest.mark.parametrize("learner", [NaiveBayes(), DummyClassifier()])
def test_learners_that_can_use_the_table_get_it(learner, mixed):
    assert prepared(learner, mixed).estimator is learner


def test_scaling_can_be_left_out():
    numbers = pd.DataFrame({"x": [1.0, 2.0]})
    learner = LogisticRegression()
    assert prepared(learner, numbers, scale=False).estimator is learner
    assert prepared(learner, numbers).words == "numbers scaled"


def test_words_without_gaps():
    table = pd.DataFrame({"c": pd.Categorical(["a", "b"])})
    assert prepared(LogisticRegression(), table).words == "categories one-hot encoded"


@pytest.mark.parametrize("learner", [GaussianClassifier(), LinearDiscriminantAnalysis()])
def test_columns_whose_covariance_is_inverted_do_not_depend_on_one_another(learner):
    table = pd.DataFrame(
        {"c": pd.Categorical(["a", "b", "c", "a"]), "d": pd.Categorical(["u", "v", "v", "u"])}
    )
    ready = prepared(learner, table)
    assert ready.words == "categories one-hot encoded (the first left out)"
    encoded = ready.estimator[0].fit_transform(table)
    np.testing.assert_array_equal(encoded, [[0, 0, 0], [1, 0, 1], [0, 1, 1], [0, 0, 0]])
    assert list(ready.estimator[0].get_feature_names_out()) == [
        "categories__c_b", "categories__c_c", "categories__d_v"
    ]  # fmt: skip
    # What is new is taken for the first, without a warning.
    new = pd.DataFrame({"c": pd.Categorical(["z"]), "d": pd.Categorical(["v"])})
    np.testing.assert_array_equal(ready.estimator[0].transform(new), [[0, 0, 1]])


def a_table(n_rows=60, seed=0):
    """Return numbers, ordered words, categories, dates, texts and many towns, gaps in most."""
    random = np.random.default_rng(seed)
    days = pd.Timestamp("2020-03-01") + pd.to_timedelta(random.integers(0, 900, n_rows), unit="D")
    sizes = random.choice(["small", "medium", "large"], n_rows)
    table = pd.DataFrame(
        {
            "x": random.normal(size=n_rows),
            "size": pd.Categorical(sizes, ["small", "medium", "large"], ordered=True),
            "colour": pd.Categorical(random.choice(["red", "blue"], n_rows)),
            "day": days,
            "note": [f"story {number} of {word}" for number, word in enumerate(sizes)],
            "town": random.choice([f"town {number}" for number in range(12)], n_rows),
        }
    )
    for place, name in enumerate(table.columns):
        table.loc[place, name] = None
    return table


def test_every_kind_of_column_becomes_numbers():
    table = a_table()
    ready = prepared(Ridge(), table)
    assert ready.words == (
        "numbers imputed (median) and scaled, ordered categories imputed (median) and by rank, "
        "categories imputed (mode) and one-hot encoded, dates as time and season, repeated words "
        "by their mean target, texts as components"
    )
    y = np.arange(60.0)
    ready.estimator.fit(table, y)
    numbers = ready.estimator[:-1].transform(table)
    assert np.isfinite(numbers).all()
    # x, rank, two colours, eight parts of a date, one mean, two texts of up to 30 components.
    assert 1 + 1 + 2 + 8 + 1 + 30 < numbers.shape[1] <= 1 + 1 + 2 + 8 + 1 + 60
    ranks = numbers[:, 1]
    levels = [ranks[(table["size"] == word).to_numpy()] for word in ("small", "medium", "large")]
    assert levels[0].max() < levels[1].min() <= levels[1].max() < levels[2].min()
    # What was never seen, and nothing at all, can be predicted too.
    new = a_table(5, seed=1).assign(town="elsewhere", note=None, day=pd.NaT)
    assert np.isfinite(ready.estimator.predict(new.astype(table.dtypes.to_dict()))).all()


def test_learners_of_categories_get_them_beside_dates_and_texts():
    table = a_table()
    ready = prepared(NaiveBayes(), table, scale=False)
    assert ready.words == (
        "the table as it is but for dates as time and season, repeated words by their mean target, "
        "texts as components"
    )
    ready.estimator.fit(table, np.repeat(["a", "b"], 30))
    inputs = ready.estimator[:-1].transform(table)
    assert isinstance(inputs["colour"].dtype, pd.CategoricalDtype)
    assert inputs["x"].isna().sum() == 1
    assert {"day_total_seconds", "day_weekday_circular_0", "note_00"} <= set(inputs.columns)


def test_dates_stand_on_circles_and_count_hours_where_there_are_any():
    days = pd.DataFrame({"day": pd.to_datetime(["2023-12-31", "2024-01-01", "2024-07-01"])})
    parts = DateParts().fit(days)
    names = list(parts.get_feature_names_out())
    months = parts.transform(days)[:, [names.index(f"day_month_circular_{k}") for k in (0, 1)]]
    assert np.linalg.norm(months[0] - months[1]) < np.linalg.norm(months[0] - months[2]) / 3
    assert not any("hour" in name for name in names)
    timed = pd.DataFrame({"day": pd.to_datetime(["2023-12-31 10:00", "2024-01-01 22:00"])})
    assert any("hour" in name for name in DateParts().fit(timed).get_feature_names_out())


def test_targets_of_support_vectors_are_scaled():
    table = pd.DataFrame({"x": np.linspace(0, 1, 40)})
    ready = prepared(SVR(), table)
    assert ready.words == "numbers scaled, targets scaled"
    assert ready.prefix == "transformedtargetregressor__regressor__"
    assert f"{ready.prefix}C" in ready.estimator.get_params()
    price = 1e6 * (1 + table["x"])
    predicted = ready.estimator.fit(table, price).predict(table)
    assert np.abs(predicted / price - 1).max() < 0.1
    # An estimator of the user's own is left as it is.
    assert prepared(SVR(), table, scale=False).estimator.__class__ is SVR


def test_identifiers_are_left_out_with_a_notice():
    table = pd.DataFrame({"id": range(30), "x": np.linspace(0, 1, 30) ** 2, "y": "constant"})
    kept, notices = usable_inputs(table)
    assert list(kept.columns) == ["x"]
    assert notices == (
        "id only names the rows, and is left out; keep (--keep of a command) brings it back.",
        "Columns with one value alone are left out: y.",
    )
    assert list(usable_inputs(table, ["id"])[0].columns) == ["id", "x"]
    # What alone is there is used.
    assert list(usable_inputs(table[["id"]])[0].columns) == ["id"]


def test_texts_that_look_like_something_else_are_told():
    table = pd.DataFrame({"x": [1.0, 2.0, 3.0], "paid": ["4.2", "5", "unknown"]})
    assert usable_inputs(table)[1] == (
        "Read as text: paid (looks like numbers, but for 'unknown').",
    )


def test_what_columns_become():
    table = a_table()
    assert {name: becomes(table[name]) for name in table} == {
        "x": "as it is, scaled",
        "size": "its rank",
        "colour": "2 columns of 0 and 1",
        "day": "time passed, season, weekday",
        "note": "30 components",
        "town": "30 components, mean target",
    }


@pytest.mark.parametrize(
    ("how", "expected"),
    [
        ("unscaled", [1.0, 2.0, 2.0, 4.0]),
        ("unit range", [0.0, 1 / 3, 1 / 3, 1.0]),
    ],
)
def test_other_ways_to_prepare(mixed, how, expected):
    table = prepared(LogisticRegression(), mixed, how=how).estimator[0].fit_transform(mixed)
    np.testing.assert_allclose(table[:, 0], expected)


def test_ranks_forget_how_far_numbers_are_apart():
    powers = pd.DataFrame({"x": 2.0 ** np.arange(40)})
    table = prepared(LogisticRegression(), powers, how="ranks").estimator[0].fit_transform(powers)
    np.testing.assert_allclose(np.sort(table[:, 0]), table[:, 0])
    np.testing.assert_allclose(table[[0, -1], 0], [0, 1])
    assert 0.4 < table[20, 0] < 0.6


def test_ways_that_ask_for_it_prepare_in_any_case(mixed):
    numbers = mixed[["number"]].fillna(0.0)
    assert prepared(NaiveBayes(), numbers, how="unit range").words == (
        "numbers brought between 0 and 1"
    )
    assert prepared(NaiveBayes(), numbers, how="unscaled").words == "the table as it is"
    pipeline = make_pipeline(LogisticRegression())
    assert prepared(pipeline, numbers).estimator is pipeline
    assert prepared(pipeline, numbers, how="standardised").estimator is not pipeline


def test_truths_words_and_gaps_are_prepared_together():
    random = np.random.default_rng(0)
    table = pd.DataFrame(
        {
            "age": random.normal(size=60),
            "member": random.random(60) < 0.5,
            "city": random.choice(["a", "b"], 60),
            "code": pd.Categorical(random.integers(0, 3, 60)),
        }
    )
    table["city"] = table["city"].astype("category")
    table.loc[3, "age"] = np.nan
    table.loc[[5, 6], "city"] = np.nan
    inputs, _ = usable_inputs(table)
    classes = random.choice(["p", "q"], 60)
    ready = prepared(LogisticRegression(), inputs).estimator
    assert ready.fit(inputs, classes).predict(inputs).shape == (60,)
    # One age, and a column for each of two truths, two cities and three codes.
    assert ready[-1].coef_.shape == (1, 8)


def test_columns_of_one_value_are_left_out_with_a_notice():
    table = pd.DataFrame({"x": [1.0, 2.0], "c": [3.0, 3.0], "k": pd.Categorical(["a", "a"])})
    kept, notices = usable_inputs(table)
    assert list(kept.columns) == ["x"]
    assert notices == ("Columns with one value alone are left out: c, k.",)
    gaps = pd.DataFrame({"x": [1.0, 2.0], "c": [3.0, None]})
    assert list(usable_inputs(gaps)[0].columns) == ["x", "c"]
    assert list(usable_inputs(table[["c", "k"]])[0].columns) == ["c", "k"]


@pytest.mark.parametrize("texts", [[None, "", " "], ["same", "same", "same"]])
def test_texts_that_tell_nothing(texts):
    """As in a training split that has none of them."""
    table = pd.DataFrame({"note": pd.Series(texts, dtype=object)})
    encoder = TextComponents().fit(table)
    later = encoder.transform(pd.DataFrame({"note": ["now there is one", ""]}))
    assert len(later) == 2
    assert np.isfinite(later).all()
