"""A stored model comes back as it was, or is refused with a reason."""

import hashlib
import json
import os
import stat
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from support import spaces

from sottovoce.errors import ModelFileError, ParameterError
from sottovoce.topics import load_model
from sottovoce.topics.lda.model import LdaModel
from sottovoce.topics.model_file import CorpusFacts, Origin
from sottovoce.topics.w2v.model import SkipGramModel


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    spaces.random_lda(1).save(tmp_path / "model")
    return tmp_path / "model"


def test_a_topic_model_comes_back_as_it_was(tmp_path: Path) -> None:
    origin = Origin(CorpusFacts("ab" * 32, 7), {"topics": 5}, {"tomotopy": "0"})
    model = replace(spaces.random_lda(1), origin=origin)
    model.save(tmp_path / "m")
    read = load_model(tmp_path / "m")
    assert isinstance(read, LdaModel)
    np.testing.assert_array_equal(read.phi, model.phi)
    np.testing.assert_array_equal(read.alpha, model.alpha)
    assert read.vocabulary == model.vocabulary
    assert (read.rules, read.origin) == (model.rules, origin)
    assert read.fingerprint == model.fingerprint


def test_word_vectors_come_back_as_they_were(tmp_path: Path) -> None:
    model = spaces.random_skip_gram(1)
    model.save(tmp_path / "m")
    read = load_model(str(tmp_path / "m"))
    assert isinstance(read, SkipGramModel)
    np.testing.assert_array_equal(read.vectors, model.vectors)
    assert read.fingerprint == model.fingerprint


def test_a_model_can_be_replaced_by_another(folder: Path) -> None:
    other = spaces.random_lda(2, vocabulary=9, dimensions=3)
    other.save(folder)
    assert load_model(folder).fingerprint == other.fingerprint


def test_the_files_of_a_private_model_are_its_owners_only(tmp_path: Path) -> None:
    replace(spaces.random_lda(1), origin=Origin(public=False)).save(tmp_path / "m")
    modes = {stat.S_IMODE(path.stat().st_mode) for path in (tmp_path / "m").iterdir()}
    assert modes == {0o600}


def rewrite(folder: Path, change: Callable[[dict[str, object]], object]) -> None:
    fields = json.loads((folder / "card.json").read_text())
    change(fields)
    (folder / "card.json").write_text(json.dumps(fields))


def sign(folder: Path) -> None:
    """Make the card's hashes true again: whoever tampers can do that too."""
    names = ["phi.npy", "alpha.npy", "vocabulary.txt"]
    hashes = {name: hashlib.sha256((folder / name).read_bytes()).hexdigest() for name in names}
    rewrite(folder, lambda fields: fields.update(files=hashes))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda fields: fields.update(version=2), "must be of version 1"),
        (lambda fields: fields.update(format="other"), "no model's card"),
        (lambda fields: fields.update(kind="magic"), "unknown kind; known are lda, w2v"),
        (lambda fields: fields.update(words=0), "is damaged .*whole numbers >= 1"),
        (lambda fields: fields.update(words=True), "is damaged"),
        (lambda fields: fields.update(words=2**40), "at most 1073741824 numbers"),
        (lambda fields: fields.update(words=13), "13 x 5 numbers"),
        (lambda fields: fields.update(rules={}), "is damaged .*KeyError"),
        (lambda fields: fields["rules"].update(stop_words=[1]), "is damaged .*wrong type"),
        (lambda fields: fields["rules"].update(shortest=0), "is damaged .*shortest must be"),
        (lambda fields: fields["rules"].update(shortest=3), "does not fit its card's fingerprint"),
        (lambda fields: fields.pop("corpus"), "is damaged"),
        (lambda fields: fields.update(files=[]), "is damaged"),
        (lambda fields: fields.update(files={}), "does not fit its card"),
    ],
)
def test_a_card_that_cannot_be_true_is_refused(
    folder: Path, change: Callable[[dict[str, object]], object], message: str
) -> None:
    rewrite(folder, change)
    with pytest.raises(ModelFileError, match=message):
        load_model(folder)


@pytest.mark.parametrize("content", ["", "[1]", "{", "nul", "[" * 100_000])
def test_a_card_that_is_none_is_refused(folder: Path, content: str) -> None:
    (folder / "card.json").write_text(content)
    with pytest.raises(ModelFileError, match="card"):
        load_model(folder)


@pytest.mark.parametrize("name", ["phi.npy", "alpha.npy", "vocabulary.txt"])
def test_a_missing_file_is_named(folder: Path, name: str) -> None:
    (folder / name).unlink()
    with pytest.raises(ModelFileError, match="cannot read|No such file"):
        load_model(folder)


def test_what_is_no_folder_is_no_model(tmp_path: Path) -> None:
    with pytest.raises(ModelFileError, match="no model: it must be a folder"):
        load_model(tmp_path / "absent")
    with pytest.raises(ModelFileError, match="no model: it must be a folder"):
        load_model(tmp_path)


def test_changed_numbers_are_noticed(folder: Path) -> None:
    content = bytearray((folder / "phi.npy").read_bytes())
    content[-1] ^= 1
    (folder / "phi.npy").write_bytes(content)
    with pytest.raises(ModelFileError, match="phi.npy does not fit its card"):
        load_model(folder)


def test_numbers_that_are_no_model_are_refused_even_when_signed(folder: Path) -> None:
    for bad, message in ((np.nan, "finite"), (-0.1, ">= 0"), (0.9, "must sum to 1")):
        phi = spaces.random_lda(1).phi.copy()
        phi[0, 0] = bad
        np.save(folder / "phi.npy", phi)
        sign(folder)
        with pytest.raises(ModelFileError, match=message):
            load_model(folder)


class Explosion:
    """What a pickle runs when it is read."""

    def __reduce__(self) -> tuple[Callable[..., object], tuple[str]]:
        return os.mkdir, ("exploded",)


def test_a_pickle_in_place_of_an_array_does_not_run(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    np.save(folder / "phi.npy", np.array([Explosion()], dtype=object), allow_pickle=True)
    sign(folder)
    with pytest.raises(ModelFileError, match="12 x 5 numbers of type <f4"):
        load_model(folder)
    assert not (tmp_path / "exploded").exists()


@pytest.mark.parametrize(
    "header",
    [
        {"descr": "<f4", "fortran_order": False, "shape": (2**40, 2**20)},
        {"descr": "<f8", "fortran_order": False, "shape": (12, 5)},
        {"descr": "<f4", "fortran_order": True, "shape": (12, 5)},
        {"descr": "<f4", "fortran_order": False, "shape": (12, 5)},
    ],
)
def test_a_header_that_promises_more_than_the_file_has_is_refused_unread(
    folder: Path, header: dict[str, object]
) -> None:
    with (folder / "phi.npy").open("wb") as file:
        np.lib.format.write_array_header_1_0(file, header)
        file.write(b"\0" * 100)
    sign(folder)
    with pytest.raises(ModelFileError, match="12 x 5 numbers"):
        load_model(folder)


@pytest.mark.parametrize("content", [b"", b"\x93NUMPY\x01\x00", b"\x93NUMPY\x03\x00v\x00{}", b"x"])
def test_what_is_no_array_is_refused(folder: Path, content: bytes) -> None:
    (folder / "phi.npy").write_bytes(content)
    with pytest.raises(ModelFileError, match="12 x 5 numbers"):
        load_model(folder)


def test_a_vocabulary_of_another_length_is_refused(folder: Path) -> None:
    with (folder / "vocabulary.txt").open("a") as file:
        file.write("another\n")
    sign(folder)
    with pytest.raises(ModelFileError, match="must hold 12 terms, got 13"):
        load_model(folder)


def test_an_interrupted_overwrite_is_noticed(folder: Path) -> None:
    """Files of two models mixed: what a crash between two renames would leave."""
    card = (folder / "card.json").read_bytes()
    spaces.random_lda(2).save(folder)
    (folder / "card.json").write_bytes(card)
    with pytest.raises(ModelFileError, match="does not fit its card"):
        load_model(folder)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"alpha": np.zeros(5)}, "alpha must be finite and > 0"),
        ({"alpha": np.ones(4)}, "phi must have a row for each"),
        ({"phi": np.ones((12, 5))}, "must sum to 1, got 12"),
        ({"phi": np.ones(12)}, "phi must have a row"),
    ],
)
def test_a_model_that_is_none_cannot_be_made(change: dict[str, object], message: str) -> None:
    with pytest.raises(ParameterError, match=message):
        replace(spaces.random_lda(1), **change)  # type: ignore[arg-type] # on purpose


@pytest.mark.parametrize(
    ("vectors", "message"),
    [(np.ones((11, 5)), "a row for each of 12"), (np.full((12, 5), np.inf), "finite")],
)
def test_vectors_must_be_one_finite_row_a_word(vectors: object, message: str) -> None:
    with pytest.raises(ParameterError, match=message):
        replace(spaces.random_skip_gram(1), vectors=vectors)  # type: ignore[arg-type] # on purpose


def test_top_words_are_the_most_probable_first() -> None:
    model = spaces.random_lda(1)
    for dimension, found in enumerate(model.top_words(3)):
        assert len(found) == 3
        shares = sorted(model.phi[:, dimension].tolist(), reverse=True)[:3]
        assert [share for _, share in found] == shares
        assert model.phi[model.vocabulary.column[found[0][0]], dimension] == np.float32(shares[0])


def test_lookup_gives_zeros_for_unknown_words() -> None:
    model = spaces.random_skip_gram(1)
    found, known = model.lookup(["word3", "nothing", "word0"])
    assert known.tolist() == [True, False, True]
    np.testing.assert_array_equal(found[[0, 2]], model.vectors[[3, 0]])
    assert not found[1].any()
