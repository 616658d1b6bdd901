"""Damaged files: every reader reads them or refuses them with the name of the file."""

import pytest
from tests.data.readers.mutants import WHOLE, attack, by_kind, mutant

from verulam.base import DataError
from verulam.data import read, stream

#: A few hundred of each format; tools/attack_readers.py makes as many as one has time for.
SEEDS = range(300)


@pytest.mark.parametrize("name", WHOLE)
def test_mutants_are_read_or_refused_by_name(name, tmp_path):
    escapes = attack(name, SEEDS, tmp_path)
    assert not escapes, by_kind(escapes)


@pytest.mark.parametrize("name", WHOLE)
def test_whole_files_are_read(name, tmp_path):
    path = tmp_path / name
    path.write_bytes(WHOLE[name]())
    assert read(path).n_rows == (61 if "arff" in name else 60)


@pytest.mark.parametrize("suffix", ["", ".gz", ".bz2", ".xz", ".zip"])
def test_packed_files_are_streamed(suffix, tmp_path):
    path = tmp_path / f"table.csv{suffix}"
    path.write_bytes(WHOLE[path.name]())
    assert [len(chunk) for chunk in stream(path, chunk_rows=25)] == [25, 25, 10]


def test_a_mutant_is_known_by_its_seed():
    whole = WHOLE["table.csv"]()
    assert mutant(whole, 3) == mutant(whole, 3)
    assert len({mutant(whole, seed) for seed in range(50)}) > 45


def test_a_zip_of_several_files_is_refused(tmp_path):
    import zipfile

    path = tmp_path / "two.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("a.csv", "x\n1\n")
        archive.writestr("b.csv", "x\n1\n")
    with pytest.raises(DataError, match=r"two\.zip: expected one file in it, found 2: a\.csv, b"):
        read(path)


def test_what_is_wrong_with_the_table_names_the_file(tmp_path):
    path = tmp_path / "table.csv"
    path.write_bytes(WHOLE["table.csv"]())
    with pytest.raises(DataError, match=r"table\.csv: target: no column 'rype'. Nearest: ripe"):
        read(path, target="rype")


@pytest.mark.parametrize(
    "stored",
    [
        '{"target": 5}',
        '{"task": "guessing"}',
        '{"identifiers": "size"}',
        '{"levels": {"size": 3}}',
        '{"levels": [1]}',
        '{"name": null}',
        "[]",
        "5",
    ],
)
def test_stored_roles_of_the_wrong_form(stored, tmp_path):
    import pyarrow as pa
    import pyarrow.parquet

    path = tmp_path / "a.parquet"
    table = pa.table({"size": [1.0, 2.0]}).replace_schema_metadata({b"verulam": stored.encode()})
    pyarrow.parquet.write_table(table, path)
    with pytest.raises(DataError, match=r"a\.parquet: its verulam metadata is damaged"):
        read(path)
