"""The TOML that commands write: read back the same, and laid out as it always was."""

import tomllib

from sottovoce.parsing import Plain, toml_lines, toml_table

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
