"""Learners by name."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from verulam.base import UnknownNameError
from verulam.catalogue import (
    _entries,
    agent_entries,
    entries,
    entry,
    find,
    learner,
    learners,
    our_entries,
)
from verulam.catalogue._entries import Entry, inspected, listed_packages, listing, stamp
from verulam.catalogue._names import long_name, name_key, short_name, spoken_names
from verulam.nonparametric import KNeighborsClassifier
from verulam.parametric import NaiveBayes

#: Looks a learner up, and names the heavy libraries that were needed for it.
LOOK_UP = """
import sys
from verulam.catalogue import entry, find
assert entry("naive bayes").section and entry("naive bayes").spoken == "naive Bayes"
assert "bagging" in [item.name for item in find("bagging").learners]
print(*[name for name in ("numpy", "pandas", "sklearn", "numba") if name in sys.modules])
"""


@pytest.mark.parametrize(
    "name", ["parametric.NaiveBayes", "naive bayes", "NaiveBayes", "PARAMETRIC.naivebayes"]
)
def test_ours_by_any_spelling(name):
    made = learner(name, alpha=0.5)
    assert isinstance(made, NaiveBayes)
    assert made.alpha == 0.5


@pytest.mark.parametrize("name", ["k-nearest neighbours", "K-Nearest Neighbours"])
def test_by_the_name_in_the_texts(name):
    made = learner(name, n_neighbors=3)
    assert isinstance(made, KNeighborsClassifier)
    assert made.n_neighbors == 3


@pytest.mark.parametrize(
    ("name", "spoken"),
    [
        ("knn", "k-nearest neighbours"),
        ("XGBoost", "gradient boosting"),
        ("rf", "random forest"),
        ("gp", "Gaussian process"),
    ],
)
def test_what_others_call_a_learner_leads_to_its_name(name, spoken):
    with pytest.raises(UnknownNameError, match=rf"Unknown learner '{name}'\. Nearest: {spoken}"):
        entry(name)


def test_catalogue_parameters_can_be_overridden():
    assert learner("decision tree").preset == "c4.5"
    assert learner("decision tree", preset="cart").preset == "cart"


def test_unknown_name_gives_three_nearest():
    with pytest.raises(
        UnknownNameError, match=r"Unknown learner 'naive bays'\. Nearest: "
    ) as caught:
        learner("naive bays")
    nearest = str(caught.value).partition("Nearest: ")[2].partition(". `")[0]
    assert len(nearest.split(", ")) == 3
    assert "naive Bayes" in nearest


def test_unknown_parameter_names_the_accepted_ones():
    with pytest.raises(TypeError, match=r"has no parameter 'alfa'.*Accepted: alpha, kinds"):
        learner("naive bayes", alfa=1)


def test_missing_parameter_is_named(monkeypatch):
    class Needy(NaiveBayes):
        def __init__(self, part):
            self.part = part

    monkeypatch.setattr("verulam.parametric.Needy", Needy, raising=False)
    item = Entry("parametric.Needy", "verulam.parametric.Needy", "ours")
    with pytest.raises(TypeError, match=r"'parametric\.Needy' needs the parameter 'part'"):
        item.make()


def test_a_name_in_two_packages_must_be_said_in_full(monkeypatch):
    twins = (
        Entry("one.Twin", "verulam.one.Twin", "ours"),
        Entry("two.Twin", "verulam.two.Twin", "ours"),
    )
    monkeypatch.setattr("verulam.catalogue._entries.entries", lambda: twins)
    assert entry("two.Twin") is twins[1]
    with pytest.raises(UnknownNameError, match=r"fits several: one\.Twin, two\.Twin"):
        entry("twin")


@pytest.mark.parametrize("item", entries(), ids=lambda item: item.name)
def test_every_name_finds_the_learner_again(item):
    for name in (item.name, item.spoken, item.spoken.upper(), item.spoken.replace("-", " ")):
        assert entry(name) is item
    # Words of the class, which a borrowed learner may have for its name.
    for name in item.names:
        assert entry(name) is item or entry(name).source == "borrowed"


def test_spoken_names_are_unique():
    names = [item.spoken for item in entries()]
    assert len({name.lower() for name in names}) == len(names)


@pytest.mark.parametrize(
    "name",
    [
        "DecisionTreeClassifier",
        "decision tree classifier",
        "multivariate tree classifier",
        "MultivariateTreeClassifier",
        "k neighbors classifier",
        "hmm classifier",
        "one versus rest",
        "weston watkins classifier",
        "generalised linear",
        "running mean",
    ],
)
def test_words_of_the_class_stay_names(name):
    assert entry(name).source == "ours"
    assert entry(name) is entry(name.title())


def test_ours_come_first_and_names_are_unique():
    names = [item.name.lower() for item in entries()]
    assert len(set(names)) == len(names)
    assert [item.source for item in entries()][: len(our_entries())] == ["ours"] * len(
        our_entries()
    )


@pytest.mark.parametrize(
    ("name", "scaled"),
    [
        ("nonparametric.KNeighborsClassifier", True),
        ("kernel.SupportVectorClassifier", True),
        ("tree.DecisionTreeClassifier", False),
        ("parametric.NaiveBayes", False),
        ("random forest", False),
        ("support vector machine", True),
    ],
)
def test_learners_that_go_by_distances_want_scaling(name, scaled):
    assert entry(name).wants_scaling is scaled


def test_section_is_read_off_the_documentation():
    assert entry("naive bayes").section == "SIT1305 II"


def test_example_of_a_learner_with_required_parts():
    item = next(item for item in entries() if item.name == "parametric.NaiveBayes")
    assert isinstance(item.example(), NaiveBayes)


@pytest.mark.parametrize(
    ("name", "spoken"),
    [
        ("parametric.NaiveBayes", "naive Bayes"),
        ("local.SOM", "SOM"),
        ("tree.ID3Tree", "ID3 tree"),
        ("tree.C45Tree", "C4.5 tree"),
        ("kernel.NuSVM", "nu SVM"),
        ("local.RBFNetwork", "RBF network"),
        ("cluster.KMeans", "Verulam's k-means"),
        ("reinforcement.QLearning", "Q-learning"),
        ("nonparametric.NadarayaWatson", "Nadaraya-Watson"),
    ],
)
def test_names_of_learners_to_come(name, spoken):
    borrowed = ["k-means", "SOM of another"]
    assert spoken_names([name], borrowed) == {name: spoken}


@pytest.mark.parametrize(
    ("name", "spoken"),
    [
        ("parametric.NaiveBayes", "naive Bayes"),
        ("parametric.GaussianClassifier", "Gaussian classifier"),
        ("sequence.HiddenMarkovModel", "hidden Markov model"),
        ("sequence.HMMClassifier", "HMM classifier"),
        ("rule.Ripper", "Ripper"),
        ("rule.Irep", "IREP"),
        ("linear.GeneralisedLinear", "generalised linear model"),
        ("linear.HoKashyap", "Ho-Kashyap"),
        ("kernel.SupportVectorClassifier", "support vector classifier"),
        ("nonparametric.RunningMean", "running mean smoother"),
        # What is left without the suffix is free here, and taken there.
        ("tree.MultivariateTreeClassifier", "multivariate tree"),
        ("tree.DecisionTreeClassifier", "decision tree classifier"),
        ("nonparametric.KNeighborsClassifier", "k-nearest neighbours classifier"),
        # Borrowed learners have these names.
        ("linear.Perceptron", "Verulam's perceptron"),
        ("nonparametric.KernelDensity", "Verulam's kernel density"),
        ("k-nearest neighbours", "k-nearest neighbours"),
        ("AdaBoost", "AdaBoost"),
    ],
)
def test_names_of_learners(name, spoken):
    assert entry(name).spoken == spoken


def test_two_of_ours_that_differ_in_the_suffix_keep_it():
    names = spoken_names(["tree.OddTreeClassifier", "tree.OddTreeRegressor"], [])
    assert list(names.values()) == ["odd tree classifier", "odd tree regressor"]


def test_the_suffix_stays_after_what_is_no_model():
    assert short_name("BoxClassifier") == long_name("BoxClassifier") == "box classifier"
    assert short_name("OddPerceptronClassifier") == "odd perceptron"


def test_a_learner_outside_the_catalogue_has_a_name():
    assert Entry("local.OddNetworkRegressor", "nowhere.At", "ours").spoken == "odd network"


def test_case_and_punctuation_do_not_count():
    assert name_key("Ho-Kashyap") == name_key("hoKashyap") == name_key("ho kashyap")


def test_one_row_per_learner():
    table = learners()
    assert list(table.columns) == [
        "name",
        "task",
        "tags",
        "interpretability",
        "source",
        "section",
        "summary",
    ]
    assert len(table) == len(entries()) + len(agent_entries())
    assert set(table["source"]) == {"ours", "borrowed"}
    assert (table["summary"] != "").all()


def test_task_and_tags_narrow_it():
    assert set(learners(task="regression")["task"]) == {"regression"}
    both = learners(task="classification", tags=("missing", "categorical"))
    assert "parametric.NaiveBayes" in set(both["name"])
    assert "logistic regression" not in set(both["name"])
    assert both["tags"].str.contains("categorical").all()


def test_unknown_task_or_tag():
    with pytest.raises(UnknownNameError, match=r"Unknown task 'clasification'. Nearest: classif"):
        learners(task="clasification")
    with pytest.raises(UnknownNameError, match=r"Unknown tag 'mising'. Nearest: missing"):
        learners(tags=("mising",))


@pytest.fixture
def unread():
    listing.cache_clear()
    yield
    listing.cache_clear()


@pytest.mark.parametrize("package", listed_packages())
def test_what_is_written_down_is_what_the_classes_say(package):
    text = Path(_entries.__file__).with_name("learners.json").read_text(encoding="utf-8")
    written = json.loads(text).get(package, {})
    rows = [_entries.Listed(**row) for row in written.get("learners", ())]
    rows = [_entries.replace(row, tags=tuple(row.tags)) for row in rows]
    advice = "run .venv/bin/python tools/build_catalogue.py"
    assert written.get("stamp") == stamp(package), advice
    assert rows == inspected(package), advice


def test_looking_a_learner_up_imports_none():
    done = subprocess.run(
        [sys.executable, "-c", LOOK_UP], capture_output=True, text=True, check=True
    )
    assert done.stdout.split() == []


def test_a_package_that_has_changed_is_looked_at_itself(monkeypatch, unread):
    monkeypatch.setattr(
        _entries, "stamp", lambda package: "other" if package == "parametric" else stamp(package)
    )
    monkeypatch.setattr(_entries, "inspected", lambda package: [f"looked at {package}"])
    assert [row for row in listing() if isinstance(row, str)] == ["looked at parametric"]


def test_a_list_without_matches_is_empty():
    assert list(learners(task="outliers", tags=("sequences",)).columns) == list(learners().columns)
    assert learners(task="outliers", tags=("sequences",)).empty


def test_agents_are_known_by_name_and_are_no_learners_of_tables():
    names = [item.name for item in agent_entries()]
    assert names[0] == "random agent"
    assert entry("Q learning").path == "verulam.reinforcement.QLearning"
    assert entry("sarsa with traces").make().trace_decay == 0.9
    assert not set(names) & {item.name for item in entries()}
    grades = [entry(name).complexity for name in ("random agent", "Sarsa", "Dyna", "fitted Q")]
    assert grades == [0, 1, 2, 3]
    assert entry("Dyna").spoken == "Dyna"
    assert entry("Dyna").abilities.task == "control"


def test_agents_are_listed_and_found_with_the_learners():
    """By their task, by name, and by the rows of the texts that their classes cover."""
    agents = [item.name for item in agent_entries()]
    assert learners(task="control")["name"].tolist() == agents
    assert not set(agents) & {item.name for item in entries()}
    assert find("sarsa").learners[0].path == "verulam.reinforcement.Sarsa"
    assert "18.p" in [row.id for row in find("Q-learning").rows]
    assert "Dyna" in [item.name for item in find("18.5.2").learners]
