"""Meiosis as a factorial model: every pair of chromosomes counted, rates learned, refusals."""

from itertools import product

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from verulam.base import DataError
from verulam.sequence import (
    CategoricalEmission,
    ChainTransitions,
    HiddenMarkovModel,
    MeiosisEmission,
    MeiosisTransitions,
    PhasedEmission,
    chain_posteriors,
    pedigree_model,
    split_states,
)

FATHER = [["A", "a"], ["B", "B"], ["C", "c"], ["D", "d"]]
MOTHER = [["A", "a"], ["b", "B"], ["c", "c"], ["e", "d"]]
RATES = np.array([[0.1, 0.3, 0.2], [0.4, 0.05, 0.5]])
CHILD = np.array([["a", "A"], ["B", "B"], ["c", "C"], ["d", "D"]], dtype=object)
GAPPY = np.array([["A", "A"], [None, "B"], ["c", "c"], ["e", "D"]], dtype=object)
ERROR = 0.1
MODEL = pedigree_model(FATHER, MOTHER, recombination=RATES, error=ERROR)


def chance_of_copies(copies, rates):
    """Return the probability of the copies that one parent hands on, locus by locus."""
    chance = 0.5
    for before, after, rate in zip(copies, copies[1:], rates, strict=False):
        chance *= rate if before != after else 1.0 - rate
    return chance


def chance_of_child(child, from_father, from_mother):
    """Return the probability of what is read of a child, with the copies known."""
    chance = 1.0
    for t, read in enumerate(child):
        if None in read:
            continue
        alleles = sorted({*FATHER[t], *MOTHER[t]})
        pairs = {tuple(sorted(pair)) for pair in product(alleles, repeat=2)}
        truth = tuple(sorted((FATHER[t][from_father[t]], MOTHER[t][from_mother[t]])))
        is_right = tuple(sorted(read)) == truth
        if len(pairs) > 1:
            chance *= 1.0 - ERROR if is_right else ERROR / (len(pairs) - 1)
    return chance


def all_copies(child):
    """Yield the copies from both parents and the joint probability with the child."""
    for copies in product(product(range(2), repeat=4), repeat=2):
        chances = [chance_of_copies(part, rates) for part, rates in zip(copies, RATES, strict=True)]
        yield np.array(copies).T, chances[0] * chances[1] * chance_of_child(child, *copies)


@pytest.mark.parametrize("child", [CHILD, GAPPY], ids=["whole", "gappy"])
def test_every_pair_of_chromosomes_counted(child):
    pairs = list(all_copies(child))
    total = sum(joint for _, joint in pairs)
    assert_allclose(MODEL.score(child), np.log(total))
    shares, changes = np.zeros((2, 4, 2)), np.zeros((2, 3))
    for copies, joint in pairs:
        for parent, t in product(range(2), range(4)):
            shares[parent, t, copies[t, parent]] += joint / total
        changes += joint / total * (np.diff(copies, axis=0) != 0).T
    assert_allclose(chain_posteriors(MODEL.predict_proba(child), (2, 2)), shares)
    xi = MODEL.forward_backward(child, pairs=True).xi
    states = split_states(np.arange(4), (2, 2))
    differ = states[:, None] != states[None]
    assert_allclose(np.einsum("tij,ijk->kt", xi, differ.astype(float)), changes)
    best = max(pairs, key=lambda pair: pair[1])
    assert_allclose(MODEL.best_path(child).log_probabilities, np.log(best[1]))
    joint = {tuple(map(tuple, copies)): value for copies, value in pairs}
    path = tuple(map(tuple, split_states(MODEL.predict(child), (2, 2))))
    assert_allclose(joint[path], best[1])


@pytest.mark.parametrize("tied", [False, True])
@pytest.mark.filterwarnings("ignore:StructuredModel had not converged")
def test_a_pass_counts_recombinations_and_wrong_readings(tied):
    children = [CHILD, GAPPY]
    model = pedigree_model(
        FATHER, MOTHER, recombination=RATES, error=ERROR, tied=tied, max_iter=1
    ).fit(children)
    changes, right, readings = np.zeros((2, 3)), 0.0, 0.0
    for child in children:
        pairs = list(all_copies(child))
        total = sum(joint for _, joint in pairs)
        for copies, joint in pairs:
            changes += joint / total * (np.diff(copies, axis=0) != 0).T
            for t, read in enumerate(child):
                if None not in read:
                    truth = sorted((FATHER[t][copies[t, 0]], MOTHER[t][copies[t, 1]]))
                    right += joint / total * (sorted(read) == truth)
                    readings += joint / total
    rates = changes / 2
    if tied:
        rates = np.repeat(rates.mean(axis=1, keepdims=True), 3, axis=1)
    assert_allclose(model.transitions_.rates, np.minimum(rates, 0.5))
    assert_allclose(model.emission_.error, 1 - right / readings)
    assert_allclose(model.initial_, 0.25)
    assert model.n_parameters_ == (2 if tied else 6) + 1


def test_equals_two_plain_chains_multiplied_out():
    rates, n_loci = (0.2, 0.35), 4
    genotypes = [
        sorted({tuple(sorted(p)) for p in product({*FATHER[t], *MOTHER[t]}, repeat=2)})
        for t in range(n_loci)
    ]
    width = max(map(len, genotypes))
    table = np.zeros((4, n_loci, width))
    for state, (i, j) in enumerate(split_states(np.arange(4), (2, 2))):
        for t, pairs in enumerate(genotypes):
            truth = pairs.index(tuple(sorted((FATHER[t][i], MOTHER[t][j]))))
            table[state, t, : len(pairs)] = ERROR / (len(pairs) - 1)
            table[state, t, truth] = 1 - ERROR
    tables = [np.array([[1 - rate, rate], [rate, 1 - rate]]) for rate in rates]
    plain = HiddenMarkovModel.from_parameters(
        np.full(4, 0.25),
        ChainTransitions((2, 2), tables=tables),
        PhasedEmission(CategoricalEmission(probabilities=table.reshape(16, width)), n_loci),
    )
    codes = [pairs.index(tuple(sorted(row))) for pairs, row in zip(genotypes, CHILD, strict=True)]
    expected = plain.predict_proba(codes, inputs=np.arange(n_loci))
    model = pedigree_model(
        FATHER, MOTHER, recombination=np.repeat([[0.2], [0.35]], 3, axis=1), error=ERROR
    )
    assert_allclose(model.predict_proba(CHILD), expected)
    assert_allclose(model.score(CHILD), plain.score(codes, inputs=np.arange(n_loci)))


def test_rates_are_found_again():
    n_loci = 8
    father = [[f"p{t}", f"q{t}"] for t in range(n_loci)]
    mother = [[f"r{t}", f"s{t}"] for t in range(n_loci)]
    rates = np.array([[0.05, 0.3] * 3 + [0.1], [0.2] * 7])
    truth = pedigree_model(father, mother, recombination=rates, error=0.05)
    drawn = truth.sample(n_loci, 1500, random_state=0)
    model = pedigree_model(father, mother, tol=1e-7).fit(drawn.observations)
    assert np.diff(model.objective_curve_).min() > -1e-8
    assert_allclose(model.transitions_.rates, rates, atol=0.04)
    assert_allclose(model.emission_.error, 0.05, atol=0.01)
    tied = pedigree_model(father, mother, tied=True, tol=1e-7).fit(drawn.observations)
    assert_allclose(tied.transitions_.rates[:, 0], rates.mean(axis=1), atol=0.01)
    decoded = np.concatenate(truth.predict(drawn.observations))
    assert (decoded == np.concatenate(drawn.states)).mean() > 0.97


def test_drawn_children_have_the_chances_of_the_model():
    drawn = MODEL.sample(4, 6000, random_state=0)
    states = np.array([split_states(path, (2, 2)) for path in drawn.states])
    assert_allclose((np.diff(states, axis=1) != 0).mean(axis=0).T, RATES, atol=0.02)
    shares = {}
    for child in drawn.observations:
        key = tuple(tuple(sorted(row)) for row in child)
        shares[key] = shares.get(key, 0) + 1 / 6000
    frequent = sorted(shares, key=shares.get)[-5:]
    for key in frequent:
        assert_allclose(shares[key], np.exp(MODEL.score(np.array(key, dtype=object))), atol=0.01)


def test_the_order_of_alleles_does_not_matter():
    assert MODEL.score(CHILD) == MODEL.score(CHILD[:, ::-1])
    numbers = pedigree_model([[1, 2], [1, 1]], [[2, 2], [3, 1]])
    assert np.isfinite(numbers.score(np.array([[2, 1], [1.0, np.nan]])))
    states = numbers.predict(np.array([[1, 2], [1, 3]]))
    assert_array_equal(split_states(states, (2, 2)), [[0, 0], [0, 0]])


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: pedigree_model(FATHER, MOTHER[:2]), r"mother has shape \(2, 2\)"),
        (lambda: pedigree_model([[None, "a"]], [["a", "a"]]), "father and mother must have all"),
        (
            lambda: MeiosisEmission(FATHER, MOTHER, error=1.0),
            "error must be at least 0 and below 1",
        ),
        (lambda: MeiosisTransitions(3, 0.6), "recombination must be between 0 and 0.5"),
        (lambda: MeiosisTransitions(3, [0.1]), r"recombination has shape \(1,\); expected one"),
        (lambda: MODEL.score(CHILD[:3]), "has 3 steps, but the parents have 4 loci"),
        (lambda: MODEL.score(CHILD[:, :1]), "1 features"),
        (
            lambda: MODEL.score([np.vstack([[["x", "A"]], CHILD[1:]])]),
            "alleles x/A at locus 0 .* have A, a",
        ),
        (lambda: MODEL.sample(3), "has 3 steps, but the parents have 4 loci"),
        (lambda: MODEL.forecast(CHILD), "has 2 steps, but the parents have 4 loci"),
    ],
)
def test_what_cannot_be_is_refused(make, message):
    with pytest.raises(DataError, match=message):
        make()
