"""The identity of a run, a content hash of all that its result depends on, and its seed."""

import dataclasses
import functools
import hashlib
import inspect
import json
import re
import sys
import sysconfig
from collections.abc import Mapping, Set
from typing import Any

import numpy as np
import pandas as pd
from scipy import sparse

_ADDRESS = re.compile(r" at 0x[0-9a-f]+")
#: What moved to another package is known by its first path, so that ids and seeds stay.
_FIRST_PATHS = {"verulam.design.Factor": "verulam.experiment.Factor"}


@functools.singledispatch
def describe(value: Any) -> Any:
    """Return a plain description of a parameter, the same in every process.

    Estimators become their class and parameters, arrays and tables a hash of their content,
    functions their qualified name. Classes and functions that no installed package has come
    with a hash of their source, so that changed code is not taken for what it was.

    Examples
    --------
    >>> from sklearn.dummy import DummyClassifier
    >>> describe(DummyClassifier())["class"]
    'sklearn.dummy.DummyClassifier'
    """
    if value is None or isinstance(value, bool | int | float | str):
        return value
    kind: Any = type(value)
    is_record = dataclasses.is_dataclass(value) and not isinstance(value, type)
    # Of a record all fields count, also those that are no parameters to set.
    if hasattr(value, "get_params") and not is_record and not isinstance(value, type):
        parameters = describe(value.get_params(deep=False))
        return {"class": _path(kind), "parameters": parameters} | _sources(kind)
    if sparse.issparse(value):
        return _described_sparse(value)
    if is_record:
        fields = {field.name: getattr(value, field.name) for field in dataclasses.fields(value)}
        return {"class": _path(kind), "fields": describe(fields)} | _sources(kind)
    if callable(value):
        return _described_callable(value)
    text = repr(value)
    if _ADDRESS.search(text) or "..." in text:
        raise ValueError(f"A run cannot be identified by {text}; its repr should tell its content.")
    return f"{_path(kind)} {text}"


@describe.register(np.generic)
def _describe_scalar(value: np.generic) -> Any:
    item = value.item()
    return repr(item) if isinstance(item, np.generic) else describe(item)


@describe.register(np.ndarray)
def _describe_array(value: np.ndarray) -> Any:
    if isinstance(value, np.ma.MaskedArray):
        mask = np.ma.getmaskarray(value)
        return {"masked": describe(mask), "array": describe(np.asarray(value.filled()))}
    shape = "x".join(map(str, value.shape))
    if value.dtype.hasobject:
        # Its bytes are addresses.
        content = digest([describe(item) for item in value.ravel().tolist()])
    else:
        content = digest_bytes(np.ascontiguousarray(value).tobytes())
    return f"array {value.dtype} {shape} {content}"


@describe.register(Mapping)
def _describe_mapping(value: Mapping[Any, Any]) -> Any:
    if all(isinstance(key, str) for key in value):
        return {key: describe(item) for key, item in value.items()}
    pairs = [[describe(key), describe(item)] for key, item in value.items()]
    # Keys of several types have no order of their own: that of their hashes is the same anywhere.
    return {"mapping": sorted(pairs, key=digest)}


@describe.register(list)
@describe.register(tuple)
def _describe_sequence(value: list[Any] | tuple[Any, ...]) -> Any:
    return [describe(item) for item in value]


@describe.register(Set)
def _describe_set(value: Set[Any]) -> Any:
    return {"set": sorted((describe(item) for item in value), key=digest)}


@describe.register(functools.partial)
def _describe_partial(value: functools.partial[Any]) -> Any:
    keywords = describe(value.keywords)
    return {"partial": describe(value.func), "args": describe(value.args), "keywords": keywords}


@describe.register(pd.DataFrame)
def _describe_frame(value: pd.DataFrame) -> Any:
    columns = [describe(value.iloc[:, place].array) for place in range(value.shape[1])]
    return {"frame": columns, "columns": describe(value.columns), "index": describe(value.index)}


@describe.register(pd.Series)
def _describe_series(value: pd.Series) -> Any:
    index = describe(value.index)
    return {"series": describe(value.array), "name": describe(value.name), "index": index}


@describe.register(pd.Index)
def _describe_index(value: pd.Index) -> Any:
    return {"index": describe(value.to_series().array), "names": describe(list(value.names))}


@describe.register(pd.api.extensions.ExtensionArray)
def _describe_column(value: Any) -> Any:
    described = {"column": describe(value.to_numpy()), "type": str(value.dtype)}
    if isinstance(value.dtype, pd.CategoricalDtype):
        described["categories"] = describe(value.dtype.categories)
        described["ordered"] = bool(value.dtype.ordered)
    return described


@describe.register(np.ufunc)
def _describe_ufunc(value: np.ufunc) -> Any:
    name = value.__name__
    for module in ("numpy", "scipy.special"):
        if getattr(sys.modules.get(module), name, None) is value:
            return f"{module}.{name}"
    raise ValueError(f"A run cannot be identified by {value!r}: use a function of a module.")


def _described_sparse(value: Any) -> Any:
    # Duplicate entries stand for their sum, however a matrix came about.
    rows = sparse.csr_array(value, copy=True)
    rows.sum_duplicates()
    places = {
        name: describe(getattr(rows, name).astype(np.int64)) for name in ("indices", "indptr")
    }
    return {
        "sparse": _path(type(value)),
        "shape": list(value.shape),
        "data": describe(rows.data),
    } | places


def _described_callable(value: Any) -> Any:
    name = _path(value)
    if "<" in name:
        raise ValueError(
            f"A run cannot be identified by {name}: give the function a name of its own, at "
            "the top of a module."
        )
    if not isinstance(value, type) and _member_of_module(value) is not value:
        raise ValueError(
            f"A run cannot be identified by {value!r}, whose content cannot be told: use a "
            "function at the top of a module, or functools.partial of one."
        )
    source = _sources(value)
    return {"name": name} | source if source else name


def _member_of_module(value: Any) -> Any:
    """Return what is in a module under the name that a thing says it has; None for nothing."""
    name = getattr(value, "__qualname__", None) or getattr(value, "__name__", None)
    member: Any = sys.modules.get(str(getattr(value, "__module__", None)))
    for part in str(name).split("."):
        member = getattr(member, part, None)
    return member


@functools.cache
def _sources(thing: Any) -> dict[str, str]:
    """Return a hash of the source of a function, or a class and its bases, that are one's own."""
    # A method may be inherited: changed code of a base changes the learner.
    parts = inspect.getmro(thing) if isinstance(thing, type) else (inspect.unwrap(thing),)
    try:
        texts = [inspect.getsource(part) for part in parts if _is_own(part)]
    except (OSError, TypeError):
        return {}
    return {"source": digest(texts)} if texts else {}


def _is_own(thing: Any) -> bool:
    """Return whether code is neither installed, nor part of Python or of this library."""
    module = str(getattr(thing, "__module__", None))
    if module == "__main__":
        return True
    # Of installed libraries the environment of a run has the version; their source is not read.
    file = getattr(sys.modules.get(module), "__file__", None)
    if file is None or module.partition(".")[0] == "verulam":
        return False
    installed = ("site-packages" in file) or ("dist-packages" in file)
    return not installed and not file.startswith(sysconfig.get_path("stdlib"))


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


def unseeded_parameters(estimator: Any) -> list[str]:
    """Return the random states that are left open, which take the seed of a run."""
    return [
        name
        for name, value in estimator.get_params(deep=True).items()
        if name.rpartition("__")[2] == "random_state" and value is None
    ]


def _path(thing: Any) -> str:
    module = getattr(thing, "__module__", "")
    name = getattr(thing, "__qualname__", type(thing).__qualname__)
    path = f"{module}.{name}"
    return _FIRST_PATHS.get(path, path)
