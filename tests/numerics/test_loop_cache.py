"""Compiled loops on disk: never stale, never mixed up, and never in the way."""

import gc
import inspect
import os
import subprocess
import sys
from pathlib import Path
from textwrap import dedent

import numba
import numpy as np
import pytest
from numba.core.caching import CacheImpl, FunctionCache
from numba.core.dispatcher import Dispatcher
from numba.core.event import Listener, install_listener
from numba.core.types import float64, int64

from verulam.numerics import _loop_cache, _moments_loops, cache_folder, njit
from verulam.numerics._loop_cache import (
    LoopCache,
    LoopFiles,
    PackageLocator,
    fingerprint,
    source_stamp,
    stamped_files,
)

pytestmark = pytest.mark.skipif(numba.config.DISABLE_JIT, reason="nothing is compiled")

SOURCE = Path(_loop_cache.__file__).parents[1]
OUTER = """
    from verulam.numerics import njit
    from inner import scaled

    @njit()
    def total(values):
        result = 0.0
        for k in range(len(values)):
            result += scaled(values[k])
        return result
"""
INNER = """
    from numbers_of import FACTOR
    from verulam.numerics import njit

    @njit()
    def scaled(value):
        return FACTOR * value
"""
RUN = """
    import sys
    sys.path.insert(0, sys.argv[1])
    import numpy as np
    from outer import total
    answer = total(np.arange(3.0))
    print(answer, sum(total.stats.cache_hits.values()))
"""


@pytest.fixture
def package(tmp_path):
    """Return a folder with a loop that calls another, whose constant is in a third file."""
    for name, text in (("outer", OUTER), ("inner", INNER), ("run", RUN)):
        (tmp_path / f"{name}.py").write_text(dedent(text))
    (tmp_path / "numbers_of.py").write_text("FACTOR = 2.0\n")
    return tmp_path


def start(package, **environment):
    command = [sys.executable, str(package / "run.py"), str(package)]
    settings = {**os.environ, "NUMBA_CACHE_DIR": "", "PYTHONDONTWRITEBYTECODE": "1", **environment}
    return subprocess.Popen(
        command, env=settings, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )


def run(package, **environment):
    """Return what the loop gives in a new process, and whether it came from the cache."""
    process = start(package, **environment)
    output, errors = process.communicate(timeout=300)
    assert process.returncode == 0, errors
    answer, hits = output.split()
    return float(answer), int(hits) > 0


def cache_files(package):
    return sorted(package.rglob("*.nbc"))


@pytest.mark.slow
def test_a_constant_of_a_third_file_is_noticed(package):
    assert run(package) == (6.0, False)
    assert run(package) == (6.0, True)
    (package / "numbers_of.py").write_text("FACTOR = 4.0\n")
    assert run(package) == (12.0, False)
    assert run(package) == (12.0, True)
    # What the earlier version left is gone.
    assert len(cache_files(package)) == 2


@pytest.mark.slow
def test_damaged_and_foreign_files_only_cost_a_compilation(package):
    assert run(package) == (6.0, False)
    first, *others = cache_files(package)
    first.write_bytes(first.read_bytes()[:100])
    for file in others:
        file.write_bytes(b"not a pickle")
    assert run(package) == (6.0, False)
    assert run(package) == (6.0, True)


@pytest.mark.slow
def test_processes_may_compile_at_the_same_time(package):
    processes = [start(package) for _ in range(3)]
    for process in processes:
        output, errors = process.communicate(timeout=300)
        assert output.split()[0] == "6.0", errors
    assert run(package) == (6.0, True)
    assert not list(package.rglob("*.part"))


@pytest.mark.slow
def test_the_folder_of_the_environment_is_used(package, tmp_path_factory):
    folder = tmp_path_factory.mktemp("cache")
    assert run(package, NUMBA_CACHE_DIR=str(folder)) == (6.0, False)
    assert run(package, NUMBA_CACHE_DIR=str(folder)) == (6.0, True)
    assert not cache_files(package)
    assert len(cache_files(folder)) == 2


def test_numba_asks_our_cache():
    """What Numba must keep for us: the attribute, and the two calls of the file behind it."""
    loop = _moments_loops.class_means
    assert isinstance(loop, Dispatcher)
    assert isinstance(loop._cache, LoopCache)
    assert isinstance(loop._cache, FunctionCache)
    assert isinstance(loop._cache._cache_file, LoopFiles)
    assert Path(loop._cache.cache_path) == loop._cache._cache_file.folder


def test_numba_asks_our_locator_first_and_only_for_our_files():
    assert CacheImpl._locator_classes[0] is PackageLocator
    assert CacheImpl._locator_classes.count(PackageLocator) == 1
    loop = _moments_loops.class_means.py_func
    locator = PackageLocator.from_function(loop, inspect.getfile(loop))
    assert locator.get_source_stamp()[0] == source_stamp()
    assert Path(locator.get_cache_path()) == cache_folder()
    assert PackageLocator.from_function(_outer.py_func, __file__) is None


def test_the_stamp_covers_loops_records_and_tuning(tmp_path, monkeypatch):
    names = {str(path.relative_to(SOURCE)) for path in stamped_files()}
    assert {"numerics/_moments_loops.py", "kernel/_tuning.py"} <= names
    assert "base/_errors.py" not in names
    for name in ("a_loops.py", "_tuning.py", "plain.py"):
        (tmp_path / name).write_text("@njit()\n" if name == "a_loops.py" else "SIZE = 1\n")
    monkeypatch.setattr(_loop_cache, "_FOLDER", tmp_path)
    stamps = [source_stamp.__wrapped__()]
    for name in ("plain.py", "_tuning.py", "a_loops.py"):
        (tmp_path / name).write_text("@njit(nogil=True)\n" if "loops" in name else "SIZE = 2\n")
        stamps.append(source_stamp.__wrapped__())
    assert stamps[0] == stamps[1]
    assert len(set(stamps)) == 3


FACTOR = 2.0
TABLE = np.array([1.0, 2.0])


@njit()
def _inner(x):
    return FACTOR * x


@njit()
def _outer(x):
    return _inner(x) + TABLE[0]


def test_fingerprints_follow_calls_and_constants(monkeypatch):
    module = sys.modules[__name__]
    before = fingerprint(_outer)
    assert fingerprint(_outer) == before
    monkeypatch.setattr(module, "FACTOR", 3.0)
    changed = fingerprint(_outer)
    assert changed != before
    assert fingerprint(_inner) not in (changed, before)
    monkeypatch.setattr(module, "TABLE", np.array([1.0, 3.0]))
    assert fingerprint(_outer) not in (changed, before)
    monkeypatch.setattr(module, "TABLE", np.array([1.0, 2.0]))
    assert fingerprint(_outer) == changed


def test_fingerprints_tell_options_and_code_apart():
    def source(x):
        return x + 1.0

    def other(x):
        return x + 2.0

    plain, fast = njit(cache=False)(source), njit(cache=False, fastmath=True)(source)
    other.__qualname__ = source.__qualname__
    prints = {fingerprint(loop) for loop in (plain, fast, njit(cache=False)(other))}
    assert len(prints) == 3


def test_functions_that_call_themselves():
    @njit(cache=False)
    def countdown(n):
        return 0 if n <= 0 else countdown(n - 1)

    assert len(fingerprint(countdown)) == 64


@pytest.fixture
def files(tmp_path):
    return LoopFiles(_outer, tmp_path, "module.outer-12.py311")


def test_files_hold_one_specialisation_each(files, tmp_path):
    files.save((float64,), "of doubles")
    files.save((int64,), "of integers")
    assert files.load((float64,)) == "of doubles"
    assert files.load((int64,)) == "of integers"
    assert files.load((float64, float64)) is None
    assert len(list(tmp_path.glob("module.outer.*.nbc"))) == 2
    files.flush()
    assert not list(tmp_path.iterdir())


def test_files_of_another_version_are_replaced(files, monkeypatch, tmp_path):
    files.save((float64,), "old")
    monkeypatch.setattr(sys.modules[__name__], "FACTOR", 7.0)
    assert files.load((float64,)) is None
    files.save((float64,), "new")
    assert [file.suffix for file in tmp_path.iterdir()] == [".nbc"]
    assert files.load((float64,)) == "new"


def test_another_numba_does_not_take_our_files(files, monkeypatch):
    files.save((float64,), "ours")
    monkeypatch.setattr(_loop_cache, "_VERSIONS", ("0.0",))
    assert files.load((float64,)) is None


@pytest.mark.parametrize("content", [b"", b"\x80", b"cos\nnothing\n."])
def test_unreadable_files_are_no_files(files, tmp_path, content):
    files.save((float64,), "whole")
    for file in tmp_path.iterdir():
        file.write_bytes(content)
    assert files.load((float64,)) is None


def test_a_folder_that_is_gone_is_no_error(files, tmp_path):
    tmp_path.rmdir()
    files.save((float64,), "lost")
    assert files.load((float64,)) is None


def test_no_folder_at_all_leaves_the_loop_without_a_cache(monkeypatch):
    def nowhere(loop):
        raise RuntimeError("cannot cache function: no locator available")

    monkeypatch.setattr(_loop_cache, "LoopCache", nowhere)

    @njit()
    def double(x):
        return 2 * x

    assert double(3) == 6


class PassWatch(Listener):
    """Notes whether the collector is on in each pass of the compiler."""

    def __init__(self):
        self.collecting = []

    def on_start(self, event):
        self.collecting.append(gc.isenabled())

    def on_end(self, event):
        pass


@pytest.mark.parametrize("enabled", [True, False])
def test_the_collector_rests_while_loops_are_compiled(enabled):
    @njit(cache=False)
    def double(x):
        return x + x

    watch, was_enabled = PassWatch(), gc.isenabled()
    try:
        (gc.enable if enabled else gc.disable)()
        with install_listener("numba:run_pass", watch):
            assert double(3) == 6
        assert gc.isenabled() is enabled
    finally:
        (gc.enable if was_enabled else gc.disable)()
    assert watch.collecting
    assert not any(watch.collecting)


def test_the_collector_runs_again_after_an_error():
    @njit(cache=False)
    def wrong(x):
        return x + "text"

    with pytest.raises(numba.core.errors.TypingError):
        wrong(3)
    assert gc.isenabled()
