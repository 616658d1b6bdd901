"""The word on the terminal while loops are compiled."""

import re
import time

import numba
import pytest

from verulam.numerics import _compiling, announced

pytestmark = pytest.mark.skipif(numba.config.DISABLE_JIT, reason="nothing is compiled")


def new_loops():
    """Return two loops that no cache holds, one inside the other."""

    @numba.njit
    def inner(n):
        total = 0.0
        for i in range(n):
            total += i**0.5
        return total

    @numba.njit
    def outer(n):
        return inner(n) + inner(2 * n)

    return outer


def test_a_long_compilation_is_announced(monkeypatch, capsys):
    monkeypatch.setattr(_compiling, "PATIENCE", 0.001)
    with announced("verulam.tree"):
        new_loops()(3)
    first, last = capsys.readouterr().err.splitlines()
    assert first == "verulam.tree: compiling, once on this machine ..."
    assert re.fullmatch(r"verulam.tree: compiled in \d+ s\.", last)


def test_nested_calls_say_it_once(monkeypatch, capsys):
    monkeypatch.setattr(_compiling, "PATIENCE", 0.001)
    with announced("verulam.rule"), announced("verulam.tree"):
        new_loops()(3)
    assert [line.split(":")[0] for line in capsys.readouterr().err.splitlines()] == [
        "verulam.rule"
    ] * 2


def test_short_compilations_add_up(monkeypatch, capsys):
    watch = _compiling.CompilationWatch("verulam.tree")
    monkeypatch.setattr(_compiling, "PATIENCE", 0.1)
    for _ in range(3):
        watch.on_start(None)
        time.sleep(0.07)
        watch.on_end(None)
    assert watch.spoken
    assert watch.seconds >= 0.2
    assert len(capsys.readouterr().err.splitlines()) == 1


def test_long_work_without_compilation_is_not_announced(monkeypatch, capsys):
    monkeypatch.setattr(_compiling, "PATIENCE", 0.01)
    loops = new_loops()
    loops(3)
    with announced("verulam.tree"):
        loops(3)
        time.sleep(0.05)
    assert capsys.readouterr().err == ""


def test_errors_pass_and_the_next_call_is_watched_again(monkeypatch, capsys):
    monkeypatch.setattr(_compiling, "PATIENCE", 0.001)
    with pytest.raises(ZeroDivisionError), announced("verulam.tree"):
        raise ZeroDivisionError
    with announced("verulam.tree"):
        new_loops()(3)
    assert "compiling" in capsys.readouterr().err
