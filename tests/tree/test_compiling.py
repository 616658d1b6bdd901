"""The word on the terminal during the first compilation."""

import time

from verulam.tree import _compiling


def test_only_a_long_first_call_is_announced(monkeypatch, capsys):
    monkeypatch.setattr(_compiling, "PATIENCE", 0.05)
    monkeypatch.setitem(_compiling._state, "compiled", False)
    with _compiling.announced():
        time.sleep(0.2)
    assert capsys.readouterr().err.splitlines() == [
        "verulam.tree: compiling, once on this machine ...",
        "verulam.tree: ready after 0 s.",
    ]
    with _compiling.announced():
        time.sleep(0.1)
    assert capsys.readouterr().err == ""
