"""What the shell offers on the tab key."""

import shlex

import pytest

from verulam.cli import main
from verulam.cli._completion import complete_engine, complete_final, complete_learners


@pytest.fixture
def offered(monkeypatch, capsys):
    """Return a function that gives what is offered for the last of some words, as bash asks."""

    def ask(*words):
        monkeypatch.setenv("_VERULAM_COMPLETE", "complete_bash")
        monkeypatch.setenv("COMP_WORDS", shlex.join(["verulam", *words]))
        monkeypatch.setenv("COMP_CWORD", str(len(words)))
        with pytest.raises(SystemExit) as caught:
            main([])
        assert (caught.value.code or 0) == 0
        return capsys.readouterr().out.split("\n")[:-1]

    return ask


def test_commands(offered):
    assert offered("fin") == ["find", "finalise"]


def test_data_sets(offered):
    assert offered("compare", "ir") == ["iris"]
    assert "penguins" in offered("describe", "p")


def test_learners_one_after_the_other(offered):
    assert offered("compare", "iris", "--learners", "parametric.Na") == ["parametric.NaiveBayes"]
    assert complete_learners("decision tree,parametric.Na") == [
        "decision tree,parametric.NaiveBayes"
    ]


def test_measures_and_engines(offered):
    assert "log_loss" in offered("analyse", "x.sqlite", "--measure", "log")
    assert complete_engine("da") == ["dask", "dask://"]


def test_what_to_finalise(offered):
    assert complete_final("be")[0] == "best"
    assert offered("finalise", "x.sqlite", "--learner", "reco") == ["recommended"]


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_shells_get_their_script(shell, capsys, monkeypatch):
    # The shell is the one that the command was typed in; the tests may be started from another.
    monkeypatch.setattr("shellingham.detect_shell", lambda *_: (shell, f"/bin/{shell}"))
    with pytest.raises(SystemExit) as caught:
        main(["--show-completion"])
    assert (caught.value.code or 0) == 0
    assert "_VERULAM_COMPLETE" in capsys.readouterr().out
