"""What is put between a table and a learner."""

import numpy as np
import pandas as pd
import pytest
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.dummy import DummyClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline

from verulam.base import DataError
from verulam.experiment._study.preparation import prepared, usable_inputs
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


def test_text_and_dates_are_left_out_with_a_notice():
    table = pd.DataFrame(
        {"x": [1.0, 2.0], "truth": [True, False], "note": ["one", "two"], "paid": ["4 %", "5 %"],
         "day": pd.to_datetime(["2020-01-01", "2020-01-02"])}
    )  # fmt: skip
    kept, notices = usable_inputs(table)
    assert list(kept.columns) == ["x", "truth"]
    assert isinstance(kept["truth"].dtype, pd.CategoricalDtype)
    words = "note, paid (looks like numbers, written as '4 %'), day."
    assert notices == (f"Text and date columns are left out: {words}",)
    with pytest.raises(DataError, match="nothing to learn from"):
        usable_inputs(table[["note"]])


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
