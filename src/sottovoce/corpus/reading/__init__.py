"""Posts and documents from files of many formats, and from data frames, as a stream.

Names here are loaded when they are first used, so that the command line shows help without Arrow.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from sottovoce.corpus.reading.corpus import Corpus, open_documents, open_posts
    from sottovoce.corpus.reading.options import Format, ReadOptions
    from sottovoce.corpus.reading.tally import Skip, Tally
    from sottovoce.corpus.reading.truth import Coverage, check_truth_against_posts, read_truth

_WHERE = {
    "Corpus": "corpus",
    "Coverage": "truth",
    "Format": "options",
    "ReadOptions": "options",
    "Skip": "tally",
    "Tally": "tally",
    "check_truth_against_posts": "truth",
    "open_documents": "corpus",
    "open_posts": "corpus",
    "read_truth": "truth",
}
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


def __getattr__(name: str) -> Any:  # noqa: ANN401 - whatever stands there
    if name not in _WHERE:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_WHERE[name]}"), name)
