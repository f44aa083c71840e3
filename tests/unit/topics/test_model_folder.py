"""A stored model comes back as it was, or is refused with a reason."""

import hashlib
import json
import os
import stat
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

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


Change = Callable[[Path], object]


def card(change: Callable[[dict[str, Any]], object]) -> Change:
    """Change the fields of the card."""

    def rewrite(folder: Path) -> None:
        fields = json.loads((folder / "card.json").read_text())
        change(fields)
        (folder / "card.json").write_text(json.dumps(fields))

    return rewrite


def content(name: str, data: bytes) -> Change:
    return lambda folder: (folder / name).write_bytes(data)


def header(kind: str, *, fortran: bool, shape: tuple[int, int]) -> Change:
    """An array that promises more than the file has, or other numbers; its hash is true."""

    def change(folder: Path) -> None:
        fields = {"descr": kind, "fortran_order": fortran, "shape": shape}
        with (folder / "phi.npy").open("wb") as file:
            np.lib.format.write_array_header_1_0(file, fields)
            file.write(b"\0" * 100)
        sign(folder)

    return change


def sign(folder: Path) -> None:
    """Make the card's hashes true again: whoever tampers can do that too."""
    names = ["phi.npy", "alpha.npy", "vocabulary.txt"]
    hashes = {name: hashlib.sha256((folder / name).read_bytes()).hexdigest() for name in names}
    card(lambda fields: fields.update(files=hashes))(folder)


def add_a_word(folder: Path) -> None:
    with (folder / "vocabulary.txt").open("a") as file:
        file.write("another\n")
    sign(folder)


def flip_a_bit(folder: Path) -> None:
    data = bytearray((folder / "phi.npy").read_bytes())
    data[-1] ^= 1
    (folder / "phi.npy").write_bytes(data)


def interrupt_overwriting(folder: Path) -> None:
    """Files of two models mixed: what a crash between two renames would leave."""
    written = (folder / "card.json").read_bytes()
    spaces.random_lda(2).save(folder)
    (folder / "card.json").write_bytes(written)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (card(lambda fields: fields.update(version=2)), "must have version 1"),
        (card(lambda fields: fields.update(format="other")), "no model's card"),
        (card(lambda fields: fields.update(kind="magic")), "unknown kind; known are lda, w2v"),
        (card(lambda fields: fields.update(words=0)), "is damaged .*whole numbers >= 1"),
        (card(lambda fields: fields.update(words=True)), "is damaged"),
        (card(lambda fields: fields.update(words=2**40)), "at most 1073741824 numbers"),
        (card(lambda fields: fields.update(words=13)), "13 x 5 numbers"),
        (card(lambda fields: fields.update(rules={})), "is damaged .*KeyError"),
        (card(lambda fields: fields["rules"].update(stop_words=[1])), "is damaged .*wrong type"),
        (card(lambda fields: fields["rules"].update(shortest=0)), "is damaged .*shortest must be"),
        (
            card(lambda fields: fields["rules"].update(shortest=3)),
            "not match its card's fingerprint",
        ),
        (card(lambda fields: fields.pop("corpus")), "is damaged"),
        (card(lambda fields: fields.update(files=[])), "is damaged"),
        (card(lambda fields: fields.update(files={})), "does not match its card"),
        (content("card.json", b""), "card"),
        (content("card.json", b"[1]"), "card"),
        (content("card.json", b"{"), "card"),
        (content("card.json", b"nul"), "card"),
        (content("card.json", b"[" * 100_000), "card"),
        (lambda folder: (folder / "phi.npy").unlink(), "cannot read|No such file"),
        (lambda folder: (folder / "alpha.npy").unlink(), "cannot read|No such file"),
        (lambda folder: (folder / "vocabulary.txt").unlink(), "cannot read|No such file"),
        (lambda folder: folder.rename(folder.with_name("moved")), "no model: it must be a folder"),
        (lambda folder: (folder / "card.json").unlink(), "no model: it must be a folder"),
        (content("phi.npy", b""), "12 x 5 numbers"),
        (content("phi.npy", b"\x93NUMPY\x01\x00"), "12 x 5 numbers"),
        (content("phi.npy", b"\x93NUMPY\x03\x00v\x00{}"), "12 x 5 numbers"),
        (content("phi.npy", b"x"), "12 x 5 numbers"),
        (header("<f4", fortran=False, shape=(2**40, 2**20)), "12 x 5 numbers"),
        (header("<f8", fortran=False, shape=(12, 5)), "12 x 5 numbers"),
        (header("<f4", fortran=True, shape=(12, 5)), "12 x 5 numbers"),
        (header("<f4", fortran=False, shape=(12, 5)), "12 x 5 numbers"),
        (flip_a_bit, "phi.npy does not match its card"),
        (add_a_word, "must hold 12 terms, got 13"),
        (interrupt_overwriting, "does not match its card"),
    ],
)
def test_a_folder_that_cannot_be_true_is_refused(
    folder: Path, change: Change, message: str
) -> None:
    change(folder)
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
