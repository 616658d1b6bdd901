"""For all tests: seeds for chance, pictures closed, interrupts that reach children, a browser."""

import gc
import random
import shutil
import signal
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

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


#: Without the background work, a browser on a closed network waits for what it cannot reach.
_BROWSER_FLAGS = (
    "--no-sandbox", "--headless", "--disable-gpu", "--no-first-run", "--disable-quic",
    "--disable-background-networking", "--disable-component-update", "--disable-sync",
)  # fmt: skip


@pytest.fixture(scope="session")
def browser() -> Iterator[Any]:
    """Start the browser of a process: a second one beside it would be refused."""
    playwright = pytest.importorskip("playwright.sync_api", reason="Playwright is not installed")
    paths = ("/usr/bin/chromium", shutil.which("chromium"), shutil.which("chromium-browser"))
    path = next((path for path in paths if path and Path(path).exists()), None)
    if path is None:
        pytest.skip("there is no Chromium on this machine")
    with playwright.sync_playwright() as driver:
        running = driver.chromium.launch(executable_path=path, args=list(_BROWSER_FLAGS))
        yield running
        running.close()
