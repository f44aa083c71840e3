"""Posts and documents from files of many formats, and from data frames, as a stream."""

from sottovoce.corpus.reading.corpus import Corpus, open_documents, open_posts
from sottovoce.corpus.reading.options import Format, ReadOptions
from sottovoce.corpus.reading.tally import Skip, Tally
from sottovoce.corpus.reading.truth import Coverage, check_truth_against_posts, read_truth

__all__ = [
    "Corpus",
    "Coverage",
    "Format",
    "ReadOptions",
    "Skip",
    "Tally",
    "check_truth_against_posts",
    "open_documents",
    "open_posts",
    "read_truth",
]
