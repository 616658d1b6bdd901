"""Exit codes, error sentences, and what the commands that look things up print."""

import os
import re
import signal
import subprocess
import sys
import time
from dataclasses import replace

import pytest

from verulam.catalogue import read_map
from verulam.cli import main

PROGRAM = [sys.executable, "-c", "from verulam.cli import main; main()"]


def verulam(capsys, *words):
    """Run a command in this process; return exit code, output and errors."""
    with pytest.raises(SystemExit) as caught:
        main(list(words))
    captured = capsys.readouterr()
    return caught.value.code or 0, captured.out, captured.err


def test_version(capsys):
    code, output, _ = verulam(capsys, "--version")
    assert code == 0
    assert output.startswith("verulam ")


def test_no_command_shows_the_help(capsys):
    _, output, errors = verulam(capsys)
    assert "Usage: verulam" in output + errors


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (("compare", "irsi"), "Nearest: iris"),
        (("compare", "no/such.csv"), "no/such.csv: no such file."),
        (("compare", "iris", "--target", "colour"), "The columns are: sepal_length_cm"),
        (("compare", "iris", "--learners", "naive bays"), "Unknown learner 'naive bays'"),
        (("compare", "iris", "--learners", "lasso"), "is for regression"),
        (("compare", "iris", "--measure", "eror"), "Unknown measure 'eror'"),
        (("compare", "iris", "--resampling", "1-fold"), "folds=1"),
        (("compare", "baskets"), "has no target"),
        (("describe", "irsi"), "Nearest: iris"),
        (("learners", "--tag", "mising"), "Unknown tag 'mising'"),
        (("learners", "--task", "clasification"), "Unknown task 'clasification'"),
    ],
)
def test_bad_input_is_one_sentence(capsys, words, sentence):
    code, output, errors = verulam(capsys, *words)
    assert code == 2
    assert output == ""
    assert errors.startswith("Error: ")
    assert sentence in errors
    assert errors.count("\n") == 1


def test_a_folder_that_is_not_there_is_found_before_the_work(capsys, tmp_path, monkeypatch):
    monkeypatch.setattr("verulam.experiment.compare", lambda *_, **__: pytest.fail("it ran"))
    file = tmp_path / "nowhere" / "runs.csv"
    code, _, errors = verulam(capsys, "compare", "iris", "--csv", str(file))
    assert code == 2
    assert "there is no folder" in errors


@pytest.mark.parametrize("words", [("nonsense",), ("compare",), ("compare", "iris", "--fold", "x")])
def test_bad_usage(capsys, words):
    code, output, errors = verulam(capsys, *words)
    assert code == 2
    assert output == ""
    assert "Traceback" not in errors


@pytest.mark.parametrize("words", [("--debug", "compare", "irsi"), ("compare", "irsi", "--debug")])
def test_debug_shows_the_traceback(words):
    with pytest.raises(KeyError, match="irsi"):
        main(list(words))


@pytest.mark.parametrize("content", ["", "a,b\n"])
def test_empty_files(capsys, tmp_path, content):
    file = tmp_path / "empty.csv"
    file.write_text(content, encoding="utf-8")
    code, _, errors = verulam(capsys, "compare", str(file), "--target", "b")
    assert code == 2
    assert "empty.csv" in errors


def test_help_is_quick():
    def seconds():
        """Return the work of the processor, which does not depend on what else it does."""
        before = os.times()
        subprocess.run([*PROGRAM, "--help"], check=True, capture_output=True)
        after = os.times()
        return sum(after[2:4]) - sum(before[2:4])

    assert min(seconds() for _ in range(3)) < 1.0


@pytest.mark.skipif(os.name != "posix", reason="signals of POSIX")
def test_interrupt_leaves_cleanly_and_says_how_to_go_on(tmp_path):
    store = tmp_path / "kept.sqlite"
    words = ["compare", "adult", "--learners", "naive bayes", "--resampling", "1000x2"]
    process = subprocess.Popen(
        [*PROGRAM, *words, "--store", str(store)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    # In the middle of the work, which takes minutes.
    for _ in range(600):
        time.sleep(0.1)
        if store.exists():
            break
    time.sleep(0.5)
    process.send_signal(signal.SIGINT)
    output, errors = process.communicate(timeout=60)
    assert process.returncode == 130
    assert output == ""
    assert "Traceback" not in errors
    assert errors.startswith("Stopped. Finished runs are kept in")


@pytest.fixture(autouse=True)
def width(monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")


def printed(capsys, *words, code=0):
    with pytest.raises(SystemExit) as caught:
        main(list(words))
    assert (caught.value.code or 0) == code
    output = capsys.readouterr().out
    assert "\x1b" not in output
    assert all(len(line) <= 80 for line in output.splitlines())
    return output


def test_learners(capsys):
    output = printed(capsys, "learners")
    headings = re.findall(r"^(\w+):$", output, re.MULTILINE)
    assert {"classification", "regression", "density", "clustering"} <= set(headings)
    assert re.search(r"^parametric\.NaiveBayes +SIT1305 II +prob", output, re.MULTILINE)
    assert re.search(r"^k-nearest neighbours +Alpaydin 8\.4 +prob", output, re.MULTILINE)


def test_learners_narrowed(capsys):
    words = ("learners", "--task", "classification", "--tag", "missing", "--tag", "categorical")
    output = printed(capsys, *words)
    assert "NaiveBayes" in output
    assert "logistic" not in output


def test_no_such_learner(capsys):
    assert printed(capsys, "learners", "--task", "density", "--tag", "sparse", code=1) == ""


def test_datasets(capsys):
    output = printed(capsys, "datasets")
    assert re.search(r"^iris +classification +150 +4 ", output, re.MULTILINE)


def test_describe(capsys):
    output = printed(capsys, "describe", "penguins")
    assert output.startswith("Dataset 'penguins': 344 rows, classification of 'species'")
    assert re.search(r"^island +categorical +0 +3 +mostly", output, re.MULTILINE)


def test_describe_a_file(capsys, tmp_path):
    file = tmp_path / "fruit.csv"
    file.write_text("size,ripe\n1.5,yes\n2.5,no\n,yes\n", encoding="utf-8")
    output = printed(capsys, "describe", str(file), "--target", "ripe")
    assert re.search(
        r"^size +numeric +1 +2 +1\.5 to 2\.5, mean 2 +as it is, scaled", output, re.MULTILINE
    )


def test_describe_a_wide_file(capsys, tmp_path):
    file = tmp_path / "wide.csv"
    names = [f"gene_{number}" for number in range(70)]
    rows = [
        ",".join([*(str(row * 0.5) for _ in names), "ill" * (row % 2) or "well"])
        for row in range(8)
    ]
    file.write_text("\n".join([",".join([*names, "state"]), *rows]) + "\n")
    output = printed(capsys, "describe", str(file), "--target", "state")
    assert "gene_59 " in output
    assert "gene_60 " not in output
    assert "target" in output
    assert "And 10 other columns (10 numeric); --all shows them." in " ".join(output.split())
    assert "gene_69 " in printed(capsys, "describe", str(file), "--target", "state", "--all")


def test_describe_without_some_columns(capsys):
    output = printed(capsys, "describe", "iris", "--leave-out", "petal_width_cm, sepal_width_cm")
    assert output.count("ignored") == 2


def test_find_a_section(capsys):
    output = printed(capsys, "find", "13.8")
    assert output.startswith("Alpaydin 13.8: Multiple Kernel Learning\n")
    assert re.search(
        r"^13\.w +Multiple kernel learning \(alpaydin 13\.37–13\.39\)$", output, re.MULTILINE
    )


def test_find_leaves_the_names_to_import_whole(capsys):
    output = printed(capsys, "find", "13.8")
    names = next(row.where for row in read_map() if row.id == "13.v")
    assert len(names) > 3
    assert all(re.search(rf"(?m) {re.escape(name)}(,|$)", output) for name in names)
    assert max(map(len, output.splitlines())) <= 80


def test_find_words(capsys):
    output = printed(capsys, "find", "naive", "bayes")
    assert re.search(r"^U2\.b +Categorical NB \(sit1305 ", output, re.MULTILINE)
    assert re.search(r"^parametric\.NaiveBayes +ours +SIT1305 II", output, re.MULTILINE)


def test_find_says_where_a_borrowed_learner_serves(capsys, monkeypatch):
    rows = [replace(row, where=()) if row.id == "U3.j" else row for row in read_map()]
    monkeypatch.setattr("verulam.catalogue._search.read_map", lambda: rows)
    output = printed(capsys, "find", "U3.j")
    assert re.search(r"^U3\.j +BIRCH.*\n +BIRCH$", output, re.MULTILINE)


def test_find_says_not_yet(capsys, monkeypatch):
    rows = [replace(row, where=()) if row.id == "19.v" else row for row in read_map()]
    monkeypatch.setattr("verulam.catalogue._search.read_map", lambda: rows)
    assert "not yet" in printed(capsys, "find", "confusion matrix")


def test_find_what_is_no_method_of_the_texts(capsys):
    output = printed(capsys, "find", "learning", "curve")
    assert output.startswith("learning curve: training_shares of a study")


def test_find_nothing(capsys):
    with pytest.raises(SystemExit) as caught:
        main(["find", "naiv", "bayse"])
    captured = capsys.readouterr()
    assert caught.value.code == 1
    assert captured.out == ""
    assert captured.err.startswith("Nothing found for 'naiv bayse'. Nearest: ")


@pytest.mark.parametrize(
    ("words", "ours"),
    [
        (["compare", "iris", "--metric", "auc"], "--metric is called --measure here"),
        (["compare", "iris", "--cv=5"], "--cv is called --resampling here; try --resampling=5."),
        (["compare", "iris", "--workers", "2"], "--workers is called --jobs here"),
        (["compare", "iris", "--n-jobs", "2"], "--n-jobs is called --jobs here"),
    ],
)
def test_options_as_other_programs_call_them(words, ours, capsys):
    with pytest.raises(SystemExit) as caught:
        main(words)
    assert caught.value.code == 2
    assert ours in capsys.readouterr().err


@pytest.mark.parametrize("form", ["3", "3 fold", "3-fold", "3folds"])
def test_folds_as_people_write_them(form, capsys):
    words = ["compare", "iris", "--learners", "majority class", "--resampling", form]
    with pytest.raises(SystemExit):
        main([*words, "--no-report", "--jobs", "1"])
    assert "3-fold cross-validation" in capsys.readouterr().out
