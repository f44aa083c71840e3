"""What the door of corpus offers, though nothing of it is loaded beforehand."""

import pytest

from sottovoce import corpus
from sottovoce.corpus.read.corpus import open_posts


def test_every_name_is_listed_and_loads_when_it_is_asked_for() -> None:
    names = dir(corpus)
    assert len(names) == 12
    assert {name: hasattr(corpus, name) for name in names} == dict.fromkeys(names, True)
    assert corpus.open_posts is open_posts


def test_a_name_that_is_not_there_is_refused_as_python_does() -> None:
    with pytest.raises(AttributeError, match="'sottovoce.corpus' has no attribute 'opne'"):
        _ = corpus.opne  # type: ignore[attr-defined] # what is being tried
