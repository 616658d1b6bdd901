"""What a page of the lab shows, as data: pictures, code, links and tests all read only this."""

import base64
import binascii
import json
import math
import zlib
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from functools import lru_cache
from typing import Any

import numpy as np

from verulam.base import DataError, unknown_name
from verulam.data import checkerboard, gaussian_classes, noisy_sine, two_spirals, xor

VERSION = 1
TASKS = ("classification", "regression", "density", "clustering", "outliers")
#: Classes that can be drawn, by the letters that stand for them.
CLASSES = ("A", "B", "C", "D", "E")
MOST_LEARNERS = 4
MOST_POINTS = 5000
#: Bytes of a state in a link; a longer one is no state of ours.
LONGEST_STATE = 1_000_000

Scalar = float | int | bool | str | None


@dataclass(frozen=True)
class Points:
    """Points on the plane.

    Attributes
    ----------
    horizontal, vertical
        Their places.
    codes
        Class of each, as its position in `CLASSES`; zeros where there are no classes.
    names
        What the two axes are called.
    """

    horizontal: tuple[float, ...] = ()
    vertical: tuple[float, ...] = ()
    codes: tuple[int, ...] = ()
    names: tuple[str, str] = ("x1", "x2")

    def __len__(self) -> int:
        return len(self.horizontal)

    @property
    def rows(self) -> np.ndarray:
        """The places as a table of two columns."""
        return np.column_stack([self.horizontal, self.vertical]).astype(np.float64)

    @property
    def labels(self) -> np.ndarray:
        """The classes by their letters."""
        return np.array(CLASSES)[np.asarray(self.codes, dtype=np.intp)]

    def added(self, horizontal: float, vertical: float, code: int) -> "Points":
        """Return the points and one more."""
        return replace(
            self,
            horizontal=(*self.horizontal, tidy(horizontal)),
            vertical=(*self.vertical, tidy(vertical)),
            codes=(*self.codes, code),
        )

    def moved(self, place: int, horizontal: float, vertical: float) -> "Points":
        """Return the points, one of them somewhere else."""
        return replace(
            self,
            horizontal=_with(self.horizontal, place, tidy(horizontal)),
            vertical=_with(self.vertical, place, tidy(vertical)),
        )

    def without(self, place: int) -> "Points":
        """Return the points but one."""
        return replace(
            self,
            horizontal=self.horizontal[:place] + self.horizontal[place + 1 :],
            vertical=self.vertical[:place] + self.vertical[place + 1 :],
            codes=self.codes[:place] + self.codes[place + 1 :],
        )


@dataclass(frozen=True)
class Generated:
    """Points that a generator draws.

    Attributes
    ----------
    name
        One of `GENERATORS`.
    n
        Number of points.
    noise
        Standard deviation of the noise, in units of the generator.
    seed
        Seed of the generator.
    means, covariances
        Of the classes, for Gaussians: a pair of numbers and the three numbers of a symmetric
        matrix for each class.
    """

    name: str = "Gaussians"
    n: int = 200
    noise: float = 0.3
    seed: int = 0
    means: tuple[tuple[float, float], ...] = ((-1.0, 0.0), (1.0, 0.5))
    covariances: tuple[tuple[float, float, float], ...] = ((0.6, 0.0, 0.6), (0.6, 0.3, 0.6))


@dataclass(frozen=True)
class LearnerSetting:
    """A learner of the catalogue and the parameters that differ from its defaults.

    Attributes
    ----------
    name
        As in the catalogue.
    parameters
        Values by name; ``kernel__width`` is the width of a Gaussian kernel.
    """

    name: str
    parameters: Mapping[str, Scalar] = field(default_factory=dict)


@dataclass(frozen=True)
class PlaneState:
    """What the plane shows.

    Attributes
    ----------
    task
        One of `TASKS`.
    data
        Points that were drawn or loaded, or a generator.
    learners
        One to four of them, side by side.
    extent
        Ends of the two axes: left, right, bottom, top.
    resolution
        Points of the grid along each axis.
    folds
        Parts of the cross-validation.
    seed
        Seed of learners and folds.
    """

    task: str = "classification"
    data: Points | Generated = field(default_factory=Generated)
    learners: tuple[LearnerSetting, ...] = (LearnerSetting("nonparametric.KNeighborsClassifier"),)
    extent: tuple[float, float, float, float] = (-3.0, 3.0, -3.0, 3.0)
    resolution: int = 100
    folds: int = 10
    seed: int = 0

    @property
    def points(self) -> Points:
        """The points themselves, drawn by the generator where there is one."""
        return self.data if isinstance(self.data, Points) else generate(self.data)


def tidy(value: float) -> float:
    """Return a number with as many digits as a hand can point at."""
    return round(float(value), 4)


def _with(values: tuple[float, ...], place: int, value: float) -> tuple[float, ...]:
    return (*values[:place], value, *values[place + 1 :])


def ring(n: int, noise: float, random_state: int) -> tuple[np.ndarray, np.ndarray]:
    """Return a cloud and a ring of radius 2 around it, and their classes."""
    random = np.random.default_rng(random_state)
    codes = np.arange(n) % 2
    angles = random.uniform(0.0, 2.0 * np.pi, n)
    radii = 2.0 * codes + noise * random.normal(size=n)
    return np.column_stack([radii * np.cos(angles), radii * np.sin(angles)]), codes


#: Generators by name, each with the task that it is made for.
GENERATORS = {
    "Gaussians": "classification",
    "spirals": "classification",
    "XOR": "classification",
    "checkerboard": "classification",
    "ring": "classification",
    "noisy sine": "regression",
}


@lru_cache(maxsize=64)
def generate(recipe: Generated) -> Points:
    """Return the points that a generator draws.

    Parameters
    ----------
    recipe
        Name, size, noise and seed.
    """
    n, noise, seed = recipe.n, recipe.noise, recipe.seed
    if recipe.name == "ring":
        rows, codes = ring(n, noise, seed)
        return _points(rows, codes)
    if recipe.name == "noisy sine":
        sine = noisy_sine(n, low=-3.0, high=3.0, frequency=1.5, noise=noise, random_state=seed)
        return _points(sine.table.to_numpy(np.float64), np.zeros(n, dtype=np.intp))
    if recipe.name == "Gaussians":
        matrices = [[[a, b], [b, c]] for a, b, c in recipe.covariances]
        sample = gaussian_classes(recipe.means, matrices, n=n, random_state=seed)
    elif recipe.name == "spirals":
        sample = two_spirals(n, noise=noise / 4.0, random_state=seed)
    elif recipe.name == "XOR":
        sample = xor(n, noise=noise, random_state=seed)
    elif recipe.name == "checkerboard":
        sample = checkerboard(n, noise=noise / 3.0, random_state=seed)
    else:
        raise unknown_name("generator", recipe.name, list(GENERATORS))
    codes = sample.table[sample.target].astype("category").cat.codes.to_numpy()
    return _points(sample.inputs.to_numpy(np.float64), codes)


def _points(rows: np.ndarray, codes: np.ndarray) -> Points:
    rounded = np.round(rows, 4)
    return Points(
        tuple(rounded[:, 0].tolist()), tuple(rounded[:, 1].tolist()), tuple(codes.tolist())
    )


def extent_of(points: Points) -> tuple[float, float, float, float]:
    """Return the ends of axes that hold all points, with a border."""
    if not len(points):
        return (-3.0, 3.0, -3.0, 3.0)
    limits: list[float] = []
    for values in (points.horizontal, points.vertical):
        low, high = min(values), max(values)
        border = 0.08 * (high - low) or 1.0
        limits += [tidy(low - border), tidy(high + border)]
    return (limits[0], limits[1], limits[2], limits[3])


def to_json(state: PlaneState) -> str:
    """Return a state as text that `from_json` reads.

    Parameters
    ----------
    state
        What the plane shows.

    Examples
    --------
    >>> from verulam.lab import PlaneState, from_json, to_json
    >>> from_json(to_json(PlaneState())) == PlaneState()
    True
    """
    kind = "points" if isinstance(state.data, Points) else "generated"
    record = {"version": VERSION, "kind": kind, **asdict(state)}
    return json.dumps(record, separators=(",", ":"))


def from_json(text: str) -> PlaneState:
    """Return the state that `to_json` wrote; anything else is refused.

    Parameters
    ----------
    text
        What `to_json` returned.
    """
    try:
        record = json.loads(text, parse_constant=_no_constant)
    except (ValueError, RecursionError):
        raise DataError("text must be a state of the lab; it is no JSON.") from None
    if not isinstance(record, dict) or record.get("version") != VERSION:
        version = record.get("version") if isinstance(record, dict) else None
        raise DataError(f"text must be a state of version {VERSION}; it has version {version!r}.")
    try:
        return _checked(record)
    except (KeyError, TypeError, ValueError, AttributeError, OverflowError) as error:
        raise DataError(f"text must be a state of the lab; part of it is wrong: {error}.") from None


def to_link(state: PlaneState) -> str:
    """Return a state as the end of an address, which browsers do not send to servers.

    Parameters
    ----------
    state
        What the plane shows.
    """
    packed = zlib.compress(to_json(state).encode(), 9)
    return "#s=" + base64.urlsafe_b64encode(packed).decode().rstrip("=")


def from_link(link: str) -> PlaneState:
    """Return the state in a link.

    Parameters
    ----------
    link
        What `to_link` returned, alone or after an address.
    """
    _, mark, packed = link.rpartition("#s=")
    if not mark:
        raise DataError("link must hold a state of the lab after #s=.")
    try:
        inflater = zlib.decompressobj()
        raw = base64.urlsafe_b64decode(packed + "=" * (-len(packed) % 4))
        # A few bytes can inflate to very many.
        text = inflater.decompress(raw, LONGEST_STATE).decode()
    except (binascii.Error, zlib.error, ValueError):
        raise DataError("link must hold a state of the lab; this one is damaged.") from None
    if not inflater.eof:
        raise DataError("link must hold a state of the lab; this one is cut or too long.")
    return from_json(text)


def _checked(record: Mapping[str, Any]) -> PlaneState:
    data: Points | Generated
    if record["kind"] == "points":
        data = _read_points(record["data"])
    else:
        data = _read_recipe(record["data"])
    if record["task"] not in TASKS:
        raise ValueError(f"task {record['task']!r} is none of {', '.join(TASKS)}")
    learners = tuple(
        LearnerSetting(_text(item["name"]), _read_parameters(item["parameters"]))
        for item in record["learners"]
    )
    if not 1 <= len(learners) <= MOST_LEARNERS:
        raise ValueError(f"learners must be 1 to {MOST_LEARNERS}")
    left, right, bottom, top = (_number(value) for value in record["extent"])
    if not (left < right and bottom < top):
        raise ValueError("extent must rise from left to right and from bottom to top")
    return PlaneState(
        task=record["task"],
        data=data,
        learners=learners,
        extent=(left, right, bottom, top),
        resolution=_count(record["resolution"], 20, 400),
        folds=_count(record["folds"], 2, 50),
        seed=_count(record["seed"], 0, 2**31),
    )


def _read_points(record: Mapping[str, Any]) -> Points:
    horizontal = tuple(_number(value) for value in record["horizontal"])
    vertical = tuple(_number(value) for value in record["vertical"])
    codes = tuple(_count(value, 0, len(CLASSES) - 1) for value in record["codes"])
    if not len(horizontal) == len(vertical) == len(codes) <= MOST_POINTS:
        raise ValueError(f"points need two places and a class each, at most {MOST_POINTS}")
    first, second = record["names"]
    return Points(horizontal, vertical, codes, (_text(first), _text(second)))


def _read_recipe(record: Mapping[str, Any]) -> Generated:
    if record["name"] not in GENERATORS:
        raise ValueError(f"generator {record['name']!r} is none of {', '.join(GENERATORS)}")
    means = tuple((_number(a), _number(b)) for a, b in record["means"])
    covariances = tuple((_number(a), _number(b), _number(c)) for a, b, c in record["covariances"])
    if not 2 <= len(means) == len(covariances) <= len(CLASSES):
        raise ValueError("means and covariances must be of the same two to five classes")
    return Generated(
        name=record["name"],
        n=_count(record["n"], 2, MOST_POINTS),
        noise=abs(_number(record["noise"])),
        seed=_count(record["seed"], 0, 2**31),
        means=means,
        covariances=covariances,
    )


def _read_parameters(record: Mapping[str, Any]) -> dict[str, Scalar]:
    for name, value in record.items():
        if not isinstance(value, float | int | bool | str | None) or len(str(value)) > 200:
            raise ValueError(f"parameter {name!r} must be a number, a word or nothing")
    return dict(record)


def _number(value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise ValueError(f"{value!r} is no number")
    if not math.isfinite(value) or abs(value) > 1e9:
        raise ValueError(f"{value!r} is no number of the plane")
    return float(value)


def _count(value: Any, least: int, most: int) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or not least <= value <= most:
        raise ValueError(f"{value!r} is no whole number from {least} to {most}")
    return value


def _text(value: Any) -> str:
    if not isinstance(value, str) or len(value) > 200:
        raise ValueError(f"{value!r} is no name")
    return value


def _no_constant(word: str) -> float:
    raise ValueError(f"{word} is no number")
