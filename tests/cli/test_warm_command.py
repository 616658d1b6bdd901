"""verulam warm: loops compiled ahead of use."""

import pytest

from verulam.catalogue import _first_calls
from verulam.catalogue._first_calls import FirstCall
from verulam.cli import _warm_command as module
from verulam.cli import main


@pytest.fixture
def calls(monkeypatch):
    """Replace the processes by first calls that are known."""
    outcomes = {
        "linear.Perceptron": FirstCall("linear.Perceptron", 0.81, (("f", 1), ("g", 2))),
        "linear.Madaline": FirstCall("linear.Madaline", 0.01, ()),
        "linear.Relaxation": FirstCall("linear.Relaxation", 0.1, (), "ValueError: no rows"),
    }
    monkeypatch.setattr(
        _first_calls, "warm", lambda names, processes=None: map(outcomes.get, names)
    )


def run(*words):
    with pytest.raises(SystemExit) as exit_:
        main(["warm", *words])
    return exit_.value.code


@pytest.mark.usefixtures("calls")
def test_progress_seconds_and_where(capsys):
    assert run("linear.Perceptron", "linear.Madaline") == 0
    first, second, last = capsys.readouterr().out.splitlines()
    assert first == "1/2  linear.Perceptron: 3 compiled, 0.8 s"
    assert second == "2/2  linear.Madaline: ready"
    assert last.startswith("3 compiled in 0 s. It is kept in ")


@pytest.mark.usefixtures("calls")
def test_failures_are_told(capsys):
    assert run("linear.Relaxation") == 1
    said = capsys.readouterr()
    assert "linear.Relaxation: failed (ValueError: no rows)" in said.out
    assert said.err == "1 of 1 learners failed.\n"


def test_unknown_names(capsys):
    assert run("trees") == 2
    assert "Unknown learner 'trees'" in capsys.readouterr().err


def test_an_interrupt_ends_without_a_traceback(monkeypatch, capsys):
    def interrupted(names, processes=None):
        raise KeyboardInterrupt

    monkeypatch.setattr(_first_calls, "warm", interrupted)
    assert run("decision") == 130
    assert "Traceback" not in capsys.readouterr().err


def test_where_the_cache_is(tmp_path):
    assert module._place(None).startswith("No folder can be written to")
    beside = tmp_path / "verulam" / "numerics" / "__pycache__"
    assert module._place(beside).endswith(f"__pycache__ below {tmp_path / 'verulam'}.")
    assert module._place(tmp_path / "numerics_1a2b") == f"It is kept in {tmp_path}."
