"""The command that compares, as a user gives it."""

import csv
import html
import re
from pathlib import Path

import pytest

from verulam.cli import main
from verulam.data import dataset


@pytest.fixture(autouse=True)
def folder(monkeypatch, tmp_path):
    """Work in a folder of its own, on a narrow terminal."""
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def printed(capsys, *words, code=0):
    with pytest.raises(SystemExit) as caught:
        main(["compare", *words, "--jobs", "1"])
    assert (caught.value.code or 0) == code
    captured = capsys.readouterr()
    assert all(len(line) <= 80 for line in captured.out.splitlines())
    return captured.out


def test_it_ends_with_the_path_of_a_report(capsys, folder):
    output = printed(capsys, "iris", "--learners", "majority class,naive bayes")
    title = "iris: Error by stratified 10-fold cross-validation, repeated 2 times\n"
    assert output.startswith(title)
    assert "\nUse naive Bayes: it errs on " in output
    assert "rests on 2 repeats of cross-validation" in " ".join(output.split())
    assert "\nReport: iris-comparison.html\nNext: --store FILE keeps the runs, and " in output
    page = (folder / "iris-comparison.html").read_text(encoding="utf-8")
    assert "naive Bayes" in page
    assert "parametric.NaiveBayes" not in re.sub(
        r'<pre id="study-file">.*?</pre>', "", page, flags=re.S
    )


def test_learners_may_be_named_one_by_one(capsys, folder):
    words = ("--learners", "majority class", "--learners", "naive bayes", "--resampling", "3-fold")
    output = printed(capsys, "iris", *words, "--no-report")
    assert "majority class" in output
    assert "naive Bayes" in output


def test_options(capsys, folder):
    words = ("iris", "--learners", "majority class, naive bayes", "--resampling", "2x4-fold",
             "--seed", "1", "--measure", "accuracy", "--no-report")  # fmt: skip
    output = printed(capsys, *words, "--csv", "runs.csv", "--store", "kept.sqlite")
    assert output.startswith("iris: Accuracy by stratified 4-fold cross-validation, repeated 2")
    assert "\nUse naive Bayes: it is right on " in output
    assert sorted(path.name for path in folder.iterdir()) == ["kept.sqlite", "runs.csv"]
    with (folder / "runs.csv").open(encoding="utf-8", newline="") as stream:
        rows = list(csv.DictReader(stream))
    assert len(rows) == 16
    assert {row["learner"] for row in rows} == {"majority class", "naive Bayes"}


def test_what_matters_the_rule_and_the_budget_are_said_and_kept(capsys, folder):
    words = ("wine", "--learners", "decision tree,k-nearest neighbours,majority class",
             "--matters", "0.3", "--rule", "one standard error", "--time-budget", "0.001",
             "--resampling", "2-4x3-fold")  # fmt: skip
    output = printed(capsys, *words)
    assert "within 30 points" in output
    assert "This rests on 2 repeats" in " ".join(output.split())
    page = (folder / "wine-comparison.html").read_text(encoding="utf-8")
    command = html.unescape(re.search(r'<pre id="command">(.*?)</pre>', page)[1])
    assert command == (
        "verulam compare wine --learners 'decision tree,k-nearest neighbours,majority class' "
        "--resampling 2-4x3-fold --matters 0.3 --rule 'one standard error' --time-budget 0.001 "
        "--seed 0"
    )


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--rule", "first"), "Invalid value for --rule: 'first'; expected one of 'half standard"),
        (("--matters", "-1"), "Invalid value for '--matters'"),
        (("--time-budget", "0"), "Invalid value for --time-budget: 0; expected a number of"),
    ],
)
def test_wrong_options_are_named(capsys, words, message):
    with pytest.raises(SystemExit) as caught:
        main(["compare", "iris", "--learners", "majority class", *words])
    assert caught.value.code == 2
    assert message in " ".join(capsys.readouterr().err.split())


def test_a_seed_below_zero_is_refused(capsys):
    with pytest.raises(SystemExit) as caught:
        main(["compare", "iris", "--seed", "-1"])
    assert caught.value.code == 2
    assert "Invalid value for '--seed'" in capsys.readouterr().err


def test_regression_with_the_default_learners(capsys):
    output = printed(capsys, "stackloss", "--resampling", "3-fold", "--report", "mine.html")
    assert re.search(r"^mean predictor +\d", output, re.MULTILINE)
    assert re.search(r"^linear regression +\d", output, re.MULTILINE)
    assert Path("mine.html").is_file()


def test_the_report_opens_where_it_is_asked_for(capsys, folder, monkeypatch):
    opened = []
    monkeypatch.setattr("typer.launch", opened.append)
    printed(capsys, "iris", "--learners", "naive bayes", "--resampling", "2-fold", "--open")
    assert opened == [(folder / "iris-comparison.html").as_uri()]


def test_failed_runs_are_told_and_counted(capsys):
    words = ("iris", "--learners", "perceptron,naive bayes", "--measure", "log_loss",
             "--resampling", "3-fold", "--no-report")  # fmt: skip
    output = printed(capsys, *words, code=1)
    assert "Failed runs:\n- perceptron: " in output


def test_stopped(capsys, monkeypatch):
    def stopped(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr("verulam.experiment.compare", stopped)
    for words, told in (
        ((), "Nothing was kept; with --store FILE"),
        (("--store", "kept.sqlite"), "kept in kept.sqlite; the same command goes on"),
    ):
        with pytest.raises(SystemExit) as caught:
            main(["compare", "iris", *words])
        captured = capsys.readouterr()
        assert caught.value.code == 130
        assert captured.out == ""
        assert told in " ".join(captured.err.split())


def test_rows_without_a_target_may_be_left_out(capsys, folder):
    table = dataset("iris").table.astype({"species": object})
    table.loc[[4, 90], "species"] = None
    table.to_csv("gaps.csv", index=False)
    words = ["gaps.csv", "--target", "species", "--learners", "nearest mean"]
    words += ["--resampling", "2-fold", "--no-report"]
    printed(capsys, *words, code=2)
    assert "gaps: Error by" in printed(capsys, *words, "--drop-missing-target")


def messy(folder):
    """Write a table with an id, gaps in the target and rare classes."""
    rows = ["id,x,outcome"]
    labels = ["yes"] * 14 + ["no"] * 12 + ["maybe"] * 3 + ["never", ""]
    rows += [f"{n + 100},{(n * 37) % 31},{label}" for n, label in enumerate(labels)]
    (folder / "messy.csv").write_text("\n".join(rows), encoding="utf-8")


def test_every_mistake_at_once_and_a_way_out_of_each(capsys, folder):
    messy(folder)
    with pytest.raises(SystemExit):
        main(["compare", "messy.csv"])
    assert "name the column to predict (--target of a command" in capsys.readouterr().err
    with pytest.raises(SystemExit):
        main(["compare", "messy.csv", "--target", "outcome"])
    said = capsys.readouterr().err
    for words in ("missing in 1 row:", "1 row of class 'never'", "Also rare: 'maybe' (3 rows)"):
        assert words in said
    output = printed(
        capsys, "messy.csv", "--target", "outcome", "--drop-missing-target", "--rare", "drop",
        "--leave-out", "id", "--learners", "majority class,nearest mean", "--resampling", "2-fold",
    )  # fmt: skip
    plain = " ".join(output.split())
    assert "1 row without a value of 'outcome' left out, of 31." in plain
    assert "Rare classes left out with their rows: 'maybe' (3 rows), 'never' (1 row)." in plain
    assert "numbers the rows" not in plain
    page = (folder / "messy-comparison.html").read_text(encoding="utf-8")
    command = re.search(r'<pre id="command">(.*?)</pre>', page)[1]
    assert html.unescape(command) == (
        "verulam compare messy.csv --target outcome --learners 'majority class,nearest mean' "
        "--resampling 2-fold --seed 0 --drop-missing-target --leave-out id --rare drop"
    )
    assert "Rare classes left out" in page


def test_losses_weights_and_several_targets_are_kept_in_the_command(capsys, folder):
    frame = dataset("diabetes").table.head(60)
    frame.assign(heavy=1.0 + frame["age"].gt(50), tall=frame["bmi"] > frame["bmi"].median()).to_csv(
        "some.csv"
    )
    words = ("some.csv", "--target", "bmi", "--target", "bp", "--weights", "heavy",
             "--learners", "mean predictor", "--resampling", "2-fold cross-validation")  # fmt: skip
    output = " ".join(printed(capsys, *words).split())
    assert "bmi and bp are predicted together" in output
    assert "Rows weigh what heavy says" in output
    page = (folder / "some-comparison.html").read_text(encoding="utf-8")
    command = html.unescape(re.search(r'<pre id="command">(.*?)</pre>', page)[1])
    assert command.startswith("verulam compare some.csv --target bmi --target bp --learners")
    assert command.endswith("--weights heavy")
    Path("costs.csv").write_text("decision,True,False\nTrue,0,1\nFalse,5,0\n")
    words = ("some.csv", "--target", "tall", "--losses", "costs.csv", "--learners",
             "majority class", "--resampling", "2-fold", "--no-report")  # fmt: skip
    assert "Expected cost by stratified 2-fold" in printed(capsys, *words)
