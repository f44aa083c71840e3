"""Whatever a catalogue, a sheet of votes or a key holds: it is read, or refused with a sentence."""

import string
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from sottovoce.corpus.vocabulary import is_term
from sottovoce.errors import InputError
from sottovoce.topics.catalogue import Catalogue, Topic, is_name
from sottovoce.topics.judgements.profiles import load_key
from sottovoce.topics.judgements.votes import (
    plain_cell,
    read_rows,
    read_votes,
    safe_cell,
    write_rows,
)

many = settings(
    max_examples=100,
    deadline=None,
    # How many of the drawn names are of use varies from run to run.
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.filter_too_much],
)

values = st.recursive(
    st.sampled_from(['""', '"x"', "1", "-1", "nan", "inf", "true", "1e999", "[]", "2024-01-01"])
    | st.integers().map(str)
    | st.floats().map(str),
    lambda inner: st.lists(inner, max_size=3).map(lambda items: f"[{', '.join(items)}]"),
    max_leaves=6,
)
keys = st.sampled_from(
    ["name", "domain", "words", "sensitive", "weights", "dimensions", "model", "topic", "other"]
)
lines = st.one_of(
    st.just("[[topic]]"),
    st.just('[[topic]]\nname = "a"\ndomain = "b"\nwords = ["c", "d"]'),
    st.just("[topic]"),
    st.tuples(keys, values).map(" = ".join),
    st.text(max_size=10),
)
catalogue_texts = st.lists(lines, max_size=8).map("\n".join)
cells = st.sampled_from(["", "a", "yes", "no", "law", "hiv", '"', "'", "=1", "\x00", "1,2", "\n"])
headers = st.sampled_from(
    ["judge,topic,sensitive,domain", "WorkerId;Input.item;Answer.sensitive.yes", "a\tb", "", '"']
)
vote_texts = st.tuples(
    headers, st.lists(st.lists(cells, max_size=5).map(",".join), max_size=6)
).map(lambda parts: "\n".join([parts[0], *parts[1]]))

READERS: dict[str, Callable[[Path], object]] = {
    "catalogue": Catalogue.load,
    "votes": lambda path: read_votes([path], allow_missing=True),
    "key": load_key,
}


@pytest.mark.parametrize("reader", READERS)
@many
@given(content=st.binary(max_size=200))
def test_any_bytes_are_read_or_refused(tmp_path: Path, reader: str, content: bytes) -> None:
    path = tmp_path / "file"
    path.write_bytes(content)
    with suppress(InputError):
        READERS[reader](path)


@many
@given(text=catalogue_texts)
def test_any_lines_of_a_catalogue_are_read_or_refused(tmp_path: Path, text: str) -> None:
    path = tmp_path / "topics.toml"
    path.write_text(text, encoding="utf-8", errors="replace")
    try:
        loaded = Catalogue.load(path)
    except InputError:
        return
    loaded.save(path)
    assert Catalogue.load(path) == loaded


@many
@given(text=vote_texts)
def test_any_lines_of_votes_are_read_or_refused(tmp_path: Path, text: str) -> None:
    path = tmp_path / "votes.csv"
    path.write_text(text, encoding="utf-8", newline="")
    with suppress(InputError):
        read_votes([path], allow_missing=True)


words = st.text(string.ascii_lowercase + "éßñ語", min_size=1, max_size=6).filter(is_term)
topics = st.builds(
    Topic,
    name=st.text(min_size=1, max_size=20).filter(is_name),
    words=st.lists(words, min_size=1, max_size=5, unique=True).map(tuple),
    domain=st.text(min_size=1, max_size=10).filter(is_name),
    sensitive=st.booleans(),
    dimensions=st.lists(st.integers(0, 499), max_size=4, unique=True).map(tuple),
)


# A drawn catalogue costs more than a file of any bytes.
@settings(many, max_examples=40)
@given(chosen=st.lists(topics, min_size=1, max_size=4, unique_by=lambda topic: topic.name))
def test_any_catalogue_survives_being_saved(tmp_path: Path, chosen: list[Topic]) -> None:
    catalogue = Catalogue(tuple(chosen), "fingerprint")
    catalogue.save(tmp_path / "topics.toml")
    assert Catalogue.load(tmp_path / "topics.toml") == catalogue


def printed(text: str) -> str:
    return "".join(c if c.isprintable() or c in "\n\t" else " " for c in text).strip()


@settings(deadline=None)
@given(st.text(max_size=20))
@example("''=1")
@example("\u00a0=1")
def test_no_cell_starts_a_formula_and_all_are_read_back(text: str) -> None:
    safe = safe_cell(text)
    assert not safe.lstrip().startswith(("=", "+", "-", "@"))
    assert plain_cell(safe) == printed(text)


@many
@given(texts=st.lists(st.text(max_size=12), min_size=1, max_size=4))
def test_rows_survive_being_written(tmp_path: Path, texts: list[str]) -> None:
    path = tmp_path / "rows.csv"
    write_rows(path, ("first", "second"), [{"first": "1", "second": text} for text in texts])
    assert [row["second"] for _, row in read_rows(path)] == [printed(text) for text in texts]
