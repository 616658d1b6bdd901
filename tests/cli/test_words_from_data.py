"""Names and labels that would act on a terminal, a page or a spreadsheet: shown, never obeyed."""

import numpy as np
import pandas as pd
import pytest

from verulam.cli import main

RED = "\x1b[31mred\x1b[0m"
FORMULA = "=1+1"
COLUMN = "\x1b]0;title\x07<b>*x*</b>"


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Return a folder with a table of such words, a study of it, and its model."""
    folder = tmp_path_factory.mktemp("words")
    generator = np.random.default_rng(0)
    labels = np.array([RED, FORMULA])[np.arange(60) % 2]
    table = pd.DataFrame(
        {
            COLUMN: generator.normal(size=60) + (np.arange(60) % 2),
            "@kind": np.array(["\x9b31ma", "=b"])[generator.integers(2, size=60)],
            "label": labels,
        }
    )
    table.to_csv(folder / "table.csv", index=False)
    source = str(folder / "table.csv")
    (folder / "words.toml").write_text(
        f'resampling = "2-fold"\ntest_share = 0.3\nlearners = ["majority class", "naive bayes"]\n'
        f'[[data]]\nsource = "{source}"\ntarget = "label"\n',
        encoding="utf-8",
    )
    for words in (["run", "--engine", "serial"], ["finalise", "--learner", "naive bayes"]):
        with pytest.raises(SystemExit) as caught:
            main([words[0], str(folder / "words.toml"), *words[1:]])
        assert (caught.value.code or 0) == 0
    return folder


def printed(capsys, *words, codes=(0,)):
    """Run a command; return all that it prints, after a look for raw control characters."""
    with pytest.raises(SystemExit) as caught:
        main([str(word) for word in words])
    assert (caught.value.code or 0) in codes
    captured = capsys.readouterr()
    text = captured.out + captured.err
    assert not set(text) & {"\x1b", "\x9b", "\x07", "\r"}
    return text


@pytest.mark.parametrize(
    ("words", "seen"),
    [
        (["describe", "table.csv", "--target", "label"], r"\x1b[31mred"),
        (["compare", "table.csv", "--target", "label", "--learners", "naive bayes,majority class",
          "--resampling", "2-fold", "--no-report", "--jobs", "1"], "naive Bayes"),
        (["plan", "words.toml"], "words"),
        (["status", "words.toml"], "words"),
        (["analyse", "words.toml"], "naive Bayes"),
        (["card", "words.skops"], r"\x1b[31mred"),
        (["card", "words.skops", "--markdown"], r"\\x1b\[31mred"),
    ],
)  # fmt: skip
def test_no_command_prints_escape_sequences(capsys, folder, monkeypatch, words, seen):
    monkeypatch.chdir(folder)
    assert seen in " ".join(printed(capsys, *words).split())


@pytest.mark.parametrize(
    "words",
    [
        ["describe", "table.csv", "--target", "lab"],
        ["compare", "table.csv", "--target", "@kin"],
        ["compare", "table.csv", "--target", "label", "--leave-out", "x"],
    ],
)
def test_errors_print_no_escape_sequences(capsys, folder, monkeypatch, words):
    monkeypatch.chdir(folder)
    assert r"\x1b]0;title\x07" in printed(capsys, *words, codes=(2,))


def test_markdown_cards_show_markup_as_it_is(folder):
    card = next(folder.glob("*.md")).read_text(encoding="utf-8")
    assert r"\\x1b\]0;title\\x07&lt;b&gt;\*x\*&lt;/b&gt;" in card
    assert "<b>" not in card


def test_predictions_for_spreadsheets_hold_no_formulas(capsys, folder, monkeypatch):
    monkeypatch.chdir(folder)
    words = ["predict", "words.skops", "table.csv", "--keep", "@kind", "-o", "done.csv"]
    printed(capsys, *words)
    table = pd.read_csv(folder / "done.csv")
    assert "'@kind" in table
    texts = table.select_dtypes(exclude="number")
    assert not texts.map(lambda cell: str(cell).startswith(("=", "@"))).any(axis=None)
    assert "'=1+1" in texts.to_numpy()
    assert table.select_dtypes("number").shape[1] >= 2


def test_scores_for_spreadsheets_hold_no_formulas(capsys, folder, tmp_path):
    source = folder / "table.csv"
    words = ["compare", source, "--target", "label", "--learners", "majority class,naive bayes"]
    options = [
        "--resampling",
        "2-fold",
        "--no-report",
        "--jobs",
        "1",
        "--csv",
        tmp_path / "runs.csv",
    ]
    (tmp_path / "=table.csv").write_bytes(source.read_bytes())
    words[1] = tmp_path / "=table.csv"
    printed(capsys, *words, *options)
    content = (tmp_path / "runs.csv").read_text(encoding="utf-8")
    assert not [line for line in content.splitlines() if "," in line and ",=" in f",{line}"]
    assert pd.read_csv(tmp_path / "runs.csv").select_dtypes("number").shape[1] >= 3
