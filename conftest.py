"""For all tests and doctests: seeds for chance, pictures closed, interrupts that reach children."""

import gc
import random
import signal
import sys
from collections.abc import Iterator

import numpy as np
import pytest


def pytest_configure() -> None:
    """Heed interrupts: shells start background work deaf to them, and children inherit that."""
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Iterator[None]:
    """Leave what is made while tests are collected to the end of the process.

    Tests and modules are millions of objects that all live on: the garbage collector would look
    through them again and again, and find nothing.
    """
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.enable()


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    """Draw the chance of a test that gives no seed from its name, alone or among all others.

    Which learner takes a seed is easily forgotten, and a test that then passes by luck fails once
    in a hundred runs, when nobody has changed anything.
    """
    entropy = random.Random(item.nodeid)  # noqa: S311
    # What NumPy asks where no seed is given, in place of the operating system's chance.
    np.random.bit_generator.randbits = entropy.getrandbits  # type: ignore[attr-defined]
    np.random.seed(entropy.getrandbits(32))  # noqa: NPY002
    random.seed(entropy.getrandbits(32))


@pytest.fixture(autouse=True)
def _close_figures() -> Iterator[None]:
    yield
    if "matplotlib.pyplot" in sys.modules:
        sys.modules["matplotlib.pyplot"].close("all")
