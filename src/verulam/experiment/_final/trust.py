"""Which types a model file may hold: those that fitted learners are made of, and no others."""

import sys
from collections.abc import Iterable
from importlib import import_module
from types import FunctionType
from typing import Any

from sklearn.base import BaseEstimator

#: Our packages whose classes and functions compute and do nothing else; elsewhere, where files
#: are opened and processes started, only learners are accepted.
_NOT_PURE = frozenset({"catalogue", "cli", "data", "experiment", "plots", "statistics", "testing"})
#: Where scikit-learn keeps what its fitted learners hold, beside learners themselves.
_SKLEARN_PARTS = (
    "sklearn._loss.",
    "sklearn.ensemble._hist_gradient_boosting.",
    "sklearn.gaussian_process.kernels",
    "sklearn.linear_model._sgd_fast",
    "sklearn.metrics._dist_metrics",
    "sklearn.neighbors._ball_tree",
    "sklearn.neighbors._kd_tree",
    "sklearn.neural_network._stochastic_optimizers",
    "sklearn.tree._tree",
)
#: Of other libraries: how numbers are kept, and a function with some arguments given, whose
#: function is looked at by itself.
_PLAIN = frozenset({"functools.partial", "numpy.dtype"})
#: Modules that do something when they are imported.
_NEVER = frozenset({"__main__", "conftest", "setup", "tests"})


def foreign_types(names: Iterable[str]) -> list[str]:
    """Return the types that are neither ours nor scikit-learn's parts of fitted learners.

    Nothing is imported but modules of the two libraries.

    Parameters
    ----------
    names
        Dotted names of types.

    Examples
    --------
    >>> foreign_types(["sklearn.tree._tree.Tree", "os.system", "verulam.experiment.Store"])
    ['os.system', 'verulam.experiment.Store']
    """
    return [name for name in names if not _is_known(name)]


def _is_known(path: str) -> bool:
    if path in _PLAIN:
        return True
    module, _, name = path.rpartition(".")
    package, _, rest = module.partition(".")
    if package not in ("sklearn", "verulam") or _NEVER.intersection(rest.split(".")):
        return False
    found = _found(module, name)
    # What a module has merely imported, such as a function of the operating system, is not its.
    if getattr(found, "__module__", None) != module:
        return False
    if isinstance(found, type) and issubclass(found, BaseEstimator):
        return True
    if package == "sklearn":
        return isinstance(found, type) and module.startswith(_SKLEARN_PARTS)
    return isinstance(found, type | FunctionType) and rest.partition(".")[0] not in _NOT_PURE


def _found(module: str, name: str) -> Any:
    try:
        loaded = sys.modules.get(module) or import_module(module)
    except ImportError:
        return None
    return getattr(loaded, name, None)
