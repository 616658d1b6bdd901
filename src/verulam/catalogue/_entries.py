"""Learners by name: ours through each package's `__all__`, borrowed ones from their list."""

import inspect
import re
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from pkgutil import iter_modules
from typing import Any, Literal

import pandas as pd
from sklearn.base import BaseEstimator

from verulam.base import Abilities, abilities, unknown_name
from verulam.catalogue._borrowed import BORROWED
from verulam.catalogue._grades import COMPLEXITY_GRADES, complexity_of_estimator, grade_of
from verulam.catalogue._map import read_map

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
_SENSITIVE_TO_SCALE = frozenset({"kernel", "linear", "nonparametric"})
_CITATION = re.compile(r"\b(?:Alpaydin \d+(?:\.\d+)*|Bartkowiak \d+(?:\.\d+)*|SIT1305 [IV]+)")
#: An abbreviation with its number (HMM, ID3), a word, or a number.
_WORD = re.compile(r"[A-Z]+\d*(?![a-z])|[A-Z][a-z]*|\d+")
#: Names of people and of algorithms, which keep their capitals and dots.
_PROPER = {
    name.lower().replace(".", ""): name
    for name in (
        "Apriori", "Baum", "Bayes", "Bayesian", "Bernoulli", "BIRCH", "Boltzmann", "C4.5", "C5.0",
        "CART", "Coulomb", "DBSCAN", "Dirichlet", "Epanechnikov", "Fisher", "Gaussian", "Gibbs",
        "Hamming", "Hebbian", "Ho", "Hopfield", "Huber", "IREP", "Isomap", "Kalman", "Kashyap",
        "Kohonen", "Laplace", "Madaline", "Mahalanobis", "Markov", "Nadaraya", "Newton", "Parzen",
        "Poisson", "Q", "Ripper", "Sarsa", "Viterbi", "Voronoi", "Watkins", "Watson", "Weibull",
        "Weston", "Winnow",
    )
}  # fmt: skip
#: Words that are written together, and names that a sentence needs more of.
_PHRASES = {
    "ada boost": "AdaBoost",
    "farthest margin": "farthest-margin",
    "Ho Kashyap": "Ho-Kashyap",
    "k means": "k-means",
    "k neighbors": "k-nearest neighbours",
    "large margin": "large-margin",
    "linear program": "linear-program",
    "minimum risk": "minimum-risk classifier",
    "Nadaraya Watson": "Nadaraya-Watson",
    "nearest neighbour density": "nearest-neighbour density",
    "one class": "one-class",
    "one versus rest": "one-versus-rest",
    "Q learning": "Q-learning",
    "rest reject": "rest with reject",
    "running line": "running line smoother",
    "running mean": "running mean smoother",
    "running median": "running median smoother",
    "variational factorial": "variational factorial hidden Markov model",
    "Weston Watkins": "Weston-Watkins",
}
#: Adjectives at the end of a name, with the noun that is understood.
_NOUNS = {"linear": "model", "logistic": "regression", "polynomial": "regression"}
#: What names a kind of model by itself, so that "classifier" or "regressor" can be left out.
_MODELS = frozenset(
    {"forest", "machine", "model", "neighbours", "network", "perceptron", "smoother", "tree"}
)
_SUFFIX = re.compile(rf"\b(?P<model>{'|'.join(sorted(_MODELS))}) (classifier|regressor)$")
_COLUMNS = ["name", "task", "tags", "interpretability", "source", "section", "summary"]


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
        if self.source == "borrowed":
            return self.name
        return _spoken_names().get(self.name) or short_name(self.name.rpartition(".")[2])

    @property
    def names(self) -> tuple[str, ...]:
        """All names it can be asked for by: the full one, the spoken one, words of the class."""
        if self.source == "borrowed":
            return (self.name,)
        word = self.name.rpartition(".")[2]
        return tuple(dict.fromkeys((self.name, self.spoken, long_name(word), plain_words(word))))

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
        arguments = {**self.parameters, **parameters}
        for name, parameter in signature.parameters.items():
            if parameter.default is parameter.empty and name not in arguments:
                raise TypeError(f"Learner {self.name!r} needs the parameter {name!r}.")
        return self.learner_class(**arguments)

    def example(self) -> Any:
        """Return a learner to look at, also where some parameter has no default."""
        examples = getattr(self.learner_class, "_example_learners", None)
        return examples()[0] if examples else self.make()

    @property
    def abilities(self) -> Abilities:
        """What the learner can do."""
        declared = abilities(self.example())
        return replace(declared, task=self.task) if self.task else declared

    @property
    def wants_scaling(self) -> bool:
        """Whether columns are brought to one scale first: where units matter, and if borrowed."""
        return self.source == "borrowed" or self.name.partition(".")[0] in _SENSITIVE_TO_SCALE

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
            f"{package}.{learner_class.__name__}",
            (path := f"verulam.{package}.{learner_class.__name__}"),
            "ours",
            _cited(learner_class),
            tuple(covered.get(path, ())),
        )
        for package in _learner_packages()
        for learner_class in _learner_classes(f"verulam.{package}")
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
    # A full name wins over words that happen to be part of another's.
    exact = [item for item in entries() if name_key(item.name) == key]
    matches = exact or [item for item in entries() if key in map(name_key, item.names)]
    if not matches:
        names = {word for item in entries() for word in (item.name, item.spoken)}
        raise unknown_name(
            "learner", name, sorted(names), hint="`verulam learners` lists them all."
        )
    if len(matches) > 1:
        choices = ", ".join(item.name for item in matches)
        raise unknown_name("learner", name, [], hint=f"The name fits several: {choices}.")
    return matches[0]


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


def learners(task: str | None = None, tags: Sequence[str] = ()) -> pd.DataFrame:
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
    for tag in tags:
        if tag not in Abilities.names():
            raise unknown_name("tag", tag, Abilities.names())
    rows = []
    tasks = set()
    for item in entries():
        able = item.abilities
        tasks.add(able.task)
        if set(tags) <= set(able.tags) and task in (None, able.task):
            rows.append(
                (
                    item.name,
                    able.task,
                    ", ".join(able.tags),
                    item.interpretability,
                    item.source,
                    item.section,
                    item.summary,
                )
            )
    if task is not None and task not in tasks:
        raise unknown_name("task", task, sorted(tasks))
    return pd.DataFrame(rows, columns=_COLUMNS)


def _learner_packages() -> Iterable[str]:
    spec = find_spec("verulam")
    assert spec is not None
    for module in iter_modules(spec.submodule_search_locations):
        if module.ispkg and module.name not in _NO_LEARNERS:
            yield module.name


def _learner_classes(package: str) -> Iterable[type[Any]]:
    module = import_module(package)
    for name in getattr(module, "__all__", ()):
        candidate = getattr(module, name)
        if (
            inspect.isclass(candidate)
            and issubclass(candidate, BaseEstimator)
            and not inspect.isabstract(candidate)
        ):
            yield candidate


def _cited(learner_class: type[Any]) -> str:
    """Return the first place in the texts that the class's documentation cites."""
    match = _CITATION.search(inspect.getdoc(learner_class) or "")
    return match[0] if match else ""


@cache
def name_key(name: str) -> str:
    """Return what remains of a name where neither case nor punctuation counts."""
    return re.sub(r"[^a-z0-9]", "", name.lower())


@cache
def plain_words(class_name: str) -> str:
    """Return the words of a class's name, in lower case.

    Examples
    --------
    >>> plain_words("KNeighborsClassifier")
    'k neighbors classifier'
    """
    return " ".join(_WORD.findall(class_name)).lower()


@cache
def long_name(class_name: str) -> str:
    """Return a class's name as it is written in a sentence.

    Examples
    --------
    >>> long_name("NaiveBayes"), long_name("KNeighborsClassifier"), long_name("ID3Tree")
    ('naive Bayes', 'k-nearest neighbours classifier', 'ID3 tree')
    """
    text = " ".join(_cased(word) for word in _WORD.findall(class_name))
    for words, phrase in _PHRASES.items():
        text = re.sub(rf"\b{words}\b", phrase, text)
    noun = _NOUNS.get(text.rpartition(" ")[2])
    return f"{text} {noun}" if noun else text


def short_name(class_name: str) -> str:
    """Return the name without "classifier" or "regressor", where a kind of model is left.

    Examples
    --------
    >>> short_name("MultivariateTreeClassifier"), short_name("GaussianClassifier")
    ('multivariate tree', 'Gaussian classifier')
    """
    return _SUFFIX.sub(r"\g<model>", long_name(class_name))


def spoken_names(ours: Collection[str], borrowed: Collection[str]) -> dict[str, str]:
    """Return the spoken name of each of our learners, all different and none of them borrowed.

    Parameters
    ----------
    ours
        Names such as ``parametric.NaiveBayes``.
    borrowed
        Names of borrowed learners, which are spoken already.

    Examples
    --------
    >>> ours = ["tree.DecisionTreeClassifier", "linear.Perceptron"]
    >>> list(spoken_names(ours, ["decision tree", "perceptron"]).values())
    ['decision tree classifier', "Verulam's perceptron"]
    """
    names = {name: name.rpartition(".")[2] for name in ours}
    forms = {name: (short_name(part), long_name(part)) for name, part in names.items()}
    counts = Counter(name_key(name) for name in borrowed)
    for pair in forms.values():
        counts.update({name_key(form) for form in pair})
    return {
        # The short form where nobody else could be meant by it.
        name: next((form for form in pair if counts[name_key(form)] == 1), f"Verulam's {pair[0]}")
        for name, pair in forms.items()
    }


def _cased(word: str) -> str:
    is_abbreviation = len(word) > 1 and not any(letter.islower() for letter in word)
    return _PROPER.get(word.lower(), word if is_abbreviation else word.lower())
