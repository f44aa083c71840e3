"""Maps on disk."""

import hashlib
import json
from io import BytesIO
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from sottovoce.errors import ModelFileError
from sottovoce.release.compression.word_map import WordMap, load_maps, packed_maps

MAPS = [WordMap(np.array([0, 1, 1, 0]), 2), WordMap(np.array([1, 1, 0, 0]), 2)]


def rewrite_card(stem: Path, **changes: object) -> None:
    path = stem.with_suffix(".json")
    path.write_text(json.dumps({**json.loads(path.read_text()), **changes}))


def rewrite_array(stem: Path, **arrays: NDArray[np.generic]) -> None:
    buffer = BytesIO()
    np.savez_compressed(buffer, **arrays)  # type: ignore[arg-type]  # numpy's stub takes a flag too
    stem.with_suffix(".npz").write_bytes(buffer.getvalue())
    rewrite_card(stem, sha256=hashlib.sha256(buffer.getvalue()).hexdigest())


@pytest.fixture
def stem(tmp_path: Path) -> Path:
    packed, card = packed_maps(MAPS, method="random")
    (tmp_path / "map.npz").write_bytes(packed)
    (tmp_path / "map.json").write_text(card)
    return tmp_path / "map"


def test_maps_come_back_as_they_were_saved(stem: Path) -> None:
    maps, card = load_maps(stem)
    assert maps == MAPS
    assert (card.method, card.words, card.columns, card.maps) == ("random", 4, 2, 2)


def test_maps_of_different_shapes_are_not_saved_together() -> None:
    with pytest.raises(ModelFileError, match="same words and columns"):
        packed_maps([MAPS[0], WordMap(np.array([0, 1]), 2)], method="random")


def test_a_changed_array_is_noticed(stem: Path) -> None:
    path = stem.with_suffix(".npz")
    path.write_bytes(path.read_bytes()[:-1] + b"!")
    with pytest.raises(ModelFileError, match="does not match its card's sha256"):
        load_maps(stem)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"format": "other"}, "must be of format"),
        ({"version": 2}, "must be of format"),
        ({"words": 0}, "whole numbers >= 1"),
        ({"columns": True}, "whole numbers >= 1"),
        ({"maps": 2**30}, "words times maps must be at most"),
        ({"words": 5}, "2 x 5 32-bit integers"),
        ({"columns": 1}, "column numbers must lie in 0..0"),
        ({"surprise": 1}, "not a map's card"),
    ],
)
def test_a_card_that_does_not_fit_is_refused(
    stem: Path, changes: dict[str, object], message: str
) -> None:
    rewrite_card(stem, **changes)
    with pytest.raises(ValueError, match=message):
        load_maps(stem)


@pytest.mark.parametrize("card", [b"", b"[1]", b"\xff", b"[" * 60_000])
def test_a_card_that_is_no_object_is_refused(stem: Path, card: bytes) -> None:
    stem.with_suffix(".json").write_bytes(card)
    with pytest.raises(ModelFileError, match="not a map's card"):
        load_maps(stem)


@pytest.mark.parametrize(
    ("arrays", "message"),
    [
        ({"column": np.zeros((2, 4))}, "2 x 4 32-bit integers"),
        ({"other": np.zeros((2, 4), dtype=np.int32)}, "no readable array 'column'"),
        ({"column": np.array([[None] * 4] * 2)}, "no readable array 'column'"),
        ({"column": np.zeros((2, 100_000), dtype=np.int32)}, "more than its card promises"),
    ],
)
def test_an_array_that_does_not_fit_is_refused(
    stem: Path, arrays: dict[str, NDArray[np.generic]], message: str
) -> None:
    rewrite_array(stem, **arrays)
    with pytest.raises(ModelFileError, match=message):
        load_maps(stem)


def test_what_is_no_archive_or_too_large_or_absent_is_refused(stem: Path) -> None:
    stem.with_suffix(".npz").write_bytes(b"no zip")
    rewrite_card(stem, sha256=hashlib.sha256(b"no zip").hexdigest())
    with pytest.raises(ModelFileError, match="not an npz"):
        load_maps(stem)
    stem.with_suffix(".npz").write_bytes(bytes(5000))
    with pytest.raises(ModelFileError, match="at most 4128 bytes"):
        load_maps(stem)
    stem.with_suffix(".npz").unlink()
    with pytest.raises(ModelFileError, match="cannot read the map"):
        load_maps(stem)
