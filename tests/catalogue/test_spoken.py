"""Names as people write them in a sentence."""

import pytest

from verulam.catalogue import entry
from verulam.catalogue._entries import Entry
from verulam.catalogue._spoken import full_name, name_key, short_name, spoken_names


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
        ("nonparametric.KNeighboursClassifier", "k-nearest neighbours classifier"),
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
    assert short_name("BoxClassifier") == full_name("BoxClassifier") == "box classifier"
    assert short_name("OddPerceptronClassifier") == "odd perceptron"


def test_a_learner_outside_the_catalogue_has_a_name():
    assert Entry("local.OddNetworkRegressor", "nowhere.At", "ours").spoken == "odd network"


def test_case_and_punctuation_do_not_count():
    assert name_key("Ho-Kashyap") == name_key("hoKashyap") == name_key("ho kashyap")
