"""What identifies a run: a hash of everything that its result depends on."""

import hashlib
import json
import re
from collections.abc import Mapping
from typing import Any

import numpy as np

_ADDRESS = re.compile(r" at 0x[0-9a-f]+")


def describe(value: Any) -> Any:
    """Return a plain description of a parameter, the same in every process.

    Estimators become their class and parameters, arrays a hash of their content, functions
    their qualified name.

    Examples
    --------
    >>> from sklearn.dummy import DummyClassifier
    >>> describe(DummyClassifier())["class"]
    'sklearn.dummy.DummyClassifier'
    """
    if value is None or isinstance(value, bool | int | float | str):
        return value
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, np.ndarray):
        shape = "x".join(map(str, value.shape))
        return f"array {value.dtype} {shape} {digest_bytes(np.ascontiguousarray(value).tobytes())}"
    if isinstance(value, Mapping):
        return {str(key): describe(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [describe(item) for item in value]
    if hasattr(value, "get_params") and not isinstance(value, type):
        return {"class": _path(type(value)), "parameters": describe(value.get_params(deep=False))}
    if callable(value):
        name = _path(value)
        if "<" in name:
            raise ValueError(
                f"A run cannot be identified by {name}: give the function a name of its own, at "
                "the top of a module."
            )
        return name
    text = repr(value)
    if _ADDRESS.search(text):
        raise ValueError(f"A run cannot be identified by {text}; its repr should tell its content.")
    return f"{_path(type(value))} {text}"


def digest(description: Any) -> str:
    """Return the hash of a description."""
    text = json.dumps(description, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return digest_bytes(text.encode())


def digest_bytes(content: bytes) -> str:
    """Return 32 hexadecimal digits that stand for some content."""
    return hashlib.blake2b(content, digest_size=16).hexdigest()


def seed_of(run_id: str, study_seed: int) -> int:
    """Return the seed of one run: a function of what the run is, never of when it is done."""
    return int.from_bytes(
        hashlib.blake2b(f"{study_seed}:{run_id}".encode(), digest_size=4).digest(), "big"
    ) % (2**31)


def _path(thing: Any) -> str:
    module = getattr(thing, "__module__", "")
    name = getattr(thing, "__qualname__", type(thing).__qualname__)
    return f"{module}.{name}"
