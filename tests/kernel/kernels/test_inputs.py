"""The reader of kernel inputs: what learners accept and refuse, and where they warn."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.model_selection import cross_val_score
from sklearn.utils import get_tags

from verulam.base import DataError, DataWarning
from verulam.kernel import (
    FunctionKernel,
    Gaussian,
    KernelPrincipalComponents,
    MultipleKernelClassifier,
    ObjectKernel,
    Precomputed,
    SupportVectorClassifier,
)
from verulam.kernel._kernels import inputs as module

X = np.random.default_rng(0).normal(size=(12, 3))


def test_precomputed_matrix_gives_what_its_kernel_gives():
    kernel = Gaussian(1.5)
    direct = KernelPrincipalComponents(3, kernel=kernel).fit(X[:9])
    precomputed = KernelPrincipalComponents(3, kernel="precomputed").fit(kernel(X[:9]))
    assert_allclose(
        precomputed.transform(kernel(X[9:], X[:9])), direct.transform(X[9:]), atol=1e-12
    )


def test_objects_are_accepted():
    words = ["cart", "card", "bard", "dog", "dig"]
    kernel = ObjectKernel(lambda first, second: len(set(first) & set(second)))
    learner = KernelPrincipalComponents(2, kernel=kernel).fit(words)
    assert_allclose(learner.transform(words), learner.spectrum_.coordinates, atol=1e-10)


def test_the_kernel_adapts_to_the_training_data():
    learner = KernelPrincipalComponents(1).fit(X)
    assert learner.space_.kernel == Gaussian().adapted(X)


def test_later_changes_of_the_data_change_nothing():
    rows = X.copy()
    learner = KernelPrincipalComponents(2).fit(rows)
    before = learner.transform(X)
    rows[:] = 0.0
    assert_allclose(learner.transform(X), before)


@pytest.mark.parametrize(
    ("matrix", "message"),
    [
        (np.ones((3, 2)), r"must be square.*\(3, 2\)"),
        (np.array([[1.0, 0.5], [0.2, 1.0]]), "must be symmetric.*0.3"),
    ],
)
def test_matrix_that_is_no_gram_matrix(matrix, message):
    with pytest.raises(DataError, match=message):
        KernelPrincipalComponents(1, kernel="precomputed").fit(matrix)


def test_indefinite_matrix_is_named_with_its_eigenvalue():
    with pytest.warns(DataWarning, match="indefinite.*-1"):
        KernelPrincipalComponents(1, kernel="precomputed").fit(
            np.array([[1.0, 2.0, 0.0], [2.0, 1.0, 0.0], [0.0, 0.0, 5.0]])
        )


def test_kernel_without_numbers():
    broken = FunctionKernel(lambda left, right: np.full((len(left), len(right)), np.nan))
    with pytest.raises(DataError, match="returned nan for row 0"):
        KernelPrincipalComponents(1, kernel=broken).fit(X)


def test_strings_where_numbers_are_needed():
    with pytest.raises(ValueError, match="could not convert string to float"):
        KernelPrincipalComponents(1).fit([["a", "b"], ["c", "d"]])


@pytest.mark.parametrize("learner", [KernelPrincipalComponents(), MultipleKernelClassifier()])
def test_words_are_refused_with_kernels_that_take_them(learner):
    with pytest.raises(DataError, match="kernel of objects such as SpectrumKernel"):
        learner.fit([["red"], ["blue"]], [0, 1])


def test_what_is_done_with_an_indefinite_matrix_is_said():
    gram = np.diag([3.0, 2.0, 1.0, -0.5])
    with pytest.warns(DataWarning, match=r"is -0.5. Directions of negative .* were left out"):
        learner = KernelPrincipalComponents(4, kernel="precomputed").fit(gram)
    assert learner.eigenvalues_.min() > 0


def test_objects_of_any_kind_are_classified():
    shared = ObjectKernel(lambda first, second: float(len(set(first) & set(second))))
    words, labels = ["aaa", "aab", "xyz", "xyy"], ["a", "a", "x", "x"]
    machine = SupportVectorClassifier(kernel=shared, C=10.0).fit(words, labels)
    assert machine.predict(["ab", "zy"]).tolist() == ["a", "x"]
    with pytest.raises(DataError, match="3 labels, but X has 4"):
        machine.fit(words, labels[:3])
    with pytest.raises(DataError, match="no inputs"):
        machine.fit([], [])


def test_machines_say_which_kernels_take_strings():
    with pytest.raises(DataError, match=r"table of numbers .*'a'.* SpectrumKernel"):
        SupportVectorClassifier().fit([["a", "b"], ["c", "d"]], [0, 1])


def test_many_rows_are_pointed_to_explicit_features(monkeypatch):
    monkeypatch.setattr(module, "MANY_ROWS", 5)
    X, y = np.arange(6.0)[:, None], [0, 0, 0, 1, 1, 1]
    with pytest.warns(DataWarning, match="random Fourier features"):
        SupportVectorClassifier().fit(X, y)
    with pytest.warns(DataWarning, match="Nystroem"):
        SupportVectorClassifier(kernel="laplacian").fit(X, y)
    assert SupportVectorClassifier(kernel="linear").fit(X, y).score(X, y) == 1.0


def test_one_rule_warns_of_many_rows(monkeypatch):
    """Time is the limit where rows are computed on demand, memory where all are held."""
    monkeypatch.setattr(module, "MANY_ROWS", 11)
    with pytest.warns(DataWarning, match="training on 12 inputs takes time") as machine:
        SupportVectorClassifier().fit(X, X[:, 0] > 0)
    monkeypatch.setattr(module, "MANY_HELD_ROWS", 11)
    with pytest.warns(DataWarning, match="Gram matrices of 12 inputs take 0.0 GiB") as components:
        KernelPrincipalComponents().fit(X)
    with pytest.warns(DataWarning, match="random Fourier features or the Nystroem") as several:
        MultipleKernelClassifier().fit(X, X[:, 0] > 0)
    for warnings in (machine, components, several):
        assert warnings[0].filename == __file__


def test_indefinite_matrices_are_told_at_the_callers_line():
    gram = np.diag([3.0, 2.0, 1.0, -0.5])
    for learner in (
        SupportVectorClassifier(kernel="precomputed"),
        KernelPrincipalComponents(2, kernel="precomputed"),
    ):
        with pytest.warns(DataWarning, match="indefinite") as warnings:
            learner.fit(gram, [0, 1, 0, 1])
        assert warnings[0].filename == __file__


@pytest.mark.parametrize("kernel", ["precomputed", Precomputed()])
def test_folds_cut_rows_and_columns_of_a_matrix_of_kernels(kernel):
    assert get_tags(SupportVectorClassifier(kernel=kernel)).input_tags.pairwise
    inputs = np.random.default_rng(0).normal(size=(40, 2))
    labels = (inputs[:, 0] > 0).astype(int)
    direct = cross_val_score(SupportVectorClassifier(kernel=Gaussian(1.0)), inputs, labels)
    machine, table = SupportVectorClassifier(kernel=kernel), Gaussian(1.0)(inputs)
    assert cross_val_score(machine, table, labels).tolist() == direct.tolist()
