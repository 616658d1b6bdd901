"""Saving a damaged store from the command line."""

import sqlite3

import pytest
from tests.experiment.studies import small_study

from verulam.cli import main
from verulam.experiment import Results, run


def test_recover(tmp_path, capsys):
    path, new = tmp_path / "r.sqlite", tmp_path / "new.sqlite"
    run(small_study(), path, engine="serial", progress=False)
    with pytest.raises(SystemExit) as caught:
        main(["recover", str(path), str(new)])
    assert not caught.value.code
    output = capsys.readouterr().out
    assert f"10 runs saved in {new}" in output
    assert f"verulam run STUDY --store {new}" in output
    assert Results(new).status() == {"done": 10}


@pytest.mark.parametrize("command", ["status", "analyse", "report"])
def test_a_lost_plan_is_told_with_what_to_do(tmp_path, capsys, command):
    path = tmp_path / "r.sqlite"
    run(small_study(), path, engine="serial", progress=False)
    with sqlite3.connect(path) as connection:
        connection.execute("DELETE FROM planned")
    connection.close()
    with pytest.raises(SystemExit) as caught:
        main([command, str(path)])
    assert caught.value.code == 2
    said = " ".join(capsys.readouterr().err.split())
    assert "was lost" in said
    assert "run the study file once with this store" in said


def test_recover_never_overwrites(tmp_path, capsys):
    path = tmp_path / "r.sqlite"
    run(small_study(), path, engine="serial", progress=False)
    with pytest.raises(SystemExit) as caught:
        main(["recover", str(path), str(path)])
    assert caught.value.code == 2
    assert "already there" in capsys.readouterr().err
