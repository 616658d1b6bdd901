"""Kernels of documents: words that two texts share."""

import re
from collections import Counter
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from sklearn.feature_extraction.text import ENGLISH_STOP_WORDS

from verulam.base import DataError
from verulam.kernel._kernels.base import Kernel
from verulam.kernel._object_kernels.bags import Bag, PartKernel

_WEIGHTINGS = ("binary", "counts", "tf-idf")
_WORD = re.compile(r"\w+")


@dataclass(frozen=True)
class DocumentKernel(PartKernel):
    r"""Number of words that two documents share.

    Attributes
    ----------
    weighting
        "binary" counts a word once, "counts" as often as it occurs, "tf-idf" also divides by how
        common it is in the training documents.
    stop_words
        Words to leave out; "english" for a list of common ones, None for none.
    vocabulary
        The only words that count; None for any.
    rarity : dict or None
        Weight of each training word under "tf-idf", filled in by `adapted`.
    newcomer
        Weight of a word that no training document has.

    Notes
    -----
    .. math:: K(D_1, D_2) = \phi(D_1)^T \phi(D_2)

    where :math:`\phi` has an entry for every word there is: without a vocabulary it is never
    written out. The weight of word :math:`w` in "tf-idf" is its count times
    :math:`1 + \ln\frac{1 + N}{1 + N_w}`. See Alpaydin 13.7.

    Examples
    --------
    >>> from verulam.kernel import DocumentKernel
    >>> kernel = DocumentKernel(stop_words="english")
    >>> kernel(["The cat sat on the mat"], ["a cat on a mat", "the dog"])
    array([[2., 0.]])
    """

    weighting: str = "binary"
    stop_words: str | tuple[str, ...] | None = None
    vocabulary: tuple[str, ...] | None = None
    rarity: dict[str, float] | None = field(default=None, repr=False, compare=False)
    newcomer: float = field(default=1.0, repr=False, compare=False)

    def __post_init__(self) -> None:
        if self.weighting not in _WEIGHTINGS:
            raise DataError(
                f"weighting must be one of {', '.join(_WEIGHTINGS)}; got {self.weighting!r}."
            )
        if isinstance(self.stop_words, str) and self.stop_words != "english":
            raise DataError(
                f'stop_words must be "english", a list of words or None; got {self.stop_words!r}.'
            )

    def words(self, document: str) -> Counter[str]:
        """Return the words of a document with their counts, those left out excepted."""
        if not isinstance(document, str):
            raise DataError(f"a document must be a string; got {type(document).__name__}.")
        counts = Counter(_WORD.findall(document.lower()))
        stopped = ENGLISH_STOP_WORDS if self.stop_words == "english" else self.stop_words or ()
        for word in stopped:
            counts.pop(word, None)
        if self.vocabulary is not None:
            counts = Counter({word: counts[word] for word in self.vocabulary if word in counts})
        return counts

    def adapted(self, X: Any) -> Kernel:
        if self.weighting != "tf-idf":
            return self
        documents = self.inputs(X)
        document_counts = Counter(word for document in documents for word in self.words(document))
        size = len(documents)
        # As if one document more had every word: no weight is infinite.
        rarity = {
            word: 1.0 + np.log((1 + size) / (1 + count)) for word, count in document_counts.items()
        }
        return replace(self, rarity=rarity, newcomer=1.0 + float(np.log(1 + size)))

    def parts(self, structure: Any) -> Bag:
        counts = self.words(structure)
        if self.weighting == "binary":
            return dict.fromkeys(counts, 1.0)
        if self.weighting == "counts":
            return counts
        if self.rarity is None:
            raise DataError(
                'weighting "tf-idf" needs the training documents: call adapted(X) first, or give '
                "the kernel to a learner, which does."
            )
        rarity = self.rarity
        return {word: count * rarity.get(word, self.newcomer) for word, count in counts.items()}
