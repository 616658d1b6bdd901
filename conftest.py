"""For all tests and doctests: pictures are closed after use, and interrupts reach children."""

import signal
import sys
from collections.abc import Iterator

import pytest


def pytest_configure() -> None:
    """Heed interrupts: shells start background work deaf to them, and children inherit that."""
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(autouse=True)
def _close_figures() -> Iterator[None]:
    yield
    if "matplotlib.pyplot" in sys.modules:
        sys.modules["matplotlib.pyplot"].close("all")
