"""What a table must have, and how it is told where it does not."""

import datetime as dt

import numpy as np
import pandas as pd
import pytest

from verulam.base import DataError
from verulam.data import dataset
from verulam.experiment import ModelCard
from verulam.experiment._final.card import ColumnCard
from verulam.experiment._final.columns import (
    check_names,
    gap_counts,
    model_inputs,
    outside_counts,
    unseen_counts,
)


@pytest.fixture
def card(finished):
    return finished.made.card


@pytest.fixture
def table():
    return dataset("penguins").inputs.head(5).copy()


def with_inputs(card, *columns, accepts_missing=False):
    content = card.to_dict() | {"accepts_missing": accepts_missing}
    content["columns"] = [column.__dict__ for column in columns]
    return ModelCard.from_dict(content)


def test_the_same_table_comes_back(card, table):
    turned = table[table.columns[::-1]].astype(object)
    inputs = model_inputs(turned, card)
    expected = table.astype({c.name: float for c in card.inputs if c.kind == "numeric"})
    pd.testing.assert_frame_equal(inputs, expected)


def test_a_missing_column_is_named_with_the_nearest(card, table):
    names = list(table.rename(columns={"bill_length_mm": "bill_lenght_mm"}).columns)
    message = r"new\.csv lacks the column 'bill_length_mm' \(nearest: 'bill_lenght_mm'\)"
    with pytest.raises(DataError, match=message):
        check_names(names, card, source="new.csv")


def test_missing_columns_are_all_named(card):
    with pytest.raises(DataError, match=r"lacks the columns 'island', .* and 2 more, which"):
        check_names(["species"], card)


def test_extra_columns_are_told_but_known_ones_are_not(card, table):
    assert check_names([*table.columns, "species", "colour"], card) == ["colour"]


def test_a_column_that_is_there_twice(card, table):
    with pytest.raises(DataError, match="'island' is there twice"):
        check_names([*table.columns, "island"], card)


def test_words_in_a_column_of_numbers(card, table):
    table["body_mass_g"] = ["4000", "heavy", "3000", "3000", "3000"]
    message = r"new\.csv, column 'body_mass_g', row 102: 'heavy' is not a number"
    with pytest.raises(DataError, match=message):
        model_inputs(table, card, first_row=101, source="new.csv")


@pytest.mark.parametrize("value", [np.inf, "inf", "-Infinity"])
def test_infinity_is_no_number(card, table, value):
    table["body_mass_g"] = value
    with pytest.raises(DataError, match=rf"row \d: '?{value}'? is not a finite number"):
        model_inputs(table, card)


def test_unseen_categories(card, table):
    table["island"] = ["Biscoe", "Biscoe", "Bisco", "Dream", None]
    message = r"column 'island', row 3: 'Bisco' is none of the categories .* Nearest: Biscoe"
    with pytest.raises(DataError, match=message):
        model_inputs(table, card)
    taken = model_inputs(table, card, unseen="missing")["island"]
    assert taken.isna().tolist() == [False, False, True, False, True]
    with pytest.raises(DataError, match=r"unseen: 'ignore'; expected refuse or missing"):
        model_inputs(table, card, unseen="ignore")


def test_gaps_where_the_model_knows_none(card, table):
    column = ColumnCard("body_mass_g", "input", "numeric", (), 1.0, 9000.0)
    table.loc[2, "body_mass_g"] = np.nan
    with pytest.raises(DataError, match=r"column 'body_mass_g', row 3: is missing"):
        model_inputs(table, with_inputs(card, column))
    model_inputs(table, with_inputs(card, column, accepts_missing=True))


@pytest.mark.parametrize("values", [[1, 2, 1], [1.0, 2.0, 1.0], ["1", "2.0", "1"]])
def test_categories_that_are_numbers_are_found_however_written(card, values):
    column = ColumnCard("code", "input", "categorical", (1, 2, 3))
    inputs = model_inputs(pd.DataFrame({"code": values}), with_inputs(card, column))
    assert inputs["code"].tolist() == [1, 2, 1]
    assert inputs["code"].cat.categories.tolist() == [1, 2, 3]


@pytest.mark.parametrize("values", [[True, False], ["True", "false"], ["yes", "NO"], [1, 0]])
def test_truth_values_are_found_however_written(card, values):
    column = ColumnCard("paid", "input", "categorical", (False, True))
    inputs = model_inputs(pd.DataFrame({"paid": values}), with_inputs(card, column))
    assert inputs["paid"].tolist() == [True, False]


def test_dates_as_they_were_written(card):
    day = ColumnCard("day", "input", "date", form="%d/%m/%Y")
    known = with_inputs(card, day)
    table = pd.DataFrame({"day": ["03/04/2024", " 29/02/2024 "]})
    days = model_inputs(table, known)["day"]
    assert days.dt.strftime("%Y-%m-%d").tolist() == ["2024-04-03", "2024-02-29"]
    message = "'day', row 1: '2024-04-03' is not a date such as 29/02/2024"
    with pytest.raises(DataError, match=message):
        model_inputs(pd.DataFrame({"day": ["2024-04-03"]}), known)


def test_order_of_levels_is_kept(card):
    column = ColumnCard("size", "input", "ordinal", ("small", "large"))
    inputs = model_inputs(pd.DataFrame({"size": ["large", "small"]}), with_inputs(card, column))
    assert inputs["size"].cat.ordered
    assert inputs["size"].max() == "large"


def test_values_outside_of_what_was_seen_are_counted(card, table):
    table["body_mass_g"] = [1.0, 4000.0, 1e6, 2700.0, np.nan]
    inputs = model_inputs(table, card)
    assert outside_counts(inputs, card)["body_mass_g"] == 2
    assert outside_counts(inputs, card)["year"] == 0


def test_gaps_that_the_model_knows_none_of_may_be_filled(card):
    columns = [
        ColumnCard("size", "input", "categorical", ("large", "small"), typical="large"),
        ColumnCard("sum", "input", "numeric", low=0.0, high=9.0, typical=4.0),
        ColumnCard("day", "input", "date", typical="2024-02-29"),
        ColumnCard("at", "input", "numeric", form=":", typical=12.5),
    ]
    known = with_inputs(card, *columns)
    table = pd.DataFrame(
        {
            "size": ["small", None],
            "sum": [None, 2],
            "day": ["2024-01-01", None],
            "at": ["07:30", None],
        }
    )
    with pytest.raises(DataError, match=r"'size', row 2: is missing; .*--missing typical"):
        model_inputs(table, known)
    inputs = model_inputs(table, known, missing="typical")
    assert inputs["size"].tolist() == ["small", "large"]
    assert inputs["sum"].tolist() == [4.0, 2.0]
    assert inputs["day"].tolist() == [pd.Timestamp(2024, 1, 1), pd.Timestamp(2024, 2, 29)]
    assert inputs["at"].tolist() == [7.5, 12.5]
    assert gap_counts(table, known) == {"size": 1, "sum": 1, "day": 1, "at": 1}
    with pytest.raises(DataError, match="missing: 'some'; expected refuse or typical"):
        model_inputs(table, known, missing="some")


def test_times_and_spans_as_the_table_has_them(card):
    columns = [
        ColumnCard("at", "input", "numeric", form=":"),
        ColumnCard("for", "input", "numeric"),
    ]
    known = with_inputs(card, *columns)
    table = pd.DataFrame({"at": [dt.time(5, 30)], "for": pd.to_timedelta(["36h"])})
    assert model_inputs(table, known).to_numpy().tolist() == [[5.5, 1.5]]
    with pytest.raises(DataError, match="'soon' is not a time such as 14:05"):
        model_inputs(table.assign(at=["soon"]), known)


def test_an_unseen_category_that_cannot_be_missing_is_named(card):
    known = with_inputs(card, ColumnCard("size", "input", "categorical", ("large", "small")))
    given = pd.DataFrame({"size": ["small", "huge"]})
    message = r"row 2: 'huge' is unseen, taken for missing; the model was made from complete rows"
    with pytest.raises(DataError, match=message):
        model_inputs(given, known, unseen="missing")
    column = ColumnCard("size", "input", "categorical", ("large", "small"), typical="large")
    taken = model_inputs(given, with_inputs(card, column), unseen="missing")["size"]
    assert taken.tolist() == ["small", "large"]
    assert unseen_counts(given, with_inputs(card, column)) == {"size": 1}
