"""Rules of one class: growing, reduced-error pruning and Ripper's optimisation."""

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from verulam.rule._learning.description_length import RuleCounts, least_bits, rules_that_shorten
from verulam.rule._learning.description_length_loops import exception_bits, rule_bits
from verulam.rule._learning.grow_loops import first_cover
from verulam.rule._learning.measures import rule_value
from verulam.rule._learning.problem import Conjunction, GrowthOptions, Problem

Rows = NDArray[np.int32]


@dataclass(frozen=True)
class CoveringOptions:
    """How the rules of one class are learned.

    Attributes
    ----------
    growth
        How each rule is grown.
    pruning_fraction
        Share of the rows kept to prune each rule on, or None to leave rules as they are grown.
    smoothing
        Pseudo-count of the rule value.
    surplus_bits
        Stop at a rule base whose description is this much longer than the shortest so far; None
        to look at errors alone.
    n_passes
        Optimisation passes.
    """

    growth: GrowthOptions = field(default_factory=GrowthOptions)
    pruning_fraction: float | None = None
    smoothing: float = 1.0
    surplus_bits: float | None = 64.0
    n_passes: int = 2


def learn_class(
    problem: Problem, rows: Rows, options: CoveringOptions, rng: np.random.Generator
) -> list[Conjunction]:
    """Return the rules of the positive class, in the order they were learned."""
    learner = _ClassLearner(problem, rows, options, rng)
    rules = learner.build(rows, [])
    if options.surplus_bits is None:
        return rules
    rules = learner.without_needless(rules)
    for _ in range(options.n_passes):
        rules = learner.without_needless(learner.optimise(rules))
    return rules


class _ClassLearner:
    """The state of one call of `learn_class`."""

    def __init__(
        self, problem: Problem, rows: Rows, options: CoveringOptions, rng: np.random.Generator
    ) -> None:
        self.problem = problem
        self.rows = rows
        self.options = options
        self.rng = rng
        positives, negatives = problem.weight_of(rows)
        self.share = positives / (positives + negatives)
        self.empty_bits = exception_bits(self.share, 0.0, positives + negatives, 0.0, positives)

    def build(self, rows: Rows, rules: list[Conjunction]) -> list[Conjunction]:
        """Return the rules with new ones for the positives among `rows`, which they leave over."""
        problem, n_conditions = self.problem, self.problem.table.n_conditions
        rules = list(rules)
        bits = shortest = self.empty_bits
        covered, false_positives = self._covered_so_far(rows)
        missed, rejected = problem.weight_of(rows)
        while missed > 0.0:
            rule = self._new_rule(rows)
            inside = rule.covered[rows].astype(bool)
            right, wrong = problem.weight_of(rows[inside])
            before = exception_bits(self.share, covered, missed + rejected, false_positives, missed)
            covered, false_positives = covered + right + wrong, false_positives + wrong
            missed, rejected = missed - right, rejected - wrong
            after = exception_bits(self.share, covered, missed + rejected, false_positives, missed)
            # The running description length: exceptions that the rule explains against what it
            # takes to write it down.
            bits += after + rule_bits(float(len(rule)), n_conditions) - before
            shortest = min(shortest, bits)
            if self._is_enough(right, wrong, bits - shortest) or not inside.any():
                break
            rules.append(rule)
            rows = rows[~inside]
            missed, rejected = problem.weight_of(rows)
        return rules

    def optimise(self, rules: list[Conjunction]) -> list[Conjunction]:
        """Return the rules, each the shortest of itself, a replacement and a revision."""
        problem, rows = self.problem, self.rows
        coverage = np.stack([rule.covered for rule in rules]) if rules else np.empty((0, 0))
        lengths = np.array([len(rule) for rule in rules], dtype=np.float64)
        decided = np.zeros((0, 2))
        optimised: list[Conjunction] = []
        for place, rule in enumerate(rules):
            if not (problem.positive[rows] > 0).any():
                break
            if rule.covered[rows].any():
                # A row that a later rule covers is not lost where this one is shortened: variants
                # are judged by what no other rule decides.
                later = first_rules(coverage, place + 1, rows) - place - 1
                no_later = later == len(rules) - place - 1
                variants = [rule, *self._variants(rule, rows, rows[no_later])]
                bits = [
                    self._relative_bits(variant, rows, later, decided, lengths, place)
                    for variant in variants
                ]
                rule = variants[int(np.argmin(bits))]
            inside = rule.covered[rows].astype(bool)
            lengths[place] = len(rule)
            decided = np.vstack([decided, problem.weight_of(rows[inside])])
            rows = rows[~inside]
            optimised.append(rule)
        return self.build(rows, optimised)

    def without_needless(self, rules: list[Conjunction]) -> list[Conjunction]:
        """Return the rules without those that lengthen the description."""
        if not rules:
            return rules
        counts = self._counts(rules)
        pays = rules_that_shorten(counts, self.problem.table.n_conditions, self.share)
        return [rule for rule, stays in zip(rules, pays, strict=True) if stays]

    def _covered_so_far(self, rows: Rows) -> tuple[float, float]:
        positives, negatives = self.problem.weight_of(self.rows)
        missed, rejected = self.problem.weight_of(rows)
        return positives + negatives - missed - rejected, negatives - rejected

    def _is_enough(self, right: float, wrong: float, surplus: float) -> bool:
        limit = self.options.surplus_bits
        return right <= 0.0 or wrong >= right or (limit is not None and surplus > limit)

    def _new_rule(self, rows: Rows) -> Conjunction:
        growing, pruning = self._divide(rows)
        rule = self.problem.grow(growing, self.options.growth)
        return self._pruned_by_value(rule, pruning)

    def _variants(self, rule: Conjunction, rows: Rows, untouched: Rows) -> list[Conjunction]:
        """Return the revision, grown from the rule, and the replacement, grown from nothing.

        Rows that a later rule covers do not count in pruning: they are right or wrong anyway.
        """
        alone = np.zeros(len(rule.covered), dtype=bool)
        alone[untouched] = True
        growing, pruning = self._divide(rows)
        # Growing looks at all rows, pruning at those that only this rule can decide.
        pruning = pruning[alone[pruning]]
        growth = self.options.growth
        grown = self.problem.grow(growing, growth, rule), self.problem.grow(growing, growth)
        return [self._pruned_by_accuracy(variant, pruning) for variant in grown]

    def _relative_bits(
        self,
        variant: Conjunction,
        rows: Rows,
        later: NDArray[np.int64],
        decided: NDArray[np.float64],
        lengths: NDArray[np.float64],
        place: int,
    ) -> float:
        """Return by how much a variant in its place changes the least description length."""
        n_conditions = self.problem.table.n_conditions
        outside = variant.covered[rows] == 0
        covered = self.problem.weight_of(rows[~outside])
        following = self._later_counts(rows[outside], later[outside], len(lengths) - place - 1)
        with_variant = np.vstack([decided, covered, following[:-1]])
        counts = RuleCounts(
            np.ascontiguousarray(with_variant[:, 0]),
            np.ascontiguousarray(with_variant[:, 1]),
            float(following[-1, 0]),
            float(following[-1, 1]),
            lengths,
        )
        theory = rule_bits(float(len(variant)), n_conditions)
        return least_bits(counts, place + 1, n_conditions, self.share) + theory

    def _later_counts(
        self, rows: Rows, later: NDArray[np.int64], n_later: int
    ) -> NDArray[np.float64]:
        """Return the weights that each later rule covers first, and last those that none does."""
        weights, positive = self.problem.weights[rows], self.problem.positive[rows]
        sides = [
            np.bincount(later, weights * side, minlength=n_later + 1)
            for side in (positive, 1 - positive)
        ]
        return np.column_stack(sides)

    def _counts(self, rules: list[Conjunction]) -> RuleCounts:
        coverage = np.stack([rule.covered for rule in rules])
        counts = self._later_counts(self.rows, first_rules(coverage, 0, self.rows), len(rules))
        return RuleCounts(
            np.ascontiguousarray(counts[:-1, 0]),
            np.ascontiguousarray(counts[:-1, 1]),
            float(counts[-1, 0]),
            float(counts[-1, 1]),
            np.array([len(rule) for rule in rules], dtype=np.float64),
        )

    def _divide(self, rows: Rows) -> tuple[Rows, Rows]:
        """Return rows to grow and rows to prune on, the same share of either side in both."""
        fraction = self.options.pruning_fraction
        if fraction is None:
            return rows, rows[:0]
        growing, pruning = [], []
        is_positive = self.problem.positive[rows] > 0
        for side in (rows[is_positive], rows[~is_positive]):
            shuffled = self.rng.permutation(side)
            # One row at least is left to grow on.
            cut = min(round(fraction * len(side)), max(len(side) - 1, 0))
            pruning.append(shuffled[:cut])
            growing.append(shuffled[cut:])
        return np.concatenate(growing), np.concatenate(pruning)

    def _pruned_by_value(self, rule: Conjunction, pruning: Rows) -> Conjunction:
        """Return the prefix of the largest rule value on the pruning rows."""
        if len(pruning) == 0:
            return rule
        counts = self.problem.prefix_counts(rule, pruning)
        pseudo = self.options.smoothing
        # Conditions are dropped from the last on, so that a prefix is all there is to choose;
        # argmax takes the shortest of equals.
        values = rule_value(counts[:, 0] + pseudo, counts[:, 1] + pseudo)
        return self.problem.shortened(rule, int(np.argmax(values)))

    def _pruned_by_accuracy(self, rule: Conjunction, pruning: Rows) -> Conjunction:
        """Return the prefix that makes the fewest errors as part of the whole rule base."""
        if len(pruning) == 0:
            return rule
        counts = self.problem.prefix_counts(rule, pruning)
        return self.problem.shortened(rule, int(np.argmax(counts[:, 0] - counts[:, 1])))


def first_rules(coverage: np.ndarray, start: int, rows: Rows) -> NDArray[np.int64]:
    """Return for each row the first rule from `start` on that covers it, or their number."""
    first = np.empty(len(rows), dtype=np.int64)
    first_cover(coverage, start, rows, first)
    return first
