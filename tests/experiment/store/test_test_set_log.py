"""The book of looks at locked parts."""

import threading

import pytest

from verulam.experiment import LockedPartUsedError, Store, finalisations
from verulam.experiment._store.test_set_log import (
    Opening,
    close_locked_part,
    earlier_uses,
    open_locked_part,
)

LOOK = Opening("study", "data", "iris", "rows", "tree")


@pytest.fixture
def store(tmp_path):
    path = tmp_path / "runs.sqlite"
    Store(path).close()
    return path


def test_a_store_without_looks(store):
    assert finalisations(store).empty


def test_one_look_and_what_came_of_it(store):
    number = open_locked_part(store, LOOK)
    before = finalisations(store).iloc[0]
    assert before["response"] is None
    close_locked_part(store, number, response="Error 0.1", model="seal")
    after = finalisations(store, "study").iloc[0]
    assert (after["response"], after["model"], after["forced"]) == ("Error 0.1", "seal", 0)
    assert finalisations(store, "another").empty


def test_the_second_look_is_refused_or_marked(store):
    open_locked_part(store, LOOK)
    with pytest.raises(LockedPartUsedError, match="locked test part of iris was used on"):
        open_locked_part(store, Opening("other study", "data", "iris", "rows", "net"))
    number = open_locked_part(store, LOOK, force=True)
    assert finalisations(store)["forced"].tolist() == [0, 1]
    assert len(earlier_uses(store, LOOK, number)) == 1
    assert earlier_uses(store, LOOK, 1) == []


def test_other_rows_of_the_same_data_are_a_second_look(store):
    open_locked_part(store, LOOK)
    other = Opening("study", "data", "iris", "other rows", "tree")
    with pytest.raises(LockedPartUsedError, match="also at rows that another seed locks"):
        open_locked_part(store, other)
    number = open_locked_part(store, other, force=True)
    assert len(earlier_uses(store, other, number)) == 1
    open_locked_part(store, Opening("study", "other data", "wine", "rows", "tree"))
    assert finalisations(store)["forced"].tolist() == [0, 1, 0]


def test_of_two_at_once_only_one_may_look(store):
    outcomes = []

    def look():
        try:
            outcomes.append(open_locked_part(store, LOOK))
        except LockedPartUsedError:
            outcomes.append("refused")

    threads = [threading.Thread(target=look) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(map(str, outcomes)) == ["1"] + ["refused"] * 5
