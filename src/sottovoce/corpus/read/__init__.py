"""Posts and documents from files of many formats, from data frames and from rows, as a stream.

Begin with `_corpus`, which opens a source: it picks the reader of its format (`_delimited`,
`_jsonl`, `_parquet`, `_aol`, `_frame`), and `_columns` makes posts or documents of the raw columns.
`_tally` says how a corpus is to be read, and counts what became of every row.

Names here are loaded when they are first used, so that the command line shows help without Arrow.
"""

from typing import TYPE_CHECKING

from sottovoce.lazy import attach

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

if TYPE_CHECKING:
    from sottovoce.corpus.read._truth import Coverage, check_truth_against_posts, read_truth
    from sottovoce.corpus.read.corpus import Corpus, open_documents, open_posts
    from sottovoce.corpus.read.tally import Format, ReadOptions, Skip, Tally
else:
    __getattr__, __dir__ = attach(
        __name__,
        {
            "Corpus": "sottovoce.corpus.read.corpus",
            "Coverage": "sottovoce.corpus.read._truth",
            "Format": "sottovoce.corpus.read.tally",
            "ReadOptions": "sottovoce.corpus.read.tally",
            "Skip": "sottovoce.corpus.read.tally",
            "Tally": "sottovoce.corpus.read.tally",
            "check_truth_against_posts": "sottovoce.corpus.read._truth",
            "open_documents": "sottovoce.corpus.read.corpus",
            "open_posts": "sottovoce.corpus.read.corpus",
            "read_truth": "sottovoce.corpus.read._truth",
        },
    )
