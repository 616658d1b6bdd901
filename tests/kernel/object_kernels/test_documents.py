"""Document kernels: scikit-learn's counts, open vocabulary, stop words."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.feature_extraction.text import CountVectorizer, TfidfVectorizer

from verulam.base import DataError
from verulam.kernel import DocumentKernel, KernelPrincipalComponents, gram_report

DOCUMENTS = [
    "The cat sat on the mat, the mat of the house",
    "A dog sat on a cat",
    "Kernels of documents count words",
    "Words of the house",
]
NEW = ["the cat counts kernels", "zebras sat"]
TOKENS = r"(?u)\b\w+\b"


@pytest.mark.parametrize(("weighting", "binary"), [("binary", True), ("counts", False)])
def test_agrees_with_count_vectoriser(weighting, binary):
    table = CountVectorizer(binary=binary, token_pattern=TOKENS).fit(DOCUMENTS + NEW)
    first, second = (table.transform(texts).toarray() for texts in (NEW, DOCUMENTS))
    assert_allclose(DocumentKernel(weighting)(NEW, DOCUMENTS), first @ second.T)


def test_agrees_with_tf_idf():
    table = TfidfVectorizer(norm=None, token_pattern=TOKENS).fit(DOCUMENTS)
    kernel = DocumentKernel("tf-idf").adapted(DOCUMENTS)
    expected = table.transform(NEW) @ table.transform(DOCUMENTS).T
    assert_allclose(kernel(NEW, DOCUMENTS), expected.toarray())
    assert_allclose(kernel.normalised().diagonal(DOCUMENTS), 1.0)


def test_preset_words_are_the_binary_map():
    words = ("cat", "mat", "words")
    features = np.array(
        [[word in document.lower().split() for word in words] for document in DOCUMENTS]
    )
    features[0, 1] = True
    kernel = DocumentKernel(vocabulary=words)
    assert_allclose(kernel(DOCUMENTS), features.astype(int) @ features.T.astype(int))


def test_stop_words_do_not_count():
    pair = ["the house of the cat"], ["the dog of a man"]
    assert DocumentKernel()(*pair) == 2
    assert DocumentKernel(stop_words="english")(*pair) == 0
    assert DocumentKernel(stop_words=("the",))(*pair) == 1


@pytest.mark.parametrize("weighting", ["binary", "counts", "tf-idf"])
def test_gram_matrix_is_one(weighting):
    assert gram_report(DocumentKernel(weighting).adapted(DOCUMENTS)(DOCUMENTS))


def test_learners_take_documents():
    learner = KernelPrincipalComponents(2, kernel=DocumentKernel("tf-idf")).fit(DOCUMENTS)
    assert learner.transform(NEW).shape == (2, 2)


def test_bad_arguments():
    with pytest.raises(DataError, match="weighting must be one of binary, counts, tf-idf"):
        DocumentKernel("idf")
    with pytest.raises(DataError, match="stop_words must be"):
        DocumentKernel(stop_words="french")
    with pytest.raises(DataError, match=r"call adapted\(X\) first"):
        DocumentKernel("tf-idf")(DOCUMENTS)
    with pytest.raises(DataError, match="a document must be a string; got int"):
        DocumentKernel()([1, 2])
