"""Streams: the chunks put together are the table, with one set of dtypes."""

import numpy as np
import pandas as pd
import pytest

from verulam.base import DataError
from verulam.data import Dataset, dataset, read_csv, stream
from verulam.data._readers.stream import conformed, scan


@pytest.fixture
def table():
    random = np.random.default_rng(0)
    n = 1000
    return pd.DataFrame(
        {
            "number": random.normal(size=n),
            "count": random.integers(100, size=n),
            "late": np.where(np.arange(n) < 900, np.arange(n), np.arange(n) + 0.5),
            "hole": np.where(np.arange(n) == 950, np.nan, np.arange(n)),
            "colour": np.where(np.arange(n) < 800, random.choice(["red", "blue"], n), "green"),
            "flag": random.uniform(size=n) < 0.5,
            "day": pd.date_range("2024-01-01", periods=n).strftime("%Y-%m-%d"),
            "note": [f"note {number}" for number in range(n)],
            "kind": random.choice(["a", "b", "c"], n),
        }
    )


def written(table, path):
    if path.suffix == ".csv":
        table.to_csv(path, index=False)
    else:
        table.to_parquet(path, row_group_size=300)
    return path


@pytest.mark.parametrize("suffix", ["csv", "parquet"])
def test_chunks_are_the_table(table, tmp_path, suffix):
    chunks = stream(written(table, tmp_path / f"a.{suffix}"), target="kind", chunk_rows=128)
    pairs = list(chunks)
    assert max(len(inputs) for inputs, _ in pairs) <= 128
    dtypes = [inputs.dtypes.to_dict() for inputs, _ in pairs]
    assert all(chunk_dtypes == dtypes[0] for chunk_dtypes in dtypes)
    inputs = pd.concat([inputs for inputs, _ in pairs], ignore_index=True)
    target = pd.concat([target for _, target in pairs], ignore_index=True)
    whole = Dataset.from_frame(table, target="kind")
    pd.testing.assert_frame_equal(inputs, whole.inputs)
    pd.testing.assert_series_equal(target, whole.target_values)


def test_it_can_be_run_through_again_and_called(table, tmp_path):
    chunks = stream(written(table, tmp_path / "a.csv"), chunk_rows=300)
    first = [len(chunk) for chunk in chunks]
    assert first == [len(chunk) for chunk in chunks] == [300, 300, 300, 100]
    assert sum(len(chunk) for chunk in chunks()) == 1000
    assert next(chunks()) is not next(chunks())
    assert repr(chunks) == "ChunkStream of 'a.csv': 9 inputs, up to 300 rows at a time"


def test_columns_can_be_chosen(table, tmp_path):
    path = written(table, tmp_path / "a.parquet")
    inputs, target = next(iter(stream(path, target="count", columns=["number", "colour"])))
    assert list(inputs.columns) == ["number", "colour"]
    assert target.name == "count"


def test_numbers_that_become_words(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("code,x\n" + "01,1\n" * 10 + "A7,2\n" * 10)
    chunks = list(stream(path, chunk_rows=10))
    assert [chunk["code"].iloc[0] for chunk in chunks] == ["01", "A7"]
    assert chunks[0]["code"].cat.categories.tolist() == ["01", "A7"]


def test_a_target_of_many_words_is_a_category(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("x,name\n" + "".join(f"{number},n{number}\n" for number in range(300)))
    pairs = list(stream(path, target="name", chunk_rows=100))
    assert all(len(target.cat.categories) == 300 for _, target in pairs)


def test_categories_of_a_bundled_set_are_kept(tmp_path):
    titanic = dataset("titanic")
    titanic.to_parquet(tmp_path / "a.parquet")
    chunk = next(iter(stream(tmp_path / "a.parquet", chunk_rows=50)))
    assert chunk["passenger_class"].dtype == titanic.table["passenger_class"].dtype
    assert chunk["deck"].dtype == titanic.table["deck"].dtype


def test_missing_targets(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("x,y\n" + "1,a\n" * 10 + "2,?\n" * 10 + "3,b\n" * 10)
    with pytest.raises(DataError, match=r"'y' is missing in 10 rows: 10, 11, 12, 13, 14, \.\.\."):
        list(stream(path, target="y", chunk_rows=10))
    pairs = list(stream(path, target="y", chunk_rows=10, drop_missing_target=True))
    assert [len(inputs) for inputs, _ in pairs] == [10, 10]


def test_sums_agree_with_memory(table, tmp_path):
    path = written(table, tmp_path / "a.csv")
    total = sum(chunk["number"].sum() for chunk in stream(path, chunk_rows=77))
    assert total == pytest.approx(read_csv(path).table["number"].sum())


def test_bad_files(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("a,b\n" + "1,2\n" * 50 + "3\n")
    with pytest.raises(DataError, match=r"a\.csv, line 52: expected 2 fields, found 1"):
        list(stream(path))
    path = tmp_path / "a.parquet"
    path.write_bytes(b"PAR1 nonsense")
    with pytest.raises(DataError, match=r"a\.parquet: is not a readable Parquet file"):
        stream(path)


def test_damage_found_on_the_way(table, tmp_path):
    path = written(table, tmp_path / "a.parquet")
    content = bytearray(path.read_bytes())
    content[4 : len(content) // 2] = b"\xff" * (len(content) // 2 - 4)
    path.write_bytes(bytes(content))
    with pytest.raises(DataError, match=r"a\.parquet: is not a readable Parquet file"):
        list(stream(path))


def test_bad_arguments(table, tmp_path):
    path = written(table, tmp_path / "a.csv")
    with pytest.raises(DataError, match=r"target: no column 'knid'. Nearest: kind"):
        stream(path, target="knid")
    with pytest.raises(DataError, match=r"columns: no column 'numbr'. Nearest: number"):
        stream(path, columns=["numbr"])
    with pytest.raises(ValueError, match="chunk_rows=0"):
        stream(path, chunk_rows=0)


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
