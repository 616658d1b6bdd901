"""Cassandra's format: every form of a line, a round trip, and what is wrong with a file."""

import numpy as np
import pytest

from verulam.base import DataError
from verulam.reinforcement import classic_tiger, read_pomdp, solve_exactly, tiger, write_pomdp

TIGER = """
# This is the tiger problem of the AAAI paper
discount: 0.95
values: reward
states: tiger-left tiger-right
actions: listen open-left open-right
observations: tiger-left tiger-right

T:listen
identity

T:open-left
uniform

T:open-right
uniform

O:listen
0.85 0.15
0.15 0.85

O:open-left
uniform

O:open-right
uniform

R:listen : * : * : * -1
R:open-left : tiger-left : * : * -100
R:open-left : tiger-right : * : * 10
R:open-right : tiger-left : * : * 10
R:open-right : tiger-right : * : * -100
"""
FORMS = """
discount: 0.5
values: cost
states: 3
actions: go stay
observations: red green
start: 0.2 0.3 0.5
T: go : 0 : 1 1.0
T: go : 1
0.0 0.5 0.5
T: go : 2 uniform
T: stay identity
O: * : * uniform
O: go : 2 : red 0.9
O: go : 2 : green 0.1
R: go : 0 : 1
3 5
R: go : 1
1 1
2 2
4 4
R: stay : * : * : red 7
"""


def written(tmp_path, text):
    path = tmp_path / "some.POMDP"
    path.write_text(text)
    return path


def test_the_published_tiger(tmp_path):
    process = read_pomdp(written(tmp_path, TIGER))
    assert process.states == ("tiger-left", "tiger-right")
    assert solve_exactly(process)[-1].value([0.5, 0.5]) == pytest.approx(19.3714, abs=1e-4)


def test_all_forms_of_lines(tmp_path):
    process = read_pomdp(written(tmp_path, FORMS))
    assert process.states == ("0", "1", "2")
    np.testing.assert_allclose(process.start, [0.2, 0.3, 0.5])
    np.testing.assert_allclose(process.transitions[0], [[0, 1, 0], [0, 0.5, 0.5], [1 / 3] * 3])
    np.testing.assert_allclose(process.transitions[1], np.eye(3))
    np.testing.assert_allclose(process.observation_shares[0, 2], [0.9, 0.1])
    np.testing.assert_allclose(process.observation_shares[1, 2], [0.5, 0.5])
    # Costs, as expectations over next state and observation.
    np.testing.assert_allclose(process.rewards[:, 0], [-4.0, -(0.5 * 2 + 0.5 * 4), 0.0])
    np.testing.assert_allclose(process.rewards[:, 1], -3.5)


@pytest.mark.parametrize(
    ("line", "start"),
    [
        ("start: uniform", [1 / 3] * 3),
        ("start: 1", [0, 1, 0]),
        ("start include: 0 2", [0.5, 0, 0.5]),
        ("start exclude: 0", [0, 0.5, 0.5]),
    ],
)
def test_forms_of_the_start(tmp_path, line, start):
    process = read_pomdp(written(tmp_path, FORMS.replace("start: 0.2 0.3 0.5", line)))
    np.testing.assert_allclose(process.start, start)


def test_what_is_written_is_read_again(tmp_path):
    process = classic_tiger(accuracy=0.7123456789)
    write_pomdp(process, tmp_path / "a.POMDP")
    again = read_pomdp(tmp_path / "a.POMDP")
    for name in ("transitions", "observation_shares", "rewards", "start", "discount"):
        np.testing.assert_array_equal(getattr(again, name), getattr(process, name))
    with pytest.raises(DataError, match="actions that end the episode"):
        write_pomdp(tiger(), tmp_path / "b.POMDP")


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("observations: tiger-left tiger-right", "", "there is no line of observations"),
        ("identity", "1.0 0.0\n0.5", "line 9: 3 numbers where 4 are expected"),
        ("0.85 0.15", "0.85 0.25", "observation_shares: the probabilities of state 'tiger-left'"),
        ("T:listen", "T:sing", "line 9: 'sing' is none of the actions: listen"),
        ("values: reward", "values: money", "line 4: values is 'money'"),
        ("0.95", "many", "could not convert string to float: 'many'"),
        (TIGER, "nothing", "no line begins with one of"),
        (": * : * -1", ": * : * : * -1", "5 names, but there are 4"),
    ],
)  # fmt: skip
def test_what_is_wrong_with_a_file(tmp_path, old, new, message):
    with pytest.raises(DataError, match=message):
        read_pomdp(written(tmp_path, TIGER.replace(old, new)))
    with pytest.raises(FileNotFoundError):
        read_pomdp(tmp_path / "none.POMDP")
