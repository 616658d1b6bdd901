"""What the program prints depends on the terminal: all tests see the same one."""

import pytest


@pytest.fixture(autouse=True)
def plain_terminal(monkeypatch):
    """Set the width and forget wishes for colour, whatever those of the machine are."""
    monkeypatch.setenv("COLUMNS", "80")
    for name in ("FORCE_COLOR", "NO_COLOR", "TTY_COMPATIBLE", "TTY_INTERACTIVE"):
        monkeypatch.delenv(name, raising=False)
