"""A look at a table before anything is learnt: what may mislead, and what to do about it."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from itertools import combinations

import numpy as np
import pandas as pd
from sklearn.model_selection import cross_val_predict
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from verulam.base import is_categorical
from verulam.data import Dataset, column_hint
from verulam.experiment._text import as_argument, counted, listed

#: Rows that are looked at where all would take long, and columns of which each is tried alone.
MOST_ROWS, MOST_COLUMNS = 5_000, 300
#: So many where somebody waits for the results of learners.
QUICK_COLUMNS = 50
#: Fewer rows than this tell nothing of identifiers and groups.
FEWEST_ROWS = 20
#: Fewer groups could not be dealt into folds.
FEWEST_GROUPS = 10
#: A column that alone predicts the target so well deserves a question.
NEARLY_PERFECT = 0.99
#: A class of a smaller share is rare.
RARE_SHARE = 0.10
#: A target of no more whole numbers than this may hold classes.
MOST_CLASSES = 10
#: Numbers from here on, of one length and often the same, may be codes whatever their name.
FIRST_CODE = 10_000
#: How remarks on columns begin that would be numbers or dates but for a few cells.
UNREAD = "looks like"
#: Words of at least so many letters that differ by one alone may be the same, misspelt.
FEWEST_LETTERS = 5
#: Of more different words not every pair is compared.
MOST_WORDS = 100

_ENTITY = re.compile(
    r"(patient|subject|person|customer|client|user|student|pupil|household|family|animal|device|"
    r"machine|participant|respondent|account|member|employee|driver|vehicle|player|store|shop|"
    r"group)(s|_?id|_?nr|_?no|_?number|_?key|_?name)?",
    re.IGNORECASE,
)
_NUMBERED = re.compile(
    r"(.*[_ ])?(id|nr|no|number|index|key|uuid|guid|rownum|row)|.*[a-z]I[Dd]", re.IGNORECASE
)
#: Numbers that count up and are no numbers of rows: what changes with the years is no accident.
_TIMED = re.compile(r"(.*[_ ])?(year|quarter|month|week|day|hour|minute|time|period)s?", re.I)
_CODED = re.compile(
    r"(.*[_ ])?((zip|post|postal)?_?codes?|plz|zip|type|class|category|region|district|sector)s?",
    re.IGNORECASE,
)
_NEVER_NEGATIVE = re.compile(
    r"(.*[_ ])?(age|price|cost|height|weight|income|salary|distance|duration|area|count|amount|"
    r"quantity|rooms|children|visits)([_ ].*)?",
    re.IGNORECASE,
)
#: Nobody in a table is older: above it an age is a slip or a code.
OLDEST = 120


@dataclass(frozen=True)
class Finding:
    """Something about a table that deserves attention.

    Attributes
    ----------
    kind
        "identifier", "group", "order", "leak", "duplicates", "impossible", "codes", "spelling",
        "rare class", "constant" or "unread".
    columns
        The columns concerned; empty where it is about rows.
    sentence
        What was seen.
    advice
        What to do about it.
    """

    kind: str
    columns: tuple[str, ...]
    sentence: str
    advice: str

    def __str__(self) -> str:
        return f"{self.sentence} {self.advice}"


def inspect_table(data: Dataset) -> tuple[Finding, ...]:
    """Return what deserves attention in a data set, the most harmful first.

    Parameters
    ----------
    data
        A data set, with a target or without.

    Examples
    --------
    >>> import pandas as pd
    >>> rows = pd.DataFrame({"id": range(100, 130), "size": [1.5, 2.5, 3.5] * 10})
    >>> for finding in inspect_table(Dataset.from_frame(rows, target="size")):
    ...     print(finding.kind, finding.columns)
    identifier ('id',)
    """
    inputs = data.table[data.input_names]
    identifiers = [str(name) for name in inputs if is_identifier(inputs[name])]
    rest = inputs.drop(columns=identifiers)
    return (
        *_identifier_findings(identifiers),
        *_group_findings(data, rest),
        *_leak_findings(data, rest),
        *_duplicate_findings(data),
        *_order_findings(rest),
        *_rare_findings(data),
        *_unread_findings(rest),
        *_impossible_findings(rest),
        *_spelling_findings(rest),
        *_code_findings(rest),
        *_coded_target_findings(data),
        *_constant_findings(rest),
    )


def is_identifier(column: pd.Series) -> bool:
    """Tell whether a column names the rows: all values differ, and they are codes or count up.

    Parameters
    ----------
    column
        Any column of a data set.
    """
    present = column.dropna()
    if len(present) < FEWEST_ROWS or column.dtype.kind == "M":
        return False
    if pd.api.types.is_numeric_dtype(column) and not pd.api.types.is_bool_dtype(column):
        if column_hint(column) == "numbers the rows":
            return _TIMED.fullmatch(str(column.name)) is None
        whole = pd.api.types.is_integer_dtype(column)
        named = _NUMBERED.fullmatch(str(column.name)) is not None
        return bool(whole and named and present.is_unique)
    if not present.is_unique:
        return False
    if column_hint(column).startswith(UNREAD) and not _NUMBERED.fullmatch(str(column.name)):
        return False  # amounts, but for a few cells
    words = present.astype(str)
    # Sentences have spaces, codes have none; names of persons have, and differ as often.
    return bool((words.str.len().mean() <= 40) and (words.str.contains(r"\s").mean() < 0.1))


def _identifier_findings(names: Sequence[str]) -> Iterator[Finding]:
    if names:
        one = len(names) == 1
        yield Finding(
            "identifier",
            tuple(names),
            f"{listed(names)} only {'names' if one else 'name'} the rows.",
            f"{'It is' if one else 'They are'} left out of the inputs; keep={names!r} "
            f"(--keep {as_argument(','.join(names))}) uses {'it' if one else 'them'}.",
        )


def suggested_groups(data: Dataset) -> Finding | None:
    """Return the finding that rows belong together, whose column a split should not cut.

    Parameters
    ----------
    data
        A data set with a target.
    """
    return next(_group_findings(data, data.table[data.input_names]), None)


def _group_findings(data: Dataset, inputs: pd.DataFrame) -> Iterator[Finding]:
    """Yield the column that says which rows are about the same thing, if there is one."""
    for name in inputs:
        column = inputs[name]
        if not _may_group(column):
            continue
        codes = pd.factorize(column)[0]
        sizes = np.bincount(codes)
        named = _ENTITY.fullmatch(str(name)) is not None
        pure = (
            data.target is not None
            and _one_outcome_each(codes, sizes, data)
            and not _outcome_follows(column, data)
        )
        if not (named or pure):
            continue
        sentence = (
            f"{name} has {len(sizes)} values, each in {sizes.mean():.1f} rows on average"
            f"{', and all rows of a value have the same ' + str(data.target) if pure else ''}."
        )
        advice = (
            f"Rows of one {name} belong on one side of every split, or the answer is known from "
            f"its other rows: groups={name!r} (--groups {as_argument(str(name))})."
        )
        yield Finding("group", (str(name),), sentence, advice)
        return


def _may_group(column: pd.Series) -> bool:
    """Tell whether values repeat often enough to be groups, and are too many to be categories."""
    if column.isna().any() or column.dtype.kind in "fMb":
        return False
    distinct = column.nunique()
    return FEWEST_GROUPS <= distinct <= len(column) / 1.5 and distinct >= 0.02 * len(column)


def _one_outcome_each(codes: np.ndarray, sizes: np.ndarray, data: Dataset) -> bool:
    """Tell whether groups of several rows all have one target, as chance would not bring about."""
    if data.task == "classification":
        targets = pd.factorize(data.target_values)[0]
        counts = np.zeros((len(sizes), targets.max() + 1))
        np.add.at(counts, (codes, targets), 1)
        shares = counts.sum(axis=0) / len(targets)
        by_chance = float(np.sum(shares**2)) ** float(np.sum(sizes - 1))
        return bool((counts.max(axis=1) == sizes).all() and by_chance < 1e-6)
    values = data.target_values.to_numpy(dtype=np.float64)
    means = np.bincount(codes, values) / sizes
    several = sizes[codes] > 1
    spread = np.abs(values - means[codes])[several]
    return bool(several.mean() > 0.5 and spread.max() <= 1e-9 * np.ptp(values))


def _outcome_follows(column: pd.Series, data: Dataset) -> bool:
    """Tell whether neighbouring numbers have like outcomes: then they measure, and name nothing."""
    if not pd.api.types.is_numeric_dtype(column):
        return False
    first = np.unique(column.to_numpy(), return_index=True)[1]
    if data.task == "classification":
        outcomes = pd.factorize(data.target_values)[0][first]
        by_chance = float(np.sum((np.bincount(outcomes) / len(outcomes)) ** 2))
        alike = float(np.mean(outcomes[1:] == outcomes[:-1]))
        return alike > (1 + by_chance) / 2
    # Von Neumann's ratio: about 2 where numbers have nothing to do with their neighbours.
    outcomes = data.target_values.to_numpy(dtype=np.float64)[first]
    return bool(np.mean(np.diff(outcomes) ** 2) < np.var(outcomes))


def given_away(data: Dataset, grouped: str | None, *, shuffled: bool = True) -> tuple[Finding, ...]:
    """Return what may make a comparison look better than it is: columns that tell, rows twice.

    Parameters
    ----------
    data
        A data set with a target.
    grouped
        The column that is no input, since its rows are kept together.
    shuffled
        Whether nobody has said how to split the rows: then that they are in the order of a date
        is among it.
    """
    names = [name for name in data.input_names if name != grouped]
    inputs = data.table[[name for name in names if not is_identifier(data.table[name])]]
    constant = [finding for finding in _coded_target_findings(data) if finding.kind == "constant"]
    leaks = _leak_findings(data, inputs, QUICK_COLUMNS)
    order = _order_findings(data.table[data.input_names]) if shuffled else ()
    return (*constant, *leaks, *_duplicate_findings(data), *order)


def _leak_findings(
    data: Dataset, inputs: pd.DataFrame, most_columns: int = MOST_COLUMNS
) -> Iterator[Finding]:
    """Yield the columns that alone predict the target almost perfectly."""
    if data.target is None or data.n_rows < 5 * FEWEST_ROWS:
        return
    rows = np.random.default_rng(0).permutation(data.n_rows)[:MOST_ROWS]
    targets = data.target_values.iloc[rows]
    if data.task == "classification":
        codes = pd.factorize(targets)[0]
        # A rare class is predicted well by never being predicted.
        if np.bincount(codes).min() < 5:
            return
    else:
        codes = targets.to_numpy(dtype=np.float64)
        scale = np.abs(codes).max()
        if not 0 < np.ptp(codes / (scale or 1.0)) < np.inf:
            return  # the same in every row, or no numbers to learn from
        codes = codes / scale  # whose squares do not overflow
    for name in list(inputs)[:most_columns]:
        column = inputs[name]
        if column.dtype.kind == "M" or not (
            is_categorical(column) or pd.api.types.is_numeric_dtype(column)
        ):
            continue
        score = _score_alone(column.iloc[rows], codes, str(data.task))
        if score >= NEARLY_PERFECT:
            words = "of each class" if data.task == "classification" else "of the variance"
            yield Finding(
                "leak",
                (str(name),),
                f"{name} alone tells {data.target}: {score:.1%} {words} by itself.",
                "Is it known before the target is? If not, leave it out: "
                f"leave_out=[{name!r}] (--leave-out {as_argument(str(name))}).",
            )


def _score_alone(column: pd.Series, targets: np.ndarray, task: str) -> float:
    """Return how well one column predicts on rows not learnt from: mean recall, or r squared."""
    if is_categorical(column):
        values = column.cat.codes if hasattr(column, "cat") else column.astype(np.int64)
        numbers = np.asarray(values, dtype=np.float64)
    else:
        numbers = column.to_numpy(dtype=np.float64, na_value=np.nan)
    # The tree has single precision, beyond which even a single number would be refused.
    most = float(np.finfo(np.float32).max)
    numbers = np.clip(np.where(np.isfinite(numbers), numbers, np.nan), -most, most)[:, None]
    if task == "classification":
        tree = DecisionTreeClassifier(max_leaf_nodes=16, random_state=0)
        predicted = cross_val_predict(tree, numbers, targets, cv=3)
        recalls = [np.mean(predicted[targets == code] == code) for code in np.unique(targets)]
        return float(np.min(recalls))
    regressor = DecisionTreeRegressor(max_leaf_nodes=256, min_samples_leaf=3, random_state=0)
    predicted = cross_val_predict(regressor, numbers, targets, cv=3)
    return float(1.0 - np.mean((targets - predicted) ** 2) / max(np.var(targets), 1e-300))


def _duplicate_findings(data: Dataset) -> Iterator[Finding]:
    names = [*data.input_names, *([data.target] if data.target else [])]
    # Few columns of few values repeat by nature.
    wide = [name for name in names if data.table[name].nunique() > 10]
    if data.n_rows < FEWEST_ROWS or len(wide) < 2:
        return
    repeated = int(data.table[names].duplicated().sum())
    if repeated > 0.01 * data.n_rows:
        yield Finding(
            "duplicates",
            (),
            f"{counted(repeated, 'row')} of {data.n_rows} repeat an earlier one in every column.",
            "If they are copies, drop them: a copy on the other side of a split gives its answer "
            "away.",
        )


def _order_findings(inputs: pd.DataFrame) -> Iterator[Finding]:
    for name in inputs:
        column = inputs[name]
        if column.dtype.kind != "M" or column.isna().any() or len(column) < FEWEST_ROWS:
            continue
        many = column.nunique() >= len(column) / 10
        if many and (column.is_monotonic_increasing or column.is_monotonic_decreasing):
            yield Finding(
                "order",
                (str(name),),
                f"The rows are in the order of {name}.",
                "If the model will predict what comes later, test it on later rows: "
                f"resampling='expanding 5 by {name}' (--resampling \"expanding 5 by {name}\").",
            )
            return


def _rare_findings(data: Dataset) -> Iterator[Finding]:
    shares = rare_classes(data)
    for label, share in shares.items():
        yield Finding(
            "rare class",
            (),
            f"Only {share:.2%} of the rows are {data.target}={label}.",
            "Always answering with the common class errs seldom and finds none of them: the "
            "comparison is by a measure that sees the rare class (--measure names another).",
        )


def rare_classes(data: Dataset) -> dict[str, float]:
    """Return the classes of a smaller share than `RARE_SHARE`, of two classes, with their share.

    Parameters
    ----------
    data
        A data set.
    """
    if data.task != "classification" or len(data.classes or ()) != 2:
        return {}
    shares = data.target_values.value_counts(normalize=True)
    return {str(label): float(share) for label, share in shares.items() if share < RARE_SHARE}


def _unread_findings(inputs: pd.DataFrame) -> Iterator[Finding]:
    """Yield the columns that a few odd cells keep from being numbers or dates."""
    for name in inputs:
        remark = column_hint(inputs[name])
        if remark.startswith(UNREAD):
            yield Finding(
                "unread",
                (str(name),),
                f"{name} is read as words: it {remark}.",
                "Empty or correct the odd cells, or write all in one way, if it is more than text.",
            )


def _coded_target_findings(data: Dataset) -> Iterator[Finding]:
    """Yield a target of few whole numbers that is taken for an amount, or of a single number."""
    if data.target is None or data.task != "regression":
        return
    values = data.target_values.to_numpy(dtype=np.float64)
    distinct = np.unique(values)
    if len(distinct) == 1 < len(values):
        yield Finding(
            "constant",
            (data.target,),
            f"{data.target}, the target, is {distinct[0]:g} in every row.",
            "There is nothing to learn; choose another column.",
        )
    if 2 <= len(distinct) <= MOST_CLASSES and np.array_equal(distinct, np.round(distinct)):
        yield Finding(
            "codes",
            (data.target,),
            f"{data.target}, the target, has {len(distinct)} values alone and is taken for an "
            "amount.",
            f"If they are classes, say it: categorical=[{data.target!r}] "
            f"(--categorical {as_argument(data.target)}).",
        )


def _constant_findings(inputs: pd.DataFrame) -> Iterator[Finding]:
    """Yield the columns that studies leave out, since they are the same in every row."""
    # A gap beside one value says something, and such a column is used.
    names = [str(name) for name in inputs if inputs[name].nunique(dropna=False) < 2]
    if names:
        verb, them = ("is", "it") if len(names) == 1 else ("are", "them")
        they = "it is" if len(names) == 1 else "they are"
        # Where no other column is there, none is left out.
        outcome = f": {they} left out" if len(names) < inputs.shape[1] else ""
        yield Finding(
            "constant",
            tuple(names),
            f"{listed(names)} {verb} the same in every row.",
            f"Nothing can be learnt from {them}{outcome}.",
        )


def _impossible_findings(inputs: pd.DataFrame) -> Iterator[Finding]:
    for name in map(str, inputs.select_dtypes("number")):
        values = inputs[name].to_numpy(dtype=np.float64, na_value=np.nan)
        negative = int((values < 0).sum())
        advice = "Make such values missing (an empty cell), or correct them."
        if _NEVER_NEGATIVE.fullmatch(str(name)) and 0 < negative < 0.1 * len(values):
            yield Finding(
                "impossible", (name,), f"{name} is negative in {counted(negative, 'row')}.", advice
            )
        old = int((values > OLDEST).sum())
        if re.fullmatch(r"(.*[_ ])?age", str(name), re.I) and 0 < old < 0.1 * len(values):
            yield Finding(
                "impossible", (name,), f"{name} is above {OLDEST} in {counted(old, 'row')}.", advice
            )


def _spelling_findings(inputs: pd.DataFrame) -> Iterator[Finding]:
    for name in inputs:
        column = inputs[name]
        if not isinstance(column.dtype, pd.CategoricalDtype):
            continue
        words = [word for word in column.cat.categories if isinstance(word, str)]
        if not 2 < len(words) <= MOST_WORDS:
            continue
        pairs = [
            f"{one!r} and {other!r}"
            for one, other in combinations(words, 2)
            if min(len(one), len(other)) >= FEWEST_LETTERS and _alike(one, other)
        ]
        if pairs:
            yield Finding(
                "spelling",
                (str(name),),
                f"{name}: {'; '.join(pairs[:3])} may be one word, misspelt.",
                "If so, write it in one way.",
            )


def _alike(one: str, other: str) -> bool:
    """Tell whether two words differ by one letter that is wrong, missing or misplaced."""
    # Numbers that differ are no misspelling: 'size 10' and 'size 12'.
    if re.sub(r"\D", "", one) != re.sub(r"\D", "", other) or abs(len(one) - len(other)) > 1:
        return False
    same = SequenceMatcher(None, one.casefold(), other.casefold(), autojunk=False)
    return sum(block.size for block in same.get_matching_blocks()) >= max(len(one), len(other)) - 1


def _code_findings(inputs: pd.DataFrame) -> Iterator[Finding]:
    for name in inputs:
        column = inputs[name]
        if not pd.api.types.is_integer_dtype(column):
            continue
        named = _CODED.fullmatch(str(name)) and 2 < column.nunique() <= 1000
        if named or _looks_coded(column):
            yield Finding(
                "codes",
                (str(name),),
                f"{name} holds whole numbers that may be codes, not amounts.",
                f"If so, say it: categorical=[{name!r}] (--categorical {as_argument(str(name))}).",
            )


def _looks_coded(column: pd.Series) -> bool:
    """Tell whether long numbers of one length come again and again, as those of towns do."""
    values = column.dropna().to_numpy(dtype=np.int64)
    distinct = np.unique(values)
    if not 2 < len(distinct) <= len(values) / 10 or distinct[0] < FIRST_CODE:
        return False
    days = pd.to_datetime(pd.Series(distinct).astype(str), format="%Y%m%d", errors="coerce")
    if len(np.unique(np.diff(distinct))) == 1 or days.notna().all():
        return False  # steps of one length, or days such as 20240131
    # Amounts are rounded, or spread over several lengths.
    uneven = np.mean(distinct % 10 != 0) > 0.3
    return bool(uneven and len(str(distinct[0])) == len(str(distinct[-1])))
