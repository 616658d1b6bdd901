"""Pictures of the guide's page on associations."""

from pathlib import Path

import matplotlib.pyplot as plt
import pandas as pd

from verulam.association import Transactions, apriori, association_rules
from verulam.data import dataset
from verulam.plots import apriori_lattice, rule_map


def draw_association(folder: Path) -> None:
    """Draw the page's pictures into `folder`."""
    for name, figure in (("lattice", _lattice()), ("rules", _rules())):
        figure.savefig(folder / f"association-{name}.png", dpi=110)
        plt.close(figure)


def _lattice() -> plt.Figure:
    """Return the levels of Apriori on nine baskets."""
    return apriori_lattice(apriori(dataset("baskets").inputs, 2)).figure


def _rules() -> plt.Figure:
    """Return the rules of the Titanic's passengers that end in survival or death."""
    titanic = dataset("titanic")
    table = titanic.inputs[["passenger_class", "sex", "embarked"]].copy()
    ages = ["child", "adult", "older"]
    table["age"] = pd.cut(titanic.inputs["age"], [0, 15, 40, 100], labels=ages)
    table["survived"] = titanic.target_values
    rules = association_rules(Transactions.from_table(table), 0.05, min_confidence=0.6)
    ends = [set(consequent) <= {"survived=yes", "survived=no"} for consequent in rules.consequents]
    return rule_map(rules.where(ends)).figure
