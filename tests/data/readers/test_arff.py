"""read_arff: types, quoting, sparse rows, weights, and errors with file, line and column."""

import gzip

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose
from scipy.io import arff

from verulam.base import DataError
from verulam.data import read_arff

HEADER = """% a comment
@RELATION 'my data'

@ATTRIBUTE size REAL
@attribute\tcount\tinteger
@attribute 'the colour' {red, 'dark green', "it's"}
@attribute note string
@attribute day date "yyyy-MM-dd HH:mm"
@DATA
"""


@pytest.fixture
def write(tmp_path):
    def writer(text, name="table.arff"):
        path = tmp_path / name
        path.write_text(text)
        return path

    return writer


def test_all_types(write):
    data = read_arff(write(HEADER + '1.5,2,red,"a, b","2024-02-29 12:30"\n% c\n?,3,"it\'s",?,?\n'))
    assert data.name == "my data"
    assert data.kinds == {
        "size": "numeric",
        "count": "numeric",
        "the colour": "categorical",
        "note": "text",
        "day": "date",
    }
    assert data.table["the colour"].cat.categories.tolist() == ["red", "dark green", "it's"]
    assert data.table["the colour"].tolist() == ["red", "it's"]
    assert data.table["note"][0] == "a, b"
    assert data.table["day"][0] == pd.Timestamp("2024-02-29 12:30")
    assert data.table["count"].dtype == np.int64
    assert data.missing == {"size": 1, "note": 1, "day": 1}


def test_sparse_rows_mean_zero_and_the_first_level(write):
    data = read_arff(write(HEADER + "{0 1.5, 2 'dark green'}\n{}\n{1 7, 4 '2024-01-01 00:00'}\n"))
    assert_allclose(data.table["size"], [1.5, 0, 0])
    assert_allclose(data.table["count"], [0, 0, 7])
    assert data.table["the colour"].tolist() == ["dark green", "red", "red"]
    assert data.missing == {"note": 3, "day": 2}


def test_weights_become_an_ignored_column(write):
    text = "@relation r\n@attribute a numeric\n@data\n1, {2.5}\n2\n{0 3}, {4}\n"
    data = read_arff(write(text))
    assert_allclose(data.table["instance_weight"], [2.5, 1, 4])
    assert data.roles == {"a": "input", "instance_weight": "ignored"}


def test_agrees_with_scipy(write):
    random = np.random.default_rng(0)
    rows = [
        f"{x!r},{str(random.choice(['a', 'b c']))!r},{random.integers(9)}"
        for x in random.normal(size=50).tolist()
    ]
    path = write(
        "@relation r\n@attribute x numeric\n@attribute k {a,'b c'}\n@attribute n integer\n@data\n"
        + "\n".join(rows)
    )
    expected = pd.DataFrame(arff.loadarff(path)[0])
    table = read_arff(path).table
    assert_allclose(table["x"], expected["x"], rtol=0)
    assert_allclose(table["n"], expected["n"])
    assert table["k"].tolist() == expected["k"].str.decode("utf-8").tolist()


def test_gzip(tmp_path):
    path = tmp_path / "table.arff.gz"
    path.write_bytes(gzip.compress(b"@relation r\n@attribute a numeric\n@data\n1\n"))
    assert read_arff(path).n_rows == 1


@pytest.mark.parametrize(
    ("row", "problem"),
    [
        ("1,2,purple,x,?", r"line 10: column 'the colour': 'purple' is not one of \{red,"),
        ("1,2,red", r"line 10: expected 5 fields, found 3"),
        ("1,2,red,x,?,6", r"line 10: expected 5 fields, found 6"),
        ("one,2,red,x,?", r"line 10: column 'size': 'one' is not a number"),
        ("1,2,red,x,yesterday", r"line 10: column 'day': 'yesterday' is not a date"),
        ("1,2,red,'x,?", r"line 10: .*quote left open"),
        ("{0 1, 2 red", r"line 10: the brace of this sparse row is not closed"),
        ("{9 1}", r"line 10: column number 9 is beyond the last, 4"),
        ("{a b}", r"line 10: expected a column number"),
        ("1,2,red,x,?, {w}", r"line 10: the weight 'w' is not a number"),
    ],
)
def test_bad_rows(write, row, problem):
    with pytest.raises(DataError, match=rf"table\.arff, {problem}"):
        read_arff(write(HEADER + row + "\n"))


@pytest.mark.parametrize(
    ("header", "problem"),
    [
        ("@attribute a {x, y\n@data\nx\n", r"line 1: column 'a': the brace .* not closed"),
        ("@attribute 'a numeric\n@data\n1\n", r"line 1: expected a name.*quote left open"),
        ("@attribute a wibble\n@data\n1\n", r"line 1: column 'a' has the type 'wibble'; accepted"),
        ("@attribute a {x,x}\n@data\nx\n", r"line 1: column 'a': its levels are empty or repeat"),
        (
            "@attribute a real\n@attribute a real\n@data\n1,1\n",
            r"line 2: Duplicate column names: a",
        ),
        ("@attribute a date QQ\n@data\n1\n", r"line 1: column 'a': 'QQ' in the date format"),
        ("@relation r\n@data\n1\n", r"line 2: there are no attributes"),
        ("a,b\n1,2\n", r"line 1: expected @relation, @attribute or @data"),
    ],
)
def test_bad_headers(write, header, problem):
    with pytest.raises(DataError, match=rf"table\.arff, {problem}"):
        read_arff(write(header))


def test_no_rows_and_no_data(write):
    with pytest.raises(DataError, match="a header and no rows"):
        read_arff(write("@relation r\n@attribute a real\n@data\n% nothing\n"))
    with pytest.raises(DataError, match="line 2: the header ends without @data"):
        read_arff(write("@relation r\n@attribute a real\n"))
