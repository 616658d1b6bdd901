"""Three tables as people have them: customers, houses, patients; made by a seed."""

import numpy as np
import pandas as pd

TODAY = pd.Timestamp("2025-01-01")
NOTES = (
    "bill was wrong again", "very happy with service", "slow connection in the evening",
    "asked about moving house", "wants to cancel, competitor is cheaper",
    "router does not work", "no remarks", "praised the hotline",
)  # fmt: skip


def customers(n_rows=8000, seed=0):
    """Return a churn table: dates, free text, ids, money, few who leave."""
    random = np.random.default_rng(seed)
    since = TODAY - pd.to_timedelta(random.integers(400, 2200, n_rows), unit="D")
    days = random.exponential(60, n_rows).astype(int) + 1
    calls = random.poisson(1.5, n_rows)
    said = random.integers(0, len(NOTES), n_rows)
    ways = random.choice(["today", "last week", "by phone", "by mail"], n_rows)
    age = np.where(random.random(n_rows) < 0.003, -1, random.normal(45, 12, n_rows).round())
    score = -4.4 + 0.012 * days + 0.5 * (calls - 1.5) + 1.6 * (said == 4) + 0.8 * (said == 0)
    score -= 0.6 * (said == 1) + 0.0004 * np.asarray((TODAY - since).days)
    left = random.random(n_rows) < 1 / (1 + np.exp(-score))
    return pd.DataFrame(
        {
            "customer_id": [f"C{number}" for number in 100_000 + random.permutation(n_rows)],
            "since": since.strftime("%d/%m/%Y"),
            "last_order": (TODAY - pd.to_timedelta(days, unit="D")).strftime("%Y-%m-%d"),
            "age": age.astype(int),
            "plan": random.choice(["basic", "Basic", "premium", "PREMIUM", "business"], n_rows),
            "calls": calls,
            "monthly": [f"£{value:,.2f}" for value in random.gamma(6, 10, n_rows)],
            "discount": [f"{value}%" for value in random.integers(0, 30, n_rows)],
            "newsletter": random.choice(["Y", "N", "yes", "no"], n_rows),
            "satisfaction": random.choice(["low", "medium", "high"], n_rows),
            "note": [
                f"{NOTES[which]} {way} {number}"
                for which, way, number in zip(
                    said, ways, random.integers(1, 999, n_rows), strict=True
                )
            ],
            "churned": np.where(left, "yes", "no"),
        }
    )


def houses(n_rows=1500, seed=1):
    """Return prices written with a currency, in the order of the sales."""
    random = np.random.default_rng(seed)
    area = random.gamma(9, 13, n_rows)
    towns = random.integers(0, 150, n_rows)
    effects = random.normal(0, 0.25, 150)
    sold = pd.Timestamp("2020-01-01") + pd.to_timedelta(
        np.sort(random.integers(0, 1400, n_rows)), unit="D"
    )
    logs = 10.8 + 0.6 * np.log(area / 100 + 0.2) + effects[towns] + 0.0002 * np.arange(n_rows)
    return pd.DataFrame(
        {
            "area": [f"{value:.0f} m²" for value in area],
            "rooms": np.clip((area / 28).round(), 1, 9).astype(int),
            "town": [f"town {number:03d}" for number in towns],
            "sold": sold.strftime("%Y-%m-%d"),
            "condition": random.choice(["poor", "fair", "good", "excellent"], n_rows),
            "price": [f"£{v:,.2f}" for v in np.exp(logs + random.normal(0, 0.12, n_rows))],
        }
    )


def patients(n_patients=120, seed=2):
    """Return several visits for each patient, who has one diagnosis that the values do not tell."""
    random = np.random.default_rng(seed)
    rows = []
    for patient in range(n_patients):
        diagnosis = "ill" if random.random() < 0.4 else "well"
        usual = random.normal(0, 1, 4)
        for visit in range(random.integers(3, 9)):
            values = (usual + random.normal(0, 0.15, 4)).round(3)
            rows.append([f"P{patient:03d}", visit + 1, *values, diagnosis])
    names = ["patient", "visit", "crp", "sodium", "pulse", "temperature", "diagnosis"]
    return pd.DataFrame(rows, columns=names)
