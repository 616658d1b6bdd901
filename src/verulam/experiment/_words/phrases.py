"""Names, numbers and lists as they stand in a sentence."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil, isfinite, log10

from verulam.experiment._evidence.margin import is_share
from verulam.experiment._store.responses import spoken_name
from verulam.measures import Measure

#: Numbers with more decimals than this, or so large, are written with an exponent.
MOST_DECIMALS, LARGEST_WRITTEN = 6, 1e7
#: Of more names than this, a sentence says how many more there are.
MOST_NAMES = 5
#: Learners that are things, and so have an article; methods such as regression have none.
_COUNTED = (
    *("classifier", "discriminant", "forest", "list", "machine", "mixture", "model", "network"),
    *("perceptron", "predictor", "process", "regressor", "smoother", "spline", "tree"),
)
#: People after whom measures are called.
_PEOPLE = frozenset(["Brier", "Cohen's", "Matthews"])
#: Letters that begin with a vowel when they are read out.
_VOWEL_LETTERS = frozenset("FHLMNRSX")


def listed(names: Sequence[str], word: str = "and") -> str:
    """Return names as people write them in a row.

    Examples
    --------
    >>> listed(["a"]), listed(["a", "b", "c"])
    ('a', 'a, b and c')
    """
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} {word} {names[-1]}"


def few(names: Sequence[str]) -> str:
    """Return the first of many names in a row, and how many more there are.

    Examples
    --------
    >>> few(["a", "b", "c"]), few(list("abcdefgh"))
    ('a, b and c', 'a, b, c, d, e and 3 others')
    """
    if len(names) <= MOST_NAMES + 1:
        return listed(names)
    return listed([*names[:MOST_NAMES], f"{len(names) - MOST_NAMES} others"])


def named(contestant: str) -> str:
    """Return a contestant as it stands within a sentence, with its article.

    Examples
    --------
    >>> named("support vector machine"), named("parametric.NaiveBayes")
    ('the support vector machine', 'naive Bayes')
    """
    name = spoken_name(contestant)
    learner = name.partition(" (")[0]
    if learner == "majority class" or learner.rpartition(" ")[2] in _COUNTED:
        return f"the {name}"
    return name


def sentence(text: str) -> str:
    """Return a text with a capital letter in front and a full stop behind.

    Examples
    --------
    >>> sentence("naive Bayes did best")
    'Naive Bayes did best.'
    """
    text = text.rstrip()
    return f"{text[:1].upper()}{text[1:]}{'' if text.endswith(('.', '?', '!')) else '.'}"


def times_text(share: float) -> str:
    """Return how often something happens, as people say it.

    Examples
    --------
    >>> times_text(0.62), times_text(0.955), times_text(0.999)
    ('about 6 times in 10', 'about 19 times in 20', 'nearly always')
    """
    if share >= 0.975:
        return "nearly always"
    if share >= 0.925:
        return "about 19 times in 20"
    if share < 0.05:
        return "hardly ever"
    count = max(1, round(share * 10))
    return f"about {count} time{'s' * (count > 1)} in 10"


def chance_text(probability: float) -> str:
    """Return a probability in per cent, very small and very large ones as bounds.

    Examples
    --------
    >>> chance_text(0.583), chance_text(0.0004), chance_text(0.999)
    ('58 %', '< 1 %', '> 99 %')
    """
    if probability != probability:
        return "-"
    if probability < 0.01:
        return "< 1 %"
    return "> 99 %" if probability > 0.99 else f"{100 * probability:.0f} %"


@dataclass(frozen=True)
class Numbers:
    """Writes values of a measure and their differences, with the decimals that they deserve.

    Attributes
    ----------
    measure
        What was measured.
    decimals
        Digits behind the point.
    """

    measure: Measure
    decimals: int

    @classmethod
    def of(cls, measure: Measure, width: float) -> "Numbers":
        """Return the writer for values that are known to so much, such as half an interval."""
        shown = 100 * width if is_share(measure) else width
        if not isfinite(shown) or shown <= 0:
            return cls(measure, 1 if is_share(measure) else 3)
        digits = 2 - ceil(log10(shown)) if shown < 1 else (1 if shown < 10 else 0)
        return cls(measure, max(1 if is_share(measure) else 0, digits))

    def plain(self, value: float) -> str:
        """Return a value without its unit."""
        shown = 100 * value if is_share(self.measure) else value
        if self.decimals > MOST_DECIMALS or abs(shown) >= LARGEST_WRITTEN:
            return f"{shown:.3g}"
        text = f"{shown:,.{self.decimals}f}"
        # A zero has no sign.
        return text.lstrip("-") if not text.strip("-0.,") else text

    def value(self, value: float) -> str:
        """Return a value with its unit."""
        return f"{self.plain(value)} %" if is_share(self.measure) else self.plain(value)

    def interval(self, low: float, high: float) -> str:
        """Return an interval, without the unit."""
        return f"{self.plain(low)} to {self.plain(high)}"

    def difference(self, size: float) -> str:
        """Return the size of a difference with its unit."""
        text = self.plain(abs(size))
        if not is_share(self.measure):
            return text
        return f"{text} point" if text in ("1", "1.0") else f"{text} points"

    def vanishes(self, size: float) -> bool:
        """Return whether nothing is left of a difference as it is written."""
        return not self.plain(abs(size)).strip("0.")

    def margin(self, size: float) -> str:
        """Return the difference that matters with its unit, without needless zeros."""
        shown = 100 * size if is_share(self.measure) else size
        text = f"{shown:.3g}"
        if not is_share(self.measure):
            return text
        return f"{text} point" if text == "1" else f"{text} points"


def measure_words(measure: Measure) -> str:
    """Return the title of a measure for the middle of a sentence; abbreviations and names stay.

    Examples
    --------
    >>> from verulam.measures import measure
    >>> measure_words(measure("log_loss")), measure_words(measure("brier"))
    ('log loss', 'Brier score')
    """
    title = measure.title
    if title[:2].isupper() or title.partition(" ")[0] in _PEOPLE:
        return title
    return title[:1].lower() + title[1:]


def achieves(measure: Measure, value: str) -> str:
    """Return what a contestant does on unseen rows, after its name.

    Examples
    --------
    >>> from verulam.measures import measure
    >>> achieves(measure("error"), "18.1 %"), achieves(measure("rmse"), "3.4")
    ('errs on 18.1 %', 'has a root mean squared error of 3.4')
    """
    if measure.name == "error":
        return f"errs on {value}"
    if measure.name == "accuracy":
        return f"is right on {value}"
    words = measure_words(measure)
    if words.startswith("half "):
        return f"reaches {value} in {words}"
    first = words.partition(" ")[0]
    article = "an" if first[:1] in tuple("aeioAEIO") or first in _VOWEL_LETTERS else "a"
    return f"has {article} {words} of {value}"
