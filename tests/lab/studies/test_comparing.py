"""The work behind the page Table, without a page."""

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pandas as pd
import pytest

from verulam.base import DataError, UnknownNameError
from verulam.experiment import Results, compare, load_model
from verulam.lab._studies.comparing import (
    CompareOutcome,
    RunProgress,
    describe,
    earlier,
    last_study,
    make_model,
    open_upload,
    run_comparison,
    source_of,
    store_of,
)
from verulam.lab._studies.questions import TableQuestion

PAIR = ("majority class", "nearest mean")


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    """Return a folder of the lab, a question, and all that its comparison yielded."""
    root = tmp_path_factory.mktemp("lab")
    question = TableQuestion("iris", target="species", learners=PAIR)
    return root, question, list(run_comparison(root, question))


def test_a_comparison_yields_progress_and_then_the_answer_of_compare(finished):
    _, _, yielded = finished
    progress = [part for part in yielded if isinstance(part, RunProgress)]
    answers = [part for part in yielded if isinstance(part, CompareOutcome)]
    assert all(one.done <= other.done for one, other in pairwise(progress))
    assert [bool(part.view.pictures) for part in answers] == [False, True, True]
    expected = compare("iris", list(PAIR), progress=False)
    assert {part.view.sentence for part in answers} == {expected.conclusion}
    assert answers[-1].view.recommended == "nearest mean"
    assert [row[0] for row in answers[-1].view.rows] == list(expected.ranking().index)


def test_its_code_gives_the_same_conclusion(finished, capsys):
    root, question, yielded = finished
    exec(question.code(source_of(root, question)), {})
    assert capsys.readouterr().out.strip() == yielded[-1].view.sentence


def test_its_report_is_a_file_of_its_folder(finished):
    root, question, yielded = finished
    report = store_of(root, question).with_name(yielded[-1].report)
    assert "nearest mean" in report.read_text(encoding="utf-8")


def test_what_was_asked_is_known_again(finished):
    root, question, _ = finished
    asked, progress = earlier(root, TableQuestion("iris"))
    assert asked == question
    assert progress.ended
    assert progress.done == progress.total == 40
    assert earlier(root, TableQuestion("wine")) is None


def test_a_second_comparison_repeats_no_run(finished):
    root, question, _ = finished
    before = Results(store_of(root, question)).runs()
    first = last_study(store_of(root, question))
    *_, outcome = run_comparison(root, question)
    after = Results(store_of(root, question)).runs()
    assert outcome.study == first[0]
    assert before["fit_seconds"].tolist() == after["fit_seconds"].tolist()


def test_the_model_is_that_of_the_recommended_learner(finished):
    root, question, yielded = finished
    model, card = make_model(root, question, yielded[-1].study)
    folder = store_of(root, question).parent
    assert "nearest mean" in (folder / card).read_text(encoding="utf-8")
    assert load_model(folder / model).card.training_rows == 150


def test_a_wrong_question_is_refused_with_its_sentence(tmp_path):
    with pytest.raises(ValueError, match="'r2' is for regression"):
        list(run_comparison(tmp_path, TableQuestion("iris", learners=PAIR, measure="r2")))


def test_a_table_is_described():
    view = describe(None, TableQuestion("titanic"))
    columns = {row[0]: row for row in view.columns}
    assert view.task == "classification"
    assert columns["age"][2] == "177"
    assert columns["sex"][5] == "2 columns of 0 and 1"
    assert columns["survived"][5] == "target"
    assert any("repeat an earlier one" in finding for finding in view.findings)
    assert view.measures["Error"] == "error"
    assert "naive Bayes" not in view.others
    assert "AdaBoost" in view.others


def test_an_upload_is_described_without_a_target_and_then_with_one(tmp_path):
    rows = pd.DataFrame({"size": np.arange(30.0), "kind": ["a", "b", None] * 10})
    view = open_upload(tmp_path, "my fruit.csv", rows.to_csv(index=False).encode())
    assert (view.task, view.usual, view.question.file) == ("", (), "my fruit.csv")
    asked = TableQuestion(key=view.question.key, file="my fruit.csv", target="kind")
    view = describe(tmp_path, asked)
    assert view.gaps == 10
    assert view.question.drop_missing
    assert "20 rows" in view.headline


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("x.parquet", b"PAR1 but no more"),
        ("x.csv", b""),
        ("x.xlsx", b"\x00\x01"),
        ("x.json", b"[{"),
    ],
)
def test_a_damaged_file_is_refused_with_a_sentence(tmp_path, name, content):
    with pytest.raises(DataError) as caught:
        open_upload(tmp_path, name, content)
    assert str(caught.value).rstrip().endswith((".", ")"))
    assert "Traceback" not in str(caught.value)


def test_a_copy_that_is_gone_and_a_target_that_is_none_are_refused(tmp_path):
    with pytest.raises(DataError, match="open the file again"):
        describe(tmp_path, TableQuestion(key="a" * 32, file="x.csv"))
    with pytest.raises(DataError, match="no column of iris"):
        describe(tmp_path, TableQuestion("iris", target="colour"))


def test_columns_are_left_out_or_read_as_classes_on_request(tmp_path):
    table = pd.DataFrame(
        {"when": [0.0, 2.5, 12000.0, 4.0], "kind": [1, 2, 1, 2], "y": list("abab")}
    )
    opened = open_upload(tmp_path, "t.csv", table.to_csv(index=False).encode())
    asked = replace(opened.question, target="y", leave_out=("when",), categorical=("kind",))
    described = describe(tmp_path, asked)
    rows = {row[0]: row for row in described.columns}
    assert rows["when"][-2:] == ("0 to 12,000", "ignored")
    assert rows["kind"][1] == "categorical"
    assert described.question.leave_out == ("when",)
    assert described.targets == ("when", "kind", "y")
    with pytest.raises(UnknownNameError, match="nowhere"):
        describe(tmp_path, replace(asked, leave_out=("nowhere",)))
