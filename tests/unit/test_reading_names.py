"""What the package of readers offers, though nothing of it is loaded beforehand."""

import pytest

from sottovoce.corpus import reading
from sottovoce.corpus.reading.corpus import open_posts


def test_every_name_is_listed_and_loads_when_it_is_asked_for() -> None:
    assert set(reading.__all__) <= set(dir(reading))
    assert {name: hasattr(reading, name) for name in reading.__all__} == dict.fromkeys(
        reading.__all__, True
    )
    assert reading.open_posts is open_posts


def test_a_name_that_is_not_there_is_refused_as_python_does() -> None:
    with pytest.raises(AttributeError, match="'sottovoce.corpus.reading' has no attribute 'opne'"):
        _ = reading.opne
