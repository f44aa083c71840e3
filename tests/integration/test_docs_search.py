"""Whoever types a command or an error sentence into the search of the pages finds its page.

The index is Sphinx's own, of the pages as they are read for the documentation; asked as its script
in the browser asks: a page is found that has every word, but for stop words and numbers.
"""

import warnings
from collections.abc import Iterable
from pathlib import Path

import pytest
from sphinx.application import Sphinx
from sphinx.search import IndexBuilder
from support.error_sentences import parts, sentences
from support.help_examples import EXAMPLES

DOCS = Path(__file__).parents[2] / "docs"
_SHORT = 2  # what is no longer than this need not be on a page
HELP, TROUBLE = "reference/help", "how-to/troubleshooting"


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> IndexBuilder:
    """Of every page but the API reference, whose docstrings take longer than all others."""
    out = tmp_path_factory.mktemp("docs")
    app = Sphinx(
        DOCS,
        DOCS,
        out,
        out,
        "dummy",
        confoverrides={
            "extensions": ["myst_parser"],
            "exclude_patterns": ["_build", "generated", "reference/api.md"],
        },
        status=None,
        warning=None,
    )
    with warnings.catch_warnings():
        # What reads Markdown asks Sphinx for what a later version will not have.
        warnings.simplefilter("ignore")
        app.builder.read()
    made = IndexBuilder(app.env, "en", {}, "")
    for page in app.env.found_docs:
        made.feed(page, page, "", app.env.get_doctree(page))
    return made


def found(index: IndexBuilder, query: str, without: str = "") -> set[str]:
    """The pages that a search shows, if a page were not there."""
    words = [word for word in index.lang.split(query.lower()) if not word.isdecimal()]
    asked = {index.lang.stem(word) for word in words if word not in index.lang.stopwords}
    has = [_having(index, word) for word in asked if len(word) > _SHORT]
    assert has, query
    return set.intersection(*has) - {without}


def _having(index: IndexBuilder, word: str) -> set[str]:
    """Pages with a word, or with words that it is a part of where none has it."""
    pages: set[str] = set()
    for held in (index._mapping, index._title_mapping):
        terms = [word] if word in held else [term for term in held if word in term]
        pages.update(*(held[term] for term in terms))
    return pages


def unfound(index: IndexBuilder, page: str, queries: Iterable[str], without: str = "") -> list[str]:
    """What does not lead to the page."""
    return [query for query in queries if page not in found(index, query, without)]


def commands() -> list[str]:
    return [f"sottovoce {command}" for command in EXAMPLES]


def told() -> list[str]:
    """The words of each sentence of troubleshooting that are the same for everybody."""
    return [" ".join(parts(sentence)) for sentence in sentences()]


def test_a_search_finds_each_command(index: IndexBuilder) -> None:
    assert unfound(index, HELP, commands()) == []


def test_a_search_finds_each_error_sentence(index: IndexBuilder) -> None:
    assert unfound(index, TROUBLE, told()) == []


def test_without_their_pages_commands_and_sentences_are_not_found(index: IndexBuilder) -> None:
    """Planted faults: a page that is not there, and sentences that are on none."""
    assert unfound(index, HELP, commands(), without=HELP) == commands()
    assert unfound(index, TROUBLE, told(), without=TROUBLE) == told()
    planted = ["the quokka must be fed", "sottovoce feed quokka"]
    assert unfound(index, TROUBLE, planted) == unfound(index, HELP, planted) == planted
