"""The hash of a table: equal for equal content, different for any change."""

import numpy as np
import pandas as pd
import pytest

from verulam.data._table.columns import normalised
from verulam.data._table.fingerprint import fingerprint


def table(**columns):
    return pd.DataFrame({name: normalised(pd.Series(values)) for name, values in columns.items()})


def test_known_value():
    # Stored results refer to data by this hash: it must not change between versions.
    known = table(number=[1.5, np.nan], kind=["a", "b"], flag=[True, False], count=[1, 2])
    assert fingerprint(known, {}) == (
        "04016979acc7c63b6a5a4ab4503dfa4b6e65aeaab17316869f9a4aab4f7d198a"
    )


@pytest.mark.parametrize(
    "other",
    [
        table(a=[1, 2, 4], b=["x", "y", "x"]),
        table(a=[1.0, 2.0, 3.0], b=["x", "y", "x"]),
        table(a=[1, 2, 3], b=["x", "y", "y"]),
        table(a=[1, 2, 3], b=["x", "z", "x"]),
        table(a=[1, 2, 3], c=["x", "y", "x"]),
        table(b=["x", "y", "x"], a=[1, 2, 3]),
        table(a=[1, 2, 3], b=pd.Categorical(["x", "y", "x"], categories=["y", "x"])),
        table(a=[1, 2, 3], b=pd.Categorical(["x", "y", "x"], ordered=True)),
        table(a=[1, 2], b=["x", "y"]),
    ],
)
def test_any_change_changes_the_hash(other):
    base = table(a=[1, 2, 3], b=["x", "y", "x"])
    assert fingerprint(base, {}) == fingerprint(base.copy(), {})
    assert fingerprint(other, {}) != fingerprint(base, {})


def test_what_is_said_about_it_counts():
    base = table(a=[1, 2])
    assert fingerprint(base, {"task": "x"}) != fingerprint(base, {"task": "y"})


def test_zeros_and_nans_have_one_form():
    odd_nan = np.array([0x7FF8000000000001], dtype=np.uint64).view(float)[0]
    assert fingerprint(table(a=[-0.0, odd_nan]), {}) == fingerprint(table(a=[0.0, np.nan]), {})


def test_texts_do_not_run_into_each_other():
    one = pd.DataFrame({"a": pd.Series(["ab", "c", None, ""], dtype=object)})
    two = pd.DataFrame({"a": pd.Series(["a", "bc", None, ""], dtype=object)})
    three = pd.DataFrame({"a": pd.Series(["ab", "c", "", None], dtype=object)})
    assert len({fingerprint(each, {}) for each in (one, two, three)}) == 3


def test_text_dtypes_do_not_count():
    texts = ["ab", "c", None]
    one = pd.DataFrame({"a": pd.Series(texts, dtype=object)})
    two = pd.DataFrame({"a": pd.Series(texts, dtype="string")})
    assert fingerprint(one, {}) == fingerprint(two, {})


def test_byte_order_does_not_count():
    native = fingerprint(table(a=[1.5, 2.5]), {})
    assert fingerprint(table(a=np.array([1.5, 2.5], dtype=">f8")), {}) == native
    assert fingerprint(table(a=np.array([1.5, 2.5], dtype="g")), {}) == native
    assert fingerprint(table(a=np.array([1.5, 2.5], dtype="f4")), {}) != native
