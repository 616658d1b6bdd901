"""Parquet: the round trip keeps everything, and damage is reported."""

import pandas as pd
import pytest

from verulam.base import DataError
from verulam.data import Dataset, read_parquet


@pytest.fixture
def mixed():
    frame = pd.DataFrame(
        {
            "id": [f"row {number}" for number in range(6)],
            "size": [1.5, None, 3.0, 4.0, 5.0, 6.0],
            "count": range(6),
            "colour": ["red", "blue", "red", None, "blue", "red"],
            "grade": ["low", "high", "low", "low", None, "high"],
            "flag": [True, False, True, True, False, False],
            "doubt": [True, None, False, True, None, False],
            "day": pd.date_range("2024-01-01", periods=6),
            "kind": [1, 2, 1, 2, 1, 2],
        }
    )
    return Dataset.from_frame(
        frame,
        target="kind",
        ordinal={"grade": ["low", "medium", "high"]},
        identifiers=["id"],
        ignored=["count"],
        name="mixed",
        description="all kinds",
        source="here",
        licence="none",
    )


def test_round_trip(mixed, tmp_path):
    mixed.to_parquet(tmp_path / "a.parquet")
    again = read_parquet(tmp_path / "a.parquet")
    pd.testing.assert_frame_equal(again.table, mixed.table)
    assert again.content_hash == mixed.content_hash
    for field in ("roles", "kinds", "task", "name", "description", "source", "licence"):
        assert getattr(again, field) == getattr(mixed, field)
    assert again.table["grade"].cat.categories.tolist() == ["low", "medium", "high"]


def test_arguments_beat_what_is_stored(mixed, tmp_path):
    mixed.to_parquet(tmp_path / "a.parquet")
    again = read_parquet(tmp_path / "a.parquet", target="count", name="other", task="regression")
    assert (again.target, again.task, again.name) == ("count", "regression", "other")
    assert again.roles["kind"] == "input"


def test_plain_parquet_with_an_index(tmp_path):
    frame = pd.DataFrame({"a": [1, 2, 3]}, index=pd.Index(["x", "y", "z"], name="key"))
    frame.to_parquet(tmp_path / "a.parquet")
    assert set(read_parquet(tmp_path / "a.parquet").table.columns) == {"a", "key"}
    frame.rename_axis(None).to_parquet(tmp_path / "b.parquet")
    assert list(read_parquet(tmp_path / "b.parquet").table.columns) == ["a"]


def test_lists_inside_cells_are_refused(tmp_path):
    pd.DataFrame({"a": [[1, 2], [3]]}).to_parquet(tmp_path / "a.parquet")
    with pytest.raises(DataError, match="Column 'a' holds values of type ndarray"):
        read_parquet(tmp_path / "a.parquet")


def test_corrupt_files(mixed, tmp_path):
    path = tmp_path / "a.parquet"
    mixed.to_parquet(path)
    whole = path.read_bytes()
    middle = len(whole) // 4
    for content in (
        whole[:-10],
        b"PAR1 nonsense",
        b"PAR1" + b"\xff" * middle + whole[middle + 4 :],
    ):
        path.write_bytes(content)
        with pytest.raises(DataError, match=r"a\.parquet: is not a readable Parquet file"):
            read_parquet(path)


def test_damaged_metadata(mixed, tmp_path):
    import pyarrow.parquet

    path = tmp_path / "a.parquet"
    mixed.to_parquet(path)
    table = pyarrow.parquet.read_table(path).replace_schema_metadata({b"verulam": b"{not json"})
    pyarrow.parquet.write_table(table, path)
    with pytest.raises(DataError, match=r"a\.parquet: its verulam metadata is damaged"):
        read_parquet(path)
