"""Numbers, dates and words as people write them."""

import numpy as np
import pandas as pd
import pytest

from verulam.data import Dataset, same_word, written_numbers
from verulam.data._table.written_values import (
    date_formats,
    join_spellings,
    read_dates,
    read_numbers,
    scale_of,
)


@pytest.mark.parametrize(
    ("texts", "numbers", "decimal"),
    [
        (["£232,117.20", "£1,000"], [232117.2, 1000.0], "."),
        (["4.211,54", "87,10", "5,00"], [4211.54, 87.1, 5.0], ","),
        (["12%", "7.5 %"], [12.0, 7.5], "."),
        (["80 kg", "75.5 kg"], [80.0, 75.5], "."),
        (["1,234", "12,345"], [1234.0, 12345.0], "."),
        (["€1.234", "€12.345"], [1234.0, 12345.0], ","),
        (["1.234 kg", "2.5 kg"], [1.234, 2.5], "."),
        (["1,5", "2,75"], [1.5, 2.75], ","),
        (["(1,200.50)", "300.00"], [-1200.5, 300.0], "."),
        (["-£5.00", "£3.00"], [-5.0, 3.0], "."),
        (["USD 100", "USD 1,200"], [100.0, 1200.0], "."),
        (["1 234,5", "3,25"], [1234.5, 3.25], ","),
        (["5'000", "10'000"], [5000.0, 10000.0], "."),
        (["−5 °C", "3 °C"], [-5.0, 3.0], "."),
        (["60 km/h", "80 km/h"], [60.0, 80.0], "."),
        (["0,125", "1,250"], [0.125, 1.25], ","),  # no thousands begin with 0
        (["€0.125", "€1.250"], [0.125, 1.25], "."),
        (["1\u2009234", "5\u2009678 "], [1234.0, 5678.0], "."),
        (["12 345", "1 999"], [12345.0, 1999.0], "."),
    ],
)
def test_numbers_as_people_write_them(texts, numbers, decimal):
    reading = read_numbers(pd.Series([texts[0], None, *texts[1:]]))
    assert reading.values.tolist()[0] == numbers[0]
    assert np.isnan(reading.values.iloc[1])
    assert reading.values.tolist()[2:] == numbers[1:]
    assert reading.form[0] == decimal
    assert written_numbers(pd.Series(texts), reading.form).tolist() == numbers
    assert written_numbers(pd.Series(texts), decimal).tolist() == numbers


@pytest.mark.parametrize(
    "texts",
    [
        ["007", "012"],  # codes
        ["80 kg", "75 g"],  # units that differ
        ["10k", "2M"],
        ["10k", "20k"],
        ["1.5", "2,5"],  # which is the decimal sign?
        ["1,5", "1,234.5"],
        ["030 1234567", "040 22"],  # no groups of three
        ["12.03.2024", "13.04.2024"],
        ["12a", "12b"],
        ["1.2.3", "1.2.4"],
        ["about 5", "6"],
        ["£5", "free"],
        [""],
        ["INV-1001", "INV-1002"],  # codes, and no losses in a currency
        ["ABC123", "ABC124"],
        ["SKU 100", "SKU 200"],
        ["030 123 456", "040 987 654"],  # telephone numbers
        ["+48 123 456 789", "+48 987 654 321"],
        ["555 123 456", "555 987 654"],
        ["(1,2)", "(3,4)"],  # pairs
        ["(5,5", "3,1"],
        ["5,5)", "3,1)"],
        ["--5,5", "6,1"],
        ["1e3", "2e3"],  # powers of ten, and no unit e3
        ["1,5e3", "2,5e3"],
    ],
)
def test_what_is_no_number_stays_text(texts):
    assert read_numbers(pd.Series(texts)) is None


def test_another_unit_is_no_number():
    reading = read_numbers(pd.Series(["80 kg", "75.5 kg"]))
    assert reading.form == ".kg"
    read = written_numbers(pd.Series(["80 kg", "81", "500 g", "$5"]), reading.form)
    assert read.tolist() == [80.0, 81.0, "500 g", "$5"]


def test_numbers_beside_what_is_none():
    read = written_numbers(pd.Series(["1.200,50 €", 7.0, None, "n/a"], dtype=object), ",")
    assert read.tolist()[:2] == [1200.5, 7.0]
    assert pd.isna(read.iloc[2])
    assert read.iloc[3] == "n/a"


@pytest.mark.parametrize(
    ("texts", "first", "form"),
    [
        (["29/02/2024", "01/02/2024"], "2024-02-29", "%d/%m/%Y"),
        (["02/29/2024", "01/02/2024"], "2024-02-29", "%m/%d/%Y"),
        (["12.03.2024", "01.04.2024"], "2024-03-12", "%d.%m.%Y"),
        (["2024/03/01"], "2024-03-01", "%Y/%m/%d"),
        (["3 Mar 2024", "29 Feb 2024"], "2024-03-03", "%d %b %Y"),
        (["March 3, 2024"], "2024-03-03", "%B %d, %Y"),
        (["31/12/99"], "1999-12-31", "%d/%m/%y"),
        (["02/29/2024 2:30 PM", "01/02/2024 11:00 am"], "2024-02-29 14:30", "%m/%d/%Y %I:%M %p"),
        (["29/02/2024 10:30", "01/02/2024 11:00"], "2024-02-29 10:30", "%d/%m/%Y %H:%M"),
    ],
)
def test_dates_as_people_write_them(texts, first, form):
    reading = read_dates(pd.Series([*texts, None]))
    assert reading.values.iloc[0] == pd.Timestamp(first)
    assert reading.values.isna().tolist() == [False] * len(texts) + [True]
    assert reading.form == form
    assert read_dates(pd.Series(texts), form).values.iloc[0] == pd.Timestamp(first)


def test_a_day_that_may_be_a_month_is_not_guessed():
    texts = pd.Series(["01/02/2024", "03/04/2024"])
    assert read_dates(texts) is None
    assert date_formats(texts) == ["%d/%m/%Y", "%m/%d/%Y"]
    assert read_dates(pd.Series(["12-34-5678"])) is None
    # A birthday of 1945, and no day of 2045.
    assert read_dates(pd.Series(["31/12/45", "01/02/99"])) is None
    assert read_dates(pd.Series(["31.12.68", "01.02.03"])) is None
    assert read_dates(pd.Series(["31/12/29", "01/02/69"])).values.dt.year.tolist() == [2029, 1969]
    assert read_dates(pd.Series(["01/02/2024", "soon"]), "%d/%m/%Y") is None


def test_spellings_of_one_word():
    column = pd.Series(["Red", "red", "red", " red", "BLUE", "blue", None])
    reading = join_spellings(column)
    assert reading.values.tolist()[:6] == ["red"] * 4 + ["BLUE"] * 2
    assert pd.isna(reading.values.iloc[6])
    assert reading.note == "' red' and 'Red' read as 'red'; 'blue' read as 'BLUE'"
    assert join_spellings(pd.Series(["a", "b"])).note == ""
    # Short forms alone are categories like others.
    assert join_spellings(pd.Series(["Y", "N"])).note == ""
    answers = join_spellings(pd.Series(["Y", "Y", "N", "yes", "No"]))
    assert answers.values.tolist() == ["yes", "yes", "No", "yes", "No"]
    assert join_spellings(pd.Series(["T", "F", "true"])).values.tolist() == ["true", "F", "true"]
    answers = join_spellings(pd.Series(["J", "ja", "N", "nein"]))
    assert answers.values.tolist() == ["ja", "ja", "nein", "nein"]
    assert join_spellings(pd.Series(["o", "oui", "n", "non"])).values.nunique() == 2
    mixed = ["yes", "No", "Y", "TRUE", "0", "f"]
    assert join_spellings(pd.Series(mixed)).values.str.lower().tolist() == [
        "yes", "no", "yes", "yes", "no", "no"
    ]  # fmt: skip
    # Where one answer alone is written out, an F or a 1 may be something else.
    for words in (["N", "F", "no"], ["0", "1", "yes"], ["t", "1", "true"]):
        assert len(set(join_spellings(pd.Series(words)).values)) > 1
    assert same_word("F", {"m", "no"}) == "f"
    assert same_word("0", {"yes", "no", "1", "2"}) == "0"
    assert same_word("0", {"yes", "no"}) == "no"
    assert same_word("Y", {"yes", "no"}) == "yes"
    assert same_word("Y", {"y", "n"}) == "y"


def test_words_of_a_scale_are_ordered():
    assert scale_of(["high", "low", "medium"]) == ["low", "medium", "high"]
    assert scale_of(["XL", "S", "M"]) == ["S", "M", "XL"]
    assert scale_of(["low", "high"]) is None
    assert scale_of(["low", "medium", "high", "blue"]) is None


def test_a_table_as_people_have_it():
    frame = pd.DataFrame(
        {
            "price": ["£1,200.50", "£80.00", "£7.10", "£300.00"] * 5,
            "sold": ["29/02/2024", "01/02/2024", "03/02/2024", "07/06/2023"] * 5,
            "paid": ["Y", "no", "N", "yes"] * 5,
            "size": ["small", "large", "medium", "large"] * 5,
        }
    )
    data = Dataset.from_frame(frame, target="price")
    assert data.task == "regression"
    assert data.kinds == {
        "price": "numeric", "sold": "date", "paid": "categorical", "size": "ordinal",
    }  # fmt: skip
    assert data.forms == {"price": ".£", "sold": "%d/%m/%Y"}
    assert list(data.table["size"].cat.categories) == ["small", "medium", "large"]
    notes = data.summary()["note"]
    assert "numbers, written as '£1,200.50'" in notes["price"]
    assert "dates, written as '29/02/2024'" in notes["sold"]
    assert "'N' read as 'no'" in notes["paid"]
    assert "ordered: small < medium < large" in notes["size"]
    # Columns that are declared stay as they are.
    declared = Dataset.from_frame(frame, categorical=["paid", "price"])
    assert declared.table["paid"].nunique() == 4
    assert declared.kinds["price"] == "categorical"


def test_points_beside_a_decimal_comma_are_remarked(tmp_path):
    path = tmp_path / "prices.csv"
    path.write_text("price;amount;size\n1.234;1,5;1.1\n12.345;2,5;2.2\n7.251;3,5;3.3\n")
    hints = Dataset.from_frame(pd.read_csv(path, sep=";")).hints
    assert "read as decimal points, though other columns have decimal commas" in hints["price"]
    assert "size" not in hints
    path.write_text("price;amount\n1.234;1\n12.345;2\n7.251;3\n")
    assert Dataset.from_frame(pd.read_csv(path, sep=";")).hints == {}


def test_answers_written_in_several_ways_are_joined():
    mixed = pd.Series(["yes", "no", "Y", "N", "TRUE", "FALSE", "yes", "no"])
    reading = join_spellings(mixed)
    assert reading.values.tolist() == ["yes", "no"] * 4
    assert "'TRUE' and 'Y' read as 'yes'" in reading.note
    assert join_spellings(pd.Series(["yes", "no", "1", "0"])).values.tolist() == ["yes", "no"] * 2
    other = ["yes", "no", "1", "2"]
    assert join_spellings(pd.Series(other)).values.tolist() == other
