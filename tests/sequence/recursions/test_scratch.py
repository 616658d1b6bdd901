"""Scratch memory: used again, one set per borrower, never handed out."""

import numpy as np

from verulam.sequence import HiddenMarkovModel
from verulam.sequence._recursions.scratch import SCRATCH, Scratch, ScratchPool, fresh_or_scratch


def test_memory_is_used_again():
    scratch = Scratch()
    first = scratch.array("alpha", (10, 3))
    assert np.shares_memory(first, scratch.array("alpha", (4, 3)))
    assert not np.shares_memory(first, scratch.array("gamma", (10, 3)))
    assert not np.shares_memory(first, fresh_or_scratch("alpha", (10, 3), None))


def test_borrowers_have_their_own_and_hand_it_on():
    pool = ScratchPool()
    with pool.borrowed() as one, pool.borrowed() as other:
        mine = one.array("alpha", (5,))
        assert not np.shares_memory(mine, other.array("alpha", (5,)))
    with pool.borrowed() as one, pool.borrowed() as other:
        assert (
            sum(np.shares_memory(mine, scratch.array("alpha", (5,))) for scratch in (one, other))
            == 1
        )
    pool.release()
    with pool.borrowed() as one:
        assert not np.shares_memory(mine, one.array("alpha", (5,)))


def test_answers_are_not_overwritten_and_memory_is_released():
    X = np.random.default_rng(0).normal(size=(50, 2))
    model = HiddenMarkovModel(2, random_state=0, max_iter=500).fit(X)
    before = model.predict_proba(X)
    copy = before.copy()
    HiddenMarkovModel(2, random_state=1, max_iter=500).fit(X + 1)
    np.testing.assert_array_equal(before, copy)
    assert not SCRATCH._free
