"""One step from a table to numbers: the same as scikit-learn's many, and odd tables."""

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.compose import ColumnTransformer
from sklearn.exceptions import NotFittedError
from sklearn.impute import SimpleImputer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler, OneHotEncoder, OrdinalEncoder, StandardScaler

from verulam.base import DataError
from verulam.experiment._preparation.table_encoder import TableEncoder

SIZES = ["small", "medium", "large"]


def a_table(n_rows=80, seed=0, gaps=True):
    random = np.random.default_rng(seed)
    table = pd.DataFrame(
        {
            "x": random.normal(3, 5, n_rows),
            "count": random.integers(0, 9, n_rows).astype(float),
            "size": pd.Categorical(random.choice(SIZES, n_rows), SIZES, ordered=True),
            "colour": pd.Categorical(random.choice(["red", "blue", "green"], n_rows)),
            "sure": pd.Categorical(random.choice([True, False], n_rows)),
            "ignored": random.normal(size=n_rows),
        }
    )
    if gaps:
        for name in table.columns[:-1]:
            table.loc[random.random(n_rows) < 0.2, name] = None
    return table


def an_encoder(**options):
    return TableEncoder(["x", "count"], ["size"], [SIZES], ["colour", "sure"], **options)


def by_many_steps(scaler, gaps):
    def filled(strategy):
        return [SimpleImputer(strategy=strategy, keep_empty_features=True)] if gaps else []

    ranks = OrdinalEncoder(
        categories=[SIZES], handle_unknown="use_encoded_value", unknown_value=np.nan
    )
    encoder = OneHotEncoder(handle_unknown="ignore", sparse_output=False)
    return ColumnTransformer(
        [
            ("numbers", make_pipeline(*filled("median"), clone(scaler)), ["x", "count"]),
            ("ordered", make_pipeline(ranks, *filled("median"), clone(scaler)), ["size"]),
            ("categories", make_pipeline(*filled("most_frequent"), encoder), ["colour", "sure"]),
        ]
    )


@pytest.mark.parametrize("gaps", [True, False])
@pytest.mark.parametrize("scaler", [StandardScaler(), MinMaxScaler(clip=True)])
def test_it_equals_scikit_learns_pipelines(scaler, gaps):
    table, later = a_table(gaps=gaps), a_table(30, seed=1, gaps=gaps)
    peer = by_many_steps(scaler, gaps)
    as_objects = {"colour": object, "sure": object}
    expected = peer.fit_transform(table.astype(as_objects))
    encoder = an_encoder(impute=gaps, scaler=scaler)
    np.testing.assert_allclose(encoder.fit_transform(table), expected, atol=1e-12)
    np.testing.assert_allclose(
        encoder.transform(later), peer.transform(later.astype(as_objects)), atol=1e-12
    )
    assert list(encoder.get_feature_names_out()) == list(peer.get_feature_names_out())


def test_fit_and_transform_are_fit_transform():
    table = a_table()
    encoder = an_encoder(impute=True, scaler=StandardScaler())
    one = clone(encoder).fit(table).transform(table)
    np.testing.assert_array_equal(one, encoder.fit_transform(table))
    # The order of the columns does not matter, nor whether words come as categories.
    shuffled = table[["sure", "ignored", "x", "size", "colour", "count"]]
    np.testing.assert_array_equal(encoder.transform(shuffled.astype({"colour": object})), one)


def test_the_first_of_equally_frequent_categories_fills_gaps():
    table = pd.DataFrame({"c": pd.Categorical(["b", "a", None, "a", "b"], ["b", "a"])})
    encoder = TableEncoder(categories=["c"], impute=True).fit(table)
    np.testing.assert_array_equal(encoder.transform(table[2:3]), [[1, 0]])
    unfilled = TableEncoder(categories=["c"]).fit(table)
    np.testing.assert_array_equal(unfilled.transform(table[1:3]), [[1, 0], [0, 0]])


def test_what_is_new_is_none_of_the_known():
    table = pd.DataFrame({"c": ["b", "a", "b"], "n": [1.0, 2.0, 3.0]})
    later = pd.DataFrame({"c": ["z", 3, "a"], "n": pd.array([4, None, 1], dtype="Int64")})
    encoder = TableEncoder(["n"], categories=["c"], impute=True).fit(table)
    np.testing.assert_array_equal(encoder.transform(later), [[4, 0, 0], [2, 0, 0], [1, 1, 0]])
    dropped = TableEncoder(["n"], categories=["c"], impute=True, drop_first=True).fit(table)
    np.testing.assert_array_equal(dropped.transform(later), [[4, 0], [2, 0], [1, 0]])
    assert list(dropped.get_feature_names_out()) == ["numbers__n", "categories__c_b"]


def test_categories_that_training_rows_lack_have_no_output():
    table = pd.DataFrame({"c": pd.Categorical(["a", "a", "b"], ["a", "b", "c"])})
    encoder = TableEncoder(categories=["c"]).fit(table[:2])
    assert encoder.transform(table).tolist() == [[1], [1], [0]]


def test_columns_of_gaps_alone():
    table = pd.DataFrame({"n": [np.nan, np.nan], "c": pd.Categorical([None, None])})
    encoder = TableEncoder(["n"], categories=["c"], impute=True, scaler=StandardScaler())
    np.testing.assert_array_equal(encoder.fit_transform(table), [[0, 1], [0, 1]])


def test_categories_of_different_kinds():
    table = pd.DataFrame({"c": ["x", 2, 1.5, True, None]})
    encoded = TableEncoder(categories=["c"]).fit_transform(table)
    assert encoded.sum(axis=1).tolist() == [1, 1, 1, 1, 0]


def test_odd_tables_are_refused_in_words():
    encoder = an_encoder()
    with pytest.raises(NotFittedError):
        encoder.transform(a_table())
    with pytest.raises(DataError, match="X must be a pandas DataFrame, not ndarray"):
        encoder.fit(np.zeros((3, 5)))
    encoder.fit(a_table())
    with pytest.raises(DataError, match=r"lacks columns that were there in training: x, sure\."):
        encoder.transform(a_table().drop(columns=["x", "sure"]))
    with pytest.raises(DataError, match="Column 'count' of X has an infinite value"):
        encoder.transform(a_table().replace({"count": {1.0: np.inf}}))
