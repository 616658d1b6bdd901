"""Saving a damaged store from the command line."""

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


def test_recover_never_overwrites(tmp_path, capsys):
    path = tmp_path / "r.sqlite"
    run(small_study(), path, engine="serial", progress=False)
    with pytest.raises(SystemExit) as caught:
        main(["recover", str(path), str(path)])
    assert caught.value.code == 2
    assert "already there" in capsys.readouterr().err
