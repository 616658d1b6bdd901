"""Main effects and interactions of factors: what each explains of the differences of settings."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import combinations

import numpy as np
import pandas as pd
from scipy import special

from verulam.base import DataError
from verulam.design import LenthAnalysis, ResponseSurface, lenth_method, two_level_effects
from verulam.experiment._effects.effect_surface import surface_through

#: More settings than this are analysed by their main effects alone.
MOST_SETTINGS = 300
#: A direction shorter than this share of the others does not count as one.
ALIGNED = 1e-8
#: Which sums of squares the tables have, and why.
TYPE_TWO = (
    "type II: of each effect beyond all others but the interactions that it is part of, so that "
    "the order of the factors does not matter (in balanced designs all types agree)"
)
COLUMNS = ["sum_of_squares", "degrees_of_freedom", "mean_square", "F", "p_value", "corrected_p"]


@dataclass(frozen=True, eq=False)
class FactorEffects:
    """What the factors of an experiment do to its response.

    Attributes
    ----------
    scope
        Where this holds: the learner and the data set.
    factors
        Names of the factors.
    table
        The analysis of variance, a row per effect; ``corrected_p`` allows for the overlap of
        training parts.
    means
        For each factor the mean response at each of its levels.
    estimates
        Where all factors have two levels: effect of going from the first to the second, and its
        standard error. Otherwise empty.
    aliases
        For each effect the others that the design cannot tell from it.
    settings
        One row per setting: its levels and its mean response.
    notes
        What could not be estimated.
    sums_of_squares
        The type of the sums of squares of the table, and why it is that.
    pure_error
        Variance of the mean of a setting, with its degrees of freedom: what settings and splits
        do together, allowing for the overlap of training parts. None without replication.
    lenth
        With a single split and two levels each: all effects of the design, by Lenth's method.
    """

    scope: str
    factors: tuple[str, ...]
    table: pd.DataFrame
    means: Mapping[str, pd.Series]
    estimates: pd.DataFrame
    aliases: Mapping[str, tuple[str, ...]]
    settings: pd.DataFrame
    notes: tuple[str, ...] = ()
    sums_of_squares: str = TYPE_TWO
    pure_error: tuple[float, float] | None = None
    lenth: LenthAnalysis | None = None

    @cached_property
    def surface(self) -> ResponseSurface | None:
        """The quadratic through the mean responses of settings; None where none fits."""
        return surface_through(self.settings, self.factors, self.pure_error)

    def significant(self, alpha: float) -> list[str]:
        """Return the effects that the corrected test rejects to be none."""
        return [str(name) for name in self.table.index[self.table["corrected_p"] < alpha]]


def factor_effects(
    table: pd.DataFrame, settings: pd.DataFrame, *, scope: str = "", overlap: float = 0.0
) -> FactorEffects:
    r"""Analyse the variance of a response by the factors that were varied.

    Parameters
    ----------
    table
        Scores: a row per split, which all settings share, and a column per setting.
    settings
        A row per setting, a column per factor; the index has the columns of `table`.
    scope
        Where this holds, in words.
    overlap
        Rows tested over rows learnt from, where splits share rows; 0 where they do not.

    Notes
    -----
    Splits are blocks (Alpaydin 19.4, 19.12): what settings and splits do together is the
    experimental error. Sums of squares are of type II: an effect is adjusted for all others but
    the interactions that it is part of. Effects that the design cannot tell apart stand in one
    row. With :math:`n` splits, the corrected test divides F by :math:`1 + n\, n_2/n_1`,
    as the corrected resampled t test does with the square of its statistic.

    Examples
    --------
    >>> import pandas as pd
    >>> settings = pd.DataFrame({"k": [1, 1, 5, 5], "p": [1, 2, 1, 2]}, index=list("abcd"))
    >>> table = pd.DataFrame([[3.0, 4.0, 1.0, 2.5], [3.5, 4.0, 1.0, 2.0]], columns=list("abcd"))
    >>> effects = factor_effects(table, settings)
    >>> effects.table[["sum_of_squares", "degrees_of_freedom", "F"]].round(3)
            sum_of_squares  degrees_of_freedom     F
    source
    k                8.000                 1.0  96.0
    p                2.000                 1.0  24.0
    k x p            0.125                 1.0   1.5
    splits           0.000                 1.0   0.0
    error            0.250                 3.0   NaN
    total           10.375                 7.0   NaN
    """
    varied = _varied(settings, table)
    complete = table[list(varied.index)].dropna()
    if complete.empty or len(varied) < 2:
        raise DataError(f"{scope}: no split has a result of every setting.")
    values = complete.to_numpy(dtype=np.float64)
    means = values.mean(axis=0)
    terms = _terms(varied)
    explained = Decomposition(means - means.mean(), len(values)).explained(terms)
    sources = _with_error(explained, values)
    scale = 1.0 + len(values) * overlap
    notes = list(explained.notes)
    if len(complete) < len(table):
        notes.append(f"{len(table) - len(complete)} splits lack a setting and are left out.")
    return FactorEffects(
        scope,
        tuple(varied.columns),
        variance_table(sources, scale, values),
        {name: _level_means(varied[name], means) for name in varied.columns},
        _estimates(varied, means, explained, sources, scale),
        explained.aliases,
        varied.assign(mean=means),
        tuple(notes),
        pure_error=_error_of_means(sources, scale, len(values)),
        lenth=_lenth(varied, means) if len(values) == 1 else None,
    )


@dataclass(frozen=True, eq=False)
class Term:
    """The columns of one effect, and the factors that it is made of."""

    name: str
    parts: tuple[str, ...]
    columns: np.ndarray

    @property
    def order(self) -> int:
        """The number of its factors."""
        return len(self.parts)


@dataclass(frozen=True)
class Source:
    """One row of the table; error sources have no F."""

    name: str
    sum_of_squares: float
    degrees_of_freedom: int
    tested: bool = True


@dataclass(frozen=True, eq=False)
class Explained:
    """Effects, and what all of them explain together."""

    sources: tuple[Source, ...]
    aliases: Mapping[str, tuple[str, ...]]
    notes: tuple[str, ...]
    together: Source


class Decomposition:
    """Splits the sum of squares of mean responses among effects."""

    def __init__(self, centred: np.ndarray, splits: int) -> None:
        self._centred = centred
        self._splits = splits

    def explained(self, terms: Sequence[Term]) -> Explained:
        """Return a source of variation for every effect that can be told from the others."""
        mains = [term for term in terms if term.order == 1]
        base = _basis([term.columns for term in mains])
        groups: list[list[Term]] = []
        aliases: dict[str, tuple[str, ...]] = {}
        hidden = []
        for term in terms:
            if term.order == 1:
                continue
            # Of an interaction only what goes beyond all main effects counts (the principle of
            # hierarchy); where nothing does, the design confounds it with them.
            rest = _outside(term.columns, base)
            if not rest.shape[1]:
                hidden.append(term)
                continue
            # Two interactions with one span are aliases: their sum of squares is the same one.
            twin = next((group for group in groups if _same_span(group[0].columns, rest)), None)
            if twin is None:
                groups.append([replace(term, columns=rest)])
            else:
                twin.append(term)
        for main in mains:
            confounded = [term.name for term in hidden if _inside(term.columns, main.columns)]
            if confounded:
                aliases[main.name] = tuple(confounded)
        for group in groups:
            if len(group) > 1:
                aliases[group[0].name] = tuple(term.name for term in group[1:])
        interactions = [group[0] for group in groups]
        # As they are, not beyond the main effects, which would adjust nothing.
        estimable = {term.name for group in groups for term in group}
        pairs = [term for term in terms if term.name in estimable]
        sources = [*self._main_sources(mains, pairs), *self._adjusted(interactions, base)]
        known = {source.name for source in sources}
        lost = [t.name for t in hidden if not any(t.name in names for names in aliases.values())]
        lost += [term.name for term in (*mains, *interactions) if term.name not in known]
        notes = [f"The design does not tell {', '.join(lost)} from other effects."] if lost else []
        whole = _basis([term.columns for term in (*mains, *interactions)])
        share = float(((whole.T @ self._centred) ** 2).sum())
        together = Source("effects", self._splits * share, whole.shape[1])
        return Explained(tuple(sources), aliases, tuple(notes), together)

    def _main_sources(self, mains: Sequence[Term], pairs: Sequence[Term]) -> list[Source]:
        """Return what each main effect explains beyond all that it is not part of."""
        sources = []
        for term in mains:
            others = [other.columns for other in mains if other is not term]
            apart = [pair.columns for pair in pairs if term.parts[0] not in pair.parts]
            orthogonal = _outside(term.columns, _basis(others))
            beyond = _outside(term.columns, _basis([*others, *apart]))
            # A fraction that confounds some of it with an interaction leaves it to the main effect.
            if beyond.shape[1] == orthogonal.shape[1]:
                orthogonal = beyond
            sources += self._source(term.name, orthogonal)
        return sources

    def _adjusted(self, terms: Sequence[Term], base: np.ndarray) -> list[Source]:
        """Return what each interaction explains beyond the main effects and the others."""
        sources = []
        for term in terms:
            others = [other.columns for other in terms if other is not term]
            sources += self._source(term.name, _outside(term.columns, _basis([*others, base])))
        return sources

    def _source(self, name: str, orthogonal: np.ndarray) -> list[Source]:
        if not orthogonal.shape[1]:
            return []
        share = float(((orthogonal.T @ self._centred) ** 2).sum())
        return [Source(name, self._splits * share, orthogonal.shape[1])]


def _error_of_means(
    sources: Sequence[Source], scale: float, splits: int
) -> tuple[float, float] | None:
    error = sources[-1]
    if splits < 2 or not error.degrees_of_freedom:
        return None
    return _mean_square(error) * scale / splits, float(error.degrees_of_freedom)


def _lenth(settings: pd.DataFrame, means: np.ndarray) -> LenthAnalysis | None:
    try:
        return lenth_method(two_level_effects(settings, means))
    except DataError:  # no two-level design, or too few effects
        return None


def _varied(settings: pd.DataFrame, table: pd.DataFrame) -> pd.DataFrame:
    present = settings.loc[[name for name in settings.index if name in table.columns]]
    return present[[name for name in present.columns if len(distinct_levels(present[name])) > 1]]


def distinct_levels(levels: pd.Series) -> set[str]:
    return {repr(level) for level in levels}


def _terms(settings: pd.DataFrame) -> list[Term]:
    coded = {str(name): contrasts(settings[name]) for name in settings.columns}
    terms = [Term(name, (name,), columns) for name, columns in coded.items()]
    if len(settings) > MOST_SETTINGS:
        return terms
    for first, second in combinations(coded, 2):
        products = np.einsum("ij,ik->ijk", coded[first], coded[second])
        columns = products.reshape(len(settings), -1)
        terms.append(Term(f"{first} x {second}", (first, second), columns))
    return terms


def contrasts(levels: pd.Series) -> np.ndarray:
    """Return columns for all levels but one, which sum to zero over the levels."""
    codes, known = pd.factorize(levels.map(repr))
    columns = np.eye(len(known))[codes]
    # Effect coding: with dummy codes, products of columns would not be orthogonal to main effects.
    return columns[:, 1:] - columns[:, :1]


def _basis(columns: Sequence[np.ndarray]) -> np.ndarray:
    """Return orthonormal columns that span the given ones, less their mean."""
    if not columns:
        return np.empty((0, 0))
    together = np.hstack(columns)
    together = together - together.mean(axis=0)
    # By singular values, which tell the rank of columns that an unbalanced design makes dependent.
    left, sizes, _ = np.linalg.svd(together, full_matrices=False)
    return left[:, sizes > ALIGNED * max(float(sizes.max(initial=0.0)), 1.0)]


def _outside(columns: np.ndarray, basis: np.ndarray) -> np.ndarray:
    """Return orthonormal columns for the part of the span that the basis does not cover."""
    centred = columns - columns.mean(axis=0)
    if basis.size:
        centred = centred - basis @ (basis.T @ centred)
    return _basis([centred])


def _inside(columns: np.ndarray, others: np.ndarray) -> bool:
    return not _outside(columns, _basis([others])).shape[1]


def _same_span(one: np.ndarray, other: np.ndarray) -> bool:
    return one.shape == other.shape and _inside(one, other)


def _with_error(explained: Explained, values: np.ndarray) -> list[Source]:
    """Return the sources with those of splits, other interactions and error."""
    splits, settings = values.shape
    rows, columns = values.mean(axis=1, keepdims=True), values.mean(axis=0)
    between = splits * float(((columns - values.mean()) ** 2).sum())
    rest = between - explained.together.sum_of_squares
    freedom = settings - 1 - explained.together.degrees_of_freedom
    sources = list(explained.sources)
    # Without replication there is no error but what the effects do not explain.
    if splits == 1:
        return [*sources, Source("error", max(rest, 0.0), freedom, tested=False)]
    if freedom > 0:
        sources.append(Source("other", max(rest, 0.0), freedom))
    sources.append(
        Source("splits", settings * float(((rows - values.mean()) ** 2).sum()), splits - 1)
    )
    residual = float(((values - rows - columns + values.mean()) ** 2).sum())
    error = Source("error", residual, (splits - 1) * (settings - 1), tested=False)
    return [*sources, error]


def variance_table(
    sources: Sequence[Source], scale: float, values: np.ndarray | None = None
) -> pd.DataFrame:
    """Return the usual table of an analysis of variance.

    Parameters
    ----------
    sources
        What the variation comes from, the error last.
    scale
        What F is divided by for the corrected p-value.
    values
        All scores, for a row of totals; None for none.
    """
    error = sources[-1]
    spread = _mean_square(error)
    largest = max(source.sum_of_squares for source in sources)
    rows = []
    for source in sources:
        mean_square = _mean_square(source)
        ratio, p_value, corrected = np.nan, np.nan, np.nan
        # An error that is rounding alone would make every effect significant.
        if source.tested and spread > 1e-24 * max(largest, 1e-300):
            freedom = source.degrees_of_freedom, error.degrees_of_freedom
            ratio = mean_square / spread
            p_value = float(special.fdtrc(*freedom, ratio))
            corrected = float(special.fdtrc(*freedom, ratio / scale))
        if source.name == "splits":
            # Splits are blocks, not an effect that is asked about.
            p_value = corrected = np.nan
        known = (source.sum_of_squares, source.degrees_of_freedom, mean_square)
        rows.append([*known, ratio, p_value, corrected])
    names = [source.name for source in sources]
    if values is not None:
        # Of its own, since effects of unbalanced designs do not add up to it.
        total = float(((values - values.mean()) ** 2).sum())
        rows.append([total, values.size - 1, np.nan, np.nan, np.nan, np.nan])
        names.append("total")
    return pd.DataFrame(rows, pd.Index(names, name="source"), COLUMNS).astype(float)


def _mean_square(source: Source) -> float:
    return source.sum_of_squares / source.degrees_of_freedom if source.degrees_of_freedom else 0.0


def _level_means(levels: pd.Series, means: np.ndarray) -> pd.Series:
    grouped = pd.Series(means, index=levels.index).groupby(levels.map(repr).to_numpy(), sort=False)
    words = dict(zip(levels.map(repr), levels, strict=True))
    level_means = grouped.mean()
    return pd.Series(
        level_means.to_numpy(), [words[name] for name in level_means.index], name="mean"
    )


def _estimates(
    settings: pd.DataFrame,
    means: np.ndarray,
    explained: Explained,
    sources: Sequence[Source],
    scale: float,
) -> pd.DataFrame:
    """Return the effects of two-level factors: mean at the second level less that at the first."""
    columns = ["effect", "standard_error"]
    empty = pd.DataFrame(columns=columns, index=pd.Index([], name="source"), dtype=float)
    if any(len(distinct_levels(settings[name])) != 2 for name in settings.columns):
        return empty
    codes = {name: contrasts(settings[name])[:, 0] for name in map(str, settings.columns)}
    splits = next((s.degrees_of_freedom + 1 for s in sources if s.name == "splits"), 1)
    # Each mean is over half of the settings, so that the variances of both add up to 4 / (n N).
    deviation = np.sqrt(4.0 * _mean_square(sources[-1]) * scale / (splits * len(settings)))
    rows = {}
    for source in explained.sources:
        signs = np.prod([codes[part] for part in source.name.split(" x ")], axis=0)
        high, low = means[signs > 0], means[signs < 0]
        if len(high) and len(low):
            rows[source.name] = [float(high.mean() - low.mean()), deviation or np.nan]
    if not rows:
        return empty
    return pd.DataFrame.from_dict(rows, orient="index", columns=columns).rename_axis("source")
