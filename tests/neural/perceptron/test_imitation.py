"""Behavioural cloning: a network that watched a driver keeps a car on the road (ALVINN)."""

import numpy as np

from verulam.neural import MLPRegressor

#: Half the width of the road, and length of a time step.
HALF, STEP = 1.0, 0.1


def scene(offset, heading):
    """Return what a camera sees: the brightness of eleven columns of road ahead."""
    seen = np.linspace(-2, 2, 11)
    middle = -offset - 0.8 * heading
    return np.exp(-((seen - middle) ** 2))


def driver(offset, heading):
    return np.clip(-1.5 * offset - 2.0 * heading, -1.0, 1.0)


def drive(steer, steps, random, noise=0.0):
    """Return scenes, steering of the driver, and the largest offset on a winding road."""
    offset = heading = 0.0
    scenes, wheel, largest = [], [], 0.0
    for step in range(steps):
        scenes.append(scene(offset, heading))
        wheel.append(driver(offset, heading))
        turn = steer(scenes[-1], offset, heading) + noise * random.normal()
        heading += STEP * (turn + 0.3 * np.sin(0.05 * step))
        offset += STEP * np.sin(heading)
        largest = max(largest, abs(offset))
    return np.array(scenes), np.array(wheel), largest


def test_it_drives_after_watching():
    random = np.random.default_rng(0)
    scenes, wheel, _ = drive(lambda _, *state: driver(*state), 800, random, noise=2.0)
    net = MLPRegressor(5, activation="tanh", solver="lbfgs", alpha=0.01, tol=1e-4, random_state=0)
    net.fit(scenes, wheel)
    *_, cloned = drive(lambda view, *_: net.predict(view[None])[0], 400, random)
    *_, straight = drive(lambda *_: 0.0, 400, random)
    assert cloned < 0.5 * HALF
    assert straight > HALF
