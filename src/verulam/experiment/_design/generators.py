"""Generators of a fraction of a two-level factorial, found for the resolution that is asked for."""

from collections.abc import Sequence
from itertools import combinations

from verulam.base import DataError
from verulam.experiment._design.fractional import LETTERS

#: Fractions of more factors are not searched for: their generators have to be given.
MOST_FACTORS = 11


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
    found = (_words(n_factors - count, resolution, count) for count in counts)
    # The product of all other factors always gives a half, so that there is one.
    words = next(each for each in found if each)
    made = LETTERS[n_factors - len(words) : n_factors]
    return tuple(f"{left}={right}" for left, right in zip(made, words, strict=True))


def _words(n_basic: int, resolution: int, count: int) -> list[str] | None:
    """Return so many words of the basic letters, whose products are long enough; None if none."""
    known = [
        chosen
        for size in range(n_basic, resolution - 2, -1)
        for chosen in combinations(range(n_basic), size)
    ]
    # A word is a number with a bit per letter, so that products are exclusive ors.
    masks = [sum(1 << place for place in chosen) for chosen in known]
    found = _extended([], [], masks, resolution, count)
    if found is None:
        return None
    return ["".join(LETTERS[place] for place in known[masks.index(mask)]) for mask in found]


def _extended(
    chosen: list[int],
    products: list[tuple[int, int]],
    masks: Sequence[int],
    resolution: int,
    count: int,
) -> list[int] | None:
    """Return the chosen words with those that complete them, searched in depth.

    Products are pairs: the basic letters that remain, and how many generated ones are with them.
    """
    if len(chosen) == count:
        return chosen
    for place, mask in enumerate(masks):
        new = [(mask, 1), *((mask ^ letters, made + 1) for letters, made in products)]
        if all(letters.bit_count() + made >= resolution for letters, made in new):
            rest = masks[place + 1 :]
            found = _extended([*chosen, mask], products + new, rest, resolution, count)
            if found is not None:
                return found
    return None
