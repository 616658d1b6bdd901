"""First-order rules: the texts' daughter rule, variables, bindings, recursion and negation."""

from math import log2

import pytest

from verulam.base import DataError, UnknownNameError
from verulam.rule import Clause, Literal, Program, learn_clauses
from verulam.rule._learning.foil import _extend, _gain, _start

FATHER = [
    ("Sharon", "Bob"),
    ("Tom", "Bob"),
    ("Bob", "Victor"),
    ("Jim", "Tom"),
    ("Lea", "Tom"),
    ("Rob", "Jim"),
]
FEMALE = [("Sharon",), ("Lea",), ("Mia",)]
DAUGHTER = [("Bob", "Sharon"), ("Tom", "Lea")]
FACTS = {"Father": FATHER, "Female": FEMALE, "Daughter": DAUGHTER}


def ancestors(parents):
    closure = set(parents)
    while True:
        more = {(a, d) for a, b in closure for c, d in closure if b == c} - closure
        if not more:
            return closure
        closure |= more


def test_a_program_concludes_what_any_clause_does_and_what_follows_from_that():
    head = Literal("Ancestor", ("x", "y"))
    parent = Clause(head, (Literal("Parent", ("x", "y")),))
    step = Clause(head, (Literal("Parent", ("x", "z")), Literal("Ancestor", ("z", "y"))))
    facts = {"Parent": [("a", "b"), ("b", "c"), ("c", "d")]}
    program = Program((parent, step), covered=1.0)
    assert program.conclusions(facts) == ancestors(facts["Parent"])
    assert Program((parent,), covered=0.5).conclusions(facts) == set(facts["Parent"])
    assert program.holds(facts, "a", "d")
    assert not program.holds(facts, "d", "a")
    assert str(program).splitlines() == [str(parent), str(step)]


def test_daughter_rule():
    """IF Father(y, x) AND Female(y) THEN Daughter(x, y)."""
    program = learn_clauses(FACTS, "Daughter")
    assert program.clauses == (
        Clause(
            Literal("Daughter", ("x", "y")),
            (Literal("Father", ("y", "x")), Literal("Female", ("y",))),
        ),
    )
    assert str(program) == "IF Father(y, x) AND Female(y) THEN Daughter(x, y)"
    assert program.covered == 1.0


def test_daughter_rule_on_another_family():
    program = learn_clauses(FACTS, "Daughter")
    others = {"Father": [("Sue", "Dan"), ("Max", "Dan")], "Female": [("Sue",)]}
    assert program.conclusions(others) == {("Dan", "Sue")}
    assert not program.holds(others, "Dan", "Max")


def test_bindings_and_their_gain():
    """Of 2 positives and 2 negatives, Father(y, x) keeps 2 and 1: 2 (log2 2/3 - log2 1/2)."""
    head = Literal("Daughter", ("x", "y"))
    literal = Literal("Father", ("y", "x"))
    relations = {"Father": frozenset(FATHER)}
    positive = _start(head, DAUGHTER)
    negative = _start(head, [("Bob", "Tom"), ("Jim", "Mia")])
    assert _gain(relations, literal, positive, negative) == pytest.approx(2 * 0.415037499)


def test_new_variables_multiply_bindings():
    relations = {"Father": frozenset(FATHER)}
    start = _start(Literal("P", ("x",)), [("Bob",), ("Mia",)])
    extended = _extend(relations, Literal("Father", ("z", "x")), start)
    assert sorted(binding["z"] for _, binding in extended) == ["Sharon", "Tom"]


def test_a_new_variable_that_stands_twice_takes_one_value():
    relations = {"Edge": frozenset({("a", "b", "b"), ("a", "b", "c")})}
    start = _start(Literal("P", ("x",)), [("a",)])
    extended = _extend(relations, Literal("Edge", ("x", "z", "z")), start)
    assert [binding["z"] for _, binding in extended] == ["b"]


def test_a_rule_through_a_third_person():
    """The granddaughter's father is the son: a variable that the head does not have."""
    father = dict(FATHER)
    facts = {"Father": FATHER, "Female": FEMALE}
    facts["GrandDaughter"] = [
        (father[father[child]], child) for (child,) in FEMALE if father.get(child) in father
    ]
    program = learn_clauses(facts, "GrandDaughter")
    assert len(program.clauses) == 1
    assert set(map(str, program.clauses[0].body)) == {"Female(y)", "Father(z, x)", "Father(y, z)"}


def test_recursion():
    parents = [("a", "b"), ("b", "c"), ("c", "d"), ("a", "e"), ("e", "f"), ("g", "c")]
    facts = {"Parent": parents, "Ancestor": ancestors(parents)}
    program = learn_clauses(facts, "Ancestor", recursion=True)
    assert program.covered == 1.0
    line = [(number, number + 1) for number in range(6)]
    assert program.conclusions({"Parent": line}) == ancestors(line)


def test_without_recursion_some_facts_stay_unexplained():
    parents = [(number, number + 1) for number in range(8)]
    program = learn_clauses({"Parent": parents, "Ancestor": ancestors(parents)}, "Ancestor")
    assert 0 < program.covered < 1


def test_negation():
    facts = {"Person": ["a", "b", "c", "d"], "Married": ["a", "b"], "Single": ["c", "d"]}
    assert str(learn_clauses(facts, "Single", negation=True)) == "IF NOT Married(x) THEN Single(x)"
    assert learn_clauses(facts, "Single").clauses == ()


def test_given_negatives_replace_the_closed_world():
    facts = {"Tall": ["a", "b"], "Wide": ["a", "c"], "Big": ["a"]}
    program = learn_clauses(facts, "Big", negatives=[("c",)])
    assert str(program) == "IF Tall(x) THEN Big(x)"


def test_facts_in_any_order_give_the_same_clauses():
    turned = {name: tuples[::-1] for name, tuples in FACTS.items()}
    assert learn_clauses(turned, "Daughter") == learn_clauses(FACTS, "Daughter")


def test_unknown_predicate():
    with pytest.raises(UnknownNameError, match=r"Unknown predicate 'Dauther'. Nearest: Daughter"):
        learn_clauses(FACTS, "Dauther")


def test_no_facts_of_the_target():
    with pytest.raises(DataError, match="There are no facts of 'Daughter'"):
        learn_clauses({**FACTS, "Daughter": []}, "Daughter")


def test_arguments_must_be_of_one_number():
    with pytest.raises(DataError, match="The facts of 'Father' have 1, 2 arguments"):
        learn_clauses({**FACTS, "Father": [("a", "b"), ("c",)]}, "Daughter")


def test_a_fact_cannot_be_false_too():
    with pytest.raises(DataError, match="given both as a fact and as a negative"):
        learn_clauses(FACTS, "Daughter", negatives=DAUGHTER)


def test_negatives_have_as_many_arguments_as_facts():
    with pytest.raises(
        DataError, match=r"negatives has \('Bob',\); the facts of 'Daughter' have 2"
    ):
        learn_clauses(FACTS, "Daughter", negatives=[("Bob",)])


@pytest.mark.parametrize(("name", "limit"), [("max_literals", 0), ("max_variables", 1)])
def test_limits_that_allow_no_clause(name, limit):
    with pytest.raises(DataError, match=f"{name} is {limit}; a clause of 'Daughter' needs"):
        learn_clauses(FACTS, "Daughter", **{name: limit})


def test_gain_counts_the_positive_bindings_that_stay_not_their_extensions():
    """Two positives stay, as four of five bindings: 2 (log2 4/5 - log2 2/4)."""
    relations = {"P": frozenset({("a", 1), ("a", 2), ("a", 3), ("b", 1), ("c", 1)})}
    head = Literal("T", ("x",))
    positive, negative = (_start(head, [(name,) for name in names]) for names in ("ab", "cd"))
    gain = _gain(relations, Literal("P", ("x", "y")), positive, negative)
    assert gain == pytest.approx(2 * (log2(4 / 5) - log2(2 / 4)))
