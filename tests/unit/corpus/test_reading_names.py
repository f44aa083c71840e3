"""What the package of readers offers, though nothing of it is loaded beforehand."""

import pytest

from sottovoce.corpus import read
from sottovoce.corpus.read.corpus import open_posts


def test_every_name_is_listed_and_loads_when_it_is_asked_for() -> None:
    assert dir(read) == sorted(read.__all__)
    assert {name: hasattr(read, name) for name in read.__all__} == dict.fromkeys(read.__all__, True)
    assert read.open_posts is open_posts


def test_a_name_that_is_not_there_is_refused_as_python_does() -> None:
    with pytest.raises(AttributeError, match="'sottovoce.corpus.read' has no attribute 'opne'"):
        _ = read.opne  # type: ignore[attr-defined] # what is being tried
