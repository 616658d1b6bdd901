"""Packed words: the rank of a value above the number of its row."""

import numpy as np

from verulam.tree._growing.growth_parameters import MISSING_RANK, ROW_BITS, ROW_MASK


def test_words_sort_by_rank_and_give_back_both_parts():
    word = (np.uint64(7) << ROW_BITS) | np.uint64(123_456)
    assert (word >> ROW_BITS, word & ROW_MASK) == (7, 123_456)
    assert word < (MISSING_RANK << ROW_BITS)
