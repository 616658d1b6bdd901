"""One map over threads: every task once, in order, faults raised, BLAS held."""

import threading

import pytest
from threadpoolctl import threadpool_info, threadpool_limits

from verulam.base import (
    DataError,
    _threads,
    kept_threads,
    one_blas_thread,
    thread_count,
    thread_map,
)
from verulam.base._threads import iterate_in_threads


def test_thread_count_can_be_set(monkeypatch):
    monkeypatch.setenv("VERULAM_THREADS", "3")
    assert thread_count() == 3
    monkeypatch.delenv("VERULAM_THREADS")
    assert thread_count() >= 1


@pytest.mark.parametrize("threads", [1, 2, 3, 20])
def test_results_are_in_order_and_tasks_done_once(threads):
    done = []

    def square(task):
        done.append(task)
        return task**2

    assert thread_map(square, range(7), threads) == [0, 1, 4, 9, 16, 25, 36]
    assert sorted(done) == list(range(7))


def test_no_task_gives_no_result():
    assert thread_map(lambda task: task, [], 2) == []


def test_all_threads_work_at_once():
    meeting = threading.Barrier(2, timeout=30)
    names = thread_map(lambda _: (meeting.wait(), threading.get_ident())[1], range(2), 2)
    assert len(set(names)) == 2


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("task", [0, 2, 9])
def test_a_fault_is_raised(threads, task):
    def fail(place):
        if place == task:
            raise DataError(f"task {task}")
        return place

    with pytest.raises(DataError, match=f"task {task}"):
        thread_map(fail, range(10), threads)


def test_results_do_not_wait_for_the_last_task(monkeypatch):
    # Helpers that never come to work leave all tasks to the caller, in order.
    monkeypatch.setattr(_threads, "_start", lambda work, count: lambda: None)
    begun = []
    results = iterate_in_threads(lambda task: begun.append(task) or task, range(10), 2)
    assert next(results) == 0
    assert begun == [0]
    assert list(results) == list(range(1, 10))


def test_blas_is_held_to_one_thread_unless_the_caller_says_otherwise():
    def threads(_):
        return [info["num_threads"] for info in threadpool_info() if info["user_api"] == "blas"]

    with threadpool_limits(2, user_api="blas"):
        assert all(set(counts) == {1} for counts in thread_map(threads, range(2), 2))
        free = thread_map(threads, range(2), 2, limit_blas=False)
        assert all(set(counts) == {2} for counts in free)


def test_threads_are_kept_until_the_block_ends(monkeypatch):
    monkeypatch.setenv("VERULAM_THREADS", "2")
    meeting = threading.Barrier(2, timeout=30)

    def worker(_):
        meeting.wait()
        return threading.current_thread()

    here = threading.current_thread()
    with kept_threads():
        used = {thread for _ in range(3) for thread in thread_map(worker, range(2))} - {here}
        assert used
        assert all(thread.is_alive() for thread in used)
    assert not any(thread.is_alive() for thread in used)
    assert _threads._POOL.get() is None


def test_a_map_inside_a_map_does_not_wait_for_itself():
    with kept_threads():
        sums = thread_map(lambda task: sum(thread_map(int, range(task), 2)), range(8), 2)
    assert sums == [sum(range(task)) for task in range(8)]


def test_one_blas_thread_is_given_back():
    def threads():
        return [pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "blas"]

    before = threads()
    with one_blas_thread(), one_blas_thread():
        assert set(threads()) <= {1}
    assert threads() == before
