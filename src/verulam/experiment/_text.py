"""Names, numbers, tables and lists as plain text, for a terminal, a pipe, a notebook or a page."""

import re
import shlex
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import ceil, isfinite, log10
from textwrap import fill, wrap
from typing import Any

from verulam.base import UnknownNameError
from verulam.catalogue import entry
from verulam.measures import Measure

#: Columns of a terminal.
WIDTH = 80
#: So many characters of a message say what it is about.
MESSAGE_LENGTH = 240
#: Names wrap at no less than this, and where all headings are folded at no less than that.
NARROW_NAME, NARROWEST_NAME = 20, 12
#: Numbers with more decimals than this, or so large, are written with an exponent.
MOST_DECIMALS, LARGEST_WRITTEN = 6, 1e7
#: Of more names than this, a sentence says how many more there are.
MOST_NAMES = 5
#: Learners that are things, and so have an article; methods such as regression have none.
_COUNTED = (
    *("agent", "classifier", "discriminant", "forest", "learner", "list", "machine", "mixture"),
    *("model", "network"),
    *("perceptron", "predictor", "process", "regressor", "smoother", "spline", "tree"),
)
#: People after whom measures are called.
_PEOPLE = frozenset(["Brier", "Cohen's", "Matthews"])
#: Letters that begin with a vowel when they are read out.
_VOWEL_LETTERS = frozenset("FHLMNRSX")
#: Measures from 0 to 1 that nobody gives in per cent.
_NO_PERCENTAGES = frozenset(["auc", "average_precision", "f_score"])


def text_table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Return a table with the first column to the left and the others to the right.

    Examples
    --------
    >>> print(text_table(["learner", "error"], [["nearest mean", "0.08"]]))
    learner       error
    ------------  -----
    nearest mean   0.08
    """
    widths = [max(len(row[place]) for row in [header, *rows]) for place in range(len(header))]
    lines = [_line(row, widths) for row in [header, ["-" * width for width in widths], *rows]]
    return "\n".join(lines)


def _line(row: Sequence[str], widths: Sequence[int]) -> str:
    first, *others = (
        cell.rjust(width) if place else cell.ljust(width)
        for place, (cell, width) in enumerate(zip(row, widths, strict=True))
    )
    return "  ".join([first, *others]).rstrip()


def wrapped_table(header: Sequence[str], rows: Sequence[Sequence[str]], width: int = WIDTH) -> str:
    """Return a text table whose names, then whose headings, wrap where it would be too wide.

    Examples
    --------
    >>> print(wrapped_table(["learner", "error"], [["nearest mean of all means", "0.08"]], 26))
    learner              error
    -------------------  -----
    nearest mean of all   0.08
      means
    """
    columns = [[row[place] for row in rows] for place in range(len(header))]
    heads = _folded_heads(header, columns, width)
    widths = [max(map(len, [*heads[place], *cells])) for place, cells in enumerate(columns)]
    room = max(NARROWEST_NAME, width - sum(widths[1:]) - 2 * len(widths[1:]))
    heads[0] = _folded(header[0], room)
    lines: list[list[str]] = []
    for name, *cells in rows:
        first, *more = _folded(name, room)
        lines.append([first, *cells])
        lines += [[f"  {part}", *[""] * len(cells)] for part in more]
    tall = max(map(len, heads))
    aligned = zip(*([""] * (tall - len(head)) + head for head in heads), strict=True)
    top, *others = map(list, aligned)
    table = text_table(top, [*others, *lines]).splitlines()
    table.insert(tall, table.pop(1))
    return "\n".join(table)


def _folded_heads(
    header: Sequence[str], columns: Sequence[Sequence[str]], width: int
) -> list[list[str]]:
    """Return the lines of each heading, the longest folded until the table is narrow enough."""
    cells = [max(map(len, column), default=0) for column in columns]
    widths = [max(len(head), cell) for head, cell in zip(header, cells, strict=True)]
    excess = min(widths[0], NARROW_NAME) + sum(widths[1:]) + 2 * (len(header) - 1) - width
    folded = [[head] for head in header]
    # Those first whose headings are the most wider than their cells.
    for place in sorted(range(1, len(header)), key=lambda column: cells[column] - widths[column]):
        if excess <= 0:
            break
        words = [len(word) for word in header[place].split()]
        least = max([cells[place], widths[place] - excess, *words])
        folded[place] = wrap(header[place], least) or [""]
        excess -= widths[place] - max([cells[place], *map(len, folded[place])])
    return folded


def _folded(name: str, room: int) -> list[str]:
    """Return the lines of a name that may be too long, broken after a space or a dot at best.

    All lines but the first leave room for their indent.
    """
    lines = [""]
    # A mark behind a name goes with its last word.
    for part in re.split(r"(?<=[ .])(?!\*$)", name):
        rest = part
        while len((lines[-1] + rest).rstrip()) > (limit := room - 2 * (len(lines) > 1)):
            if not lines[-1]:
                # A word that is too long by itself: after a hyphen or a sign, or anywhere.
                cut = max(rest.rfind(mark, 0, limit) for mark in "-=") + 1 or limit
                lines[-1], rest = rest[:cut], rest[cut:]
            lines.append("")
        lines[-1] += rest
    return [line.rstrip() for line in lines if line.strip()] or [""]


def bulleted(heading: str, lines: Sequence[str]) -> str:
    """Return a heading and a list below it."""
    items = [fill(f"- {line}", WIDTH, subsequent_indent="  ") for line in lines]
    return "\n".join([f"{heading}:", *items])


def number_text(value: float) -> str:
    """Return a number with four decimals, or four figures where it is large."""
    if value != value:
        return "-"
    if 1e4 <= abs(value) < 1e7:
        return f"{value:,.0f}"
    return f"{value:.4f}" if abs(value) < 100 else f"{value:.4g}"


def numbers_text(values: Sequence[float]) -> list[str]:
    """Return the numbers of one column, all with the decimals that suit the largest.

    Examples
    --------
    >>> numbers_text([36.7146, 112.94, 133.0]), numbers_text([0.5, float("nan")])
    (['36.7', '112.9', '133.0'], ['0.5000', '-'])
    """
    largest = max((abs(value) for value in values if value == value), default=0.0)
    if not 100 <= largest < 1e7:
        return [number_text(value) for value in values]
    decimals = max(0, 4 - len(f"{largest:.0f}"))
    return ["-" if value != value else f"{value:,.{decimals}f}" for value in values]


def seconds_text(seconds: float) -> str:
    """Return a time in the unit that suits it."""
    if seconds != seconds:
        return "-"
    return f"{seconds * 1000:.1f} ms" if seconds < 1 else f"{seconds:.2f} s"


def size_text(size: float) -> str:
    """Return a number of bytes in the unit that suits it."""
    if size != size:
        return "-"
    if size < 1000:
        return f"{size:.0f} B"
    return f"{size / 1000:.1f} kB" if size < 1e6 else f"{size / 1e6:.1f} MB"


def memory_text(megabytes: float) -> str:
    """Return what a run added to the memory of its process; less than can be told as a bound."""
    if megabytes != megabytes:
        return "-"
    return "< 0.1 MB" if megabytes < 0.1 else f"{megabytes:.1f} MB"


def p_text(p_value: float) -> str:
    """Return a p-value, very small ones as a bound."""
    if p_value != p_value:
        return "-"
    return "< 0.001" if p_value < 0.001 else f"{p_value:.3f}"


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


def times_text(share: float) -> str:
    """Return how often something happens, as people say it.

    Examples
    --------
    >>> times_text(0.62), times_text(0.78), times_text(0.955), times_text(0.999)
    ('about 6 times in 10', 'about 3 times in 4', 'about 19 times in 20', 'nearly always')
    """
    if share >= 0.975:
        return "nearly always"
    if share >= 0.925:
        return "about 19 times in 20"
    if share < 0.05:
        return "hardly ever"
    # Between these two a choice stops being a toss-up, and both would be 8 in 10.
    if 0.725 <= share < 0.8:
        return "about 3 times in 4"
    if 0.8 <= share < 0.85:
        return "about 4 times in 5"
    count = max(1, round(share * 10))
    return f"about {count} time{'s' * (count > 1)} in 10"


def counted(count: int, word: str) -> str:
    """Return a number of things, with an s unless there is one.

    Examples
    --------
    >>> counted(1, "run"), counted(2, "run")
    ('1 run', '2 runs')
    """
    return f"{count} {word}" if count == 1 else f"{count} {word}s"


def shortened(text: str, length: int = MESSAGE_LENGTH) -> str:
    """Return the beginning of a text that is too long, cut between words.

    Examples
    --------
    >>> shortened("choose a simpler form", 15)
    'choose a ...'
    """
    if len(text) <= length:
        return text
    beginning = text[: length - 3]
    return f"{beginning[: beginning.rfind(' ') + 1] or beginning}..."


def as_argument(value: str) -> str:
    """Return a value as it is typed behind an option: in quotes where a shell would cut it.

    Examples
    --------
    >>> as_argument("age"), as_argument("Customer No.")
    ('age', '"Customer No."')
    >>> as_argument("in $")
    "'in $'"
    """
    if re.fullmatch(r"[\w.,:-]+", value):
        return value
    # Double quotes suit every shell, but leave these characters their meaning.
    return shlex.quote(value) if re.search(r'["$`\\!]', value) else f'"{value}"'


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


def setting_text(setting: Mapping[str, Any]) -> str:
    """Return the levels of factors in words.

    Examples
    --------
    >>> setting_text({"max_depth": 3, "criterion": "gini"})
    'max_depth=3, criterion=gini'
    """
    return ", ".join(f"{name}={value}" for name, value in setting.items())


#: What agents and environments are called in sentences that are made for learners and tables; a
#: model learner is an agent by its name.
_CONTROL_WORDS = (
    (re.compile(r"\bdata set"), "environment"),
    (re.compile(r"\bData set"), "Environment"),
    (re.compile(r"(?<![Mm]odel )(?<!--)\blearner"), "agent"),
    (re.compile(r"\bLearner"), "Agent"),
)


def full_name(learner: str) -> str:
    """Return the catalogue's name of a learner, however it is called; other names stay.

    Examples
    --------
    >>> full_name("naive bayes"), full_name("my own")
    ('parametric.NaiveBayes', 'my own')
    """
    try:
        return entry(learner).name
    except UnknownNameError:
        return learner


def spoken_name(contestant: str) -> str:
    """Return what a contestant is called in a sentence; names of one's own stay as they are.

    Examples
    --------
    >>> spoken_name("parametric.NaiveBayes"), spoken_name("decision tree (max_depth=3)")
    ('naive Bayes', 'decision tree (max_depth=3)')
    """
    learner, bracket, setting = contestant.partition(" (")
    if "." not in learner:
        return contestant
    try:
        return f"{entry(learner).spoken}{bracket}{setting}"
    except UnknownNameError:
        return contestant


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


def is_label(contestant: str) -> bool:
    """Return whether a name was made up by whoever asked, and is not the catalogue's.

    Examples
    --------
    >>> is_label("svm"), is_label("parametric.NaiveBayes"), is_label("decision tree (max_depth=3)")
    (True, False, False)
    """
    learner = contestant.partition(" (")[0]
    try:
        return learner not in (entry(learner).name, entry(learner).spoken)
    except UnknownNameError:
        return True


def in_task_words(text: str, task: str | None) -> str:
    """Return a text about tables in the words of another task.

    Parameters
    ----------
    text
        Made of words for learners and data sets.
    task
        Name of the task; None, and all but "control", leave the text as it is.

    Examples
    --------
    >>> in_task_words("The learners differ on both data sets.", "control")
    'The agents differ on both environments.'
    """
    if task != "control":
        return text
    for pattern, word in _CONTROL_WORDS:
        text = pattern.sub(word, text)
    return text


def sentence(text: str, names: Iterable[str] = ()) -> str:
    """Return a text with a capital letter in front, unless a label stands there, and a full stop.

    Parameters
    ----------
    text
        The text.
    names
        Contestants, of which those with labels of their own may stand in front.

    Examples
    --------
    >>> sentence("naive Bayes did best"), sentence("svm did best", ["svm"])
    ('Naive Bayes did best.', 'svm did best.')
    """
    text = text.rstrip()
    subjects = [name for name in names if re.match(rf"{re.escape(name)}(?!\w)", text)]
    if not any(is_label(name) for name in subjects):
        text = f"{text[:1].upper()}{text[1:]}"
    return text if text.endswith((".", "?", "!")) else f"{text}."


def paragraph(clauses: Iterable[str], names: Iterable[str] = ()) -> str:
    """Return sentences in a row, made of those clauses that are not empty.

    Parameters
    ----------
    clauses
        The clauses.
    names
        Contestants, as in `sentence`.
    """
    names = list(names)
    return " ".join(sentence(clause, names) for clause in clauses if clause)


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


def is_share(measure: Measure) -> bool:
    """Return whether a measure is a share, given in per cent, so that differences are points."""
    return measure.range == (0.0, 1.0) and measure.name.partition("(")[0] not in _NO_PERCENTAGES


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
        # Two figures of the half width: more would be noise.
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
