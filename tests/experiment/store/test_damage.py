"""Damage to a store is called so, with what is damaged and what to do."""

import contextlib
import shutil
import sqlite3

import pytest
from numpy.testing import assert_array_equal
from tests.experiment.studies import small_study

from verulam.base import DataError
from verulam.experiment import Results, Store, analyse, recover, run
from verulam.experiment._store.predictions import StoredPredictions

REMEDY = r"`verulam recover .* NEW` saves its intact rows"


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    path = tmp_path_factory.mktemp("whole") / "whole.sqlite"
    run(small_study(), path, engine="serial", progress=False)
    with contextlib.closing(sqlite3.connect(path)) as connection:
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    return path


@pytest.fixture
def copy(whole, tmp_path):
    return shutil.copy(whole, tmp_path / "copy.sqlite")


def change(path, statement, *values):
    with contextlib.closing(sqlite3.connect(path)) as connection:
        connection.execute(statement, values)
        connection.commit()


def flip(path, column):
    """Change one bit of the predictions of a run of naive Bayes, in the file itself."""
    query = (
        f"SELECT r.run, r.{column} FROM runs r JOIN planned p USING (run) "
        "WHERE p.learner LIKE '%Bayes' ORDER BY p.position LIMIT 1"
    )
    with contextlib.closing(sqlite3.connect(path)) as connection:
        run_id, array = connection.execute(query).fetchone()
    content = bytearray(path.read_bytes())
    place = content.index(array) + len(array) // 2
    content[place] ^= 4
    path.write_bytes(content)
    return run_id


@pytest.mark.parametrize(
    ("column", "measure"), [("predicted", "error"), ("probabilities", "log_loss")]
)
def test_a_flipped_bit_is_named_with_its_run_and_only_that_is_run_again(
    copy, whole, tmp_path, column, measure
):
    run_id = flip(copy, column)
    expected = rf"run {run_id}, parametric\.NaiveBayes on iris, repeat 0, fold 1, .*{REMEDY}"
    results = Results(copy)
    with pytest.raises(DataError, match=expected):
        results.scores(measure)
    assert run_id in results.damage()
    with pytest.raises(DataError, match=expected):
        StoredPredictions(results).pooled("iris", "parametric.NaiveBayes")
    saved = recover(copy, tmp_path / "saved.sqlite")
    assert (saved.rows["runs"], saved.damaged) == (9, ("runs",))
    assert Results(saved.path).status() == {"done": 9, "left": 1}
    again = run(small_study(), saved.path, engine="serial", progress=False)
    assert again.status() == {"done": 10}
    assert again.damage() == ""
    assert_array_equal(again.scores(measure)[measure], Results(whole).scores(measure)[measure])


def test_many_damaged_runs_are_counted(copy):
    change(copy, "UPDATE runs SET predicted = x'00'")
    assert "those of 7 more runs" in Results(copy).damage()


def test_stores_without_checksums_are_read_as_before(copy, whole):
    for table, column in [
        ("runs", "predicted"),
        ("runs", "probabilities"),
        ("data", "targets"),
        ("splits", "test"),
    ]:
        # As it was before: without the sign in front, and the checksum behind.
        change(copy, f"UPDATE {table} SET {column} = substr({column}, 2, length({column}) - 5)")
    results = Results(copy)
    assert results.damage() == ""
    assert results.scores(["error", "log_loss"]).equals(
        Results(whole).scores(["error", "log_loss"])
    )
    # Runs that are tried twice are compared with what the store has, in either form.
    change(copy, "DELETE FROM checks")
    again = run(small_study(), copy, engine="serial", progress=False)
    assert again.unrepeatable().empty


@pytest.mark.parametrize(
    ("statement", "words"),
    [
        ("UPDATE facts SET value = 'two' WHERE name = 'schema'", "its schema is 'two', not a num"),
        ("DELETE FROM facts", "its schema is '', not a number"),
        ("DROP TABLE runs", "it has no table runs"),
        ("DROP TABLE facts", "facts"),
        ("ALTER TABLE runs RENAME COLUMN scores TO score", "its table runs has no column scores"),
    ],
)
def test_the_structure_is_checked_on_opening(copy, statement, words):
    change(copy, statement)
    with pytest.raises(DataError, match=rf"damaged \(.*{words}.*`verulam recover .* NEW`"):
        Store(copy, read_only=True)


def test_files_of_other_programs_are_left_alone(tmp_path):
    path = tmp_path / "other.sqlite"
    change(path, "CREATE TABLE songs (title TEXT)")
    before = path.read_bytes()
    with pytest.raises(DataError, match=r"is not a store of results.*tables of something else"):
        Store(path)
    assert path.read_bytes() == before


@pytest.mark.parametrize(
    ("statement", "words"),
    [
        ("UPDATE runs SET fit_seconds = 'soon'", "what runs cost is not a number"),
        ("UPDATE planned SET levels = '{'", "the levels of the plan"),
        ("UPDATE data SET classes = 'a, b'", "classes of"),
        ("UPDATE data SET targets = x'00'", "targets of data set"),
        ("UPDATE splits SET test = x'00'", "rows of split"),
        ("UPDATE studies SET content = 'no study'", "the text of the study"),
    ],
)
def test_other_values_that_make_no_sense(copy, statement, words):
    change(copy, statement)
    with pytest.raises(DataError, match=rf"is damaged \({words}.*{REMEDY}"):
        analyse(Results(copy))
