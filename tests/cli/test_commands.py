"""What the commands print."""

import re

import pytest

from verulam.catalogue import read_map
from verulam.cli import main


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
    assert re.search(r"^island +categorical +input +0 +3 +mostly", output, re.MULTILINE)


def test_describe_a_file(capsys, tmp_path):
    file = tmp_path / "fruit.csv"
    file.write_text("size,ripe\n1.5,yes\n2.5,no\n,yes\n", encoding="utf-8")
    output = printed(capsys, "describe", str(file), "--target", "ripe")
    assert re.search(r"^size +numeric +input +1 +2 +1\.5 to 2\.5, mean 2", output, re.MULTILINE)


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


def test_find_says_where_a_borrowed_learner_serves(capsys):
    output = printed(capsys, "find", "17.u")
    assert re.search(r"^17\.u +Bagging.*\n +bagging,", output, re.MULTILINE)


def test_find_says_not_yet(capsys):
    assert "not yet" in printed(capsys, "find", "polylingual")


def test_find_nothing(capsys):
    with pytest.raises(SystemExit) as caught:
        main(["find", "naiv", "bayse"])
    captured = capsys.readouterr()
    assert caught.value.code == 1
    assert captured.out == ""
    assert captured.err.startswith("Nothing found for 'naiv bayse'. Nearest: ")
