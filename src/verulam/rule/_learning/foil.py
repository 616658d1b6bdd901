"""Inductive logic programming by Foil: Horn clauses learned from facts by gain over bindings."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import count, product
from typing import Any

from verulam.base import DataError, unknown_name
from verulam.rule._learning.measures import foil_gain

Facts = Mapping[str, Iterable[tuple[Any, ...]]]
Relations = dict[str, frozenset[tuple[Any, ...]]]
Binding = dict[str, Any]

#: Pairs of a binding's head and the binding itself; several bindings may have one head.
Bindings = list[tuple[tuple[Any, ...], Binding]]


@dataclass(frozen=True)
class Literal:
    """A predicate of some variables.

    Attributes
    ----------
    predicate
        Name of the predicate.
    arguments
        Names of the variables.
    negated
        Whether it must not hold.
    """

    predicate: str
    arguments: tuple[str, ...]
    negated: bool = False

    def __str__(self) -> str:
        return f"{'NOT ' if self.negated else ''}{self.predicate}({', '.join(self.arguments)})"


@dataclass(frozen=True)
class Clause:
    """IF the literals of the body hold for some values of their variables THEN the head does.

    Attributes
    ----------
    head
        What is concluded.
    body
        What must hold.
    """

    head: Literal
    body: tuple[Literal, ...]

    def __str__(self) -> str:
        return f"IF {' AND '.join(map(str, self.body))} THEN {self.head}"


@dataclass(frozen=True)
class Program:
    """Clauses with one head: it holds where any of them concludes it.

    Attributes
    ----------
    clauses
        In the order in which they were learned.
    covered
        Share of the known facts of the head that the clauses conclude.
    """

    clauses: tuple[Clause, ...]
    covered: float

    def __str__(self) -> str:
        return "\n".join(map(str, self.clauses))

    def conclusions(self, facts: Facts) -> frozenset[tuple[Any, ...]]:
        """Return everything that the clauses conclude from the facts, and from each other."""
        return _conclusions(self.clauses, _checked(facts))

    def holds(self, facts: Facts, *arguments: Any) -> bool:
        """Return whether the clauses conclude the head for these arguments."""
        return arguments in self.conclusions(facts)


def learn_clauses(
    facts: Facts,
    target: str,
    *,
    negatives: Iterable[tuple[Any, ...]] | None = None,
    max_literals: int = 4,
    max_variables: int = 4,
    negation: bool = False,
    recursion: bool = False,
) -> Program:
    r"""Learn when a predicate holds, from facts about it and about other predicates.

    Parameters
    ----------
    facts
        For each predicate the tuples of which it is true.
    target
        The predicate to be explained; its facts are the positive examples.
    negatives
        Tuples of which the target is false; None for all tuples of known values that are not
        among its facts (the closed world).
    max_literals
        Most literals of a clause.
    max_variables
        Most variables of a clause, those of its head included.
    negation
        Whether literals may be negated.
    recursion
        Whether the target may appear in the body of later clauses.

    Notes
    -----
    Clauses are learned by sequential covering. In a clause, the next literal has the most Foil
    gain, counted over *bindings*, the ways of giving values to the variables:

    .. math:: s \left( \log_2 \frac{N'_+}{N'} - \log_2 \frac{N_+}{N} \right)

    where :math:`s` is the number of positive bindings that the new literal still allows. A new
    literal shares a variable with those before it. Literals that turn out not to be needed are
    dropped again. See Alpaydin 9.5.

    Examples
    --------
    Father(y, x) says that the father of y is x; Daughter(x, y), that y is a daughter of x:

    >>> from verulam.rule import learn_clauses
    >>> facts = {
    ...     "Father": [("Ann", "Bob"), ("Tom", "Bob"), ("Bob", "Carl"), ("Eve", "Carl")],
    ...     "Female": [("Ann",), ("Eve",), ("Mary",)],
    ...     "Daughter": [("Bob", "Ann"), ("Carl", "Eve")],
    ... }
    >>> program = learn_clauses(facts, "Daughter")
    >>> print(program)
    IF Father(y, x) AND Female(y) THEN Daughter(x, y)
    >>> program.holds({"Father": [("Sue", "Dan")], "Female": [("Sue",)]}, "Dan", "Sue")
    True
    """
    relations = _checked(facts)
    positives, others = _examples(relations, target, negatives)
    arity = len(next(iter(positives)))
    for name, limit, least in (
        ("max_literals", max_literals, 1),
        ("max_variables", max_variables, arity),
    ):
        if limit < least:
            raise DataError(f"{name} is {limit}; a clause of {target!r} needs at least {least}.")
    search = _Search(relations, target, arity, max_literals, max_variables, negation)
    clauses: list[Clause] = []
    left = set(positives)
    while left:
        clause = search.clause(left, others, recursion=recursion and bool(clauses))
        if clause is None:
            break
        # All clauses together, because a recursive one concludes nothing by itself.
        concluded = _conclusions([*clauses, clause], relations)
        if not left & concluded:
            break
        clauses.append(clause)
        left -= concluded
    return Program(tuple(clauses), 1 - len(left) / len(positives))


@dataclass(frozen=True)
class _Search:
    """What the search for one clause needs to know."""

    relations: Relations
    target: str
    arity: int
    max_literals: int
    max_variables: int
    negation: bool

    def clause(
        self,
        positives: Iterable[tuple[Any, ...]],
        negatives: Iterable[tuple[Any, ...]],
        *,
        recursion: bool,
    ) -> Clause | None:
        """Return a clause that covers some positives and no negatives, or None."""
        head = Literal(self.target, tuple(_names(self.arity)))
        sides = [_start(head, positives), _start(head, negatives)]
        body: list[Literal] = []
        while sides[1] and len(body) < self.max_literals:
            best, gain = None, 0.0
            for literal in self._candidates(head, body, recursion):
                literal_gain = _gain(self.relations, literal, *sides)
                if literal_gain > gain + 1e-12:
                    best, gain = literal, literal_gain
            if best is None:
                return None
            body.append(best)
            sides = [_extend(self.relations, best, side) for side in sides]
        if sides[1] or not body:
            return None
        return Clause(head, self._needed(head, body, negatives))

    def _candidates(
        self, head: Literal, body: Sequence[Literal], recursion: bool
    ) -> Iterator[Literal]:
        """Yield every literal that shares a variable with the clause so far."""
        known = _variables([head, *body])
        fresh = list(_names(self.max_variables))[len(known) :]
        for predicate, tuples in self.relations.items():
            if predicate == self.target and not recursion:
                continue
            width = len(next(iter(tuples), ()))
            for arguments in product([*known, *fresh], repeat=width):
                new = list(dict.fromkeys(name for name in arguments if name not in known))
                # Fresh variables come in order, so that no literal is tried under two names.
                if new != fresh[: len(new)] or len(new) == width:
                    continue
                literal = Literal(predicate, arguments)
                if literal in body or literal == head:
                    continue
                yield literal
                if self.negation and not new and predicate != self.target:
                    yield Literal(predicate, arguments, negated=True)

    def _needed(
        self, head: Literal, body: list[Literal], negatives: Iterable[tuple[Any, ...]]
    ) -> tuple[Literal, ...]:
        """Return the body without literals, the last first, that keep no negatives out."""
        for literal in reversed(body[:]):
            shorter = [other for other in body if other is not literal]
            bound = set(_variables([head, *shorter]))
            # A negated literal binds no variable: without the one that does, it would ask of
            # nothing.
            loose = any(other.negated and not bound >= set(other.arguments) for other in shorter)
            bindings = _start(head, negatives)
            for other in shorter:
                bindings = _extend(self.relations, other, bindings)
            if shorter and not loose and not bindings:
                body = shorter
        return _renamed(head, body)


def _checked(facts: Facts) -> Relations:
    """Return the facts as sets of tuples of one length for each predicate."""
    relations: Relations = {}
    for predicate, tuples in facts.items():
        relation = frozenset(map(_as_tuple, tuples))
        widths = {len(fact) for fact in relation}
        if len(widths) > 1:
            raise DataError(
                f"The facts of {predicate!r} have {', '.join(map(str, sorted(widths)))} "
                "arguments; a predicate takes one number of arguments."
            )
        relations[predicate] = relation
    return relations


def _as_tuple(fact: Any) -> tuple[Any, ...]:
    """Return the arguments of a fact, of which a single one may stand for itself."""
    return fact if isinstance(fact, tuple) else (fact,)


def _examples(
    relations: Relations, target: str, negatives: Iterable[tuple[Any, ...]] | None
) -> tuple[frozenset[tuple[Any, ...]], list[tuple[Any, ...]]]:
    if target not in relations:
        raise unknown_name("predicate", target, relations)
    positives = relations[target]
    if not positives:
        raise DataError(f"There are no facts of {target!r}: nothing can be learned about it.")
    if negatives is not None:
        others = list(map(_as_tuple, negatives))
        width = len(next(iter(positives)))
        wrong = [example for example in others if len(example) != width]
        if wrong:
            raise DataError(
                f"negatives has {wrong[0]!r}; the facts of {target!r} have {width} arguments."
            )
        both = [example for example in others if example in positives]
        if both:
            raise DataError(f"{target}{both[0]!r} is given both as a fact and as a negative.")
        return positives, others
    width = len(next(iter(positives)))
    return positives, [
        example
        for example in product(_constants(relations), repeat=width)
        if example not in positives
    ]


def _constants(relations: Relations) -> list[Any]:
    """Return every value in the facts, in one order whatever the order of the facts."""
    values = {value for tuples in relations.values() for fact in tuples for value in fact}
    return sorted(values, key=lambda value: (type(value).__name__, value))


def _names(n: int) -> Iterator[str]:
    """Yield n names of variables: x, y, z, u, v, w, v1, v2, ..."""
    letters = iter("xyzuvw")
    numbers = count(1)
    for _ in range(n):
        yield next(letters, None) or f"v{next(numbers)}"


def _variables(literals: Iterable[Literal]) -> list[str]:
    """Return the variables that the literals bind, in the order of their first use."""
    names = (name for literal in literals if not literal.negated for name in literal.arguments)
    return list(dict.fromkeys(names))


def _renamed(head: Literal, body: Sequence[Literal]) -> tuple[Literal, ...]:
    """Return the body with variables named in the order of their first use."""
    old = _variables([head, *body])
    new = dict(zip(old, _names(len(old)), strict=True))
    return tuple(
        replace(literal, arguments=tuple(new[name] for name in literal.arguments))
        for literal in body
    )


def _start(head: Literal, tuples: Iterable[tuple[Any, ...]]) -> Bindings:
    return [(example, dict(zip(head.arguments, example, strict=True))) for example in tuples]


def _extend(relations: Relations, literal: Literal, bindings: Bindings) -> Bindings:
    """Return the bindings, extended by the literal's new variables, for which it holds."""
    tuples = relations.get(literal.predicate, frozenset())
    bound = set(bindings[0][1]) if bindings else set()
    # A hash join: the facts by their bound arguments, so that each binding finds its own at once.
    places = [place for place, name in enumerate(literal.arguments) if name in bound]
    by_known: dict[tuple[Any, ...], list[tuple[Any, ...]]] = {}
    for fact in tuples:
        by_known.setdefault(tuple(fact[place] for place in places), []).append(fact)
    extended: Bindings = []
    for head, binding in bindings:
        key = tuple(binding[literal.arguments[place]] for place in places)
        matching = by_known.get(key, [])
        if literal.negated:
            if not matching:
                extended.append((head, binding))
            continue
        for fact in matching:
            new = dict(zip(literal.arguments, fact, strict=True))
            # A new variable that stands twice must take one value.
            if all(new[name] == value for name, value in zip(literal.arguments, fact, strict=True)):
                extended.append((head, {**binding, **new}))
    return extended


def _gain(relations: Relations, literal: Literal, positive: Bindings, negative: Bindings) -> float:
    """Return the Foil gain over bindings."""
    new_positive = _extend(relations, literal, positive)
    if not new_positive:
        return 0.0
    new_negative = _extend(relations, literal, negative)
    # Several new bindings may extend one old: s counts the old ones that are still possible.
    old = {_key(binding, positive[0][1]) for _, binding in new_positive}
    per_binding = foil_gain(len(positive), len(negative), len(new_positive), len(new_negative))
    return float(per_binding) / len(new_positive) * len(old)


def _key(binding: Binding, names: Iterable[str]) -> tuple[Any, ...]:
    return tuple(binding[name] for name in names)


def _conclusions(clauses: Sequence[Clause], relations: Relations) -> frozenset[tuple[Any, ...]]:
    """Return the fixed point of forward chaining: clauses are applied until nothing new comes."""
    if not clauses:
        return frozenset()
    target = clauses[0].head.predicate
    known: frozenset[tuple[Any, ...]] = frozenset()
    everything = list(product(_constants(relations), repeat=len(clauses[0].head.arguments)))
    while True:
        concluded = set(known)
        for clause in clauses:
            bindings = _start(
                clause.head, (example for example in everything if example not in concluded)
            )
            for literal in clause.body:
                bindings = _extend({**relations, target: known}, literal, bindings)
            concluded.update(head for head, _ in bindings)
        if len(concluded) == len(known):
            return known
        known = frozenset(concluded)
