"""Values as people write them: money, shares, units, local dates, one word in several spellings."""

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from datetime import time
from unicodedata import normalize

import numpy as np
import pandas as pd

#: Words in the order that they stand for; a column of at least three of them is ordered.
SCALES: tuple[tuple[str, ...], ...] = (
    ("very low", "low", "medium", "high", "very high"),
    ("low", "moderate", "high"),
    ("low", "middle", "high"),
    ("very small", "small", "medium", "large", "very large"),
    ("xxs", "xs", "s", "m", "l", "xl", "xxl", "xxxl"),
    ("none", "mild", "moderate", "severe", "critical"),
    ("very poor", "poor", "fair", "good", "very good", "excellent"),
    ("very bad", "bad", "average", "good", "very good"),
    ("poor", "average", "good", "excellent"),
    ("bronze", "silver", "gold", "platinum"),
    ("beginner", "intermediate", "advanced", "expert"),
    ("never", "rarely", "sometimes", "often", "always"),
    ("very dissatisfied", "dissatisfied", "neutral", "satisfied", "very satisfied"),
    ("strongly disagree", "disagree", "neutral", "agree", "strongly agree"),
    ("daily", "weekly", "monthly", "quarterly", "yearly"),
    ("first", "second", "third", "fourth", "fifth"),
)
#: Short forms of answers, and whether both long ones must be there for them to be meant: an F or
#: a 1 may be something else.
_ANSWERS = (
    ({"y": "yes", "n": "no"}, False),
    ({"t": "true", "f": "false"}, False),
    ({"j": "ja", "n": "nein"}, True),
    ({"o": "oui", "n": "non"}, True),
    (
        {"y": "yes", "true": "yes", "t": "yes", "1": "yes"}
        | {"n": "no", "false": "no", "f": "no", "0": "no"},
        True,
    ),
    ({"t": "true", "1": "true", "f": "false", "0": "false"}, True),
)

_MARKS = "€$£¥₹"
#: Other three letters before a number make a code of it, such as INV-1001.
_CURRENCIES = (
    "AED|ARS|AUD|BGN|BRL|CAD|CHF|CLP|CNY|COP|CZK|DKK|EGP|EUR|GBP|HKD|HUF|IDR|ILS|INR|ISK|JPY|KES|"
    "KRW|MAD|MXN|MYR|NGN|NOK|NZD|PEN|PHP|PKR|PLN|QAR|RON|RSD|RUB|SAR|SEK|SGD|THB|TRY|TWD|UAH|USD|"
    "VND|ZAR"
)
_MARK = rf"(?:[{_MARKS}]|(?:{_CURRENCIES})(?=[\s\d-])|R\$|Fr\.)"
_DIGITS = r"\d[\d.,'\u2019 \u00a0\u2009\u202f]*"
# One letter e and a digit is a power of ten.
_UNIT = r"%|‰|°[CF]?|(?![eE]\d)[A-Za-zµ]{1,4}[²³23]?(?:/[A-Za-z]{1,3}[²³23]?)?|[€$£¥₹]"
_NUMBER = re.compile(
    rf"(?P<open>\()?(?P<sign>[-+−])?\s?(?P<mark>{_MARK})?\s?(?P<inner>(?<![-+−])[-−])?"
    rf"(?P<digits>{_DIGITS})(?P<after>(?<=\d)-(?!.))?\s?(?P<unit>{_UNIT})?(?(open)\))"
)
#: Letters behind a number that are a unit or a factor; others may be anything.
_UNIT_WORDS = (
    "kg|g|mg|lb|lbs|oz|t|km|m|cm|mm|mi|ft|in|yd|h|hr|hrs|min|s|sec|ms|l|ml|cl|dl|kW|MW|W|kWh|V|mV|"
    "A|mA|Hz|kHz|MHz|GHz|B|KB|kB|MB|GB|TB|k|K|M|Mio|mio|mn|bn|T"
)
_KNOWN_UNITS = frozenset(f"{_CURRENCIES}|{_UNIT_WORDS}".split("|"))
_MULTIPLIERS = {"k", "K", "M", "m", "Mio", "mio", "mn", "bn", "B", "T"}
_GROUPED = {sign: re.compile(rf"\d{{1,3}}(?:{re.escape(sign)}\d{{3}})+") for sign in ".' "}
#: In India the groups above the thousands have two digits.
_GROUPED[","] = re.compile(r"\d{1,3}(?:,\d{3})+|\d{1,2}(?:,\d{2})+,\d{3}")
_PLAIN_SIGNS = str.maketrans(dict.fromkeys("\u00a0\u2009\u202f", " ") | {"\u2019": "'"})

#: How dates are written where they are not ISO; those of one row read alike but for the order.
_DATE_FORMATS: tuple[tuple[str, ...], ...] = (
    ("%d/%m/%Y", "%m/%d/%Y"),
    ("%d-%m-%Y", "%m-%d-%Y"),
    ("%d.%m.%Y",),
    ("%Y/%m/%d",),
    ("%d/%m/%y", "%m/%d/%y"),
    ("%d.%m.%y",),
    ("%d %b %Y",),
    ("%d %B %Y",),
    ("%d-%b-%Y",),
    ("%d-%b-%y",),
    ("%b %d, %Y",),
    ("%B %d, %Y",),
    ("%b %d %Y",),
    ("%Y-%m",),
)
#: Two digits from 30 on may be of this century or the last.
_MISTAKABLE_YEAR = 2030
_TIMES = ("", " %H:%M", " %H:%M:%S", " %I:%M %p", " %I:%M:%S %p")
#: Shape of all that may be such a date, so that other texts are not tried in vain.
_MAYBE_DATE = re.compile(
    r"(?:\d{1,4}[-/. ][A-Za-z0-9]{1,9}[-/. ]\d{2,4}|[A-Za-z]{3,9} \d{1,2},? \d{4}|\d{4}-\d{2})"
    r"(?:[ T]\d{1,2}:\d{2}(?::\d{2})?(?: [AaPp][Mm])?)?"
)
_TIME = re.compile(r"(?P<hours>\d{1,3}):(?P<minutes>[0-5]\d)(?::(?P<seconds>[0-5]\d(?:\.\d+)?))?")
#: The form of times, which are kept as hours.
TIMES = ":"
#: Values that are tried first: columns of plain words are told by them, without reading all.
_HEAD = 50


@dataclass(frozen=True, eq=False)
class Reading:
    """What a column of strings was read as.

    Attributes
    ----------
    values
        The column.
    note
        What was done, in words.
    form
        How to read more of them: the decimal sign of numbers with their unit behind it, the
        format of dates.
    """

    values: pd.Series
    note: str
    form: str = ""


def read_numbers(column: pd.Series, form: str | None = None) -> Reading | None:
    """Return strings such as "£1,200.50", "12 %" or "80 kg" as numbers; None if some are none.

    All must have the same unit, and one decimal sign must fit all of them.

    Parameters
    ----------
    column
        Strings and missing values.
    form
        The decimal sign where it is known, perhaps with the unit behind it, which numbers may then
        lack but not exchange for another; None finds both from the values.

    Examples
    --------
    >>> import pandas as pd
    >>> reading = read_numbers(pd.Series(["£1,200.50", None, "£80"]))
    >>> reading.values.tolist(), reading.note
    ([1200.5, nan, 80.0], "numbers, written as '£1,200.50'")
    """
    present = column.dropna()
    head = (str(text).strip() for text in present.iloc[:_HEAD])
    if form is None and not all(map(_NUMBER.fullmatch, head)):
        return None
    written = present.astype(str)
    present = written.str.strip()
    parts = [_NUMBER.fullmatch(text) for text in present]
    matches = [match for match in parts if match is not None]
    if not matches or len(matches) < len(parts):
        return None
    units = {(match["mark"] or "", match["unit"] or "") for match in matches}
    if len(units) > 1 or any(unit in _MULTIPLIERS for _, unit in units):
        return None
    digits = [match["digits"].strip().translate(_PLAIN_SIGNS) for match in matches]
    (mark, unit) = next(iter(units))
    if form is None:
        decimal = _decimal_sign(digits, money=bool(mark) or unit in _MARKS)
        # Plain readers know neither.
        minus = any(match["sign"] == "−" or match["after"] for match in matches)
        odd = mark or unit or minus or _has_separators(digits) or _has_losses(matches)
        # Spaces of a kind that plain readers do not leave out; codes begin with 0.
        odd = odd or ((written != present).any() and not any(re.match(r"0\d", d) for d in digits))
        if decimal is None or not odd:
            return None
        if _are_codes(matches, digits, plain=not (mark or unit)):
            return None
        form = decimal + (mark or unit)
    elif form[1:] and (mark or unit) not in ("", form[1:]):
        return None
    decimal = form[0]
    plain = [_plain_digits(text, decimal) for text in digits]
    if any(text is None for text in plain):
        return None
    negative = np.array([_is_negative(match) for match in matches])
    numbers = np.array([float(text or "nan") for text in plain]) * np.where(negative, -1.0, 1.0)
    values = pd.Series(np.nan, index=column.index, name=column.name)
    values.loc[present.index] = numbers
    note = f"numbers, written as {max(present, key=len)!r}"
    return Reading(values, note + (" with a decimal comma" if decimal == "," else ""), form)


def _are_codes(matches: Sequence[re.Match[str]], digits: Sequence[str], *, plain: bool) -> bool:
    """Tell whether what looks like numbers are pairs in brackets, or telephone numbers."""
    # Losses stand in brackets beside gains; where all do, they are something else.
    if all(match["open"] for match in matches):
        return True
    spaced = plain and all(" " in text for text in digits)
    lengths = {len(text.replace(" ", "")) for text in digits}
    return spaced and (
        any(match["sign"] == "+" for match in matches) or (len(lengths) == 1 and min(lengths) >= 9)
    )


def _is_negative(match: re.Match[str]) -> bool:
    return match["sign"] in ("-", "−") or any(match[name] for name in ("inner", "open", "after"))


def _has_losses(matches: Sequence[re.Match[str]]) -> bool:
    """Tell whether some amounts stand in brackets, which book-keepers write for losses."""
    return any(match["open"] and "." in match["digits"] for match in matches)


def _has_separators(digits: Sequence[str]) -> bool:
    return any(set(text) & set(",' ") for text in digits)


def _decimal_sign(digits: Sequence[str], *, money: bool) -> str | None:
    """Return the decimal sign that all numbers agree on; None where they do not."""
    decimals, thousands, either = set(), set(), set()
    for text in digits:
        signs = re.findall(r"[.,' ]", text)
        if not signs:
            continue
        last, tail = signs[-1], len(text) - text.rindex(signs[-1]) - 1
        if len(set(signs)) > 1:
            decimals.add(last)
            thousands.update(signs[:-1])
        elif len(signs) > 1 or last in "' ":
            thousands.add(last)
        elif tail == 3 and not text.startswith("0"):
            either.add(last)
        else:
            decimals.add(last)
    if not decimals:
        # Three digits behind the only sign: thousands with a comma or in money, else decimals.
        ambiguous = either - thousands
        thousands |= {sign for sign in ambiguous if sign == "," or money}
        decimals = either - thousands
    if len(decimals) > 1 or decimals & thousands or not decimals <= {".", ","}:
        return None
    if decimals:
        return next(iter(decimals))
    return "," if "." in thousands else "."


def _plain_digits(text: str, decimal: str) -> str | None:
    """Return a number as Python writes it; None where thousands are not in groups of three."""
    whole, _, fraction = text.partition(decimal)
    signs = set(re.findall(r"[.,' ]", whole))
    if len(signs) > 1 or (fraction and not fraction.isdigit()):
        return None
    for sign in signs:
        # No number of thousands begins with 0, but codes do.
        if whole.startswith("0") or not _GROUPED[sign].fullmatch(whole):
            return None
        whole = whole.replace(sign, "")
    return f"{whole}.{fraction or 0}"


def units_of(texts: Sequence[str]) -> set[str] | None:
    """Return what stands beside the numbers in some strings; None where one is no such amount.

    Parameters
    ----------
    texts
        Distinct strings.

    Examples
    --------
    >>> sorted(units_of(["5 kg", "700 g", "8"]))
    ['', 'g', 'kg']
    >>> units_of(["1st", "2nd"]) is None
    True
    """
    units = set()
    for text in texts:
        match = _NUMBER.fullmatch(text.strip())
        unit = "" if match is None else match["mark"] or match["unit"] or ""
        if match is None or (unit.isalpha() and unit not in _KNOWN_UNITS):
            return None
        units.add(unit)
    return units


def read_dates(column: pd.Series, form: str | None = None) -> Reading | None:
    """Return strings such as "29/02/2024" or "3 Mar 2024" as dates; None if some are none.

    Day and month must not be mistakable: "03/04/2024" is read only beside dates that tell. Nor
    must the century: years of two digits are read where none is from 30 to 68.

    Parameters
    ----------
    column
        Strings and missing values.
    form
        The format where it is known; None finds it from the values.
    """
    present = column.dropna()
    head = (str(text).strip() for text in present.iloc[:_HEAD])
    if form is None and (present.empty or not all(map(_MAYBE_DATE.fullmatch, head))):
        return None
    present = present.astype(str).str.strip()
    if form is not None:
        forms = [form]
    else:
        forms = date_formats(present)
        # Both orders fit: nothing tells the day from the month.
        if len(forms) != 1:
            return None
    dates = pd.to_datetime(present, format=forms[0], errors="coerce")
    if dates.isna().any():
        return None
    # By convention 45 is 2045, which is wrong of a birthday: such years are not guessed.
    if form is None and "%y" in forms[0] and (dates.dt.year >= _MISTAKABLE_YEAR).any():
        return None
    values = pd.Series(pd.NaT, index=column.index, name=column.name, dtype="datetime64[us]")
    values.loc[present.index] = dates.astype("datetime64[us]")
    note = f"dates, written as {str(present.iloc[0])!r}"
    return Reading(values, note, forms[0])


def read_times(column: pd.Series) -> Reading | None:
    """Return strings such as "14:05" as hours; None if some are none.

    Parameters
    ----------
    column
        Strings and missing values.

    Examples
    --------
    >>> import pandas as pd
    >>> read_times(pd.Series(["14:30", None, "07:15:00"])).values.tolist()
    [14.5, nan, 7.25]
    """
    present = column.dropna()
    head = (str(text).strip() for text in present.iloc[:_HEAD])
    if present.empty or not all(map(_TIME.fullmatch, head)):
        return None
    present = present.astype(str).str.strip()
    matches = [_TIME.fullmatch(text) for text in present]
    hours = [_hours(match) for match in matches if match is not None]
    if len(hours) < len(matches):
        return None
    values = pd.Series(np.nan, index=column.index, name=column.name)
    values.loc[present.index] = np.array(hours)
    return Reading(values, f"times, written as {present.iloc[0]!r}, in hours", TIMES)


def _hours(match: re.Match[str]) -> float:
    return int(match["hours"]) + int(match["minutes"]) / 60 + float(match["seconds"] or 0) / 3600


def spans_in_days(column: pd.Series) -> pd.Series:
    """Return time spans as days, missing where there are none.

    Parameters
    ----------
    column
        Of dtype ``timedelta64``.
    """
    return column.dt.total_seconds() / 86_400


def date_formats(texts: pd.Series) -> list[str]:
    """Return the formats in which all of some strings are dates: two where the order is open.

    Parameters
    ----------
    texts
        Strings without gaps around them.
    """
    for orders in _DATE_FORMATS:
        for clock in _TIMES:
            forms = [form + clock for form in orders]
            head = [form for form in forms if _all_dates(texts.iloc[:_HEAD], form)]
            if head:
                return [form for form in head if _all_dates(texts, form)]
    return []


def _all_dates(texts: pd.Series, form: str) -> bool:
    return bool(pd.to_datetime(texts, format=form, errors="coerce").notna().all())


def written_numbers(column: pd.Series, form: str) -> pd.Series:
    """Return strings as numbers, one by one; those that are none stay as they are.

    Parameters
    ----------
    column
        Strings, numbers, times, missing values; or time spans, which become days.
    form
        The decimal sign, "." or ",", perhaps with the unit behind it, such as ".kg"; ":" for times.

    Examples
    --------
    >>> import pandas as pd
    >>> written_numbers(pd.Series(["1.200,50 €", "80", "n/a", "90 $"]), ",€").tolist()
    [1200.5, 80.0, 'n/a', '90 $']
    """

    def number(text: str) -> object:
        one = pd.Series([text])
        reading = read_times(one) if form == TIMES else read_numbers(one, form)
        return text if reading is None else float(reading.values.iloc[0])

    if pd.api.types.is_timedelta64_dtype(column):
        return spans_in_days(column)
    column = column.map(lambda value: value.isoformat() if isinstance(value, time) else value)
    read = {text: number(text) for text in {v for v in column if isinstance(v, str)}}
    return column.map(lambda value: read.get(value, value))


def _answers_among(words: Collection[str]) -> Iterator[dict[str, str]]:
    """Yield the short forms that mean the same as long ones, where all words are answers."""
    for answers, both in _ANSWERS:
        long = set(answers.values())
        present = long & set(words)
        if set(words) <= set(answers) | long and (present == long if both else present):
            yield answers


def same_word(text: str, known: Collection[str] = ()) -> str:
    """Return what the spellings of one word have in common.

    Parameters
    ----------
    text
        A word.
    known
        Words in this form, of which a short answer such as "Y" may be one.

    Examples
    --------
    >>> same_word(" Very  GOOD "), same_word("Y", {"yes", "no"})
    ('very good', 'yes')
    """
    # A letter with an accent may be written as one character or as two.
    word = " ".join(normalize("NFC", text).split()).casefold()
    if word not in known:
        for answers in _answers_among(known):
            if answers.get(word, "") in known:
                return answers[word]
    return word


def joined_spellings(words: Sequence[str]) -> dict[str, list[str]]:
    """Return names and the spellings that each is of, where there are several.

    Parameters
    ----------
    words
        Different strings, the most frequent first.

    Examples
    --------
    >>> joined_spellings(["red", "Red", "blue"])
    {'red': ['red', 'Red']}
    """
    keys = {word: same_word(str(word)) for word in words}
    # Short forms by themselves stay as they are.
    for answers in _answers_among(set(keys.values())):
        keys = {word: answers.get(key, key) for word, key in keys.items()}
    spellings: dict[str, list[str]] = {}
    # The most frequent gives its name, of an answer the long form.
    for word in sorted(words, key=lambda word: keys[word] != str(word).strip().casefold()):
        spellings.setdefault(keys[word], []).append(word)
    return {group[0].strip(): group for group in spellings.values() if len(group) > 1}


def join_spellings(column: pd.Series) -> Reading:
    """Return categories with those joined that differ by case, outer spaces or yes and y alone.

    Parameters
    ----------
    column
        Strings and missing values, few of them different.

    Examples
    --------
    >>> import pandas as pd
    >>> reading = join_spellings(pd.Series(["red", "Red", "red ", "red", "blue"]))
    >>> reading.values.tolist(), reading.note
    (['red', 'red', 'red', 'red', 'blue'], "'Red' and 'red ' read as 'red'")
    """
    joined = joined_spellings([*column.value_counts().index])
    if not joined:
        return Reading(column, "")
    renamed = {word: name for name, words in joined.items() for word in words}
    notes = [
        f"{' and '.join(repr(word) for word in sorted(words) if word != name)} read as {name!r}"
        for name, words in joined.items()
    ]
    more = f" and {len(notes) - 3} more" if len(notes) > 3 else ""
    return Reading(column.map(lambda word: renamed.get(word, word)), "; ".join(notes[:3]) + more)


def scale_of(words: Sequence[str]) -> list[str] | None:
    """Return words in the order that they stand for; None where they are no known scale.

    Parameters
    ----------
    words
        Distinct words of a column.

    Examples
    --------
    >>> scale_of(["High", "Low", "Medium"])
    ['Low', 'Medium', 'High']
    """
    keys = {str(word).strip().casefold(): word for word in words}
    if len(keys) < 3:
        return None
    for scale in SCALES:
        if set(keys) <= set(scale):
            return [keys[key] for key in scale if key in keys]
    return None
