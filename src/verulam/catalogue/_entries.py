"""Learners by name: ours through each package's `__all__`, borrowed ones from their list."""

import inspect
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from pkgutil import iter_modules
from typing import Any, Literal

from sklearn.base import BaseEstimator

from verulam.base import Abilities, abilities, unknown_name
from verulam.catalogue._borrowed import BORROWED
from verulam.catalogue._complexity import COMPLEXITY_GRADES, complexity_of_estimator
from verulam.catalogue._interpretability import grade_of
from verulam.catalogue._map import read_map
from verulam.catalogue._spoken import (
    full_name,
    name_key,
    plain_words,
    short_name,
    spoken_names,
)

#: Packages that hold no learners; every other one is searched.
_NO_LEARNERS = frozenset(
    {
        "base",
        "catalogue",
        "cli",
        "data",
        "experiment",
        "measures",
        "numerics",
        "plots",
        "statistics",
        "testing",
    }
)
#: Packages of ours whose learners go by distances, inner products or steps along a gradient.
_OF_DISTANCES = frozenset({"kernel", "linear", "nonparametric"})
_CITATION = re.compile(r"\b(?:Alpaydin \d+(?:\.\d+)*|Bartkowiak \d+(?:\.\d+)*|SIT1305 [IV]+)")


@dataclass(frozen=True)
class Entry:
    """One learner in the catalogue.

    Attributes
    ----------
    name
        What it is called: ``package.Class`` for ours, the texts' name for borrowed ones.
    path
        Dotted name of the class.
    source
        Whose it is: ours or borrowed.
    section
        Where the texts treat it.
    rows
        Rows of the map that it covers.
    parameters
        Arguments set by the catalogue.
    task
        The task, where the class itself does not tell.

    Examples
    --------
    >>> from verulam.catalogue import entry
    >>> found = entry("Isolation Forest")
    >>> found.path, found.abilities.task
    ('sklearn.ensemble.IsolationForest', 'outliers')
    """

    name: str
    path: str
    source: Literal["ours", "borrowed"]
    section: str = ""
    rows: tuple[str, ...] = ()
    parameters: Mapping[str, Any] = field(default_factory=dict)
    task: str = ""

    @property
    def spoken(self) -> str:
        """The name as it is written in a sentence: ``naive Bayes``; no two learners share it."""
        if self.source == "borrowed":
            return self.name
        return _spoken_names().get(self.name) or short_name(self.name.rpartition(".")[2])

    @property
    def names(self) -> tuple[str, ...]:
        """All names it can be asked for by: the full one, the spoken one, words of the class."""
        if self.source == "borrowed":
            return (self.name,)
        part = self.name.rpartition(".")[2]
        return tuple(dict.fromkeys((self.name, self.spoken, full_name(part), plain_words(part))))

    @property
    def learner_class(self) -> type[Any]:
        """The class behind the name."""
        package, _, name = self.path.rpartition(".")
        return getattr(import_module(package), name)

    @property
    def summary(self) -> str:
        """The first sentence of the class's documentation, without its full stop."""
        text = inspect.getdoc(self.learner_class) or ""
        return " ".join(text.partition("\n\n")[0].split()).rstrip(".")

    def make(self, **parameters: Any) -> Any:
        """Return a new learner with these parameters."""
        signature = inspect.signature(self.learner_class)
        accepted = list(signature.parameters)
        for name in parameters:
            if name not in accepted:
                raise TypeError(
                    f"Learner {self.name!r} has no parameter {name!r}. "
                    f"Accepted: {', '.join(accepted) or 'none'}."
                )
        chosen = {**self.parameters, **parameters}
        for name, parameter in signature.parameters.items():
            if parameter.default is parameter.empty and name not in chosen:
                raise TypeError(f"Learner {self.name!r} needs the parameter {name!r}.")
        return self.learner_class(**chosen)

    def example(self) -> Any:
        """Return a learner to look at, also where some parameter has no default."""
        examples = getattr(self.learner_class, "_example_learners", None)
        return examples()[0] if examples else self.make()

    @property
    def abilities(self) -> Abilities:
        """What the learner can do."""
        found = abilities(self.example())
        return replace(found, task=self.task) if self.task else found

    @property
    def wants_scaling(self) -> bool:
        """Whether its columns should be brought to one scale first, since units matter to it."""
        return self.source == "borrowed" or self.name.partition(".")[0] in _OF_DISTANCES

    @property
    def interpretability(self) -> int | None:
        """How well people can read what it learns, from 3 (best) to 1; None where unknown."""
        declared = getattr(self.learner_class, "_interpretability", None)
        return grade_of(self.path) if declared is None else declared

    @property
    def complexity(self) -> int:
        """How complex its models are, from 0 (simplest) to 4, which unknown kinds have."""
        grade = complexity_of_estimator(self.example())
        return max(COMPLEXITY_GRADES) if grade is None else grade


@cache
def our_entries() -> tuple[Entry, ...]:
    """Return the learners of this library, package by package."""
    covered: dict[str, list[str]] = {}
    for row in read_map():
        for path in row.where:
            covered.setdefault(path, []).append(row.id)
    return tuple(
        Entry(
            f"{package}.{found.__name__}",
            (path := f"verulam.{package}.{found.__name__}"),
            "ours",
            _cited(found),
            tuple(covered.get(path, ())),
        )
        for package in _learner_packages()
        for found in _learner_classes(f"verulam.{package}")
    )


@cache
def entries() -> tuple[Entry, ...]:
    """Return every learner there is: ours, then the borrowed ones."""
    borrowed = tuple(
        Entry(b.name, b.path, "borrowed", b.section, b.rows, b.parameters, b.task) for b in BORROWED
    )
    return our_entries() + borrowed


@cache
def _spoken_names() -> dict[str, str]:
    return spoken_names([item.name for item in our_entries()], [b.name for b in BORROWED])


def entry(name: str) -> Entry:
    """Return the entry of one learner, by any of its names, whatever the case and punctuation.

    Examples
    --------
    >>> entry("Naive Bayes").name, entry("decision-tree classifier").name
    ('parametric.NaiveBayes', 'tree.DecisionTreeClassifier')
    """
    key = name_key(name)
    exact = [item for item in entries() if name_key(item.name) == key]
    found = exact or [item for item in entries() if key in map(name_key, item.names)]
    if not found:
        names = {word for item in entries() for word in (item.name, item.spoken)}
        raise unknown_name(
            "learner", name, sorted(names), hint="`verulam learners` lists them all."
        )
    if len(found) > 1:
        choices = ", ".join(item.name for item in found)
        raise unknown_name("learner", name, [], hint=f"The name fits several: {choices}.")
    return found[0]


def learner(name: str, **parameters: Any) -> Any:
    """Return a new learner by name.

    Parameters
    ----------
    name
        ``package.Class`` or plain words: "parametric.NaiveBayes", "naive bayes",
        "k-nearest neighbours".
    **parameters
        Arguments of the learner's class.

    Examples
    --------
    >>> learner("k-nearest neighbours", n_neighbors=3)
    KNeighborsClassifier(n_neighbors=3)
    >>> learner("k-nearest neighbors")
    Traceback (most recent call last):
    verulam.base.UnknownNameError: Unknown learner 'k-nearest neighbors'. Nearest: ...
    """
    return entry(name).make(**parameters)


def _learner_packages() -> Iterable[str]:
    found = find_spec("verulam")
    assert found is not None
    for module in iter_modules(found.submodule_search_locations):
        if module.ispkg and module.name not in _NO_LEARNERS:
            yield module.name


def _learner_classes(package: str) -> Iterable[type[Any]]:
    module = import_module(package)
    for name in getattr(module, "__all__", ()):
        found = getattr(module, name)
        if (
            inspect.isclass(found)
            and issubclass(found, BaseEstimator)
            and not inspect.isabstract(found)
        ):
            yield found


def _cited(learner_class: type[Any]) -> str:
    """Return the first place in the texts that the class's documentation cites."""
    match = _CITATION.search(inspect.getdoc(learner_class) or "")
    return match[0] if match else ""
