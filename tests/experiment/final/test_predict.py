"""Predictions of a saved model: tables, files of any length, decisions of least risk."""

import subprocess
import sys
from dataclasses import replace

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from verulam.base import DataError, UnknownNameError
from verulam.data import dataset
from verulam.experiment import load_model, predict, predict_file

PROBABILITIES = ["probability_Adelie", "probability_Chinstrap", "probability_Gentoo"]


@pytest.fixture(scope="module")
def model(finished):
    return load_model(finished.made.path)


@pytest.fixture(scope="module")
def birds():
    return dataset("penguins").table


@pytest.fixture
def file(birds, tmp_path):
    path = tmp_path / "new.csv"
    birds.to_csv(path, index=False)
    return path


def test_predictions_are_those_of_the_learner(finished, model, birds):
    found = predict(model, birds)
    learner = finished.made.model.estimator
    np.testing.assert_array_equal(found["prediction"], learner.predict(birds[INPUTS]))
    np.testing.assert_array_equal(found[PROBABILITIES], learner.predict_proba(birds[INPUTS]))
    np.testing.assert_allclose(found[PROBABILITIES].sum(axis=1), 1.0)


INPUTS = [
    "island", "bill_length_mm", "bill_depth_mm", "flipper_length_mm", "body_mass_g", "sex", "year",
]  # fmt: skip


def test_decisions_are_those_of_least_risk(model, birds):
    """By the definition: the smallest of the expected losses, rejection on a tie."""
    found = predict(model, birds)
    losses = np.array([[0, 1, 1], [5, 0, 1], [5, 1, 0], [0.3, 0.3, 0.3]])
    risks = found[PROBABILITIES].to_numpy() @ losses.T
    actions = np.array(["Adelie", "Chinstrap", "Gentoo", "reject"])
    expected = np.where(risks[:, 3] <= risks.min(axis=1), 3, risks.argmin(axis=1))
    np.testing.assert_array_equal(found["decision"], actions[expected])
    np.testing.assert_allclose(found["risk"], risks[np.arange(len(risks)), expected])
    assert (found["decision"] == "reject").any()
    assert (found["decision"] != found["prediction"]).any()


def test_rows_keep_their_index(model, birds):
    some = birds.iloc[[5, 3]].set_axis(["fifth", "third"])
    assert predict(model, some).index.tolist() == ["fifth", "third"]


def test_a_path_will_do_and_no_rows_give_none(finished, birds):
    found = predict(finished.made.path, birds.iloc[:0])
    assert found.columns.tolist() == ["prediction", *PROBABILITIES, "decision", "risk"]
    assert len(found) == 0


@pytest.mark.parametrize("ending", ["csv", "parquet"])
@pytest.mark.parametrize("chunk_rows", [50, 10_000])
def test_files_give_what_tables_give(model, birds, tmp_path, ending, chunk_rows):
    path, output = tmp_path / f"new.{ending}", tmp_path / f"out.{ending}"
    if ending == "csv":
        birds.to_csv(path, index=False)
    else:
        birds.to_parquet(path)
    done = predict_file(model, path, output, keep=["species"], chunk_rows=chunk_rows)
    read = pd.read_csv(output) if ending == "csv" else pd.read_parquet(output)
    assert done.rows == len(read) == len(birds)
    assert list(done.columns) == read.columns.tolist()
    expected = predict(model, birds)
    np.testing.assert_array_equal(read["species"].astype(str), birds["species"].astype(str))
    np.testing.assert_array_equal(read["decision"], expected["decision"])
    np.testing.assert_allclose(read[PROBABILITIES], expected[PROBABILITIES], rtol=1e-12)


def test_standard_output(model, file, capsys):
    predict_file(model, file)
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == ",".join(["prediction", *PROBABILITIES, "decision", "risk"])
    assert len(lines) == 345


def test_an_error_in_the_last_chunk_leaves_no_output(model, birds, tmp_path):
    path, output = tmp_path / "new.csv", tmp_path / "out.csv"
    birds.astype({"island": str}).assign(
        island=lambda t: t["island"].where(t.index < 343, "Baltrum")
    ).to_csv(path, index=False)
    with pytest.raises(DataError, match=r"new\.csv, column 'island', row 344: 'Baltrum'"):
        predict_file(model, path, output, chunk_rows=100, unseen="refuse")
    assert sorted(each.name for each in tmp_path.iterdir()) == ["new.csv"]
    done = predict_file(model, path, output, chunk_rows=100)
    assert done.rows == 344
    assert "1 value of 'island' is a category that the model has never" in done.notices[-1]


def test_notices(model, birds, tmp_path):
    path = tmp_path / "new.csv"
    birds.assign(colour="black", body_mass_g=1.0).to_csv(path, index=False)
    done = predict_file(model, path, tmp_path / "out.csv")
    assert "left alone: colour." in done.notices[0]
    assert done.notices[-1].startswith("344 values of 'body_mass_g' outside")


def test_no_rows_in_a_file(model, birds, tmp_path):
    path = tmp_path / "none.parquet"
    birds.iloc[:0].to_parquet(path)
    for name in ("out.csv", "out.parquet"):
        assert predict_file(model, path, tmp_path / name).rows == 0
    assert pd.read_parquet(tmp_path / "out.parquet").columns[0] == "prediction"


def test_bad_arguments(model, file, tmp_path):
    with pytest.raises(UnknownNameError, match=r"Unknown column 'specis'\. Nearest: species"):
        predict_file(model, file, keep=["specis"])
    with pytest.raises(DataError, match=r"output: .* cannot be written"):
        predict_file(model, file, tmp_path / "no" / "out.csv")
    with pytest.raises(DataError, match="no such file"):
        predict_file(model, tmp_path / "no.csv")


CONSTANT_MEMORY = """
import sys
from verulam.experiment import load_model, predict_file
def peak():
    # Not ru_maxrss: a child process starts with the high-water mark of its parent.
    with open("/proc/self/status") as status:
        return next(int(line.split()[1]) for line in status if line.startswith("VmHWM"))
model = load_model(sys.argv[1])
predict_file(model, sys.argv[2], sys.argv[3])
before = peak()
predict_file(model, sys.argv[4], sys.argv[3])
print(peak() - before)
"""


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="looks at /proc")
def test_memory_does_not_grow_with_the_file(finished, birds, tmp_path):
    """Eighteen times the rows need less additional memory than half their predictions take."""
    small, large = tmp_path / "small.parquet", tmp_path / "large.parquet"
    pd.concat([birds] * 100).to_parquet(small, row_group_size=20_000)
    pd.concat([birds] * 1800).to_parquet(large, row_group_size=20_000)
    output = tmp_path / "out.csv"
    words = [finished.made.path, small, output, large]
    done = subprocess.run(
        [sys.executable, "-c", CONSTANT_MEMORY, *map(str, words)],
        capture_output=True,
        text=True,
        check=True,
    )
    assert int(done.stdout) * 1024 < 0.5 * output.stat().st_size


def test_the_file_that_is_read_is_not_written_over(model, file):
    before = file.read_bytes()
    with pytest.raises(DataError, match="is the file that is read"):
        predict_file(model, file, file.parent / "." / file.name)
    assert file.read_bytes() == before


def test_no_two_columns_of_one_name_are_written(model, birds, tmp_path):
    path, output = tmp_path / "new.csv", tmp_path / "out.csv"
    birds.assign(prediction="?").to_csv(path, index=False)
    with pytest.raises(DataError, match="keep: 'prediction' is also a column of the predictions"):
        predict_file(model, path, output, keep=["prediction"])
    assert not output.exists()
    done = predict_file(model, path, output, keep=["species", "species"])
    assert done.columns.count("species") == 1
    assert list(pd.read_csv(output).columns) == list(done.columns)


@pytest.mark.parametrize("name", ["out.xlsx", "out.csv.gz", "out.tsv"])
def test_no_file_gets_what_its_name_does_not_promise(model, birds, tmp_path, name):
    table = tmp_path / "birds.csv"
    birds.to_csv(table, index=False)
    with pytest.raises(DataError, match=r"cannot be written as \.\w+; predictions are CSV"):
        predict_file(model, table, tmp_path / name)
    assert not (tmp_path / name).exists()


def test_identifiers_of_the_study_stand_before_the_predictions(model, birds, tmp_path):
    number = replace(model.card.columns[0], name="bird", role="identifier")
    card = replace(model.card, columns=(*model.card.columns, number))
    path, output = tmp_path / "new.csv", tmp_path / "predictions.csv"
    birds.head(3).assign(bird=["b1", "b2", "b3"]).to_csv(path, index=False)
    done = predict_file(replace(model, card=card), path, output)
    assert done.columns[:2] == ("bird", "prediction")
    assert pd.read_csv(output)["bird"].tolist() == ["b1", "b2", "b3"]


def test_tables_of_other_libraries_give_what_pandas_gives(model, birds):
    first = birds.head(5).reset_index(drop=True)
    expected = predict(model, first)
    table = pa.Table.from_pandas(first, preserve_index=False)
    pd.testing.assert_frame_equal(predict(model, table), expected)
    row = table.slice(2, 1)
    assert str(model.explain(row)) == str(model.explain(first.iloc[2]))
    polars = pytest.importorskip("polars")
    pd.testing.assert_frame_equal(predict(model, polars.from_arrow(table)), expected)
    with pytest.raises(DataError, match="the table: got list; expected a DataFrame"):
        predict(model, [1, 2])
