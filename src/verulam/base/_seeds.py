"""One idiom for chance: `random_state` is stored untouched and turned into a generator in `fit`."""

from collections.abc import Sequence

import numpy as np

Seed = int | np.random.Generator | np.random.RandomState | np.random.SeedSequence | None

#: What `_parameter_constraints` says of a `random_state`.
RANDOM_STATE: list[object] = ["random_state", np.random.Generator]


def generator(random_state: Seed) -> np.random.Generator:
    """Return the generator that `random_state` stands for.

    An integer gives the same stream each time; a generator is used (and advanced) as it is;
    a legacy `RandomState` seeds a new generator from its stream; None draws fresh entropy.

    Examples
    --------
    >>> generator(0).integers(100, size=3)
    array([85, 63, 51])
    """
    if isinstance(random_state, np.random.Generator):
        return random_state
    if isinstance(random_state, np.random.RandomState):
        return np.random.default_rng(random_state.randint(0, 2**32, size=4, dtype=np.uint32))
    return np.random.default_rng(random_state)


def spawn_seeds(random_state: Seed, count: int) -> Sequence[int]:
    """Return `count` integer seeds for independent parts of one piece of work."""
    return [int(seed) for seed in generator(random_state).integers(0, 2**31 - 1, size=count)]
