"""Learners by name: ours through each package's `__all__`, borrowed ones from their list."""

import inspect
import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields, replace
from functools import cache
from hashlib import sha256
from importlib import import_module
from importlib.resources import files
from typing import TYPE_CHECKING, Any, Literal

from verulam import base
from verulam.base import unknown_name
from verulam.catalogue._agents import AGENTS
from verulam.catalogue._borrowed import BORROWED
from verulam.catalogue._grades import COMPLEXITY_GRADES, complexity_of_estimator, grade_of
from verulam.catalogue._map import read_map
from verulam.catalogue._names import long_name, name_key, plain_words, short_name, spoken_names
from verulam.catalogue._synonyms import SYNONYMS

if TYPE_CHECKING:
    import pandas as pd

    from verulam.base import Abilities

_FOLDER = files("verulam")

#: Packages that hold no learners; every other one is searched.
_NO_LEARNERS = frozenset(
    {
        "base",
        "catalogue",
        "cli",
        "data",
        "design",
        "experiment",
        "lab",
        "measures",
        "numerics",
        "plots",
        "statistics",
        "testing",
    }
)
#: Stand in the list for a package: where the learners of others are, and where agents are.
_BORROWED, _AGENTS = "borrowed", "agents"
#: Packages of ours whose learners go by distances, inner products or steps along a gradient.
_SENSITIVE_TO_SCALE = frozenset(
    {"bayes", "cluster", "kernel", "linear", "local", "neural", "nonparametric"}
)
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
    >>> forest = entry("Isolation Forest")
    >>> forest.path, forest.abilities.task
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
        if self._named_by_texts:
            return self.name
        return _spoken_names().get(self.name) or short_name(self.name.rpartition(".")[2])

    @property
    def names(self) -> tuple[str, ...]:
        """All names it can be asked for by: the full one, the spoken one, words of the class."""
        if self._named_by_texts:
            return (self.name,)
        word = self.name.rpartition(".")[2]
        return tuple(dict.fromkeys((self.name, self.spoken, long_name(word), plain_words(word))))

    @property
    def _named_by_texts(self) -> bool:
        return self.source == "borrowed" or "." not in self.name

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
        """Return a new learner with these parameters, perhaps with some of its parts'.

        Examples
        --------
        >>> from verulam.catalogue import entry
        >>> entry("support vector machine").make(C=10.0, kernel__width=0.5)
        SupportVectorClassifier(C=10.0, kernel=Gaussian(width=0.5))
        """
        signature = inspect.signature(self.learner_class)
        accepted = list(signature.parameters)
        for name in parameters:
            if name.partition("__")[0] not in accepted:
                raise TypeError(
                    f"Learner {self.name!r} has no parameter {name!r}. "
                    f"Accepted: {', '.join(accepted) or 'none'}."
                )
        of_parts = {name: parameters.pop(name) for name in list(parameters) if "__" in name}
        arguments = {**self.parameters, **parameters}
        for name, parameter in signature.parameters.items():
            if parameter.default is parameter.empty and name not in arguments:
                raise TypeError(f"Learner {self.name!r} needs the parameter {name!r}.")
        made = self.learner_class(**arguments)
        return made.set_params(**of_parts) if of_parts else made

    def example(self) -> Any:
        """Return a learner to look at, also where some parameter has no default."""
        examples = getattr(self.learner_class, "_example_learners", None)
        return examples()[0] if examples else self.make()

    @property
    def abilities(self) -> "Abilities":
        """What the learner can do."""
        declared = base.abilities(self.example())
        return replace(declared, task=self.task) if self.task else declared

    @property
    def wants_scaling(self) -> bool:
        """Whether columns are brought to one scale first: where units matter, and if borrowed."""
        return self.source == "borrowed" or self.path.split(".")[1] in _SENSITIVE_TO_SCALE

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


@dataclass(frozen=True)
class Listed:
    """What a list shows of one learner: an entry of ``learners.json``.

    Attributes
    ----------
    name
        As in the catalogue.
    task
        classification, regression, ...
    tags
        Its abilities.
    interpretability
        Grade from 3 (best) to 1; None where unknown.
    source
        Whose it is: ours or borrowed.
    section
        Where the texts treat it.
    summary
        The first sentence of its documentation.
    """

    name: str
    task: str
    tags: Sequence[str]
    interpretability: int | None
    source: str
    section: str
    summary: str


@cache
def our_entries() -> tuple[Entry, ...]:
    """Return the learners of this library, package by package."""
    named = {item.name for item in (*BORROWED, *AGENTS)}
    return tuple(
        Entry(row.name, path, "ours", row.section, _covered().get(path, ()))
        for row in listing()
        if row.name not in named and (path := f"verulam.{row.name}")
    )


@cache
def _covered() -> dict[str, tuple[str, ...]]:
    """Return the rows of the map that each of our classes covers, by its dotted name."""
    covered: dict[str, list[str]] = {}
    for map_row in read_map():
        for path in map_row.where:
            covered.setdefault(path, []).append(map_row.id)
    return {path: tuple(rows) for path, rows in covered.items()}


@cache
def _borrowed_entries() -> tuple[Entry, ...]:
    return tuple(
        Entry(b.name, b.path, b.source, b.section, b.rows, b.parameters, b.task) for b in BORROWED
    )


@cache
def agent_entries() -> tuple[Entry, ...]:
    """Return the agents, which learn by acting and are no learners of tables."""
    return tuple(
        Entry(a.name, a.path, "ours", a.section, _covered().get(a.path, ()), a.parameters, a.task)
        for a in AGENTS
    )


@cache
def entries() -> tuple[Entry, ...]:
    """Return every learner there is: ours by class, then those under the texts' names."""
    return our_entries() + _borrowed_entries()


@cache
def listing() -> tuple[Listed, ...]:
    """Return what a list shows of every learner, without importing those that are written down."""
    text = _FOLDER.joinpath("catalogue", "learners.json").read_text(encoding="utf-8")
    written = json.loads(text)
    # A package that has come since, or names other learners now, is looked at itself.
    return tuple(
        row
        for package in listed_packages()
        for row in (
            [Listed(**row) for row in written[package]["learners"]]
            if package in written and written[package]["stamp"] == stamp(package)
            else inspected(package)
        )
    )


def listed_packages() -> list[str]:
    """Return the packages of ours that hold learners, by the alphabet, "agents" and "borrowed"."""
    ours = sorted(
        folder.name
        for folder in _FOLDER.iterdir()
        if folder.name not in _NO_LEARNERS and (folder / "__init__.py").is_file()
    )
    return [*ours, _AGENTS, _BORROWED]


def inspected(package: str) -> list[Listed]:
    """Return what a list shows of the learners of a package, from the classes themselves."""
    if package in (_BORROWED, _AGENTS):
        items = _borrowed_entries() if package == _BORROWED else agent_entries()
    else:
        items = tuple(
            Entry(
                f"{package}.{learner_class.__name__}",
                f"verulam.{package}.{learner_class.__name__}",
                "ours",
                _cited(learner_class),
            )
            for learner_class in _learner_classes(f"verulam.{package}")
        )
    return [
        Listed(
            item.name,
            item.abilities.task,
            item.abilities.tags,
            item.interpretability,
            item.source,
            item.section,
            item.summary,
        )
        for item in items
    ]


def stamp(package: str) -> str:
    """Return a hash of the file that names the learners of a package."""
    by_name = package in (_BORROWED, _AGENTS)
    file = f"catalogue/_{package}.py" if by_name else f"{package}/__init__.py"
    return sha256(_FOLDER.joinpath(file).read_bytes()).hexdigest()[:12]


@cache
def _spoken_names() -> dict[str, str]:
    return spoken_names([item.name for item in our_entries()], [b.name for b in BORROWED])


def entry(name: str) -> Entry:
    """Return the entry of a learner or agent, by any name, whatever the case and punctuation.

    Examples
    --------
    >>> entry("Naive Bayes").name, entry("decision-tree classifier").name
    ('parametric.NaiveBayes', 'tree.DecisionTreeClassifier')
    """
    key = name_key(name)
    # A full name wins over words that happen to be part of another's.
    known = entries() + agent_entries()
    exact = [item for item in known if name_key(item.name) == key]
    matches = exact or [item for item in known if key in map(name_key, item.names)]
    if not matches:
        raise _unknown_learner(name, known)
    if len(matches) > 1:
        choices = ", ".join(item.name for item in matches)
        raise unknown_name("learner", name, [], hint=f"The name fits several: {choices}.")
    return matches[0]


def _unknown_learner(name: str, known: Sequence[Entry]) -> base.UnknownNameError:
    """Return the error for a name that no learner has, with what other people call so."""
    hint = "`verulam learners` lists them all."
    words = SYNONYMS.get(name.strip().lower(), "").split()
    called = [
        item.spoken for item in known if words and all(w in item.spoken.lower() for w in words)
    ]
    if called:
        # The plain forms, such as "k-nearest neighbours", before what is made of them.
        hint = f"Nearest: {', '.join(sorted(called, key=len)[:3])}. {hint}"
        return unknown_name("learner", name, [], hint=hint)
    names = {word for item in known for word in (item.name, item.spoken)}
    return unknown_name("learner", name, sorted(names), hint=hint)


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
    >>> learner("support vector machine", C=3)
    SupportVectorClassifier(C=3)
    >>> learner("k-nearest neighbors")
    Traceback (most recent call last):
    verulam.base.UnknownNameError: Unknown learner 'k-nearest neighbors'. Nearest: ...
    """
    return entry(name).make(**parameters)


def learners(task: str | None = None, tags: Sequence[str] = ()) -> "pd.DataFrame":
    """Return one row per learner: name, task, tags, source, section, summary.

    Interpretability is graded: 3 where the fitted model can be read as a whole, 2 where each
    prediction can be explained, 1 where neither.

    Parameters
    ----------
    task
        Keep the learners of one task, such as "classification".
    tags
        Keep the learners with all of these abilities, such as ("missing", "categorical").

    Examples
    --------
    >>> table = learners(task="outliers")
    >>> "isolation forest" in set(table["name"])
    True
    """
    import pandas as pd

    rows = [{**asdict(row), "tags": ", ".join(row.tags)} for row in listed_learners(task, tags)]
    return pd.DataFrame(rows, columns=[field.name for field in fields(Listed)])


def listed_learners(task: str | None, tags: Sequence[str]) -> list[Listed]:
    """Return the learners of a task, or of all, with all of these abilities."""
    for tag in tags:
        if tag not in base.Abilities.names():
            raise unknown_name("tag", tag, base.Abilities.names())
    tasks = {row.task for row in listing()}
    if task is not None and task not in tasks:
        raise unknown_name("task", task, sorted(tasks))
    return [row for row in listing() if task in (None, row.task) and set(tags) <= set(row.tags)]


def _learner_classes(package: str) -> Iterable[type[Any]]:
    from sklearn.base import BaseEstimator

    module = import_module(package)
    for name in getattr(module, "__all__", ()):
        candidate = getattr(module, name)
        if (
            inspect.isclass(candidate)
            and issubclass(candidate, BaseEstimator)
            # Agents have parameters too, but learn by acting.
            and hasattr(candidate, "fit")
            and not inspect.isabstract(candidate)
        ):
            yield candidate


def _cited(learner_class: type[Any]) -> str:
    """Return the first place in the texts that the class's documentation cites."""
    match = _CITATION.search(inspect.getdoc(learner_class) or "")
    return match[0] if match else ""
