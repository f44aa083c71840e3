"""GloVe and word2vec files."""

from pathlib import Path

import numpy as np
import pytest

from sottovoce.errors import ModelFileError, ParameterError
from sottovoce.release.compression.embedding import Embedding, read_embedding
from sottovoce.topics.imports import files

GLOVE = b"cat 1 0.5\ndog -1 2e-1\ncat 9 9\n"


def file_with(folder: Path, content: bytes, name: str = "vectors.txt") -> Path:
    (folder / name).write_bytes(content)
    return folder / name


def binary(words: list[bytes], *, separator: bytes = b"", header: bytes = b"2 3\n") -> bytes:
    rows = [word + b" " + np.arange(3, dtype="<f4").tobytes() + separator for word in words]
    return header + b"".join(rows)


TEXT_VECTORS, BINARY_VECTORS = [[1, 0.5], [-1, 0.2]], [[0, 1, 2], [0, 1, 2]]
ODD = b"cat 1 2\n. . 3 4\n\xff\xfe 5 6\n\ndog 7 8 \n"


@pytest.mark.parametrize(
    ("content", "name", "words", "vectors"),
    [
        # The first of a repeated word counts.
        (GLOVE, "glove.txt", ("cat", "dog"), TEXT_VECTORS),
        (b"3 2\r\n" + GLOVE, "word2vec.txt", ("cat", "dog"), TEXT_VECTORS),
        (ODD, "odd.txt", ("cat", ". .", "\ufffd\ufffd", "dog"), [[1, 2], [3, 4], [5, 6], [7, 8]]),
        (binary([b"cat", b"dog"]), "close.bin", ("cat", "dog"), BINARY_VECTORS),
        (binary([b"cat", b"dog"], separator=b"\n"), "lines.bin", ("cat", "dog"), BINARY_VECTORS),
    ],
)
def test_files_of_every_form_are_read(
    tmp_path: Path, content: bytes, name: str, words: tuple[str, ...], vectors: list[list[float]]
) -> None:
    embedding = read_embedding(file_with(tmp_path, content, name))
    assert embedding.words == words
    np.testing.assert_array_equal(embedding.vectors, np.array(vectors, dtype=np.float32))


def test_only_the_words_asked_for_are_kept(tmp_path: Path) -> None:
    path = file_with(tmp_path, GLOVE)
    assert read_embedding(path, words=["dog", "cow"]).words == ("dog",)
    path = file_with(tmp_path, binary([b"cat", b"dog"]), "vectors.bin")
    assert read_embedding(path, words=["dog"]).words == ("dog",)


def test_lookup_gives_zeros_for_unknown_words() -> None:
    embedding = Embedding(("b", "a"), np.array([[1, 2], [3, 4]], dtype=np.float32))
    vectors, known = embedding.lookup(["a", "x", "b"])
    assert vectors.tolist() == [[3, 4], [0, 0], [1, 2]]
    assert known.tolist() == [True, False, True]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "none of the words"),
        (b"cat\n", "1 to 4096 dimensions, got 0"),
        (b"cat 1 2\ndog 1\n", "line 2: a word and 2 numbers were expected, got 1"),
        (b"cat 1 2\n 1 2\n", "line 2: a word and 2 numbers"),
        (b"cat 1 x\n", "line 1: a number cannot be read"),
        (b"cat 1 nan\n", "line 1: numbers must be finite"),
        (b"cat 1 1e39\n", "line 1: numbers must be finite"),
        (b"3 5000\n", "got 5000"),
        (b"99999999999 5\n", "1 to 20000000 words"),
        (b"cat" + b" 1" * 5000, "got 5000"),
        (b"c" * 200_001, "under 200000 bytes"),
    ],
)
def test_a_broken_text_file_is_refused_by_its_line(
    tmp_path: Path, content: bytes, message: str
) -> None:
    with pytest.raises(ModelFileError, match=message):
        read_embedding(file_with(tmp_path, content))


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "two numbers"),
        (b"cat 1 2\n", "two numbers"),
        (b"2 99999\n", "got 99999"),
        (binary([b"cat"]), "ends at word 2"),
        (binary([b"cat", b"dog"])[:-1], "ends inside word 2 of 2"),
        (b"1 1\n" + b"c" * 2000, "at most 1000 bytes"),
        (b"1 1\ncat \x00\x00\xc0\x7f", "word 1: numbers must be finite"),
    ],
)
def test_a_broken_binary_file_is_refused_by_its_word(
    tmp_path: Path, content: bytes, message: str
) -> None:
    with pytest.raises(ModelFileError, match=message):
        read_embedding(file_with(tmp_path, content, "vectors.bin"))


def test_a_file_that_is_too_large_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(files, "MOST_NUMBERS_KEPT", 3)
    with pytest.raises(ModelFileError, match="at most 3 numbers"):
        read_embedding(file_with(tmp_path, GLOVE))
    monkeypatch.setattr(files, "MOST_WORDS", 1)
    with pytest.raises(ModelFileError, match="at most 1 words"):
        read_embedding(file_with(tmp_path, GLOVE), words=["cat"])


def test_no_message_quotes_the_file(tmp_path: Path) -> None:
    with pytest.raises(ModelFileError) as caught:
        read_embedding(file_with(tmp_path, b"cat 1 2\nsecret 1 passage\n"))
    assert "secret" not in str(caught.value)
    assert "passage" not in str(caught.value)


def test_an_absent_file_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ModelFileError, match="cannot read"):
        read_embedding(tmp_path / "absent.txt")


def test_an_embedding_of_uneven_or_infinite_vectors_is_refused() -> None:
    with pytest.raises(ParameterError, match="one row per word"):
        Embedding(("a",), np.zeros((2, 2), dtype=np.float32))
    with pytest.raises(ParameterError, match="finite"):
        Embedding(("a",), np.array([[np.inf]], dtype=np.float32))
