"""Posts and documents from files of many formats, and from data frames, as a stream.

Names here are loaded when they are first used, so that the command line shows help without Arrow.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from sottovoce.corpus.read._corpus import Corpus, open_documents, open_posts
    from sottovoce.corpus.read._tally import Format, ReadOptions, Skip, Tally
    from sottovoce.corpus.read._truth import Coverage, check_truth_against_posts, read_truth


_WHERE = {
    "Corpus": "sottovoce.corpus.read._corpus",
    "Coverage": "sottovoce.corpus.read._truth",
    "Format": "sottovoce.corpus.read._tally",
    "ReadOptions": "sottovoce.corpus.read._tally",
    "Skip": "sottovoce.corpus.read._tally",
    "Tally": "sottovoce.corpus.read._tally",
    "check_truth_against_posts": "sottovoce.corpus.read._truth",
    "open_documents": "sottovoce.corpus.read._corpus",
    "open_posts": "sottovoce.corpus.read._corpus",
    "read_truth": "sottovoce.corpus.read._truth",
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
    return getattr(import_module(_WHERE[name]), name)


def __dir__() -> list[str]:
    # So that completion and the guide find names that are not loaded yet.
    return [*globals(), *__all__]
