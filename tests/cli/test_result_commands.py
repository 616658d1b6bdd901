"""From the winner to a model in use, by the commands."""

import json
import shutil

import pandas as pd
import pytest

from verulam.cli import main
from verulam.data import dataset
from verulam.experiment import SavedModel, load_model, save_model

STUDY = """
resampling = "2-fold"
test_share = 0.3
reject_cost = 0.2
data = ["iris"]
learners = ["majority class", "naive bayes"]
"""


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
def folder(tmp_path_factory):
    """Return a folder with a study that was run and finalised, and rows to predict."""
    folder = tmp_path_factory.mktemp("model")
    (folder / "flowers.toml").write_text(STUDY, encoding="utf-8")
    dataset("iris").inputs.assign(plant=range(150)).to_csv(folder / "new.csv", index=False)
    for words in (["run", "--engine", "serial"], ["finalise"]):
        with pytest.raises(SystemExit) as caught:
            main([words[0], str(folder / "flowers.toml"), *words[1:]])
        assert (caught.value.code or 0) == 0
    return folder


def test_finalise_makes_what_the_answer_says(capsys, tmp_path):
    study = tmp_path / "birds.toml"
    study.write_text(
        'resampling = "3-fold"\ndata = ["penguins"]\nanalysis = { rule = "not rejected" }\n'
        'learners = ["k-nearest neighbours", "decision tree", "naive bayes"]\n'
    )
    output, _ = verulam(capsys, "run", study, "--engine", "serial")
    said = " ".join(output.split())
    assert said.startswith("Use naive Bayes: it errs on ")
    assert "the simplest of 3 contestants that the tests do not show to be worse" in said
    assert "makes a model of naive Bayes (with --learner best, k-nearest" in said
    output, _ = verulam(capsys, "finalise", study)
    said = " ".join(output.split())
    assert said.startswith("parametric.NaiveBayes for species: ")
    assert "Chosen recommended by the study: simpler, and as good as the best" in said
    assert "k-nearest neighbours has the best mean error" in said
    _, errors = verulam(capsys, "finalise", study, code=2)
    assert "name another file (path; --output of the command), or have it replaced" in errors
    output, _ = verulam(capsys, "finalise", study, "--learner", "best", "--force")
    assert output.startswith("k-nearest neighbours for species: ")


def test_finalise_says_how_good_and_where(capsys, folder, tmp_path):
    store = shutil.copy(folder / "flowers.sqlite", tmp_path / "flowers.sqlite")
    model = tmp_path / "model.skops"
    output, _ = verulam(capsys, "finalise", store, "--force", "-o", model)
    assert output.startswith("parametric.NaiveBayes for species: Error 0.")
    assert f"Model: {model}" in output
    assert f"Next: verulam predict {model} NEW.csv" in output
    assert (tmp_path / "model-card.html").is_file()
    told, _ = verulam(capsys, "status", store)
    assert " ".join(told.split()).count("Locked part of iris used on") == 2


def test_a_second_look_is_refused(capsys, folder, tmp_path):
    store = folder / "flowers.sqlite"
    _, errors = verulam(capsys, "finalise", store, "-o", tmp_path / "m.skops", code=2)
    assert errors.startswith("Error: The locked test part of iris was used on ")
    assert errors.count("\n") == 1


def test_predict_to_a_file(capsys, folder, tmp_path):
    path = tmp_path / "out.csv"
    words = ("predict", folder / "flowers.skops", folder / "new.csv", "-o", path)
    output, errors = verulam(capsys, *words, "--keep", "plant")
    assert "plant" not in errors
    assert output.startswith(f"{path}: 150 rows, columns plant, prediction, probability_setosa")
    table = pd.read_csv(path)
    assert table["plant"].tolist() == list(range(150))
    assert {"reject", "setosa"} <= set(table["decision"])
    assert (table["prediction"] == dataset("iris").target_values.astype(str)).mean() > 0.9


def test_predict_to_a_pipe(capsys, folder):
    output, errors = verulam(capsys, "predict", folder / "flowers.skops", folder / "new.csv")
    assert output.splitlines()[0].startswith("prediction,probability_setosa")
    assert len(output.splitlines()) == 151
    assert "left alone: plant" in errors


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"petal_length_cm": "petal_lenght_cm"}, "(nearest: 'petal_lenght_cm')"),
        ({}, "row 3: 'wide' is not a number"),
    ],
)
def test_bad_files_are_one_sentence(capsys, folder, tmp_path, change, sentence):
    path = tmp_path / "bad.csv"
    table = dataset("iris").inputs.rename(columns=change)
    if not change:
        table = table.astype(object)
        table.loc[2, "petal_width_cm"] = "wide"
    table.to_csv(path, index=False)
    output, errors = verulam(capsys, "predict", folder / "flowers.skops", path, code=2)
    assert output == ""
    assert errors.startswith("Error: bad.csv")
    assert sentence in errors
    assert errors.count("\n") == 1


def test_untrusted_types_are_listed_and_refused(capsys, folder, tmp_path):
    from sklearn.preprocessing import FunctionTransformer

    made = load_model(folder / "flowers.skops")
    path = tmp_path / "strange.skops"
    save_model(SavedModel(made.card, FunctionTransformer(shutil.which)), path)
    _, errors = verulam(capsys, "predict", path, folder / "new.csv", code=2)
    assert "shutil.which. Nothing was loaded" in errors
    assert "--trust shutil.which" in errors
    assert "Traceback" not in errors


def test_card(capsys, folder):
    model = folder / "flowers.skops"
    text, _ = verulam(capsys, "card", model)
    assert text.startswith("parametric.NaiveBayes for species: Error")
    assert all(len(line) <= 80 for line in text.splitlines())
    assert verulam(capsys, "card", model, "--markdown")[0].startswith("# parametric")
    assert verulam(capsys, "card", model, "--html")[0].startswith("<!doctype html>")
    assert json.loads(verulam(capsys, "card", model, "--json")[0])["target"] == "species"
    assert "only one of them" in verulam(capsys, "card", model, "--html", "--json", code=2)[1]


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (("finalise", "no.sqlite"), "There is no store no.sqlite."),
        (("predict", "no.skops", "no.csv"), "There is no model file no.skops."),
        (("card", "no.skops"), "There is no model file no.skops."),
    ],
)
def test_errors_are_one_sentence(capsys, words, sentence):
    output, errors = verulam(capsys, *words, code=2)
    assert output == ""
    assert errors == f"Error: {sentence}\n"


def test_analyse_prints_all_pairs_where_they_are_asked_for(capsys, tmp_path):
    study = tmp_path / "birds.toml"
    study.write_text(
        'resampling = "3-fold"\ndata = ["penguins"]\n'
        'learners = ["majority class", "decision tree", "naive bayes"]\n'
    )
    verulam(capsys, "run", study, "--engine", "serial")
    output, _ = verulam(capsys, "analyse", study, "--pairs")
    head, *lines = output.splitlines()
    assert head.startswith("penguins: blocked analysis of variance")
    start = next(place for place, line in enumerate(lines) if line.startswith("---"))
    rows = lines[start + 1 : start + 4]
    assert [row.endswith("better") for row in rows] == [True, True, False]
    assert ["majority class" in row for row in rows] == [True, True, False]
    assert lines[-1] == "Pairs without a word at the end are not distinguishable."
    output, errors = verulam(capsys, "analyse", study, "--pairs", "--csv", code=2)
    assert "only one of them can be printed" in errors
