"""Fractional factorial designs at two levels: generators, resolution and aliases."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
import pandas as pd

from verulam.base import DataError
from verulam.design._factors import Factor, as_design, checked_factors, two_level_codes

#: Letters of the factors, in order; I stands for the identity.
LETTERS = "ABCDEFGHJKLMNOPQRSTUVWXYZ"
#: Fractions of more factors are not searched for: their generators have to be given.
MOST_FACTORS = 11
_GENERATOR = re.compile(r"([A-HJ-Z])=([+-]?)([A-HJ-Z]+)")


@dataclass(frozen=True)
class Word:
    """A product of factors that is constant, with its sign."""

    letters: frozenset[str]
    sign: int = 1

    def __mul__(self, other: "Word") -> "Word":
        # A letter times itself is one: only letters of one of the two remain.
        return Word(self.letters ^ other.letters, self.sign * other.sign)

    def __str__(self) -> str:
        letters = "".join(sorted(self.letters, key=LETTERS.index))
        return ("-" if self.sign < 0 else "") + (letters or "I")


@dataclass(frozen=True, eq=False)
class AliasStructure:
    """Which effects a fraction of a factorial cannot tell apart.

    Attributes
    ----------
    defining_relation
        The words that are constant over the runs, shortest first.
    resolution
        Length of the shortest word: at III, main effects are aliased with interactions of two
        factors; at IV, those with one another.
    letters
        The letter of each factor.
    aliases
        One row per main effect and interaction of two factors: its order, and its aliases.
    """

    defining_relation: tuple[str, ...]
    resolution: int
    letters: dict[str, str]
    aliases: pd.DataFrame


def fractional_factorial(factors: Sequence[Factor], generators: Sequence[str]) -> pd.DataFrame:
    """Return the settings of a fraction of all combinations of two levels.

    Parameters
    ----------
    factors
        What is varied, at two levels each; their letters are A, B, C, ... (without I) in order.
    generators
        Such as "D=ABC" or "E=-AC": the level of the left factor is the product of those on the
        right. Each halves the number of runs.

    Notes
    -----
    Alpaydin 19.3: :math:`2^{k-p}` runs for :math:`k` factors and :math:`p` generators, whose
    coded columns are orthogonal.

    Examples
    --------
    >>> factors = [Factor(name, (-1, 1), "numeric") for name in ("x", "y", "z")]
    >>> fractional_factorial(factors, ["C=AB"]).to_numpy().tolist()
    [[-1, -1, 1], [-1, 1, -1], [1, -1, -1], [1, 1, 1]]
    """
    factors = checked_factors(factors)
    for factor in factors:
        if len(factor.levels) != 2:
            raise ValueError(
                f"Factor {factor.name!r} has {len(factor.levels)} levels; "
                "a two-level design takes two."
            )
    # Called for its checks: a defining word of two letters would confuse two factors.
    rules = read_generators(generators, len(factors))
    defining_words(rules)
    basic = [letter for letter in LETTERS[: len(factors)] if letter not in rules]
    corner = two_level_codes(len(basic))
    columns = {letter: corner[:, place] for place, letter in enumerate(basic)}
    # The basic factors run a full factorial; each generated column is a product of theirs.
    for letter, word in rules.items():
        columns[letter] = word.sign * np.prod([columns[part] for part in word.letters], axis=0)
    codes = np.column_stack([columns[letter] for letter in LETTERS[: len(factors)]])
    settings = {
        factor.name: [factor.low if code < 0 else factor.high for code in codes[:, place]]
        for place, factor in enumerate(factors)
    }
    return as_design(settings, "fractional factorial")


def alias_structure(factors: Sequence[Factor], generators: Sequence[str]) -> AliasStructure:
    """Return the defining relation, the resolution and the aliases of a fraction.

    Parameters
    ----------
    factors
        What is varied.
    generators
        As of :func:`fractional_factorial`.

    Examples
    --------
    >>> factors = [Factor(name, (-1, 1)) for name in ("k", "p", "weights", "scaling")]
    >>> structure = alias_structure(factors, ["D=ABC"])
    >>> structure.defining_relation, structure.resolution
    (('ABCD',), 4)
    >>> structure.aliases.loc[["A", "AB"], "aliases"].to_dict()
    {'A': 'BCD', 'AB': 'CD'}
    """
    names = [factor.name for factor in checked_factors(factors)]
    words = defining_words(read_generators(generators, len(names)))
    letters = dict(zip(LETTERS, names, strict=False))
    rows = []
    for order in (1, 2):
        for effect_letters in combinations(letters, order):
            effect = Word(frozenset(effect_letters))
            aliases = sorted((effect * word for word in words), key=length_first)
            rows.append(
                {
                    "effect": str(effect),
                    "factors": " x ".join(letters[letter] for letter in effect_letters),
                    "order": order,
                    "aliases": ", ".join(map(str, aliases)),
                }
            )
    return AliasStructure(
        tuple(str(word) for word in words),
        # Without generators it is the full factorial, which confuses nothing.
        min((len(word.letters) for word in words), default=len(names) + 1),
        letters,
        pd.DataFrame(rows).set_index("effect"),
    )


def read_generators(generators: Sequence[str], count: int) -> dict[str, Word]:
    """Return the word that each generated letter is equal to.

    Parameters
    ----------
    generators
        As of :func:`fractional_factorial`.
    count
        Number of factors.
    """
    if count > len(LETTERS):
        raise ValueError(f"factors: {count} of them; there are letters for {len(LETTERS)}.")
    known = LETTERS[:count]
    rules: dict[str, Word] = {}
    for text in generators:
        match = _GENERATOR.fullmatch(text.replace(" ", "").upper())
        if not match:
            raise ValueError(f"generators: {text!r}; expected a form such as 'D=ABC' or 'D=-AB'.")
        letter, sign, word = match.groups()
        strange = [symbol for symbol in letter + word if symbol not in known]
        if strange:
            raise ValueError(
                f"generators: {text!r} has the letter {strange[0]}, but the factors are {known}."
            )
        if letter in rules or len(set(word)) < len(word):
            raise ValueError(f"generators: {text!r} gives {letter} twice, or a letter twice.")
        rules[letter] = Word(frozenset(word), -1 if sign == "-" else 1)
    for letter, rule in rules.items():
        if mixed := sorted(rule.letters & set(rules)):
            raise ValueError(
                f"generators: {letter} is made of {mixed[0]}, which is itself generated; "
                "write it with the basic letters."
            )
    return rules


def defining_words(rules: dict[str, Word]) -> list[Word]:
    """Return every product of the generating words, shortest first.

    Parameters
    ----------
    rules
        The word that each generated letter is equal to.
    """
    generating = [Word(frozenset(letter)) * word for letter, word in rules.items()]
    words: list[Word] = []
    for word in generating:
        # The words form a group: with a new generator come its products with all words so far.
        words += [word, *(word * other for other in words)]
    for word in words:
        # A word of two letters says that two factors always move together.
        if len(word.letters) < 3:
            raise ValueError(
                f"generators: {word} would be constant, so that factors could not be told apart; "
                "the words on the right must differ and have two letters or more."
            )
    return sorted(words, key=length_first)


def length_first(word: Word) -> tuple[int, str]:
    """Return a key that sorts words by length, then by letters."""
    return len(word.letters), str(word).lstrip("-")


def find_generators(n_factors: int, resolution: int = 4) -> tuple[str, ...]:
    """Return the generators of the smallest fraction that has at least a resolution.

    Parameters
    ----------
    n_factors
        Number of factors.
    resolution
        Length of the shortest product of factors that may be constant: 3 confuses main effects
        with interactions of two factors, 4 those with one another, 5 neither.

    Notes
    -----
    Alpaydin 19.3. Long words are tried first, since they confuse high interactions only.

    Examples
    --------
    >>> find_generators(4), find_generators(7, 3)
    (('D=ABC',), ('D=ABC', 'E=AB', 'F=AC', 'G=BC'))
    """
    if isinstance(resolution, bool) or not isinstance(resolution, int) or resolution < 3:
        raise DataError(f"resolution: {resolution!r}; expected a whole number of at least 3.")
    if n_factors < resolution:
        raise DataError(
            f"resolution: {resolution} needs {resolution} factors or more, and there are "
            f"{n_factors}; take every combination instead."
        )
    if n_factors > MOST_FACTORS:
        raise DataError(
            f"resolution: {n_factors} factors are too many to search; give the generators."
        )
    counts = range(n_factors - 2, 0, -1)
    candidates = (_generating_words(n_factors - count, resolution, count) for count in counts)
    # The product of all other factors always gives a half, so that there is one.
    words = next(candidate for candidate in candidates if candidate)
    made = LETTERS[n_factors - len(words) : n_factors]
    return tuple(f"{left}={right}" for left, right in zip(made, words, strict=True))


def _generating_words(n_basic: int, resolution: int, count: int) -> list[str] | None:
    """Return so many words of the basic letters, whose products are long enough; None if none."""
    words = [
        places
        for size in range(n_basic, resolution - 2, -1)
        for places in combinations(range(n_basic), size)
    ]
    # A word is a number with a bit per letter, so that products are exclusive ors.
    masks = [sum(1 << place for place in places) for places in words]
    generating = _extended([], [], masks, resolution, count)
    if generating is None:
        return None
    return ["".join(LETTERS[place] for place in words[masks.index(mask)]) for mask in generating]


def _extended(
    generating: list[int],
    products: list[tuple[int, int]],
    masks: Sequence[int],
    resolution: int,
    count: int,
) -> list[int] | None:
    """Return generating words with those that complete them, by a depth-first search.

    Products are pairs: the basic letters that remain, and how many generated ones are with them.
    """
    if len(generating) == count:
        return generating
    for place, mask in enumerate(masks):
        # A further generator adds itself and its product with all that is there; each of these
        # words of the defining relation has to be as long as the resolution.
        new = [(mask, 1), *((mask ^ letters, made + 1) for letters, made in products)]
        if all(letters.bit_count() + made >= resolution for letters, made in new):
            rest = masks[place + 1 :]
            complete = _extended([*generating, mask], products + new, rest, resolution, count)
            if complete is not None:
                return complete
    return None
