"""The commands of a study, one after the other as a user gives them."""

import csv
import io
import json
import re
import shutil
import sqlite3
import tomllib
from pathlib import Path

import pytest
from tests.experiment.studies import small_study

from verulam.cli import main
from verulam.cli._study_commands import _example_study
from verulam.experiment import Results, make_plan, read_study, run
from verulam.experiment._study.toml import _KEYS

STUDY = """
resampling = "2-fold"
data = ["iris"]
learners = ["majority class", "naive bayes"]
"""
EXAMPLES = sorted((Path(__file__).parents[2] / "examples").glob("*.toml"))


@pytest.fixture(autouse=True)
def width(monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")


def verulam(capsys, *words, code=0):
    """Run a command; return its output and its errors."""
    with pytest.raises(SystemExit) as caught:
        main([str(word) for word in words])
    assert (caught.value.code or 0) == code
    captured = capsys.readouterr()
    return captured.out, captured.err


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    """Return a study file whose runs are all done, by the command itself."""
    path = tmp_path_factory.mktemp("finished") / "flowers.toml"
    path.write_text(STUDY, encoding="utf-8")
    with pytest.raises(SystemExit) as caught:
        main(["run", str(path), "--engine", "serial"])
    assert (caught.value.code or 0) == 0
    return path


@pytest.fixture
def study(tmp_path):
    path = tmp_path / "flowers.toml"
    path.write_text(STUDY, encoding="utf-8")
    return path


def test_init_runs_as_it_is(capsys, tmp_path):
    path = tmp_path / "mine.toml"
    output, _ = verulam(capsys, "init", path)
    assert f"Next: verulam plan {path}" in output
    output, _ = verulam(capsys, "run", path, "--engine", "serial")
    assert output.startswith(("Use ", "It is a toss-up between "))
    assert "would lead to the same choice" in " ".join(output.split())
    # Seven settings in ten folds, of two repeats at the least; none is left.
    done = int(re.search(r"first study: (\d+) done", output)[1])
    assert 140 <= done <= 700
    assert " left" not in output
    assert (tmp_path / "mine.sqlite").is_file()


def test_init_never_overwrites(capsys, study):
    _, errors = verulam(capsys, "init", study, code=2)
    assert "already there" in errors
    assert study.read_text(encoding="utf-8") == STUDY


def test_init_for_a_bundled_data_set(capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    output, _ = verulam(capsys, "init", "penguins")
    assert "Wrote penguins.toml" in output
    text = (tmp_path / "penguins.toml").read_text(encoding="utf-8")
    assert 'source = "penguins"\ntarget = "species"' in text
    output, _ = verulam(capsys, "plan", "penguins.toml")
    assert "1 data set (penguins)" in " ".join(output.split())
    assert [path.name for path in tmp_path.iterdir()] == ["penguins.toml"]


def test_init_gives_a_study_its_suffix(capsys, tmp_path):
    verulam(capsys, "init", tmp_path / "first")
    assert (tmp_path / "first.toml").is_file()
    assert not (tmp_path / "first").exists()


def test_init_in_no_folder(capsys, tmp_path):
    _, errors = verulam(capsys, "init", tmp_path / "no" / "study.toml", code=2)
    assert errors.startswith("Error: There is no folder")


def test_plan(capsys, study):
    output, _ = verulam(capsys, "plan", study)
    assert output.startswith("flowers: 4 runs")
    assert len(re.findall(r"^iris ", output, re.MULTILINE)) == 4
    assert all(len(line) <= 80 for line in output.splitlines())
    assert not study.with_suffix(".sqlite").exists()


def test_plan_as_csv(capsys, study):
    output, _ = verulam(capsys, "plan", study, "--csv")
    rows = list(csv.DictReader(io.StringIO(output)))
    assert len(rows) == 4
    assert len({row["run"] for row in rows}) == 4


def test_plan_with_pilots(capsys, study):
    output, _ = verulam(capsys, "plan", study, "--pilot")
    assert "From 2 pilot runs: about" in output
    assert re.search(r"(less than 1|at most \d+) MB for a run\.", " ".join(output.split()))


def test_run_again_is_free(capsys, finished):
    store = finished.with_suffix(".sqlite")
    with sqlite3.connect(store) as connection:
        started = connection.execute("SELECT run, started FROM runs").fetchall()
    output, _ = verulam(capsys, "run", finished, "--engine", "serial")
    assert "4 done" in output
    with sqlite3.connect(store) as connection:
        assert connection.execute("SELECT run, started FROM runs").fetchall() == started


def test_run_ends_with_the_answer_and_the_store(capsys, study, tmp_path):
    store = tmp_path / "elsewhere.sqlite"
    words = ("run", study, "--store", store, "--engine", "processes", "--workers", "1")
    output, _ = verulam(capsys, *words)
    assert "makes a model of naive Bayes" in " ".join(output.split())
    assert str(store) in output
    assert store.is_file()


def test_interrupted(capsys, study, monkeypatch):
    from verulam.experiment._run import run as _engines

    done = []

    def stopped(plan, run):
        if done:
            raise KeyboardInterrupt
        done.append(run)
        return execute(plan, run)

    execute = _engines.execute
    monkeypatch.setattr(_engines, "execute", stopped)
    _, errors = verulam(capsys, "run", study, "--engine", "serial", code=130)
    assert "1 runs are kept" in errors
    assert "3 are left" in errors
    assert f"`verulam run {study}` goes on" in errors
    monkeypatch.undo()
    output, _ = verulam(capsys, "run", study, "--engine", "serial")
    assert "4 done" in output


def test_failures_are_shown_and_told_by_the_exit_code(capsys, finished, tmp_path):
    study = shutil.copy(finished, tmp_path / "flowers.toml")
    store = shutil.copy(finished.with_suffix(".sqlite"), tmp_path / "flowers.sqlite")
    with sqlite3.connect(store) as connection:
        connection.execute("UPDATE runs SET status = 'failed', error = 'ValueError: no luck'")
    connection.close()
    _, errors = verulam(capsys, "run", study, "--engine", "serial", code=1)
    assert "Some runs failed" in errors
    output, _ = verulam(capsys, "status", store)
    assert "ValueError: no luck" in output
    output, _ = verulam(capsys, "run", study, "--engine", "serial", "--retry-failed")
    assert "4 done" in output


def test_status(capsys, finished):
    output, _ = verulam(capsys, "status", finished)
    assert re.search(r"^iris +majority class +2", output, re.MULTILINE)


def test_analyse(capsys, finished):
    output, _ = verulam(capsys, "analyse", finished.with_suffix(".sqlite"), "--measure", "log_loss")
    assert "Log loss on iris" in output
    assert all(len(line) <= 80 for line in output.splitlines())


def test_analyse_for_programs(capsys, finished):
    told, _ = verulam(capsys, "analyse", finished, "--json", "--alpha", "0.01")
    assert json.loads(told)["alpha"] == 0.01
    latex, _ = verulam(capsys, "analyse", finished, "--latex")
    assert latex.startswith(r"\begin{table}")
    table, _ = verulam(capsys, "analyse", finished, "--csv")
    assert len(list(csv.DictReader(io.StringIO(table)))) == 2


def test_analyse_for_latex_over_several_data_sets(capsys, tmp_path):
    path = tmp_path / "several.toml"
    path.write_text(STUDY.replace('["iris"]', '["iris", "wine", "penguins"]'), encoding="utf-8")
    verulam(capsys, "run", path, "--engine", "serial")
    latex, _ = verulam(capsys, "analyse", path, "--latex")
    assert latex.count(r"\begin{table}") == latex.count(r"\end{table}") >= 2
    assert "contestant & mean rank & wins" in latex
    for name in ("iris", "wine", "penguins"):
        assert re.search(rf"^{name} & 0\.\d+ & 0\.\d+ \\\\$", latex, re.MULTILINE)


def test_analyse_by_another_test_and_another_idea_of_simple(capsys, finished):
    asked = ("--test", "cv_t_test", "--simplicity", "interpretability")
    output, _ = verulam(capsys, "analyse", finished, *asked)
    assert "K-fold cv paired t test" in output
    assert "easier to read" in " ".join(output.split())
    _, errors = verulam(capsys, "analyse", finished, "--test", "cv_test", code=2)
    assert "Unknown test 'cv_test'" in errors


def test_analyse_against_a_level(capsys, finished):
    output, _ = verulam(capsys, "analyse", finished, "--acceptable", "0.2")
    assert "good enough?" in output


def test_report(capsys, finished, tmp_path):
    output, _ = verulam(capsys, "report", finished)
    assert output.strip() == str(finished.with_suffix(".html"))
    output, _ = verulam(capsys, "report", finished, "-o", tmp_path / "mine.html")
    assert Path(output.strip()).read_text(encoding="utf-8").startswith("<!doctype html>")


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (("plan", "no.toml"), "There is no file no.toml."),
        (("run", "no.toml"), "There is no file no.toml."),
        (("status", "no.sqlite"), "There is no store no.sqlite."),
        (("analyse", "no.sqlite"), "There is no store no.sqlite."),
        (("report", "no.toml"), "There is no store no.sqlite."),
        (("analyse", "no.sqlite", "--json", "--csv"), "only one of them"),
    ],
)
def test_errors_are_one_sentence(capsys, words, sentence):
    output, errors = verulam(capsys, *words, code=2)
    assert output == ""
    assert errors.startswith("Error: ")
    assert sentence in errors
    assert errors.count("\n") == 1


@pytest.mark.parametrize(
    ("extra", "sentence"),
    [
        (("--workers", "0"), "--jobs: 0"),
        (("--engine", "steam"), "engine: 'steam'"),
    ],
)
def test_run_refuses(capsys, study, extra, sentence):
    _, errors = verulam(capsys, "run", study, *extra, code=2)
    assert sentence in errors


def test_study_with_an_unknown_key(capsys, study):
    study.write_text(STUDY.replace("resampling", "resamplign"), encoding="utf-8")
    _, errors = verulam(capsys, "plan", study, code=2)
    assert "resamplign: no such key. Nearest: resampling." in errors


def test_the_plan_of_a_fraction_shows_its_aliases(capsys):
    path = next(each for each in EXAMPLES if each.stem == "fractional")
    output, _ = verulam(capsys, "plan", path)
    assert "45 runs = 9 settings of learners" in output
    lines = [line.split() for line in output.splitlines()]
    assert ["AB", "C", "x", "kernel__width", "CD"] in lines
    assert "C x kernel__width from strategy x fit_intercept" in " ".join(output.split())


@pytest.mark.slow
@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_examples_run(capsys, path, tmp_path):
    store = tmp_path / "runs.sqlite"
    output, errors = verulam(capsys, "run", path, "--store", store, "--workers", "2")
    assert errors == ""
    assert "done" in output
    output, _ = verulam(capsys, "report", store)
    assert Path(output.strip()).stat().st_size < 5_000_000


def test_what_changed_and_what_the_budget_left_out(capsys, study):
    verulam(capsys, "run", study, "--engine", "serial")
    edited = STUDY.replace("2-fold", "3-fold") + "\n[budget]\nruns = 4\n"
    study.write_text(edited, encoding="utf-8")
    output, _ = verulam(capsys, "plan", study, "--pilot")
    assert "Budget: 4 runs, which leaves out 2 of the runs" in " ".join(output.split())
    assert "The budget pays for about 4 of the runs." in output
    output, _ = verulam(capsys, "run", study, "--engine", "serial")
    assert output.startswith("Changed since it was last run: resampling: 2-fold before, now")
    assert "The budget of 4 runs left out 2 runs; raise it" in output


def test_plan_says_what_is_done_otherwise(capsys, study):
    study.write_text(STUDY + "\n[tuning]\nbudget = 2\n", encoding="utf-8")
    output, _ = verulam(capsys, "plan", study)
    assert "Nothing is tuned of majority class." in output


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


def test_every_key_is_shown():
    text = _example_study(Path("study.toml"))
    shown = [key for key in _KEYS if f"{key} = " in text or f"[[{key}]]" in text]
    assert shown == list(_KEYS)


def test_comments_can_be_taken_out():
    text = _example_study(Path("study.toml"))
    assert tomllib.loads(text)["test_share"] == 0.33
    keys = ("time_limit", "memory_limit", "training_shares")
    for key in keys:
        text = text.replace(f"# {key} =", f"{key} =")
    assert set(keys) < set(tomllib.loads(text))


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_examples_can_be_planned(path):
    study = read_study(path)
    assert study.question
    assert len(make_plan(study)) > 0


def test_there_are_examples():
    assert len(EXAMPLES) >= 3
