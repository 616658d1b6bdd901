"""Two-level designs that run a fraction of all combinations, and what that confuses."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
import pandas as pd

from verulam.experiment._design.factorial import as_design
from verulam.experiment._design.factors import Factor, checked_factors

#: Letters of the factors, in order; I stands for the identity.
LETTERS = "ABCDEFGHJKLMNOPQRSTUVWXYZ"
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
    rules = _read_generators(generators, len(factors))
    _defining_words(rules)
    basic = [letter for letter in LETTERS[: len(factors)] if letter not in rules]
    corner = two_level_codes(len(basic))
    columns = {letter: corner[:, place] for place, letter in enumerate(basic)}
    for letter, word in rules.items():
        columns[letter] = word.sign * np.prod([columns[each] for each in word.letters], axis=0)
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
    words = _defining_words(_read_generators(generators, len(names)))
    letters = dict(zip(LETTERS, names, strict=False))
    rows = []
    for order in (1, 2):
        for chosen in combinations(letters, order):
            effect = Word(frozenset(chosen))
            aliases = sorted((effect * word for word in words), key=_length_first)
            rows.append(
                {
                    "effect": str(effect),
                    "factors": " x ".join(letters[letter] for letter in chosen),
                    "order": order,
                    "aliases": ", ".join(map(str, aliases)),
                }
            )
    return AliasStructure(
        tuple(str(word) for word in words),
        min((len(word.letters) for word in words), default=len(names) + 1),
        letters,
        pd.DataFrame(rows).set_index("effect"),
    )


def two_level_codes(count: int) -> np.ndarray:
    """Return all combinations of -1 and +1, the last column varying fastest."""
    grid = np.indices((2,) * count).reshape(count, -1).T
    return 2.0 * grid - 1.0


def _read_generators(generators: Sequence[str], count: int) -> dict[str, Word]:
    """Return the word that each generated letter is equal to."""
    if count > len(LETTERS):
        raise ValueError(f"factors: {count} of them; there are letters for {len(LETTERS)}.")
    known = LETTERS[:count]
    rules: dict[str, Word] = {}
    for text in generators:
        found = _GENERATOR.fullmatch(text.replace(" ", "").upper())
        if not found:
            raise ValueError(f"generators: {text!r}; expected a form such as 'D=ABC' or 'D=-AB'.")
        letter, sign, word = found.groups()
        strange = [each for each in letter + word if each not in known]
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


def _defining_words(rules: dict[str, Word]) -> list[Word]:
    """Return every product of the generating words, shortest first."""
    generating = [Word(frozenset(letter)) * word for letter, word in rules.items()]
    words: list[Word] = []
    for word in generating:
        words += [word, *(word * other for other in words)]
    for word in words:
        if len(word.letters) < 3:
            raise ValueError(
                f"generators: {word} would be constant, so that factors could not be told apart; "
                "the words on the right must differ and have two letters or more."
            )
    return sorted(words, key=_length_first)


def _length_first(word: Word) -> tuple[int, str]:
    return len(word.letters), str(word).lstrip("-")
