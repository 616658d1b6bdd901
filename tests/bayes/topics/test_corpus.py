"""Documents: drawn as the model says, cut into tokens, read from texts and tables."""

import numpy as np
import pandas as pd
import pytest
import scipy.sparse
from sklearn.feature_extraction.text import CountVectorizer

from verulam.base import DataError, DataWarning
from verulam.bayes import Corpus, LatentDirichletAllocation, draw_documents
from verulam.bayes._topics.corpus import cut_into_tokens

TEXTS = ["ball goal ball", "paint brush", "goal ball", "brush paint paint"] * 4


def test_documents_have_their_lengths_and_their_topics():
    lengths = np.arange(200) % 7
    corpus = draw_documents(200, 3, 12, lengths=lengths, random_state=0)
    assert isinstance(corpus, Corpus)
    np.testing.assert_array_equal(corpus.counts.sum(axis=1), lengths)
    np.testing.assert_allclose(corpus.topics.sum(axis=1), 1.0)
    np.testing.assert_allclose(corpus.proportions.sum(axis=1), 1.0)


def test_words_are_drawn_by_proportions_and_topics():
    topics = np.kron(np.eye(2), [[0.75, 0.25]])
    corpus = draw_documents(300, lengths=2000, topics=topics, doc_topic_prior=1.0, random_state=0)
    shares = corpus.counts.toarray() / 2000
    np.testing.assert_allclose(shares, corpus.proportions @ topics, atol=0.06)
    assert np.abs(shares - corpus.proportions @ topics).mean() < 0.01


def test_small_priors_give_few_topics_and_few_words():
    few, many = (
        draw_documents(100, 5, 50, doc_topic_prior=p, topic_word_prior=p, random_state=0)
        for p in (0.01, 10.0)
    )
    assert few.proportions.max(axis=1).mean() > 0.9 > 0.5 > many.proportions.max(axis=1).mean()
    assert few.topics.max(axis=1).mean() > many.topics.max(axis=1).mean()


def test_counts_become_tokens_and_fractions_share_them():
    counts = scipy.sparse.csr_array([[2.0, 0.0, 1.0], [0.0, 0.0, 0.0], [0.0, 3.0, 0.0]])
    tokens = cut_into_tokens(counts)
    assert tokens.words.tolist() == [0, 0, 2, 1, 1, 1]
    assert tokens.starts.tolist() == [0, 3, 3, 6]
    assert tokens.weights is None
    assert tokens.documents.tolist() == [0, 0, 0, 2, 2, 2]
    halves = cut_into_tokens(counts * 0.75)
    np.testing.assert_allclose(np.bincount(halves.words, halves.weights), [1.5, 2.25, 0.75])
    assert halves.weights.max() <= 1.0


def test_texts_dense_and_sparse_counts_are_the_same_documents():
    vectorizer = CountVectorizer()
    counts = vectorizer.fit_transform(TEXTS)
    table = pd.DataFrame(counts.toarray(), columns=vectorizer.get_feature_names_out())
    models = [
        LatentDirichletAllocation(2, method="variational", random_state=0).fit(X)
        for X in (TEXTS, np.array(TEXTS), pd.Series(TEXTS), counts, counts.toarray(), table)
    ]
    for model in models[1:]:
        np.testing.assert_allclose(model.components_, models[0].components_)
    assert models[0].words().tolist() == models[-1].words().tolist()
    assert models[3].words()[1] == "word 1"
    assert models[0].n_features_in_ == 4


def test_texts_may_come_one_after_another():
    learner = LatentDirichletAllocation(2, method="variational", random_state=0)
    expected = learner.fit(TEXTS).components_
    np.testing.assert_array_equal(learner.fit(text for text in TEXTS).components_, expected)


def test_a_vectorizer_of_choice_counts():
    vectorizer = CountVectorizer(stop_words=["goal"])
    model = LatentDirichletAllocation(2, vectorizer=vectorizer, method="variational").fit(TEXTS)
    assert "goal" not in model.words()


def test_unknown_words_are_left_out_with_a_word():
    model = LatentDirichletAllocation(2, method="variational", random_state=0).fit(TEXTS)
    with pytest.warns(DataWarning, match="2 words of the texts are not in the vocabulary"):
        known = model.transform(["ball violin goal piano"])
    np.testing.assert_allclose(known, model.transform(["ball goal"]))
    with pytest.warns(DataWarning) as notes:
        nothing = model.transform(["violin"])
    assert "1 of 1 documents are empty (0, counted from 0)" in str(notes[-1].message)
    np.testing.assert_allclose(nothing, [[0.5, 0.5]])


def test_empty_documents_take_the_prior():
    counts = np.array([[3, 0], [0, 0], [0, 4]])
    for method in ("gibbs", "variational"):
        model = LatentDirichletAllocation(2, method=method, n_iter=20, burn_in=16, random_state=0)
        with pytest.warns(DataWarning, match="1 of 3 documents are empty"):
            model.fit(counts)
        np.testing.assert_allclose(model.doc_topic_[1], [0.5, 0.5])
    with pytest.raises(DataError, match="all documents are empty; topics need some words"):
        LatentDirichletAllocation(2).fit(np.zeros((3, 2)))
    with pytest.raises(DataError, match="X has no documents; expected a list of texts"):
        LatentDirichletAllocation(2).fit([])


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: draw_documents(0), "n_documents must be a whole number, 1 or more; got 0"),
        (lambda: draw_documents(2, lengths=[1, 2, 3]), "lengths must be a whole number"),
        (lambda: draw_documents(2, lengths=-1), "lengths must be a whole number"),
        (lambda: draw_documents(doc_topic_prior=0.0), "doc_topic_prior must be a number above 0"),
        (lambda: draw_documents(topics=[[0.5, 0.6]]), "topics must have a row of probabilities"),
        (
            lambda: LatentDirichletAllocation(2).fit([[1, 2], [3, -4]]),
            "a count of -4 in row 1 .counted from 0.; counts are 0 or more",
        ),
        (lambda: LatentDirichletAllocation(2).fit("a text"), "X is one string; expected a list"),
        (lambda: LatentDirichletAllocation(2).fit(["", "  "]), "the texts hold no word to count"),
        (
            lambda: LatentDirichletAllocation(2).fit([["a", "b"], ["c"]]),
            "document 0 .counted from 0. is a list of words; expected one string",
        ),
        (
            lambda: LatentDirichletAllocation(2).fit(["a cat", None]),
            "document 1 .counted from 0. is None, which is no text",
        ),
        (
            lambda: (
                LatentDirichletAllocation(2, method="variational")
                .fit([[1, 2], [2, 1]])
                .transform(["a b"])
            ),
            "X holds texts, but LatentDirichletAllocation was trained on counts",
        ),
    ],
)
def test_wrong_input_is_named(call, message):
    with pytest.raises(DataError, match=message):
        call()


def test_a_table_with_a_column_of_texts_is_refused_by_its_name():
    table = pd.DataFrame({"length": [3, 2] * 8, "abstract": TEXTS})
    with pytest.raises(DataError, match="column 'abstract' holds texts; pass that column alone"):
        LatentDirichletAllocation(2).fit(table)
    LatentDirichletAllocation(2, method="variational", random_state=0).fit(table["abstract"])
