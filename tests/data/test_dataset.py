"""Dataset: roles, kinds, targets, hash, and what it shows."""

import pickle
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_array_equal

from verulam.base import DataError, UnknownNameError
from verulam.data import Dataset, dataset
from verulam.data._dataset import fingerprint
from verulam.data._table.columns import normalised


@pytest.fixture
def frame():
    return pd.DataFrame(
        {
            "id": ["a1", "a2", "a3", "a4"],
            "size": [1.0, 2.0, np.nan, 4.0],
            "colour": ["red", "blue", "red", "red"],
            "price": [10.5, 20.5, 30.5, 40.5],
            "ripe": ["yes", "no", "yes", "yes"],
        }
    )


def test_inputs_leave_out_what_is_no_input(frame):
    data = Dataset.from_frame(frame, target="ripe", identifiers=["id"], ignored=["price"])
    assert list(data.inputs.columns) == ["size", "colour"] == data.input_names
    assert data.roles["id"] == "identifier"
    assert data.roles["price"] == "ignored"
    assert data.target_values.tolist() == ["yes", "no", "yes", "yes"]
    assert (data.n_rows, data.n_columns, len(data)) == (4, 5, 4)
    assert data.missing == {"size": 1}


def test_changing_what_was_returned_changes_nothing(frame):
    data = Dataset.from_frame(frame, target="price")
    before = data.content_hash
    inputs, target = data.inputs, data.target_values
    inputs.loc[0, "size"] = 99.0
    target[0] = 99.0
    frame.loc[0, "size"] = 99.0
    again = Dataset.from_frame(data.table, target="price")
    assert again.content_hash == before
    assert data.table.loc[0, "size"] == 1.0


@pytest.mark.parametrize(
    ("target", "task", "classes"),
    [
        (["a", "b", "a", "b"], "classification", ["a", "b"]),
        ([True, False, True, True], "classification", [False, True]),
        ([3, 1, 3, 1], "classification", [1, 3]),
        ([1, 2, 3, 4], "regression", None),
        ([0.0, 1.0, 0.0, 1.0], "regression", None),
        (pd.Categorical([2, 1, 2, 1], categories=[2, 1, 7]), "classification", [2, 1]),
    ],
)
def test_task_follows_the_target(target, task, classes):
    data = Dataset.from_frame(pd.DataFrame({"x": range(4), "y": target}), target="y")
    assert (data.task, data.classes) == (task, classes)


def test_task_can_be_said():
    frame = pd.DataFrame({"x": range(4), "y": [0, 1, 0, 1]})
    data = Dataset.from_frame(frame, target="y", task="regression")
    assert data.target_values.dtype == np.float64
    with pytest.raises(ValueError, match="task='ranking'; accepted are 'classification'"):
        Dataset.from_frame(frame, target="y", task="ranking")
    with pytest.raises(ValueError, match="needs a target"):
        Dataset.from_frame(frame, task="regression")


def test_words_cannot_be_a_regression_target(frame):
    with pytest.raises(DataError, match=r"Target 'ripe' is categorical.*numeric"):
        Dataset.from_frame(frame, target="ripe", task="regression")


def test_missing_target_values(frame):
    frame.loc[[1, 3], "ripe"] = None
    with pytest.raises(DataError, match=r"'ripe' is missing in 2 rows: 1, 3 .*drop_missing_target"):
        Dataset.from_frame(frame, target="ripe")
    data = Dataset.from_frame(frame, target="ripe", drop_missing_target=True)
    assert data.table["id"].tolist() == ["a1", "a3"]
    assert data.table.index.tolist() == [0, 1]


def test_integers_next_to_missing_values_are_classes_again():
    frame = pd.DataFrame({"x": range(6), "y": [0, 1, None, 1, 0, 1]})
    data = Dataset.from_frame(frame, target="y", drop_missing_target=True)
    assert (data.task, data.classes) == ("classification", [0, 1])
    frame["y"] = np.nan
    with pytest.raises(DataError, match="missing in every row"):
        Dataset.from_frame(frame, target="y", drop_missing_target=True)


def test_unknown_target(frame):
    message = r"target: no column 'prize'\. Nearest: price.*The columns are: id, size, colour"
    with pytest.raises(DataError, match=message):
        Dataset.from_frame(frame, target="prize")


def test_no_target(frame):
    with pytest.raises(DataError, match=r"has no target; choose one with with_target\(\)"):
        _ = Dataset.from_frame(frame).target_values


def test_from_arrays():
    data = Dataset.from_arrays([[1.0, 2.0], [3.0, 4.0]], [0.5, 1.5], feature_names=["a", "b"])
    assert list(data.table.columns) == ["a", "b", "target"]
    assert data.task == "regression"
    assert Dataset.from_arrays([1.0, 2.0]).input_names == ["x1"]


def test_with_target(frame):
    data = Dataset.from_frame(frame, target="ripe", identifiers=["id"], name="fruit")
    other = data.with_target("price")
    assert (other.target, other.task, other.name) == ("price", "regression", "fruit")
    assert other.roles["ripe"] == "input"
    assert data.with_target("id").roles["id"] == "target"
    assert data.with_target(None).task is None


def test_with_roles(frame):
    data = Dataset.from_frame(frame, target="ripe")
    changed = data.with_roles({"id": "identifier", "size": "ignored", "price": "target"})
    assert changed.roles == {
        "id": "identifier",
        "size": "ignored",
        "colour": "input",
        "price": "target",
        "ripe": "input",
    }
    assert changed.task == "regression"
    assert changed.with_roles({"size": "input"}).roles["size"] == "input"
    assert changed.with_roles({"price": "input"}).target is None
    with pytest.raises(UnknownNameError, match=r"Unknown column 'sise'. Nearest: size"):
        data.with_roles({"sise": "input"})
    with pytest.raises(UnknownNameError, match=r"Unknown role 'inputs'. Nearest: input"):
        data.with_roles({"size": "inputs"})


def test_with_table_keeps_kinds_that_few_rows_would_change():
    names = [f"name {number}" for number in range(10)]
    data = Dataset.from_frame(pd.DataFrame({"name": names, "y": range(10)}), target="y")
    few = data.with_table(data.table.head(2))
    assert few.kinds["name"] == "text"
    assert few.task == "regression"
    with pytest.raises(DataError, match="lacks the target 'y'"):
        data.with_table(data.table[["name"]])


def test_hash_depends_on_content_and_roles_only(frame):
    data = Dataset.from_frame(frame, target="ripe", name="one")
    assert data.content_hash == Dataset.from_frame(frame, target="ripe", name="two").content_hash
    assert data.content_hash != data.with_target("price").content_hash
    assert data.content_hash != data.with_roles({"size": "ignored"}).content_hash


def test_hash_is_the_same_in_another_process():
    code = "from verulam.data import dataset; print(dataset('titanic').content_hash)"
    answer = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    assert answer.stdout.strip() == dataset("titanic").content_hash


def test_pickle(frame):
    data = Dataset.from_frame(frame, target="ripe")
    assert pickle.loads(pickle.dumps(data)).content_hash == data.content_hash


def test_repr(frame):
    data = Dataset.from_frame(frame, target="ripe", identifiers=["id"], name="fruit")
    assert repr(data) == (
        "Dataset 'fruit': 4 rows, classification of 'ripe' (no, yes)\n"
        "  identifier: id\n"
        "  numeric: size (1 missing), price\n"
        "  categorical: colour"
    )
    assert "10 in all" in repr(dataset("digits"))
    assert repr(data.with_target(None)).startswith("Dataset 'fruit': 4 rows, no target")


def test_html_escapes_what_the_data_says():
    data = Dataset.from_frame(pd.DataFrame({"<b>": ["<i>", "x", "<i>"]}), name="<script>")
    page = data._repr_html_()
    assert "<script>" not in page
    assert "<i>" not in page
    assert "&lt;b&gt;" in page


def test_head(frame):
    assert_array_equal(Dataset.from_frame(frame).head(2)["price"], [10.5, 20.5])


def table(**columns):
    return pd.DataFrame(
        {name: normalised(pd.Series(values)).values for name, values in columns.items()}
    )


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
    assert len({fingerprint(frame, {}) for frame in (one, two, three)}) == 3


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
