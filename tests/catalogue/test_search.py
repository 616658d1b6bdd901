"""What `verulam find` finds."""

from itertools import pairwise

import pytest

import verulam
from verulam.catalogue import SearchResult, find, read_map
from verulam.catalogue._search import Place, number, places, read_sections


def ids(question):
    return [row.id for row in find(question).rows]


def test_a_section_finds_the_equations_in_it():
    found = find("13.8")
    assert found.section.title == "Multiple Kernel Learning"
    assert ids("13.8")[:3] == ["13.v", "13.w", "13.x"]
    # Equation 13.8 itself is in another section: found, but after those.
    assert ids("13.8")[3:] == ["13.c"]


def test_a_section_that_the_map_names_comes_first():
    assert ids("8.9")[0] == "8.ad"
    assert ids("§8.9")[0] == "8.ad"


def test_a_section_contains_its_subsections():
    assert {"10.k", "10.m", "10.p"} <= set(ids("10.7"))


def test_an_id_comes_first():
    assert ids("8.i")[0] == "8.i"
    assert "18.i" not in ids("8.i")
    assert [item.name for item in find("8.i").learners] == [
        "nonparametric.KNeighborsClassifier",
        "k-nearest neighbours",
    ]


def test_a_chapter():
    assert {row.partition(".")[0] for row in ids("13")} == {"13"}
    assert len(ids("13")) == 45


@pytest.mark.parametrize("question", ["multiple kernel", "Kernel MULTIPLE", "multiple kern"])
def test_all_words_must_match(question):
    assert "13.w" in ids(question)
    assert "13.k" not in ids(question)


def test_accents_do_not_matter():
    assert ids("naive bayes") == ids("Naïve Bayes") != []


def test_numbers_and_words_together():
    assert ids("13.8 localized") == ["13.x"]


def test_learners_by_name_and_by_row():
    assert find("naive bayes").learners[0].name == "parametric.NaiveBayes"
    assert find("multivariate tree classifier").learners[0].name.startswith("tree.Multi")
    assert "bagging" in [item.name for item in find("bagging").learners]
    assert "support vector machine" in {item.name for item in find("soft-margin").learners}


def test_nothing_found_suggests():
    found = find("naiv bayse")
    assert not found.rows
    assert not found.learners
    assert len(found.suggestions) == 3
    assert "naive Bayes" in found.suggestions


@pytest.mark.parametrize("question", ["", "   ", "99.99", "[a-z"])
def test_odd_questions_find_nothing(question):
    found = find(question)
    assert found.rows == ()


def test_what_a_found_learner_covers_comes_last():
    found = find("k-nearest neighbours smoother")
    assert [row.id for row in found.rows] == ["8.z"]
    found = find("k-nearest neighbours")
    assert "k-nearest neighbours" in {item.name for item in found.learners}
    assert {"8.i", "U3.q", "B4.i", "8.z"} <= {row.id for row in found.rows}
    assert ids("bagging")[:3] == ["17.u", "U5.t", "B7.e"]


@pytest.mark.parametrize(
    ("cell", "expected"),
    [
        ("§8.8.2", [Place((8, 8, 2), (8, 8, 2), True)]),
        ("8.10–8.11", [Place((8, 10), (8, 11))]),
        ("19.18–25, T19.4", [Place((19, 18), (19, 25))]),
        ("13.16, F13.3, 13.43, F13.6", [Place((13, 16), (13, 16)), Place((13, 43), (13, 43))]),
        ("F13.1,4,5,7–11", []),
        ("11.4; tables 11.1–11.2; figs 11.4–11.5", [Place((11, 4), (11, 4))]),
        ("figs 11.9, 11.13", []),
        ("11.9; fig 11.17; ex 8", [Place((11, 9), (11, 9))]),
        ("(4.1)–(4.4)", [Place((4, 1), (4, 4))]),
        ("§13.7, ex3", [Place((13, 7), (13, 7), True)]),
        ("ex 8–11", []),
        ("Bayes (8.10)", [Place((8, 10), (8, 10))]),
        ("Associations", []),
    ],
)
def test_places(cell, expected):
    assert list(places(cell)) == expected


def test_every_cell_can_be_read():
    assert sum(bool(places(row.section)) for row in read_map()) > 500


def test_equations_run_on_from_section_to_section():
    by_chapter = {}
    for section in read_sections().values():
        if section.equations:
            first, last = section.equations
            assert first <= last
            assert first[0] == last[0] == number(section.number)[0]
            by_chapter.setdefault(first[0], []).append((first, last))
    assert set(by_chapter) == set(range(8, 20))
    for chapter, ranges in by_chapter.items():
        for (_, last), (first, _) in pairwise(ranges):
            assert first[1] == last[1] + 1, (chapter, first)


def test_a_search_without_a_match_has_suggestions_alone():
    result = find("bagginng")
    assert isinstance(result, SearchResult)
    assert (result.section, result.rows, result.learners) == (None, (), ())
    assert "bagging" in result.suggestions


@pytest.mark.parametrize(
    ("question", "learner"),
    [
        ("knn", "k-nearest neighbours"),
        ("rf", "random forest"),
        ("svm", "support vector machine"),
        ("xgboost", "gradient boosting"),
        ("neural network", "neural network"),
        ("neural networks", "multilayer perceptron"),
        ("decision trees", "decision tree"),
        ("gmm", "Gaussian mixture"),
        ("outlier detection", "local outlier factor"),
        ("outliers", "local outlier factor"),
        ("lda", "Fisher's linear discriminant"),
        ("ols", "linear regression"),
        ("t-SNE", "Isomap"),
        ("LSTM", "recurrent"),
        ("kriging", "Gaussian process"),
        ("topic model", "latent Dirichlet allocation"),
    ],
)
def test_what_people_call_it(question, learner):
    spoken = [item.spoken.lower() for item in find(question).learners]
    assert any(learner.lower() in name for name in spoken)


@pytest.mark.parametrize(
    ("question", "row"),
    [
        ("radial basis function network", "12.p"),
        ("Radial basis", "12.r"),
        ("Kohonen map", "12.j"),
        ("self-organizing map", "12.i"),
        ("learning vector quantization", "12.aa"),
        ("generative topographic mapping", "12.l"),
        ("hierarchical mixture of experts", "12.ah"),
        ("Oja's rule", "12.e"),
        ("back-propagation", "11.l"),
        ("Elman network", "11.aw"),
        ("recurrent neural network", "11.aw"),
        ("Hopfield network", "11.bc"),
        ("optimal brain damage", "11.aj"),
    ],
)
def test_networks_and_local_models_under_their_other_names(question, row):
    assert row in [match.id for match in find(question).rows]


def test_three_letters_are_no_part_of_a_word():
    assert all("process" not in item.spoken.lower() for item in find("ROC").learners)
    assert "19.x" in [row.id for row in find("ROC").rows]


def test_chapters_by_their_name():
    assert find("chapter 9").rows == find("9").rows
    assert {row.id.partition(".")[0] for row in find("chapter 9").rows} == {"9"}


@pytest.mark.parametrize(
    "question",
    [
        "learning curve",
        "imbalance",
        "imbalanced",
        "feature importance",
        "Excel",
        "texts",
        "rare class",
        "unbalanced",
        "overfitting",
        "partial dependence",
        "SHAP",
        "threshold",
        "SMOTE",
        "one hot",
        "p-value",
        "Nemenyi",
        "random search",
        "regularization",
        "dropout",
    ],
)
def test_what_is_no_method_of_the_texts_is_told_where(question):
    lines = find(question).elsewhere
    assert lines
    assert not any(line.endswith("see imbalance") or ": see" in line for line in lines)
    assert not find("zebra").elsewhere


#: What Bartkowiak's notes call by the names of the Classification Toolbox (Patt), and ours.
PATT = {
    "Store_Grabbag": "nonparametric.condense",
    "RCE": "nonparametric.ReducedCoulombEnergy",
    "PNN": "nonparametric.ProbabilisticNeuralNetwork",
    "Perceptron_batch": "linear.BatchPerceptron",
    "Perceptron_FIS": "linear.Perceptron",
    "Perceptron_VIM": "linear.Perceptron",
    "Perceptron_BVI": "linear.BatchPerceptron",
    "Balanced_Winnow": "linear.BalancedWinnow",
    "Relaxation_BM": "linear.Relaxation",
    "Relaxation_SSM": "linear.Relaxation",
    "LS": "linear.MinimumSquaredError",
    "LMS": "linear.LeastMeanSquares",
    "Ho-Kashyap": "linear.HoKashyap",
    "Perceptron_Voted": "linear.VotedPerceptron",
    "Pocket": "linear.PocketPerceptron",
    "Perceptron_FM": "linear.FarthestMarginPerceptron",
    "SVM": "kernel.SupportVectorClassifier",
    "Quadprog": "kernel.solve_densely",
    "Perceptron solver": "kernel.kernel_perceptron",
    "Lagrangian": "kernel.lagrangian_machine",
    "Components_with_DF": "ensemble.GatedClassifier",
    "Components_without_DF": "ensemble.GatedClassifier",
    "ada_boost": "ensemble.AdaBoostClassifier",
    "AdaBoost": "ensemble.AdaBoostClassifier",
    "RBF_network": "local.RBFNetworkClassifier",
}


@pytest.mark.parametrize(("name", "path"), PATT.items())
def test_methods_of_patt_resolve_under_their_names(name, path):
    result = find(name)
    first = {place for row in result.rows[:2] for place in row.where}
    assert f"verulam.{path}" in first
    ours = [item for item in result.learners if item.path == f"verulam.{path}"]
    if path.rpartition(".")[2][0].isupper():
        # A learner by the same name, which can be made and has parameters.
        assert ours
        assert verulam.learner(ours[0].name).get_params()


@pytest.mark.parametrize(
    ("name", "kernel"),
    [("RBF", "Gaussian"), ("Poly", "Polynomial"), ("Linear", "Linear"), ("Sigmoid", "Sigmoid")],
)
def test_kernels_of_patt_resolve_under_their_names(name, kernel):
    for question in ("Patt kernels", f"{name} kernel"):
        places = {place for row in find(question).rows for place in row.where}
        assert f"verulam.kernel.{kernel}" in places
