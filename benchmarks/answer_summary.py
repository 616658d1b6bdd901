"""Tables of the simulated answers: what is asked of them, and what was measured."""

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np
import pandas as pd

Records = Sequence[dict[str, Any]]

#: A contestant this close to the truly best one is truly as good, in points.
EQUAL = 0.5
POINT = 1.0
FAR = 5.0
#: Bins of stated probabilities.
EDGES = (0.0, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 1.0)
AGREEMENT_EDGES = (0.0, 0.5, 0.7, 0.8, 0.9, 0.95, 1.0)
#: Bins with fewer contestants, or fewer comparisons, tell too little and are not printed.
LEAST_IN_BIN, LEAST_AGAIN = 100, 40
AT_MOST_5 = ("at most .05", 0.0, 0.05)


def print_summary(records: Records) -> None:
    """Print every requirement with what was measured, then the tables behind it."""
    sets = sets_table([record for record in records if record["task"][0] == "set"])
    contestants = contestants_table([record for record in records if record["task"][0] == "set"])
    ties = ties_table([record for record in records if record["task"][0] == "tie"])
    power = power_table([record for record in records if record["task"][0] == "power"])
    judged = requirements(sets, contestants, ties, power)
    _print("What the answer must show", judged.set_index("requirement"))
    if len(sets):
        _print("By size", by_size(sets))
        _print("By kind: regret in points, all sizes", by_kind(sets))
        _print("95 % intervals of all differences: share that covers", coverage(sets))
        for name, words in (("best", "the best"), ("within", "within the margin")):
            title = f"Stated probability of being {words}, and how often it was so"
            _print(title, reliability(contestants, name))
        _print("Stated agreement with other splits, and observed", agreement(sets))
    if len(ties):
        _print("Level learners: share of sets with a claim, each of them false", false_claims(ties))


def sets_table(records: Records) -> pd.DataFrame:
    """Return a row per set: regrets in points, and what was right."""
    return pd.DataFrame([_set_row(record) for record in records])


def _set_row(record: dict[str, Any]) -> dict[str, Any]:
    truth = pd.Series(record["truth"])
    behind = 100.0 * (truth - truth.min()) / record["unit"]
    complexity = pd.Series(record["complexity"], index=record["names"])
    choice, lowest = record["choice"], record["lowest_mean"]
    equal = complexity[behind.reindex(complexity.index) <= EQUAL]
    simplest = complexity[choice] <= equal.min() and behind[choice] <= POINT
    wrong = sum(truth[better] >= truth[worse] for better, worse in record["claims"])
    alone, other = record.get("lowest_mean_alone"), record.get("other_choice")
    return {
        "kind": record["task"][1],
        "n": record["task"][2],
        "learning": record["learning"],
        "regret": behind[choice],
        "regret_of_lowest_mean": behind[lowest],
        "regret_of_lowest_mean_alone": np.nan if alone is None else behind[alone],
        "difference": behind[choice] - behind[lowest],
        "within": behind[choice] <= POINT,
        "lowest_mean_within": behind[lowest] <= POINT,
        "baseline_chosen": choice == record["baseline"],
        "baseline_far": behind[record["baseline"]] > FAR,
        "several_equal": equal.min() < equal.max(),
        "simplest": bool(simplest),
        "lowest_mean_simplest": bool(complexity[lowest] <= equal.min() and behind[lowest] <= POINT),
        "covered": float(np.mean(record["covered"])),
        "agreement": record["agreement"],
        "settled": record["settled"],
        "agreed": np.nan if other is None else float(other == choice),
        "repeats": max(record["repeats"]),
        "work": float(np.mean(record["repeats"])) / max(record["repeats"]),
        "claims": len(record["claims"]),
        "pairs": len(record["covered"]),
        "wrong_claims": int(wrong),
        "seconds": record["seconds"],
        "compare_seconds": record["compare_seconds"],
    }


def contestants_table(records: Records) -> pd.DataFrame:
    """Return a row per contestant of every set: stated probabilities beside the truth."""
    rows = []
    for number, record in enumerate(records):
        risks = np.array([record["truth"][name] for name in record["names"]])
        behind = risks - min(record["truth"].values())
        level = behind <= 1e-12
        rows.append(
            pd.DataFrame(
                {
                    "set": number,
                    "n": record["task"][2],
                    "learning": record["learning"],
                    "stated_best": record["probability_best"],
                    "best": level / max(1, level.sum()),
                    "stated_within": record["probability_within"],
                    "within": behind <= record["margin"],
                    "stated_regret": 100.0 * np.array(record["stated_regret"]) / record["unit"],
                    "regret": 100.0 * behind / record["unit"],
                    "choice": [name == record["choice"] for name in record["names"]],
                }
            )
        )
    return pd.concat(rows, ignore_index=True) if rows else pd.DataFrame()


def ties_table(records: Records) -> pd.DataFrame:
    """Return a row per set of level learners: claimed at ten repeats, and at any look."""
    rows = []
    for record in records:
        _, kind, n_rows, _ = record["task"]
        word, contestants = kind.rsplit(maxsplit=1)
        looks = record["claimed"]
        last = looks[max(looks, key=int)]
        rows.append((word, n_rows, int(contestants), looks["2"], last, any(looks.values())))
    names = ["learners", "n", "contestants", "two repeats", "ten repeats", "any look"]
    return pd.DataFrame(rows, columns=names)


def power_table(records: Records) -> pd.DataFrame:
    """Return a row per set with a known difference: was the better one recommended, claimed."""
    rows = [
        {
            "recommended": record["choice"] == "better",
            "claimed": ["better", "worse"] in record["claims"],
            "wrong": ["worse", "better"] in record["claims"],
        }
        for record in records
    ]
    return pd.DataFrame(rows)


def requirements(
    sets: pd.DataFrame, contestants: pd.DataFrame, ties: pd.DataFrame, power: pd.DataFrame
) -> pd.DataFrame:
    """Return each requirement, what was measured with its standard error, and whether it is met."""
    rows = []
    if len(sets):
        rows += _choice_rows(sets) + _coverage_rows(sets) + _worst_bins(sets, contestants)
        wrong = sets["wrong_claims"] > 0
        rows.append(_row("sets with a claim of the wrong sign", wrong, AT_MOST_5))
    for (learners, n_rows, count), part in ties.groupby(["learners", "n", "contestants"]):
        words = f"false claims at any look, {count} {learners} learners, n = {n_rows}"
        rows.append(_row(words, part["any look"], AT_MOST_5))
    if len(power):
        words = "better one {}, difference of 8.2 points, n = 200"
        rows += [
            _row(words.format("recommended"), power["recommended"], ("at least .95", 0.95, 1)),
            _row(words.format("claimed"), power["claimed"], ("at least .35", 0.35, 1)),
        ]
    return pd.DataFrame(rows, columns=["requirement", "measured", "count", "asked", "met"])


def _choice_rows(sets: pd.DataFrame) -> list[dict[str, Any]]:
    rows = []
    for n_rows, part in sets.groupby("n"):
        limit = ("below 0", -np.inf, -1e-12) if n_rows <= 200 else ("at most +.05", -np.inf, 0.05)
        words = f"regret minus that of the lowest mean, points, n = {n_rows}"
        rows.append(_row(words, part["difference"], limit))
    within = sets.loc[sets["n"] == 200, "within"]
    far = sets.loc[sets["baseline_far"], "baseline_chosen"]
    equal = sets.loc[sets["several_equal"], "simplest"]
    return [
        *rows,
        _row("within 1 point of the best, n = 200", within, ("at least .80", 0.8, 1)),
        _row("baseline chosen where truly 5 points worse", far, ("at most .01", 0, 0.01)),
        _row("simplest among truly equal", equal, ("at least .60", 0.6, 1)),
    ]


def _coverage_rows(sets: pd.DataFrame) -> list[dict[str, Any]]:
    limit = (".93 to .98", 0.93, 0.98)
    parts = [("all", n_rows, part) for n_rows, part in sets.groupby("n")]
    parts += [(task, n_rows, part) for (task, n_rows), part in sets.groupby(["learning", "n"])]
    return [
        _row(f"95 % intervals of differences cover, {task}, n = {n_rows}", part["covered"], limit)
        for task, n_rows, part in parts
    ]


def _worst_bins(sets: pd.DataFrame, contestants: pd.DataFrame) -> list[dict[str, Any]]:
    """Return the requirements on stated probabilities, judged by the worst bin of each."""
    tables = {
        "P(best)": reliability(contestants, "best"),
        "P(within the margin)": reliability(contestants, "within"),
        "agreement with other splits": agreement(sets),
    }
    rows = []
    for name, table in tables.items():
        if table.empty:
            continue
        distance = (table["observed"] - table["stated"]).abs()
        worst = table.loc[distance.idxmax()]
        stated, observed, error = (worst[column] for column in ("stated", "observed", "error"))
        rows.append(
            {
                "requirement": f"{name}: stated > observed, worst bin",
                "measured": f"{stated:.3f} > {observed:.3f} ({error:.3f})",
                "count": int(table["count"].sum()),
                "asked": "within .1",
                "met": "yes" if distance.max() <= 0.1 else "NO",
            }
        )
    return rows


def _row(words: str, values: Any, limit: tuple[str, float, float]) -> dict[str, Any]:
    """Return a requirement whose mean must lie between two limits."""
    values = np.asarray(values, dtype=np.float64)
    asked, low, high = limit
    met = "-"
    if len(values):
        met = "yes" if low <= values.mean() <= high else "NO"
    return {
        "requirement": words,
        "measured": _text(values),
        "count": len(values),
        "asked": asked,
        "met": met,
    }


def by_size(sets: pd.DataFrame) -> pd.DataFrame:
    """Return regrets, shares, repeats and seconds for each number of rows."""
    rows = {}
    for n_rows, part in sets.groupby("n"):
        again = part[part["agreed"].notna()]
        equal = part[part["several_equal"]]
        noise = part[part["kind"].isin(["pure noise", "noise numbers"])]
        alone = again["regret"] - again["regret_of_lowest_mean_alone"]
        rows[f"n = {n_rows}"] = {
            "sets": len(part),
            "regret, points": _text(part["regret"]),
            "regret of the lowest mean": _text(part["regret_of_lowest_mean"]),
            "difference, paired": _text(part["difference"]),
            "against the lowest mean with repeats of its own": _text(alone),
            "within 1 point": _text(part["within"]),
            "lowest mean within 1 point": _text(part["lowest_mean_within"]),
            "more than 5 points worse": _text(part["regret"] > FAR),
            "simplest among truly equal": _text(equal["simplest"]),
            "lowest mean simplest among equal": _text(equal["lowest_mean_simplest"]),
            "baseline chosen in pure noise": _text(noise["baseline_chosen"]),
            "repeats": _text(part["repeats"], 2),
            "repeats that racing leaves": _text(part["work"]),
            "another seed, same choice": _text(again["agreed"]),
            "stated agreement, these sets": _text(again["agreement"]),
            "pairs claimed": _text(part["claims"] / part["pairs"]),
            "wrong among claims": f"{part['wrong_claims'].sum()} of {part['claims'].sum()}",
            "seconds of compare": _text(part["compare_seconds"], 2),
            "seconds of a set": _text(part["seconds"], 2),
        }
    return pd.DataFrame(rows)


def by_kind(sets: pd.DataFrame) -> pd.DataFrame:
    """Return regrets for each kind of problem."""
    rows = {}
    for kind, part in sets.groupby("kind", sort=False):
        rows[kind] = {
            "sets": len(part),
            "regret": f"{part['regret'].mean():.2f}",
            "lowest mean": f"{part['regret_of_lowest_mean'].mean():.2f}",
            "difference": _text(part["difference"], 2),
            "within 1 point": f"{part['within'].mean():.2f}",
            "cover": f"{part['covered'].mean():.3f}",
            "baseline": f"{part['baseline_chosen'].mean():.2f}",
            "repeats": f"{part['repeats'].mean():.1f}",
        }
    return pd.DataFrame(rows).T


def coverage(sets: pd.DataFrame) -> pd.DataFrame:
    """Return the coverage of intervals by task and size, with standard errors over sets."""
    return sets.pivot_table(index="learning", columns="n", values="covered", aggfunc=_text)


def reliability(contestants: pd.DataFrame, name: str) -> pd.DataFrame:
    """Return the mean stated probability of each bin, and the share in which it was so."""
    table = _binned(contestants[f"stated_{name}"], contestants[name], contestants["set"], EDGES)
    return table[table["count"] >= LEAST_IN_BIN]


def agreement(sets: pd.DataFrame) -> pd.DataFrame:
    """Return stated agreement in bins, and how often the choice was the same with other splits."""
    again = sets[sets["agreed"].notna()]
    owner = pd.Series(again.index)
    table = _binned(again["agreement"], again["agreed"], owner, AGREEMENT_EDGES)
    return table[table["count"] >= LEAST_AGAIN]


def _binned(
    stated: pd.Series, observed: pd.Series, owner: pd.Series, edges: Sequence[float]
) -> pd.DataFrame:
    bins = np.clip(np.digitize(stated, edges) - 1, 0, len(edges) - 2)
    rows = []
    for place, (low, high) in enumerate(pairwise(edges)):
        inside = bins == place
        if not inside.any():
            continue
        values = observed.to_numpy(dtype=np.float64)[inside]
        gaps = values - values.mean()
        # Contestants of one set share its luck: their deviations are summed before squaring.
        sums = pd.Series(gaps).groupby(owner.to_numpy()[inside]).sum()
        rows.append(
            {
                "bin": f"{low:.2f} to {high:.2f}",
                "stated": stated.to_numpy()[inside].mean(),
                "observed": values.mean(),
                "error": float(np.sqrt((sums**2).sum())) / len(values),
                "count": int(inside.sum()),
            }
        )
    return pd.DataFrame(rows, columns=["bin", "stated", "observed", "error", "count"]).set_index(
        "bin"
    )


def false_claims(ties: pd.DataFrame) -> pd.DataFrame:
    """Return how often a difference of level learners is claimed."""
    grouped = ties.groupby(["learners", "n", "contestants"])
    looks = ["two repeats", "ten repeats", "any look"]
    return grouped[looks].agg(_text).assign(sets=grouped.size())


def _text(values: Any, digits: int = 3) -> str:
    values = np.asarray(values, dtype=np.float64)
    if not len(values):
        return "-"
    return f"{values.mean():.{digits}f}{_error(values, digits)}"


def _error(values: np.ndarray, digits: int) -> str:
    if len(values) < 2:
        return ""
    return f" ({values.std(ddof=1) / np.sqrt(len(values)):.{digits}f})"


def _print(title: str, table: pd.DataFrame) -> None:
    if table.empty:
        return
    print(f"\n{title} (standard errors in brackets)")
    with pd.option_context("display.width", 200, "display.max_colwidth", 80):
        print(table.to_string(float_format="{:.3f}".format))
