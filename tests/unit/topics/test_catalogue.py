"""A catalogue is what it should be, or an error says which field of which topic is not."""

from pathlib import Path
from typing import Any

import pytest

from sottovoce.corpus.simulate.parameters import DOMAINS, SimulationParameters
from sottovoce.corpus.simulate.write import write_community
from sottovoce.errors import InputError, ParameterError
from sottovoce.topics.catalogue import Catalogue, Topic
from sottovoce.topics.judgements.votes import CATEGORIES

GOOD = """
[[topic]]
name = "debts"
domain = "finance"
words = ["debt", "credit card"]
"""
INSIDE = "zanzibar"


def load(tmp_path: Path, text: str | bytes) -> Catalogue:
    path = tmp_path / "topics.toml"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return Catalogue.load(path)


def test_what_is_saved_is_loaded_again(tmp_path: Path) -> None:
    catalogue = Catalogue(
        (
            Topic("debts", ("debt", "credit card"), "finance", sensitive=True, dimensions=(3, 17)),
            Topic('a "quoted" \\ name', ("über",), "family", weights=(0.1 + 0.2,)),
            Topic("two", ("x", "y"), "other", weights=(0.0, 1e-300)),
        ),
        model="ab12",
    )
    catalogue.save(tmp_path / "saved.toml")
    assert Catalogue.load(tmp_path / "saved.toml") == catalogue


def test_the_simulator_s_catalogue_is_read_and_written_byte_for_byte(tmp_path: Path) -> None:
    write_community(tmp_path, SimulationParameters(users=60, weeks=2, background_documents=1))
    catalogue = Catalogue.load(tmp_path / "topics.toml")
    assert len(catalogue) == 46
    assert len(catalogue.sensitive) == 5
    catalogue.save(tmp_path / "again.toml")
    assert (tmp_path / "again.toml").read_bytes() == (tmp_path / "topics.toml").read_bytes()


def test_judges_choose_among_the_simulator_s_domains() -> None:
    assert CATEGORIES == DOMAINS


DEBTS = "topic 'debts': "


def with_words(words: str) -> str:
    return GOOD.replace('["debt", "credit card"]', words)


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ("sensitive = 1", "sensitive must be true or false"),
        ("weights = [1.0]", "weights must be as many as words, 2, got 1"),
        ("weights = [1.0, nan]", "weights must be finite and >= 0, got 1"),
        ("weights = [1.0, inf]", "weights must be finite"),
        ("weights = [1.0, -0.5]", "weights must be finite and >= 0, got 1"),
        ("weights = [0, 0]", "weights must not all be 0"),
        ("weights = [1.0, true]", "weights must be a list of numbers"),
        ('weights = "much"', "weights must be a list of numbers"),
        ("dimensions = [-1]", "dimensions must be >= 0, got -1"),
        ("dimensions = [1, 1]", "dimensions must differ"),
        ("dimensions = [1.5]", "dimensions must be a list of whole numbers"),
        ("dimensions = [true]", "dimensions must be a list of whole numbers"),
    ],
)
def test_a_wrong_value_is_told_by_topic_and_field(tmp_path: Path, line: str, says: str) -> None:
    with pytest.raises(InputError, match=DEBTS + says):
        load(tmp_path, f'model = "ab12"\n{GOOD}{line}\n')


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "at least one"),
        ('topic = "debts"', "at least one"),
        ("topic = [1]", "topic 1 must be a"),
        (f"{INSIDE} = 1\n{GOOD}", "1 unknown keys at the top"),
        (f"{GOOD}{INSIDE} = 1", "1 unknown keys in topic 'debts'"),
        (f"model = 1\n{GOOD}", "model must be"),
        (f'model = ""\n{GOOD}', "model must be"),
        (GOOD + GOOD, "must differ, got 1 repeated"),
        (GOOD + "dimensions = [1]", "without their model"),
        (f"{INSIDE} {INSIDE}", "not TOML \\(at line 1"),
        (b"\xff\xfe", "no UTF-8"),
        ("x = 1" + "0" * 5000, "too many digits"),
        (GOOD + f"weights = [1, 1{'0' * 400}]", "too many digits"),
        ("x = [{y = 0x" + "f" * 5000 + "}]", "too many digits"),
        ("x = " + "[" * 5000, "no TOML|nested"),
        (GOOD.replace("debts", "\\u001b[31m"), "topic 1: name must be a printable text"),
        (GOOD.replace('"finance"', '" "'), "topic 1: domain must be a printable text"),
        (GOOD.replace('domain = "finance"\n', ""), "topic 'debts' has no domain"),
        (GOOD.replace('name = "debts"\n', ""), "topic 1 has no name"),
        (GOOD.replace('words = ["debt", "credit card"]\n', ""), "topic 'debts' has no words"),
        (with_words("[]"), DEBTS + "words .*at least 1"),
        (with_words('["debt", "debt"]'), DEBTS + "words .*must differ, got 1 repeated"),
        (with_words('["Debt"]'), DEBTS + "words .*got 1 that are not"),
        (with_words('["one two three", "a-b", ""]'), DEBTS + "words .*got 3 that are not"),
        (with_words('"debt"'), DEBTS + "words .*must be a list of texts"),
        (with_words("[1]"), DEBTS + "words .*must be a list of texts"),
    ],
)
def test_an_unusable_file_is_refused_without_being_quoted(
    tmp_path: Path, text: str | bytes, says: str
) -> None:
    with pytest.raises(InputError, match=says) as refused:
        load(tmp_path, text)
    assert INSIDE not in str(refused.value)
    assert "\x1b" not in str(refused.value)


def test_a_file_that_is_absent_or_too_large_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(InputError, match="cannot be read: No such file or directory"):
        Catalogue.load(tmp_path / "none.toml")
    monkeypatch.setattr("sottovoce.topics.catalogue.MOST_BYTES", 10)
    with pytest.raises(InputError, match="at most 10 bytes"):
        load(tmp_path, GOOD)


@pytest.mark.parametrize(
    "fields", [{"words": ()}, {"weights": (float("nan"),)}, {"dimensions": (-1,)}, {"name": ""}]
)
def test_a_topic_made_in_python_is_checked_too(fields: dict[str, Any]) -> None:
    good: dict[str, Any] = {"name": "a", "words": ("word",), "domain": "other"}
    Topic(**good)
    with pytest.raises(ParameterError):
        Topic(**(good | fields))
