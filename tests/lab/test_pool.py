"""Processes: newest wins, limits, failures, parts, and what is left behind."""

import asyncio
import os
import signal
import sys
import threading
import time
import warnings

import pytest

from verulam.lab import _pool
from verulam.lab._pool import NICENESS, Outcome, Pool
from verulam.lab._studies.questions import StudyQuestion, TableQuestion


def double(value):
    return 2 * value


def count(n):
    yield from range(n)


def fail():
    raise ValueError("too few\n points")


def murmur():
    warnings.warn("it is late", UserWarning, stacklevel=1)
    warnings.warn("it is late", UserWarning, stacklevel=1)
    return 1


def die():
    os.kill(os.getpid(), signal.SIGKILL)


def niceness():
    return os.nice(0)


def libraries_of_pages(*questions):
    return [name for name in ("panel", "bokeh") if name in sys.modules], questions


@pytest.fixture(scope="module")
def loop():
    """Return a loop in a thread of its own: the browser's tests hold that of the main thread."""
    made = asyncio.new_event_loop()
    thread = threading.Thread(target=made.run_forever, daemon=True)
    thread.start()
    yield made
    made.call_soon_threadsafe(made.stop)
    thread.join(20)
    made.close()


def run_in(loop, work):
    return asyncio.run_coroutine_threadsafe(work, loop).result(400)


@pytest.fixture(scope="module")
def pool(loop):
    # Jobs that shall be ended by others must not end by themselves before.
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_pool, "LONG", 10_000.0)
        made = Pool(2, limit=4000.0)
        # Processes start with the first job: no test may depend on another having brought one.
        run_in(loop, _call(made.start))
        yield made
        run_in(loop, _call(made.close))


async def _call(function):
    function()


def outcomes(loop, pool, *jobs, until=None, seconds=300.0):
    """Submit (kind, function, arguments...) and return what was delivered, by kind."""
    delivered = []

    async def run():
        for kind, function, *arguments in jobs:
            pool.submit(
                "tab",
                kind,
                function,
                *arguments,
                deliver=lambda outcome, kind=kind: delivered.append((kind, outcome)),
            )
        end = time.monotonic() + seconds
        ready = until or (lambda: any(item.state != "part" for _, item in delivered))
        while not ready():
            assert time.monotonic() < end, delivered
            await asyncio.sleep(0.01)

    run_in(loop, run())
    return delivered


def test_a_value_comes_back(loop, pool):
    assert outcomes(loop, pool, ("a", double, 21)) == [("a", Outcome("done", 42))]


def test_a_generator_comes_in_parts(loop, pool):
    delivered = outcomes(loop, pool, ("a", count, 3))
    assert [item.state for _, item in delivered] == ["part", "part", "part", "done"]
    assert [item.value for _, item in delivered[:3]] == [0, 1, 2]


def test_a_failure_is_words_on_one_line(loop, pool):
    ((_, outcome),) = outcomes(loop, pool, ("a", fail))
    assert outcome == Outcome("failed", message="too few points")


def test_warnings_come_once(loop, pool):
    ((_, outcome),) = outcomes(loop, pool, ("a", murmur))
    assert outcome.warnings == ("it is late",)


def test_questions_arrive_without_the_libraries_of_pages(loop, pool):
    # Once a server is there, all classes of the lab have their public names.
    from verulam.lab import LabServer

    assert LabServer.__module__ == TableQuestion.__module__ == "verulam.lab"
    asked = TableQuestion("wine"), StudyQuestion("study.sqlite")
    ((_, outcome),) = outcomes(loop, pool, ("a", libraries_of_pages, *asked))
    assert outcome.value == ([], asked)


def test_a_dead_process_is_replaced(loop, pool):
    before = pool.process_ids
    ((_, outcome),) = outcomes(loop, pool, ("a", die))
    assert outcome.state == "failed"
    assert "a new one was started" in outcome.message
    assert len(pool.process_ids) == len(before)
    assert pool.process_ids != before
    assert outcomes(loop, pool, ("a", double, 1))[0][1].value == 2


def test_the_newest_job_of_a_kind_wins(loop, pool):
    delivered = outcomes(
        loop, pool, ("a", time.sleep, 3000), ("a", time.sleep, 3001), ("a", double, 4)
    )
    assert delivered == [("a", Outcome("done", 8))]
    # What nobody waits for any more is ended with its process.
    outcomes(loop, pool, ("b", double, 1), until=lambda: pool.n_busy == 0)


def test_other_kinds_are_left_alone(loop, pool):
    delivered = outcomes(
        loop,
        pool,
        ("a", double, 1),
        ("b", double, 2),
        ("c", double, 3),
        until=lambda: pool.n_busy == 0,
    )
    assert sorted((kind, item.value) for kind, item in delivered) == [("a", 2), ("b", 4), ("c", 6)]


def test_work_ends_with_its_session(loop, pool):
    delivered = []

    async def run():
        for kind in "abc":
            pool.submit("tab", kind, time.sleep, 3000, deliver=delivered.append)
        assert pool.n_busy == 2
        pool.cancel("other")
        assert pool.n_busy == 2
        pool.cancel("tab")
        assert pool.n_busy == 0
        await asyncio.sleep(0)

    run_in(loop, run())
    assert delivered == []


def test_a_job_has_a_time_limit(loop, pool):
    delivered = []

    async def run():
        pool.submit("tab", "a", time.sleep, 3000, deliver=delivered.append, limit=0.2)
        while not delivered:
            await asyncio.sleep(0.01)

    run_in(loop, asyncio.wait_for(run(), 300))
    assert delivered[0].message == "Stopped: it took more than 0.2 seconds."


def test_jobs_that_can_wait_leave_the_urgent_their_processes(loop, pool):
    values = []

    async def run():
        for kind in "abcd":
            pool.submit("tab", kind, time.sleep, 3000, deliver=values.append, urgent=False)
        assert pool.n_busy == 2
        pool.submit("tab", "soon", double, 4, deliver=values.append)
        while not values:
            await asyncio.sleep(0.01)
        pool.cancel("tab")

    run_in(loop, asyncio.wait_for(run(), 300))
    assert values == [Outcome("done", 8)]


def test_jobs_that_can_wait_get_less_time(loop, pool):
    values = []

    async def run():
        for urgent in (True, False):
            pool.submit(
                "tab", str(urgent), niceness, deliver=lambda item: values.append(item.value),
                urgent=urgent,
            )  # fmt: skip
        while len(values) < 2:
            await asyncio.sleep(0.01)

    run_in(loop, asyncio.wait_for(run(), 300))
    low, high = sorted(values)
    assert high == low + NICENESS


def test_a_forgotten_job_is_not_heard_of(loop, pool):
    values = []

    async def run():
        pool.submit("tab", "a", time.sleep, 3000, deliver=values.append)
        (process,) = pool.busy_process_ids()
        pool.forget("tab", "a")
        assert pool.busy_process_ids() == [process], "it may end by itself"
        while pool.n_busy:
            await asyncio.sleep(0.01)

    run_in(loop, asyncio.wait_for(run(), 300))
    assert values == []


def test_one_long_job_leaves_a_process_to_the_others(loop, pool):
    values = []

    async def run():
        for kind in "ab":
            pool.submit("tab", kind, time.sleep, 3000, deliver=values.append, limit=20_000.0)
        assert pool.n_busy == 1
        pool.submit("tab", "soon", double, 5, deliver=values.append)
        while not values:
            await asyncio.sleep(0.01)
        pool.cancel("tab")

    run_in(loop, asyncio.wait_for(run(), 300))
    assert values == [Outcome("done", 10)]
