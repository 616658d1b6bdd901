"""Work shared out to threads: every place once, in order, errors raised."""

import threading

import pytest

from verulam.sequence._recursions import threads as module
from verulam.sequence._recursions.threads import kept_threads, shared_out


@pytest.mark.parametrize("threads", [1, 3])
def test_results_are_in_order(threads):
    assert shared_out(lambda place: place**2, 7, threads) == [0, 1, 4, 9, 16, 25, 36]


def test_all_threads_work_at_once():
    meeting = threading.Barrier(2, timeout=30)
    names = shared_out(lambda _: (meeting.wait(), threading.get_ident())[1], 2, 2)
    assert len(set(names)) == 2


@pytest.mark.parametrize("threads", [1, 2])
def test_an_error_is_raised(threads):
    def fail(place):
        if place == 2:
            raise ValueError("the third one")
        return place

    with pytest.raises(ValueError, match="the third one"):
        shared_out(fail, 4, threads)


def test_threads_are_kept_until_the_block_ends(monkeypatch):
    monkeypatch.setenv("VERULAM_THREADS", "2")
    meeting = threading.Barrier(2, timeout=30)

    def worker(_):
        meeting.wait()
        return threading.current_thread()

    here = threading.current_thread()
    with kept_threads():
        used = {thread for _ in range(3) for thread in shared_out(worker, 2)} - {here}
        assert used
        assert all(thread.is_alive() for thread in used)
    assert not any(thread.is_alive() for thread in used)
    assert module._KEPT.get() is None
