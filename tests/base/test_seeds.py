"""Same seed, same stream, whatever form the seed has."""

import numpy as np
from numpy.testing import assert_array_equal

from verulam.base import generator, spawn_seeds


def test_an_integer_gives_the_same_stream_each_time():
    assert_array_equal(generator(3).random(5), generator(3).random(5))


def test_a_generator_is_used_as_it_is():
    given = np.random.default_rng(1)
    assert generator(given) is given


def test_a_legacy_state_is_advanced():
    state = np.random.RandomState(0)
    assert not np.array_equal(generator(state).random(3), generator(state).random(3))


def test_spawned_seeds_differ_and_repeat():
    seeds = spawn_seeds(0, 10)
    assert len(set(seeds)) == 10
    assert seeds == spawn_seeds(0, 10)
