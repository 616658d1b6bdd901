"""The command `verulam lines`."""

import pytest
from typer.testing import CliRunner

from verulam.cli._lines_command import _answer
from verulam.cli._main import app, main


def _run(*words):
    return CliRunner().invoke(app, ["lines", *words])


def test_every_trainer_has_its_row_and_the_picture_is_drawn(tmp_path):
    picture = tmp_path / "lines.png"
    columns = "petal_length_cm,petal_width_cm"
    done = _run("iris", "--positive", "setosa", "--columns", columns, "--picture", str(picture))
    assert done.exit_code == 0, done.output
    assert done.output.startswith("A line separates the classes")
    assert "ho-kashyap" in done.output
    assert "least squares" in done.output
    assert picture.stat().st_size > 10_000


def test_overlap_is_said():
    done = _run("iris", "--positive", "versicolor")
    assert done.output.startswith("No line separates the classes")


def test_rows_with_gaps_are_left_out(tmp_path):
    table = tmp_path / "gaps.csv"
    table.write_text("a,b,kind\n1,2,x\n,3,x\n2,1,x\n5,6,y\n6,5,y\n")
    done = _run(str(table), "--target", "kind")
    assert done.exit_code == 0, done.output
    assert "1 rows with gaps are left out" in done.output
    assert "4 rows, columns scaled: a, b" in done.output


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["iris"], "3 classes; name one of setosa"),
        (["iris", "--positive", "setoza"], "setosa"),
        (["iris", "--positive", "setosa", "--columns", "petal"], "petal_"),
    ],
)
def test_mistakes_are_answered_in_a_sentence(words, message, capsys):
    with pytest.raises(SystemExit) as exit_:
        main(["lines", *words])
    assert exit_.value.code == 2
    assert message in capsys.readouterr().err


def test_more_columns_than_two_give_the_errors_on_the_way(tmp_path):
    picture = tmp_path / "errors.png"
    done = _run("iris", "--positive", "virginica", "--picture", str(picture))
    assert done.exit_code == 0, done.output
    assert picture.exists()
    words = " ".join(done.output.split())
    assert "Lines need two columns" in words
    assert "fixed increment" in words
    assert "a linear program proves that no plane separates the classes" in words


def test_text_columns_are_said_to_be_left_out(tmp_path):
    table = tmp_path / "mixed.csv"
    table.write_text("size,colour,kind\n1,red,a\n2,green,a\n5,red,b\n6,green,b\n")
    done = _run(str(table), "--target", "kind")
    assert done.exit_code == 0, done.output
    assert "Columns without numbers are left out: colour." in done.output


def test_an_answer_may_be_left_open():
    assert [_answer(each).split()[0] for each in (True, False)] == ["A", "No"]
    assert "could not decide" in _answer(None)


def test_rows_without_a_class_and_columns_may_be_left_out(tmp_path):
    table = tmp_path / "gaps.csv"
    table.write_text("id,a,b,kind\n1,1,2,x\n2,2,1,x\n3,5,6,y\n4,6,5,y\n5,6,6,\n")
    done = _run(str(table), "--target", "kind", "--drop-missing-target", "--leave-out", "id")
    assert done.exit_code == 0, done.output
    assert "4 rows, columns scaled: a, b" in done.output


def test_some_trainers_may_be_named(capsys):
    done = _run("iris", "--positive", "setosa", "--trainers", "pocket, least squares")
    assert done.exit_code == 0, done.output
    assert "pocket" in done.output
    assert "least squares" in done.output
    assert "fisher" not in done.output
    with pytest.raises(SystemExit):
        main(["lines", "iris", "--positive", "setosa", "--trainers", "poket"])
    assert "Unknown trainer 'poket'. Nearest: pocket" in capsys.readouterr().err


def test_a_table_without_a_target_is_told_the_option(tmp_path, capsys):
    table = tmp_path / "plain.csv"
    table.write_text("a,b,kind\n1,2,x\n5,6,y\n")
    with pytest.raises(SystemExit):
        main(["lines", str(table)])
    assert "with --target; there are: a, b, kind" in capsys.readouterr().err
