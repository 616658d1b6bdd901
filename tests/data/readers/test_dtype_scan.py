"""The dtype that all chunks of a column share."""

import numpy as np
import pandas as pd
import pytest

from verulam.data._readers.dtype_scan import conformed, scan


def shared(*chunks, categorical=()):
    frames = (pd.DataFrame({"c": values}) for values in chunks)
    return scan(frames, categorical)["c"].dtype()


@pytest.mark.parametrize(
    ("chunks", "dtype"),
    [
        (([1, 2], [3, 4]), "int64"),
        (([1, 2], [3.5, 4]), "float64"),
        (([1, 2], [3, None]), "float64"),
        (([True, False], [True, True]), "bool"),
        (([None, None], [None, None]), "float64"),
        ((["2024-01-01"], ["2024-01-02"]), "datetime64[us]"),
    ],
)
def test_dtypes(chunks, dtype):
    assert shared(*chunks) == np.dtype(dtype)


def test_categories_are_united():
    assert shared(["b", "c"], ["a", "b"], ["b", "a"]) == pd.CategoricalDtype(["a", "b", "c"])
    numbers = shared([10, 9], [9, None], categorical=["c"])
    assert numbers == pd.CategoricalDtype([9, 10])
    ordered = pd.Categorical(["low"], ["low", "high"], ordered=True)
    assert shared(ordered, ordered) == pd.CategoricalDtype(["low", "high"], ordered=True)


def test_booleans_with_missing_values():
    assert shared([True, False], [None, True]) == pd.CategoricalDtype([False, True])


def test_many_strings_stay_text():
    names = [f"name {number}" for number in range(300)]
    assert shared(names[:150], names[150:]) == np.dtype(object)
    assert shared(["2024-01-01"] * 3, ["not a date"] * 3) == pd.CategoricalDtype(
        ["2024-01-01", "not a date"]
    )


def test_a_chunk_takes_the_shared_form():
    dtype = pd.CategoricalDtype([9, 10])
    chunk = conformed(pd.Series([9.0, np.nan, 10.0]), dtype)
    assert chunk.cat.codes.tolist() == [0, -1, 1]
    dates = conformed(pd.Series(["2024-01-01", None]), np.dtype("datetime64[us]"))
    assert dates[0] == pd.Timestamp("2024-01-01")
