"""Checks that every reader makes first."""

import pytest

from verulam.base import DataError
from verulam.data import read, read_arff, read_csv, read_npz, read_parquet, stream
from verulam.data._table.files import data_name, file_error

READERS = [read, read_csv, read_arff, read_npz, read_parquet, stream]


@pytest.mark.parametrize("reader", READERS)
def test_missing_file(reader, tmp_path):
    with pytest.raises(DataError, match=r"nothing\.csv: no such file"):
        reader(tmp_path / "nothing.csv")


@pytest.mark.parametrize("reader", READERS)
def test_directory(reader, tmp_path):
    with pytest.raises(DataError, match="is a directory"):
        reader(tmp_path)


@pytest.mark.parametrize("reader", READERS)
def test_empty_file(reader, tmp_path):
    path = tmp_path / "empty.csv"
    path.touch()
    with pytest.raises(DataError, match=r"empty\.csv: the file is empty"):
        reader(str(path))


def test_wording(tmp_path):
    path = tmp_path / "a.b.csv"
    assert str(file_error(path, "bad.", 3)) == f"{path}, line 3: bad."
    assert str(file_error(path, "bad.")) == f"{path}: bad."
    assert data_name(path) == "a"
