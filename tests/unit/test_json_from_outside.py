"""JSON from outside is read by one function, and nested too deep it is refused in a sentence."""

import ast
import gzip
import tomllib
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import sottovoce
from sottovoce.assess.evaluation.metrics import read_ranks
from sottovoce.corpus.read import bytes as read_bytes
from sottovoce.corpus.vocabulary import Vocabulary
from sottovoce.errors import SottovoceError
from sottovoce.federation.party import approvals
from sottovoce.parsing import Plain, parse_json, toml_lines, toml_table
from sottovoce.privacy.ledger.chosen_ledger import move_ledger
from sottovoce.statement import make_statement
from sottovoce.topics.imports.files import import_mallet

SOURCE = Path(sottovoce.__file__).parent
DEEP = "[" * 100_000


def test_one_function_alone_reads_json() -> None:
    found = [
        path.relative_to(SOURCE).as_posix()
        for path in SOURCE.rglob("*.py")
        for each in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(each, ast.Attribute) and ast.unparse(each) == "json.loads"
    ]
    assert found == ["parsing.py"]


def test_what_is_nested_too_deep_is_no_json() -> None:
    with pytest.raises(ValueError, match="nested too deep"):
        parse_json(DEEP)


def archive_of(path: Path) -> None:
    with zipfile.ZipFile(path, "w") as packed:
        packed.writestr("move.json", DEEP)


CASES: dict[str, Callable[[Path], Any]] = {
    "ranks.jsonl": read_ranks,
    "rules.json": make_statement,
    "approvals": approvals._read_proposals,
    "vocabulary.txt": Vocabulary.load,
    "moved.zip": lambda path: move_ledger(path, path.with_name("ledger")),
}


@pytest.mark.parametrize("name", CASES)
def test_a_reader_refuses_what_is_nested_too_deep(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    mark = "# sottovoce vocabulary " if name.startswith("vocabulary") else ""
    path.write_text(f"{mark}{DEEP}\n", encoding="utf-8")
    if name == "moved.zip":
        archive_of(path)
    with pytest.raises(SottovoceError) as refused:
        CASES[name](path)
    assert DEEP[:20] not in str(refused.value)


@pytest.mark.parametrize(
    "line", ["[1]", "7", "null", '{"score": ' + "9" * 40 + "}", '{"user": [{}, 1]}']
)
def test_a_line_that_is_no_row_is_no_rank(tmp_path: Path, line: str) -> None:
    path = tmp_path / "ranks.jsonl"
    path.write_text(f"{line}\n", encoding="utf-8")
    with pytest.raises(SottovoceError):
        read_ranks(path)


def test_a_packed_state_of_mallet_unfolds_no_further_than_other_files(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A megabyte of it came to half a gigabyte, read line by line."""
    monkeypatch.setattr(read_bytes, "ALWAYS_READ", 1 << 20)
    path = tmp_path / "state.gz"
    lines = b"0 f 0 0 w 0\n" * 150_000
    path.write_bytes(gzip.compress(b"#doc\n#alpha : 0.1\n#beta : 0.1\n" + lines, 1))
    with pytest.raises(SottovoceError, match="unfolds to more than"):
        import_mallet(path)


VALUES: dict[str, Plain | None] = {
    "a": 'quo"te\\ \x7f \n é 🙂',
    "b": 3,
    "c": 0.25,
    "d": True,
    "e": ["x", "y"],
}


def test_values_are_written_so_that_toml_reads_them_back() -> None:
    text = "\n".join(toml_lines({**VALUES, "gone": None}))
    assert tomllib.loads(text) == VALUES


def test_a_table_reads_back_with_a_word_a_line_too() -> None:
    text = toml_table("[[topic]]", {**VALUES, "gone": None, "none": []}, word_a_line=True)
    assert tomllib.loads(text) == {"topic": [{**VALUES, "none": []}]}


def test_the_layout_stays_as_files_have_it() -> None:
    values: dict[str, Plain | None] = {"words": ("a", "b"), "weights": [0.5, 2], "none": ()}
    short = 'words = ["a", "b"]\nweights = [0.5, 2]\nnone = []\n'
    assert toml_table("[t]", values) == f"[t]\n{short}"
    tall = 'words = [\n  "a",\n  "b",\n]\nweights = [0.5, 2]\nnone = []\n'
    assert toml_table("[t]", values, word_a_line=True) == f"[t]\n{tall}"
