"""Where runs were made: the versions that their results may depend on."""

import functools
import json
import platform
from collections.abc import Iterable
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version

from verulam.experiment._identity import digest

_PACKAGES = ("verulam", "numpy", "scipy", "scikit-learn", "pandas", "numba")


@dataclass(frozen=True)
class Environment:
    """Where runs are made.

    Attributes
    ----------
    key
        What identifies it in a store.
    content
        Its description, as JSON.
    """

    key: str
    content: str


@functools.cache
def environment() -> Environment:
    """Return the environment of this process; looking it up takes longer than many a run."""
    content = json.dumps(
        {
            "python": platform.python_version(),
            "system": platform.platform(),
            "processor": platform.machine(),
            "packages": {package: _version(package) for package in _PACKAGES},
        }
    )
    return Environment(digest(content), content)


def changed_packages(contents: Iterable[str]) -> list[str]:
    """Return the packages whose version is now another one, in words.

    Parameters
    ----------
    contents
        Descriptions of earlier environments.

    Examples
    --------
    >>> changed_packages(['{"packages": {"numpy": "0.1"}}'])[0].startswith("numpy 0.1 (now ")
    True
    """
    present = json.loads(environment().content)["packages"]
    before: dict[str, set[str]] = {}
    for content in contents:
        for package, earlier in json.loads(content)["packages"].items():
            if earlier != present.get(package, earlier):
                before.setdefault(package, set()).add(earlier)
    return [
        f"{package} {' and '.join(sorted(earlier))} (now {present[package]})"
        for package, earlier in sorted(before.items())
    ]


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return "not installed"
