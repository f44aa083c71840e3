"""A post whose letters are spelt as several characters says what it says composed."""

import unicodedata

from sottovoce.assess.disclosure.disclosures import DisclosureReader
from sottovoce.assess.disclosure.levels import DisclosureLevel
from sottovoce.topics.catalogue import Catalogue, Topic

READER = DisclosureReader(Catalogue((Topic("nausea", ("übelkeit", "صداع"), "health"),)))


def told(text: str) -> list[tuple[DisclosureLevel, list[str]]]:
    return [
        (each.level, [text[first:last] for first, last in each.spans]) for each in READER.read(text)
    ]


def test_decomposed_letters_are_read_and_marked_where_they_stand() -> None:
    text = "It is a cafe\u0301. Yes, my übelkeit is back."
    apart = unicodedata.normalize("NFD", text)
    assert apart != text
    (level, words), = told(apart)  # fmt: skip
    assert [(level, [unicodedata.normalize("NFC", word) for word in words])] == told(
        unicodedata.normalize("NFC", text)
    )
    assert level is DisclosureLevel.OUTRIGHT
    assert any(unicodedata.normalize("NFD", "übelkeit") in word for word in words)


def test_vowel_points_do_not_hide_a_word() -> None:
    assert [level for level, _ in told("صُدَاع")] == [level for level, _ in told("صداع")] != []
