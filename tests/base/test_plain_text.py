"""Words from data: shown, never obeyed."""

import io

import numpy as np
import pandas as pd
import pytest

from verulam.base import (
    DataError,
    UnknownNameError,
    markdown_text,
    spreadsheet_table,
    spreadsheet_text,
    visible_text,
    warn_caller,
)

RED = "\x1b[31mred\x1b[0m"


@pytest.mark.parametrize("sign", ["\x1b", "\x07", "\x08", "\r", "\x7f", "\x9b", "\u202e", "\u2066"])
def test_control_characters_are_spelled_out(sign):
    assert visible_text(f"a{sign}b") == f"a{ascii(sign)[1:-1]}b"


def test_plain_words_stay():
    for words in ("a\tb\nc", "Zo\u00eb \u4e2d\u6587 \U0001f600", "a\\x1b"):
        assert visible_text(words) == words


def test_errors_and_warnings():
    assert str(DataError(f"no {RED}")) == r"no \x1b[31mred\x1b[0m"
    assert str(UnknownNameError(f"no {RED}")) == r"no \x1b[31mred\x1b[0m"
    with pytest.warns(UserWarning, match=r"^\\x1b\[31mred"):
        warn_caller(RED, UserWarning)


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("**bold** _it_ `code`", r"\*\*bold\*\* \_it\_ \`code\`"),
        ("n_neighbors=5", "n_neighbors=5"),
        ("![x](http://a.example/b.png)", r"!\[x\](http://a.example/b.png)"),
        ("<script>a && b</script>", "&lt;script&gt;a &amp;&amp; b&lt;/script&gt;"),
        ("a|b\n\n# heading", r"a\|b # heading"),
        (RED, r"\\x1b\[31mred\\x1b\[0m"),
    ],
)
def test_markdown(words, expected):
    assert markdown_text(words) == expected


@pytest.mark.parametrize(
    "cell", ["=1+1", "+a", "-a", "@sum(A1)", "\t=1", " =1", "-1+cmd|' /C calc'!A0"]
)
def test_formulas_become_texts(cell):
    assert spreadsheet_text(cell) == f"'{cell}"


@pytest.mark.parametrize("cell", ["-5", "+1.5e3", "-.5", "-inf", "a=b", "", -5, -5.0, None, True])
def test_numbers_and_plain_texts_stay(cell):
    assert spreadsheet_text(cell) is cell


def test_tables():
    table = pd.DataFrame(
        {
            "=name": ["=a", None, "b"],
            "kind": pd.Categorical(["@x", "y", "@x"]),
            "size": [-1.5, 2.0, np.nan],
            "count": [-1, 2, 3],
        },
        index=pd.Index(["+r", "s", "t"], name="-row"),
    )
    written = pd.read_csv(io.StringIO(spreadsheet_table(table).to_csv()))
    assert list(written) == ["'-row", "'=name", "kind", "size", "count"]
    assert written["'-row"].tolist() == ["'+r", "s", "t"]
    assert written["'=name"].isna().tolist() == [False, True, False]
    assert written["kind"].tolist() == ["'@x", "y", "'@x"]
    assert written["count"].tolist() == [-1, 2, 3]
    np.testing.assert_array_equal(written["size"], table["size"])
    assert table.columns[0] == "=name"
    assert table["=name"].iloc[0] == "=a"


def test_an_index_of_several_levels():
    table = pd.DataFrame({"v": [1]}, index=pd.MultiIndex.from_tuples([("=a", "b")]))
    assert spreadsheet_table(table).index[0] == ("'=a", "b")
