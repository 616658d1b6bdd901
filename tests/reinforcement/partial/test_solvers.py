"""Values over beliefs: the tiger's printed and corrected lines, and bounds between the solvers."""

import numpy as np
import pytest

from verulam.base import DataError
from verulam.reinforcement import (
    AlphaVectors,
    DiagramNode,
    InfluenceDiagram,
    PartiallyObservableProcess,
    after_action,
    classic_tiger,
    influence_diagram,
    point_based_values,
    reachable_beliefs,
    solve_exactly,
    tiger,
    value_of_information,
)


def random_process(seed, n_states=3, discount=0.9):
    random = np.random.default_rng(seed)
    return PartiallyObservableProcess(
        random.dirichlet(np.ones(n_states), size=(2, n_states)),
        random.dirichlet(np.ones(2), size=(2, n_states)),
        random.normal(size=(n_states, 2)),
        discount,
    )


def lines_of(vectors):
    """Return the lines in order from the left end of p, as coefficients of (p, 1 - p)."""
    order = np.argsort(vectors.vectors[:, 0] - vectors.vectors[:, 1])
    return vectors.vectors[order].round(6).tolist()


def test_doors_alone():
    """R(aL) = -100 p + 80 (1 - p) and R(aR) = 90 p - 100 (1 - p) cross at 18/37."""
    doors = AlphaVectors.of([[-100.0, 80.0], [90.0, -100.0]], [0, 1])
    assert doors.breaks() == pytest.approx([18 / 37])
    crossing = [18 / 37, 19 / 37]
    assert doors.value(crossing) == pytest.approx(-7.5676, abs=1e-4)
    assert doors.values([[0.5, 0.5]]) == pytest.approx([-5.0])
    # With sensing as a third choice.
    first = solve_exactly(tiger(), 1)[0]
    assert first.breaks() == pytest.approx([0.45, 0.52105], abs=1e-4)


def test_lines_after_sensing_the_tiger():
    """Equation 18.25 with all nine sums: five pieces, of which the book prints three."""
    process = tiger()
    first = solve_exactly(process, 1)[0]
    after = after_action(process, first, "sense")
    assert lines_of(after) == [[-100, 80], [-30.7, 55.7], [33, 26], [62.7, -30.7], [90, -100]]
    assert after.breaks() == pytest.approx([0.2596, 0.3180, 0.6562, 0.7174], abs=5e-5)
    # Its parts, as in figures 18.10 (b) and (c): each line times the probability of what is heard.
    left, right = (
        after_action(process, first, "sense", heard) for heard in ("hear left", "hear right")
    )
    assert lines_of(left) == [[-70, 24], [-0.7, -0.3], [63, -30]]
    assert lines_of(right) == [[-30, 56], [-0.3, -0.7], [27, -70]]
    assert left.actions.tolist() == first.actions.tolist()
    # Without sensing again: the printed lines, of which (-43, -46) is below the others.
    doors = AlphaVectors.of([[-100.0, 80.0], [90.0, -100.0]])
    printed = after_action(process, doors, "sense")
    assert lines_of(printed) == [[-100, 80], [33, 26], [90, -100]]
    assert printed.breaks() == pytest.approx([0.2888, 0.6885], abs=5e-5)
    points = np.linspace(0, 1, 100_001)
    beliefs = np.column_stack([points, 1 - points])
    gap = after.values(beliefs) - printed.values(beliefs)
    assert gap.max() == pytest.approx(2.79, abs=5e-3)


def test_two_steps_charge_the_price_of_sensing():
    second = solve_exactly(tiger(), 2)[1]
    assert second.breaks() == pytest.approx([0.2703, 0.3180, 0.6562, 0.7070], abs=5e-5)
    assert [second.action([p, 1 - p]) for p in (0.1, 0.3, 0.5, 0.68, 0.9)] == [0, 2, 2, 2, 1]


@pytest.mark.parametrize(
    ("accuracy", "left", "right"),
    [(0.5, 0.0711, 0.0711), (0.7, 0.0584, 0.0612), (0.9, 0.0245, 0.0269)],
)
def test_a_better_sensor_needs_a_second_look_less_often(accuracy, left, right):
    """Exercise 9: the range of beliefs after which one senses again."""
    process = tiger(accuracy=accuracy)
    low, high = solve_exactly(process, 1)[0].breaks()

    # Beliefs before a sensing that lead into the range where sensing is best.
    def before(p, likelihood):
        return p * (1 - likelihood) / (p * (1 - likelihood) + (1 - p) * likelihood)

    for heard, width in ((accuracy, left), (1 - accuracy, right)):
        assert before(high, heard) - before(low, heard) == pytest.approx(width, abs=1e-4)


def test_the_restless_tiger():
    second = solve_exactly(tiger(stay=0.2), 2)[1]
    assert lines_of(second) == [[-100, 80], [26.4, 30.6], [90, -100]]
    assert second.breaks() == pytest.approx([0.2810, 0.6725], abs=5e-5)


def test_exercise_ten():
    process = tiger(rewards=[[-100.0, 10.0], [20.0, -100.0]])
    doors = AlphaVectors.of([[-100.0, 10.0], [20.0, -100.0]])
    assert doors.breaks() == pytest.approx([0.4783], abs=5e-5)
    assert doors.value([0.4783, 0.5217]) == pytest.approx(-42.6, abs=0.05)
    first = solve_exactly(process, 1)[0]
    assert first.breaks() == pytest.approx([0.1, 0.825])
    after = after_action(process, first, "sense")
    assert lines_of(after) == [[-100, 10], [-30.7, 6.7], [-1, -1], [13.7, -30.7], [20, -100]]
    assert after.breaks() == pytest.approx([0.0455, 0.2059, 0.6689, 0.9167], abs=5e-5)


def test_the_classic_tiger():
    values = solve_exactly(classic_tiger(), tol=1e-8)[-1]
    assert values.value([0.5, 0.5]) == pytest.approx(19.3714, abs=5e-5)
    assert len(values) == 9


def brute_force(process, belief, steps):
    """Return the best expected return by looking at every action and observation in turn."""
    if not steps:
        return 0.0
    worths = []
    for action in range(process.n_actions):
        worth = belief @ process.rewards[:, action]
        if not process.ending[action]:
            shares = process.observation_probabilities(belief, action)
            worth += process.discount * sum(
                share * brute_force(process, process.update(belief, action, seen), steps - 1)
                for seen, share in enumerate(shares)
                if share > 1e-14
            )
        worths.append(worth)
    return max(worths)


@pytest.mark.parametrize("seed", range(3))
def test_exact_values_are_those_of_looking_at_everything(seed):
    process = random_process(seed)
    stages = solve_exactly(process, 3)
    for belief in np.random.default_rng(seed).dirichlet(np.ones(3), size=6):
        for steps in (1, 2, 3):
            expected = brute_force(process, belief, steps)
            assert stages[steps - 1].value(belief) == pytest.approx(expected, abs=1e-8)


def test_the_influence_diagram_has_the_same_value():
    for process in (random_process(0), tiger(), tiger(stay=0.2)):
        stages = solve_exactly(process, 3)
        for steps in (1, 3):
            diagram = influence_diagram(process, steps)
            assert isinstance(diagram, InfluenceDiagram)
            exact = stages[steps - 1].value(process.start)
            assert diagram.expected_utility() == pytest.approx(exact, abs=1e-8)
    nodes = influence_diagram(tiger(), 2).nodes
    assert all(isinstance(node, DiagramNode) for node in nodes)
    kinds = {node.name: (node.kind, node.parents) for node in nodes}
    assert kinds["decision 2"] == ("decision", ("decision 1", "observation 2"))
    assert kinds["observation 2"] == ("chance", ("decision 1", "state 2"))
    assert kinds["utility 2"] == ("utility", ("state 2", "decision 2"))


@pytest.mark.parametrize("n_states", [2, 3, 4])
def test_pruning_leaves_what_is_best_somewhere_and_nothing_else(n_states):
    random = np.random.default_rng(n_states)
    vectors = AlphaVectors.of(random.normal(size=(40, n_states)), np.arange(40))
    short = vectors.pruned()
    beliefs = random.dirichlet(np.ones(n_states), size=20_000)
    np.testing.assert_allclose(short.values(beliefs), vectors.values(beliefs), atol=1e-9)
    best = set(vectors.actions[np.argmax(beliefs @ vectors.vectors.T, axis=1)])
    assert best <= set(short.actions)
    assert len(short) <= len(best) + 1
    doubled = AlphaVectors.of(np.vstack([vectors.vectors] * 2)).pruned()
    assert len(doubled) == len(short)


def test_points_never_exceed_the_exact_values_and_come_close():
    process = classic_tiger()
    exact = solve_exactly(process)[-1]
    beliefs = np.column_stack([np.linspace(0, 1, 101), np.linspace(1, 0, 101)])
    reached = reachable_beliefs(process, 8, random_state=0)
    gaps = []
    for count in (3, 60):
        approximate = point_based_values(process, n_beliefs=count, random_state=0)
        assert (exact.values(beliefs) - approximate.values(beliefs)).min() > -1e-4
        gaps.append(np.abs(exact.values(reached) - approximate.values(reached)).max())
    assert gaps[1] < 1e-4 < gaps[0]
    for seed in range(3):
        process = random_process(seed)
        points = point_based_values(process, n_beliefs=20, horizon=3, random_state=0)
        rows = np.random.default_rng(0).dirichlet(np.ones(3), size=200)
        exact = solve_exactly(process, 3)[-1].values(rows)
        assert (points.values(rows) <= exact + 1e-9).all()
        start = solve_exactly(process, 3)[-1].value(process.start)
        assert points.value(process.start) == pytest.approx(start, abs=0.01)


def test_beliefs_that_can_be_reached():
    beliefs = reachable_beliefs(classic_tiger(), 7, random_state=0)
    # Hearing left k times more often than right gives odds of (.85 / .15) ** k.
    odds = np.log(beliefs[:, 0] / beliefs[:, 1]) / np.log(0.85 / 0.15)
    np.testing.assert_allclose(odds, odds.round(), atol=1e-6)
    assert len({round(value) for value in odds}) == 7


def test_information_has_a_value_that_is_never_negative():
    process = tiger()
    first = solve_exactly(process, 1)[0]
    for p in np.linspace(0, 1, 21):
        gain = value_of_information(process, [p, 1 - p], first, "sense")
        after = after_action(process, first, "sense").value([p, 1 - p])
        assert gain == pytest.approx(after - first.value([p, 1 - p]), abs=1e-9)
        assert gain >= -1e-12
    deaf = tiger(accuracy=0.5)
    assert value_of_information(deaf, [0.5, 0.5], first, "sense") == pytest.approx(0.0)
    # The price of sensing decides whether it is worth it.
    doors = AlphaVectors.of(process.rewards[:, :2].T, [0, 1])
    gain = value_of_information(process, [0.3, 0.7], doors, "sense")
    for price, senses in ((0.9 * gain, True), (1.1 * gain, False)):
        dear = tiger(sensing_reward=-price)
        worth = after_action(dear, doors, "sense").value([0.3, 0.7]) - price
        assert (worth > doors.value([0.3, 0.7])) == senses


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: solve_exactly(tiger()), "horizon is None, which needs a discount below 1"),
        (lambda: solve_exactly(tiger(), 0), "horizon is 0"),
        (lambda: solve_exactly("tiger", 1), "process is of type str"),
        (lambda: solve_exactly(random_process(0, 4), 9, max_vectors=5),
         r"horizon: with \d steps to go the exact backup would have \d+ vectors, more than 5"),
        (lambda: point_based_values(tiger()), "horizon is None"),
        (lambda: AlphaVectors.of([]), "vectors"),
        (lambda: AlphaVectors.of([[1.0, 2.0]], [0, 1]), "actions has shape"),
        (lambda: AlphaVectors.of([[1.0, 2.0, 3.0]]).breaks(), "breaks are of two states"),
        (lambda: influence_diagram(tiger(), 40), "histories; at most"),
    ],
)  # fmt: skip
def test_wrong_arguments_are_named(call, message):
    with pytest.raises(DataError, match=message):
        call()
