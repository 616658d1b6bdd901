"""Hints on columns whose values say more than their dtype."""

import numpy as np
import pandas as pd
import pytest

from verulam.data._table.column_hints import hint


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        (["4.211,54", "87,10", "1.000.000,00"], "looks like numbers, written as '4.211,54'"),
        (["$4,211.54", "$87", "-$5"], "looks like numbers, written as '$4,211.54'"),
        (["87 %", "5 %", "100 %"], "looks like numbers, written as '87 %'"),
        (["4.2", "5", "unknown", "6", "7"], "looks like numbers, but for 'unknown'"),
        (
            ["1", "2", "3", "4", "5", "6", "a", "b", "c", "d"],
            "looks like numbers, but for 'a', 'b', 'c' and 1 others",
        ),
        (
            ["05.01.2020", "31.12.2021"],
            "looks like dates, which are read in the form 2024-02-29, not 05.01.2020",
        ),
        (["3 men in a boat", "4 weddings", "7 dwarfs"], ""),
        (["a", "b", "1"], ""),
        (["01067", "80331"], "codes of digits"),
    ],
)
def test_texts(values, expected):
    assert hint(pd.Series(values), "text") == expected


def test_consecutive_numbers_count_the_rows():
    assert hint(pd.Series(np.arange(1000, 1020)), "numeric") == "numbers the rows"
    assert hint(pd.Series(np.arange(19)), "numeric") == ""
    assert hint(pd.Series(np.delete(np.arange(40), [3, 7, 8])), "numeric") == "numbers the rows"
    assert hint(pd.Series(np.arange(20) * 2), "numeric") == ""
    assert hint(pd.Series([*range(20), 5]), "numeric") == ""
    assert hint(pd.Series(np.arange(20.0)), "numeric") == ""
