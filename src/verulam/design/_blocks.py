"""Two-level factorials in blocks: which effects are given up, and which block a setting is in."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
import pandas as pd

from verulam.base import DataError
from verulam.design._factors import Factor, as_design, checked_factors, coded_settings
from verulam.design._fractional import (
    LETTERS,
    Word,
    defining_words,
    fractional_factorial,
    length_first,
    read_generators,
)

#: Contrasts are searched for up to so many factors and blocks; beyond, they have to be given.
MOST_FACTORS, MOST_BLOCKS = 7, 8
#: What the column of blocks is called.
BLOCK = "block"


@dataclass(frozen=True, eq=False)
class BlockStructure:
    """Which effects blocks of a two-level design give up.

    Attributes
    ----------
    n_blocks
        Number of blocks.
    confounded
        The defining contrasts and all their products: these effects cannot be told from
        differences between blocks. Shortest first.
    letters
        The letter of each factor.
    lost
        A row for each effect that is given up: its factors, its order, and in a fraction the
        others that cannot be told from it.
    """

    n_blocks: int
    confounded: tuple[str, ...]
    letters: dict[str, str]
    lost: pd.DataFrame


def blocked_factorial(
    factors: Sequence[Factor], contrasts: Sequence[str], generators: Sequence[str] = ()
) -> pd.DataFrame:
    r"""Return a two-level factorial in blocks, such as days, with the number of the block.

    Parameters
    ----------
    factors
        What is varied, at two levels each; their letters are A, B, C, ... (without I) in order.
    contrasts
        The effects that are given up, such as "ABC": its sign decides the block. Each doubles
        the number of blocks.
    generators
        Of a fraction, as of `fractional_factorial`; none for all combinations.

    Notes
    -----
    Alpaydin 19.4: what cannot be held constant is a block. With :math:`p` contrasts there are
    :math:`2^p` blocks; they and all their products, :math:`2^p - 1` effects, are confounded with
    the blocks. Other effects are the same in every block, and free of what blocks differ by.

    Examples
    --------
    >>> factors = [Factor(name, (-1, 1), "numeric") for name in ("x", "y", "z")]
    >>> table = blocked_factorial(factors, ["ABC"])
    >>> table[table["block"] == 1].to_numpy().tolist()
    [[-1, -1, -1, 1], [-1, 1, 1, 1], [1, -1, 1, 1], [1, 1, -1, 1]]
    """
    structure = block_structure(factors, contrasts, generators)
    if BLOCK in structure.letters.values():
        raise DataError(f"factors: {BLOCK!r} is the name of the column of blocks.")
    settings = fractional_factorial(factors, generators)
    codes = coded_settings(settings, _two_level(factors)).to_numpy()
    numbers = block_numbers(codes, contrasts)
    table = as_design({**settings, BLOCK: numbers}, "blocked factorial")
    order = np.argsort(numbers, kind="stable")
    ordered = table.iloc[order].reset_index(drop=True)
    ordered.attrs = {**table.attrs, "confounded": structure.confounded}
    return ordered


def block_structure(
    factors: Sequence[Factor], contrasts: Sequence[str], generators: Sequence[str] = ()
) -> BlockStructure:
    """Return which effects are confounded with the blocks of a two-level factorial.

    Parameters
    ----------
    factors
        What is varied.
    contrasts
        As of :func:`blocked_factorial`.
    generators
        Of a fraction; none for all combinations.

    Examples
    --------
    >>> factors = [Factor(name, (-1, 1)) for name in ("k", "p", "weights", "scaling")]
    >>> structure = block_structure(factors, ["ABC", "ACD"])
    >>> structure.n_blocks, structure.confounded
    (4, ('BD', 'ABC', 'ACD'))
    >>> structure.lost["factors"].to_dict()
    {'BD': 'p x scaling', 'ABC': 'k x p x weights', 'ACD': 'k x weights x scaling'}
    """
    names = [factor.name for factor in checked_factors(factors)]
    relation = defining_words(read_generators(generators, len(names)))
    words = _confounded_words(contrasts, relation, len(names))
    letters = dict(zip(LETTERS, names, strict=False))
    rows = []
    for word in words:
        ordered = sorted(word.letters, key=LETTERS.index)
        aliases = sorted((word * other for other in relation), key=length_first)
        rows.append(
            {
                "effect": "".join(ordered),
                "factors": " x ".join(letters[letter] for letter in ordered),
                "order": len(ordered),
                "aliases": ", ".join(str(alias).lstrip("-") for alias in aliases),
            }
        )
    lost = pd.DataFrame(rows).set_index("effect")
    return BlockStructure(2 ** len(contrasts), tuple(lost.index), letters, lost)


def block_numbers(codes: np.ndarray, contrasts: Sequence[str]) -> np.ndarray:
    """Return the block of each setting, from 1.

    Parameters
    ----------
    codes
        One row per setting, one column per factor, of -1 and +1.
    contrasts
        The effects whose signs decide.
    """
    numbers = np.zeros(len(codes), dtype=np.int64)
    for text in contrasts:
        places = [LETTERS.index(letter) for letter in _plain(text)]
        numbers = 2 * numbers + (codes[:, places].prod(axis=1) > 0)
    return numbers + 1


def find_block_contrasts(n_factors: int, n_blocks: int) -> tuple[str, ...]:
    """Return the contrasts that put a full two-level factorial in blocks at the least loss.

    Parameters
    ----------
    n_factors
        Number of factors, up to 7.
    n_blocks
        Number of blocks: 2, 4 or 8, fewer than the settings.

    Notes
    -----
    Alpaydin 19.4. The lowest order that is given up is as high as can be, and of such contrasts
    those that give up the fewest effects of that order are taken.

    Examples
    --------
    >>> find_block_contrasts(3, 2), find_block_contrasts(4, 4), find_block_contrasts(6, 8)
    (('ABC',), ('ABC', 'ABD'), ('ABCD', 'ABEF', 'ACE'))
    """
    count = int(n_blocks).bit_length() - 1
    if isinstance(n_blocks, bool) or n_blocks not in (2, 4, MOST_BLOCKS) or count >= n_factors:
        raise DataError(
            f"n_blocks: {n_blocks!r}; expected 2, 4 or 8, and at least two settings in each of "
            f"them: {n_factors} factors have {2**n_factors} settings."
        )
    if n_factors > MOST_FACTORS:
        raise DataError(f"n_factors: {n_factors}; above {MOST_FACTORS}, give the contrasts.")
    masks = [mask for mask in range(1, 2**n_factors) if mask.bit_count() > 1]
    # Long words first, and among equals the first letters, so that ties are settled readably.
    masks.sort(key=lambda mask: (-mask.bit_count(), _letters(mask)))
    choices = np.array(list(combinations(masks, count)))
    products = np.zeros((len(choices), 1), dtype=np.int64)
    for place in range(count):
        products = np.hstack([products, products ^ choices[:, place : place + 1]])
    lengths = np.bitwise_count(products[:, 1:].astype(np.uint64)).astype(np.int64)
    # How many effects of order 0 (dependent contrasts), 1, 2, ... are lost: fewest first.
    patterns = np.stack([(lengths == order).sum(axis=1) for order in range(n_factors + 1)])
    best = np.lexsort(patterns[::-1])[0]
    words = sorted({int(mask) for mask in choices[best]}, key=masks.index)
    return tuple(_letters(mask) for mask in words)


def _two_level(factors: Sequence[Factor]) -> list[Factor]:
    # As categories, whose first level is low, whatever the numbers are.
    return [Factor(factor.name, (factor.low, factor.high)) for factor in factors]


def _letters(mask: int) -> str:
    return "".join(letter for place, letter in enumerate(LETTERS) if mask >> place & 1)


def _plain(text: str) -> str:
    return text.replace(" ", "").upper()


def _confounded_words(contrasts: Sequence[str], relation: Sequence[Word], count: int) -> list[Word]:
    """Return the contrasts and their products, each by its shortest alias."""
    if not contrasts:
        raise DataError("contrasts: at least one is needed, such as 'ABC'.")
    known = LETTERS[:count]
    words: list[Word] = []
    for text in contrasts:
        letters = _plain(text)
        if len(letters) < 2 or set(letters) - set(known) or len(set(letters)) < len(letters):
            raise DataError(
                f"contrasts: {text!r}; expected two or more different letters of {known}."
            )
        word = Word(frozenset(letters))
        words += [word, *(word * other for other in words)]
    shortest = [
        min((word, *(word * other for other in relation)), key=length_first) for word in words
    ]
    for word in shortest:
        if len(word.letters) < 2:
            lost = f"the factor {word}" if word.letters else "a contrast that is constant"
            raise DataError(
                f"contrasts: {', '.join(contrasts)} would give up {lost}; their products and "
                "aliases need two letters or more."
            )
    return sorted(shortest, key=length_first)
