"""Columns of one name: every reader says so in the same sentence, with the file."""

import io
import zipfile

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet
import pytest

from verulam.base import DataError
from verulam.data import Dataset, read, stream


def write_csv(path):
    path.write_text("size,b,size\n1,2,3\n")


def write_arff(path):
    path.write_text("@attribute size real\n@attribute size real\n@data\n1,1\n")


def write_parquet(path):
    table = pa.Table.from_arrays([pa.array([1.0]), pa.array([2.0])], names=["size", "size"])
    pyarrow.parquet.write_table(table, path)


def write_npz(path):
    member = io.BytesIO()
    np.save(member, np.ones(3))
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("size.npy", member.getvalue())
        with pytest.warns(UserWarning, match="Duplicate name"):
            archive.writestr("size.npy", member.getvalue())


FORMATS = {"csv": write_csv, "arff": write_arff, "parquet": write_parquet, "npz": write_npz}


@pytest.mark.parametrize("suffix", FORMATS)
def test_files(suffix, tmp_path):
    path = tmp_path / f"table.{suffix}"
    FORMATS[suffix](path)
    message = rf"table\.{suffix}.*: Duplicate column names: size\. Each must be unique\.$"
    with pytest.raises(DataError, match=message):
        read(path)
    if suffix in {"csv", "parquet"}:
        with pytest.raises(DataError, match=message):
            stream(path)


def test_an_array_named_like_a_column_of_another(tmp_path):
    np.savez(tmp_path / "a.npz", X=np.ones((3, 2)), x2=np.zeros(3))
    with pytest.raises(DataError, match=r"a\.npz: Duplicate column names: x2\. Each"):
        read(tmp_path / "a.npz")


def test_tables_and_arrays():
    with pytest.raises(DataError, match=r"^Duplicate column names: a\. Each must be unique\.$"):
        read(pd.DataFrame([[1, 2]], columns=["a", "a"]))
    with pytest.raises(DataError, match=r"^Duplicate column names: a\. Each must be unique\.$"):
        Dataset.from_arrays([[1.0, 2.0]], feature_names=["a", "a"])
