"""The work behind the page Studies, without a page."""

import hashlib
import shutil
import sqlite3
from dataclasses import replace
from pathlib import Path

import pytest

from verulam.base import DataError
from verulam.experiment import Results, analyse
from verulam.lab._studies.looking import (
    judge,
    look,
    margins_around,
    open_store,
    run_details,
    store_path,
)
from verulam.lab._studies.questions import StudyQuestion
from verulam.lab._studies.workspace import folder_of_user


@pytest.fixture
def asked(several_store):
    return StudyQuestion(str(several_store))


def test_a_study_is_looked_at(asked, tmp_path):
    view = look(tmp_path, asked)
    assert (view.progress.done, view.progress.total, view.progress.ended) == (36, 36, True)
    assert view.headline == "36 done"
    assert view.data == ("iris", "wine", "penguins", "breast_cancer")
    assert list(view.contestants) == ["majority class", "naive Bayes", "nearest mean"]
    assert view.splits == ((0, 0), (0, 1), (0, 2))
    assert next(iter(view.measures.values())) == "error"


def test_the_answer_is_that_of_the_analysis(asked, tmp_path):
    words, drawn = judge(tmp_path, asked)
    analysis = analyse(asked.path)
    assert words.sentence == drawn.sentence == analysis.answer.sentence
    assert not words.pictures
    assert drawn.pictures[0].title == "Critical differences"
    assert "nearest mean" in drawn.pictures[0].svg
    other = next(judge(tmp_path, StudyQuestion(asked.path, measure="log_loss", data="wine")))
    assert other.sentence == analyse(asked.path, "log_loss").answer.sentence


def test_the_code_gives_the_same_answer(asked, tmp_path, capsys):
    question = StudyQuestion(asked.path, measure="balanced_accuracy", matters=0.2)
    exec(question.code(asked.path), {})
    assert capsys.readouterr().out.strip() == next(judge(tmp_path, question)).sentence


def test_one_run_is_shown_with_the_measure_asked_for(asked, several_store, tmp_path):
    naive_bayes = look(tmp_path, asked).contestants["naive Bayes"]
    question = replace(asked, measure="log_loss")
    pairs = dict(run_details(tmp_path, question, naive_bayes, "wine", 0, 1))
    scores = Results(several_store).scores(["error", "log_loss"])
    place = (scores["learner"] == naive_bayes) & (scores["data"] == "wine") & (scores["fold"] == 1)
    assert float(pairs["error"]) == pytest.approx(
        float(scores.loc[place, "error"].iloc[0]), abs=1e-4
    )
    assert float(pairs["log loss"]) == pytest.approx(
        float(scores.loc[place, "log_loss"].iloc[0]), abs=1e-4
    )
    assert pairs["status"] == "done"
    with pytest.raises(DataError, match="no run on fold 9"):
        run_details(tmp_path, asked, naive_bayes, "wine", 0, 9)


def test_a_study_that_has_not_ended_is_looked_at_with_its_failures(several_store, tmp_path):
    path = shutil.copy(several_store, tmp_path / "part.sqlite")
    with sqlite3.connect(path) as store:
        store.execute("DELETE FROM runs WHERE run IN (SELECT run FROM runs LIMIT 6)")
        (run,) = store.execute("SELECT run FROM runs LIMIT 1").fetchone()
        store.execute(
            "UPDATE runs SET status = 'failed', stage = 'fit', error = 'ValueError: no <luck>'"
            " WHERE run = ?", (run,),
        )  # fmt: skip
    view = look(tmp_path, StudyQuestion(str(path)))
    assert (view.progress.done, view.progress.total, view.progress.failed) == (30, 36, 1)
    assert not view.progress.ended
    assert view.n_failures == 1
    assert view.failures[0][-2:] == ("failed", "ValueError: no <luck>")


def test_looking_changes_nothing(several_store, tmp_path):
    path = Path(shutil.copy(several_store, tmp_path / "copy.sqlite"))
    before = hashlib.sha256(path.read_bytes()).digest()
    look(tmp_path, StudyQuestion(str(path)))
    list(judge(tmp_path, StudyQuestion(str(path))))
    assert hashlib.sha256(path.read_bytes()).digest() == before
    assert list(tmp_path.iterdir()) == [path]


def test_a_store_that_was_sent_is_kept_and_found_again(several_store, tmp_path):
    view = open_store(tmp_path, "mine.sqlite", several_store.read_bytes())
    assert view.question.path == "mine.sqlite"
    again = look(tmp_path, StudyQuestion.from_link(view.question.to_link()))
    assert again == view


def test_the_stores_of_another_browser_are_not_opened_by_their_path(
    several_store, monkeypatch, tmp_path
):
    monkeypatch.setenv("VERULAM_LAB", str(tmp_path))
    mine, theirs = folder_of_user("a" * 32), folder_of_user("b" * 32)
    place = theirs / ("c" * 32)
    place.mkdir(parents=True)
    copy = shutil.copy(several_store, place / "runs.sqlite")
    with pytest.raises(DataError, match=r"no store 'runs\.sqlite' in your part"):
        look(mine, StudyQuestion(str(copy)))
    assert look(theirs, StudyQuestion(str(copy))).headline == "36 done"


def test_a_study_file_stands_for_its_store(tmp_path):
    assert store_path(tmp_path, StudyQuestion("a/study.toml")).name == "study.sqlite"
    assert (
        store_path(tmp_path, StudyQuestion(key="a" * 32)) == tmp_path / ("a" * 32) / "runs.sqlite"
    )


@pytest.mark.parametrize(
    "content", [b"", b"no store at all", b"SQLite format 3\0" + b"\xff" * 5000]
)
def test_what_is_no_store_is_refused_with_a_sentence(tmp_path, content):
    (tmp_path / "bad.sqlite").write_bytes(content)
    with pytest.raises(DataError, match=r"store"):
        look(tmp_path, StudyQuestion(str(tmp_path / "bad.sqlite")))
    with pytest.raises(DataError, match="There is no store"):
        look(tmp_path, StudyQuestion(str(tmp_path / "none.sqlite")))


def test_the_slider_has_the_usual_margin_and_the_one_asked_for():
    assert 0.01 in margins_around(0.01, None)
    assert 0.033 in margins_around(0.01, 0.033)
    assert margins_around(0.0, 0.0) == [0.0]
