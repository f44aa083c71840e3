"""Embedding and map files made of anything: read, or refused by name; never a traceback."""

import contextlib
import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from sottovoce.errors import InputError
from sottovoce.release.compression.embedding import read_embedding
from sottovoce.release.compression.word_map import WordMap, load_maps, packed_maps

ANYTHING = settings(
    deadline=None, max_examples=100, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
PIECES = st.sampled_from(
    [
        b"cat",
        b" ",
        b"\n",
        b"1",
        b"-0.5",
        b"1e400",
        b"nan",
        b"3 2\n",
        b"\x00",
        b"\xff",
        b"\r\n",
        b"9" * 30,
    ]
)


@given(st.lists(PIECES, max_size=30).map(b"".join), st.sampled_from(["vectors.txt", "vectors.bin"]))
@ANYTHING
def test_any_bytes_are_an_embedding_or_an_input_error(
    tmp_path: Path, content: bytes, name: str
) -> None:
    path = tmp_path / name
    path.write_bytes(content)
    with contextlib.suppress(InputError):
        embedding = read_embedding(path)
        assert np.isfinite(embedding.vectors).all()


@pytest.fixture
def stem(tmp_path: Path) -> Path:
    packed, card = packed_maps([WordMap(np.array([0, 1, 1]), 2)], method="random")
    (tmp_path / "map.npz").write_bytes(packed)
    for name in ("map.json", "card"):
        (tmp_path / name).write_text(card)
    return tmp_path / "map"


@given(
    st.dictionaries(
        st.sampled_from(["format", "version", "method", "words", "columns", "maps", "sha256"]),
        st.one_of(st.none(), st.integers(), st.text(max_size=5), st.lists(st.integers())),
        min_size=1,
    )
)
@ANYTHING
def test_any_card_is_a_map_or_an_input_error(stem: Path, changes: dict[str, object]) -> None:
    card = json.loads(stem.with_name("card").read_text())
    stem.with_suffix(".json").write_text(json.dumps({**card, **changes}))
    with contextlib.suppress(InputError):
        maps, _ = load_maps(stem)
        assert [each.words for each in maps] == [3]


@given(st.binary(max_size=200))
@ANYTHING
def test_a_damaged_array_is_always_noticed(stem: Path, damage: bytes) -> None:
    stem.with_suffix(".npz").write_bytes(damage)
    with pytest.raises(InputError):
        load_maps(stem)
