"""Networks in the experiment half: compared by name, judged by their densities."""

from verulam.experiment import compare
from verulam.graphical import BayesianNetworkClassifier, BayesianNetworkDensity


def test_classifiers_of_every_structure_are_compared():
    """Titanic has categories, numbers and gaps, which networks take as they are."""
    learners = {
        structure: BayesianNetworkClassifier(structure=structure) for structure in ("naive", "tan")
    }
    drawn = [("class", "sex"), ("class", "passenger_class")]
    learners["drawn"] = BayesianNetworkClassifier(structure=drawn)
    comparison = compare(
        "titanic", learners, resampling="3-fold", random_state=0, progress=False
    )  # fmt: skip
    ranking = comparison.ranking()
    assert set(ranking.index) == set(learners)
    assert (ranking["mean"] < 0.27).all()


def test_a_network_is_compared_by_name():
    comparison = compare(
        "titanic",
        ["Bayesian network classifier", "majority class"],
        resampling="2-fold",
        random_state=0,
        progress=False,
    )
    ranking = comparison.ranking()
    assert ranking.index[0].lower().startswith("bayesian network")
    assert ranking["mean"].iloc[0] < ranking["mean"].iloc[1] - 0.1


def test_densities_are_compared_by_the_likelihood_of_rows_set_aside():
    """Columns of the wines depend on one another: a tree tells new bottles better than none."""
    learners = {
        structure: BayesianNetworkDensity(structure=structure, n_bins=3)
        for structure in ("independent", "tree")
    }
    comparison = compare(
        "wine", learners, task="density", resampling="3-fold", random_state=0, progress=False
    )
    means = comparison.ranking()["mean"]
    assert means["tree"] > means["independent"] + 1
