"""Names of learners in words, made from the names of their classes."""

import re
from collections import Counter
from collections.abc import Collection
from functools import cache

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
    "k medoids": "k-medoids",
    "k neighbors": "k-nearest neighbours",
    "large margin": "large-margin",
    "linear program": "linear-program",
    "minimum risk": "minimum-risk classifier",
    "MLP classifier": "multilayer perceptron",
    "MLP regressor": "multilayer perceptron regression",
    "Nadaraya Watson": "Nadaraya-Watson",
    "nearest neighbour density": "nearest-neighbour density",
    "one class": "one-class",
    "one versus rest": "one-versus-rest",
    "Q learning": "Q-learning",
    "random forest classifier": "random forest",
    "random forest regressor": "random forest regression",
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
