"""Rules of one class: what they cover, when learning ends, what optimisation may do."""

import numpy as np
import pytest

from verulam.rule import description_length
from verulam.rule._learning.one_class import CoveringOptions, _ClassLearner, learn_class
from verulam.rule._learning.problem import GrowthOptions, Problem, sort_columns

RIPPER = CoveringOptions(pruning_fraction=1 / 3)


def two_boxes(n=600, noise=0.0, seed=0):
    """Return a class that is two boxes of the unit square, with some labels flipped."""
    rng = np.random.default_rng(seed)
    X = rng.random((n, 2))
    inside = (np.abs(X - 0.25) < 0.2).all(axis=1) | (np.abs(X - 0.75) < 0.2).all(axis=1)
    flipped = rng.random(n) < noise
    table = sort_columns(X, np.zeros(2, dtype=np.int32))
    return Problem(table, (inside ^ flipped).astype(np.uint8), np.ones(n)), inside


def learn(problem, options, seed=0):
    rows = np.arange(len(problem.positive), dtype=np.int32)
    return learn_class(problem, rows, options, np.random.default_rng(seed))


def covered(rules):
    return np.any([rule.covered > 0 for rule in rules], axis=0)


def length_of(problem, rules):
    positive = problem.positive > 0
    inside = covered(rules) if rules else np.zeros(len(positive), dtype=bool)
    return description_length(
        [len(rule) for rule in rules],
        covered=inside.sum(),
        uncovered=(~inside).sum(),
        false_positives=(inside & ~positive).sum(),
        false_negatives=(~inside & positive).sum(),
        n_conditions=problem.table.n_conditions,
        positive_share=positive.mean(),
    )


def test_covering_ends_when_every_positive_is_covered():
    problem, inside = two_boxes()
    options = CoveringOptions(GrowthOptions(least_positives=1.0), surplus_bits=None)
    rules = learn(problem, options)
    np.testing.assert_array_equal(covered(rules), inside)


def test_each_rule_covers_positives_that_are_left():
    problem, _ = two_boxes(noise=0.1)
    left = problem.positive > 0
    for rule in learn(problem, CoveringOptions(pruning_fraction=1 / 3, surplus_bits=None)):
        assert (left & (rule.covered > 0)).any()
        left &= rule.covered == 0


def test_what_a_rule_covers_is_gone_for_the_next_negatives_too(monkeypatch):
    problem, _ = two_boxes(n=1000, noise=0.1)
    rows = np.arange(len(problem.positive), dtype=np.int32)
    options = CoveringOptions(pruning_fraction=1 / 3, surplus_bits=None)
    learner = _ClassLearner(problem, rows, options, np.random.default_rng(0))
    asked, plain = [], learner._new_rule
    monkeypatch.setattr(learner, "_new_rule", lambda left: asked.append(left) or plain(left))
    rules = learner.build(rows, [])
    assert len(rules) > 2
    negatives_covered = 0
    for rule, before, after in zip(rules, asked, asked[1:], strict=False):
        np.testing.assert_array_equal(after, before[rule.covered[before] == 0])
        inside = before[rule.covered[before] > 0]
        negatives_covered += (problem.positive[inside] == 0).sum()
    assert negatives_covered > 0


def test_variants_are_compared_by_their_whole_description():
    """Bits of exceptions and of conditions: the difference is that of two rule bases."""
    problem, _ = two_boxes(noise=0.1)
    rows = np.arange(len(problem.positive), dtype=np.int32)
    learner = _ClassLearner(problem, rows, CoveringOptions(), np.random.default_rng(0))
    grown = problem.grow(rows, learner.options.growth)
    later, decided = np.zeros(len(rows), dtype=np.int64), np.zeros((0, 2))

    def bits(rule):
        return learner._relative_bits(rule, rows, later, decided, np.array([float(len(rule))]), 0)

    variants = [problem.shortened(grown, length) for length in range(1, len(grown) + 1)]
    assert len(variants) > 2
    for variant in variants[1:]:
        difference = length_of(problem, [variant]) - length_of(problem, [variants[0]])
        assert bits(variant) - bits(variants[0]) == pytest.approx(difference)


def test_rows_count_for_the_first_rule_that_covers_them():
    problem, _ = two_boxes(noise=0.1)
    rows = np.arange(len(problem.positive), dtype=np.int32)
    learner = _ClassLearner(problem, rows, CoveringOptions(), np.random.default_rng(0))
    rules = learner.build(rows, [])
    assert len(rules) > 2
    # Learned again, a rule decides nothing that is not decided already.
    rules = [rules[0], rules[1], rules[0]]
    counts = learner._counts(rules)
    first, second = (rule.covered > 0 for rule in rules[:2])
    positive = problem.positive > 0
    assert counts.positives.tolist() == [
        (first & positive).sum(),
        (second & ~first & positive).sum(),
        0,
    ]
    assert counts.negatives.tolist() == [
        (first & ~positive).sum(),
        (second & ~first & ~positive).sum(),
        0,
    ]
    assert counts.missed == (positive & ~first & ~second).sum()
    assert counts.rejected == (~positive & ~first & ~second).sum()
    assert [len(rule) for rule in learner.without_needless(rules)] == [
        len(rule) for rule in rules[:2]
    ]


def test_a_description_that_grows_starts_from_the_rules_before():
    """What is counted as covered, and wrongly so, when rules are added to others."""
    problem, inside = two_boxes(noise=0.1)
    rows = np.arange(len(inside), dtype=np.int32)
    learner = _ClassLearner(problem, rows, CoveringOptions(), np.random.default_rng(0))
    left = rows[~inside]
    positive = problem.positive > 0
    assert learner._covered_so_far(left) == (inside.sum(), (inside & ~positive).sum())


def test_ripper_finds_both_boxes_through_noise():
    problem, inside = two_boxes(n=2000, noise=0.1)
    rules = learn(problem, RIPPER)
    assert np.mean(covered(rules) == inside) > 0.96
    assert len(rules) <= 6


def test_ripper_describes_noise_shorter_than_covering_does():
    problem, _ = two_boxes(n=600, noise=0.15)
    everything = learn(
        problem, CoveringOptions(GrowthOptions(least_positives=1), surplus_bits=None)
    )
    assert length_of(problem, learn(problem, RIPPER)) < length_of(problem, everything)


def test_random_labels_need_no_rules():
    rng = np.random.default_rng(1)
    table = sort_columns(rng.random((300, 3)), np.zeros(3, dtype=np.int32))
    problem = Problem(table, (rng.random(300) < 0.3).astype(np.uint8), np.ones(300))
    rules = learn(problem, RIPPER)
    assert length_of(problem, rules) <= length_of(problem, []) + 64


def test_surplus_bits_let_more_rules_in():
    problem, _ = two_boxes(n=400, noise=0.3)
    counts = [
        len(
            learn(
                problem, CoveringOptions(pruning_fraction=0.3, surplus_bits=bits, n_passes=0), seed
            )
        )
        for seed in range(5)
        for bits in (0.0, 64.0)
    ]
    assert sum(counts[::2]) <= sum(counts[1::2])


def test_optimisation_does_not_lengthen_the_description():
    means = []
    for passes in (0, 2):
        lengths = []
        for seed in range(6):
            problem, _ = two_boxes(n=500, noise=0.1, seed=seed)
            rules = learn(problem, CoveringOptions(pruning_fraction=1 / 3, n_passes=passes), seed)
            lengths.append(length_of(problem, rules))
        means.append(np.mean(lengths))
    assert means[1] <= means[0]


@pytest.mark.parametrize("fraction", [0.01, 0.5, 0.99])
def test_any_fraction_leaves_a_row_to_grow_on(fraction):
    problem, inside = two_boxes(n=40)
    rows, options = np.arange(40, dtype=np.int32), CoveringOptions(pruning_fraction=fraction)
    learner = _ClassLearner(problem, rows, options, np.random.default_rng(0))
    growing, pruning = learner._divide(rows)
    assert sorted([*growing, *pruning]) == rows.tolist()
    assert inside[growing].any()
    assert not inside[growing].all()
    assert isinstance(learn(problem, options), list)


def test_a_rule_is_cut_after_the_conditions_of_the_largest_value_on_other_rows():
    problem, _ = two_boxes(noise=0.3)
    rows = np.arange(len(problem.positive), dtype=np.int32)
    learner = _ClassLearner(problem, rows, RIPPER, np.random.default_rng(1))
    growing, pruning = learner._divide(rows)
    assert not set(growing) & set(pruning)
    assert abs(len(pruning) / len(rows) - 1 / 3) < 0.01
    grown = problem.grow(growing, RIPPER.growth)

    def value(rule):
        right, wrong = problem.weight_of(pruning[rule.covered[pruning] > 0])
        smoothed = right + RIPPER.smoothing, wrong + RIPPER.smoothing
        return (smoothed[0] - smoothed[1]) / sum(smoothed)

    prefixes = [problem.shortened(grown, length) for length in range(len(grown) + 1)]
    pruned = learner._pruned_by_value(grown, pruning)
    assert len(pruned) == np.argmax([value(prefix) for prefix in prefixes])
    assert len(pruned) < len(grown)
    # A new rule goes the same way: divided, grown and cut with the same draws.
    again = _ClassLearner(problem, rows, RIPPER, np.random.default_rng(1))._new_rule(rows)
    np.testing.assert_array_equal(again.covered, pruned.covered)


def test_learning_stops_so_many_bits_beyond_the_shortest_description():
    problem, _ = two_boxes(n=400, noise=0.3)
    rows = np.arange(400, dtype=np.int32)

    def built(bits):
        # Nothing is pruned: rules of few rows are dear.
        options = CoveringOptions(surplus_bits=bits)
        return _ClassLearner(problem, rows, options, np.random.default_rng(0)).build(rows, [])

    every = built(1e9)
    lengths = np.array([length_of(problem, every[:n]) for n in range(len(every) + 1)])
    surplus = lengths - np.minimum.accumulate(lengths)
    for bits in (8.0, 64.0):
        first_beyond = int(np.argmax(surplus > bits))
        assert 0 < len(built(bits)) == first_beyond - 1 < len(every)


def test_optimisation_weighs_a_rule_against_its_revision_and_its_replacement(monkeypatch):
    problem, inside = two_boxes()
    rows = np.arange(len(inside), dtype=np.int32)
    learner = _ClassLearner(problem, rows, CoveringOptions(), np.random.default_rng(0))
    grown = problem.grow(rows, learner.options.growth)
    short = problem.shortened(grown, 1)
    revision, replacement = learner._variants(short, rows, rows)
    assert len(revision) > 1
    assert (revision.places[0], revision.values[0]) == (short.places[0], short.values[0])
    assert (revision.covered <= short.covered).all()
    np.testing.assert_array_equal(replacement.covered, grown.covered)
    weighed, plain = [], learner._relative_bits
    monkeypatch.setattr(
        learner,
        "_relative_bits",
        lambda *arguments: weighed.append(arguments[0]) or plain(*arguments),
    )
    optimised = learner.optimise([short])
    assert [len(variant) for variant in weighed[:3]] == [1, len(revision), len(replacement)]
    np.testing.assert_array_equal(weighed[2].covered, grown.covered)
    assert not (short.covered <= inside).all()
    assert (optimised[0].covered <= inside).all()
