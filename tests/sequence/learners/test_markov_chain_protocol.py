"""The checks of scikit-learn that feed tables, on sequences of symbols.

A chain takes one state per step, and the common suite cuts the tables of scikit-learn's checks to
one column, which is one long sequence. Here each row of such a table is read as a sequence of
symbols, so that the checks meet the chain with many sequences, too.
"""

from typing import ClassVar

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.utils.estimator_checks import estimator_checks_generator

from verulam.base import DataError, validate_data
from verulam.sequence import MarkovChain

SYMBOLS = tuple(range(-3, 4))
#: What the reading of a table does itself, so that these say nothing of the chain; it is asked
#: directly below.
ABOUT_TABLES = {
    "check_dtype_object",
    "check_estimators_dtypes",
    "check_estimators_nan_inf",
    "check_f_contiguous_array_estimator",
    "check_fit1d",
    "check_fit2d_1sample",
    "check_fit2d_predict1d",
    "check_n_features_in",
    "check_n_features_in_after_fitting",
    "check_positive_only_tag_during_fit",
    "check_readonly_memmap_input",
}


class ChainOfRows(MarkovChain):
    """A chain that reads each row of a table as a sequence of whole numbers."""

    _skipped_checks: ClassVar[dict[str, str]] = {}

    def _sequences(self, X, reset):
        values = validate_data(self, X, reset=reset, dtype=np.float64)
        return list(np.clip(np.floor(values), SYMBOLS[0], SYMBOLS[-1]).astype(int))

    def fit(self, X, y=None):
        sequences = self._sequences(X, reset=True)
        width = self.n_features_in_
        super().fit(sequences, y)
        self.n_features_in_ = width
        return self

    def score_sequences(self, X, lengths=None):
        return super().score_sequences(self._sequences(X, reset=False), lengths)

    def score_samples(self, X):
        """Return one number per row, so that checks that ask about rows have something to ask."""
        return self.score_sequences(X)


CHECKS = [
    pytest.param(learner, check, id=f"{check.func.__name__}-{number}")
    for number, (learner, check) in enumerate(
        estimator_checks_generator(ChainOfRows(states=SYMBOLS, alpha=1.0))
    )
    if check.func.__name__ not in ABOUT_TABLES
]


def test_what_the_suite_skips_is_asked_below():
    reasons = MarkovChain._skipped_checks
    assert set(reasons) <= ABOUT_TABLES
    assert len(set(reasons.values())) == len(reasons)


@pytest.mark.parametrize(("learner", "check"), CHECKS)
def test_check_on_sequences_of_symbols(learner, check):
    check(learner)


LABELS = [["a", "b", "b"], ["b", "a"], ["a"]]


def test_numbers_of_any_type_are_the_same_states():
    whole = MarkovChain().fit([[0, 1, 1, 0], [1, 1]])
    for dtype in (np.float32, np.float64, np.int32, np.int64, np.uint8, object):
        other = MarkovChain().fit([np.array(part, dtype) for part in ([0, 1, 1, 0], [1, 1])])
        assert_array_equal(other.transitions_, whole.transitions_)
        assert other.score([[1, 0]]) == whole.score([[1, 0]])
    negative = MarkovChain().fit([[-1, 0, 0, -1], [0, 0]])
    assert_array_equal(negative.transitions_, whole.transitions_)


def test_the_form_in_memory_does_not_matter(tmp_path):
    rows = np.array([0, 1, 1, 0, 1])[:, None]
    plain = MarkovChain().fit(rows)
    mapped = np.memmap(tmp_path / "rows", dtype=rows.dtype, mode="w+", shape=rows.shape)
    mapped[:] = rows
    mapped.flush()
    read_only = np.memmap(tmp_path / "rows", dtype=rows.dtype, mode="r", shape=rows.shape)
    wide = np.zeros((5, 3), dtype=rows.dtype)
    wide[:, 1] = rows[:, 0]
    for other in (
        read_only,
        np.asfortranarray(rows),
        wide[:, 1:2],
        wide[:, 1],
        rows[:, 0].tolist(),
    ):
        assert_array_equal(MarkovChain().fit(other).transitions_, plain.transitions_)
        assert plain.score(other) == plain.score(rows)


def test_one_step_is_enough_and_has_one_feature():
    chain = MarkovChain().fit([["a"]])
    assert chain.n_features_in_ == 1
    assert chain.score(["a"]) == 0.0
    assert not hasattr(MarkovChain(), "n_features_in_")
    assert_allclose(MarkovChain().fit(LABELS).initial_[0], [2 / 3, 1 / 3])


@pytest.mark.parametrize(
    ("X", "message"),
    [
        ([0.0, np.nan], "X has a missing state at step 1"),
        (["a", None], "X has a missing state at step 1"),
        ([0.0, 1.0, np.inf], "X has an infinite state at step 2"),
        ([1.0, 1j], "Complex data not supported"),
        (np.zeros((3, 2)), "one state per step; X has 2 columns"),
        (np.zeros((1, 10)), "one state per step; X has 10 columns"),
        (np.zeros((3, 0)), r"0 feature\(s\) \(shape=\(3, 0\)\) while a minimum of 1 is required"),
        (np.zeros((0, 1)), r"0 sample\(s\) while a minimum of 1 is required"),
        ([[0, 1], []], "Sequence 1 .* has no steps"),
    ],
)
def test_no_chain_learns_or_answers_from_these(X, message):
    with pytest.raises(DataError, match=message):
        MarkovChain().fit(X)
    with pytest.raises(DataError, match=message):
        MarkovChain().fit([[0, 1, 0]]).score(X)
