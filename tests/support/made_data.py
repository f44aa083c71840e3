"""Small made-up stand-ins for the data sets, for tests to which any data of that kind will do."""

from pathlib import Path

import numpy as np

RETURNS, MESSAGES = 160, 600
_SYLLABLES = ("ka", "lo", "mi", "ne", "ru", "sa", "ti", "vo", "pe", "du")


def write_all(folder: Path) -> Path:
    """Each under the name of the data set that it stands in for."""
    folder.mkdir()
    write_returns(folder / "ionosphere.csv")
    write_messages(folder / "sms.tsv")
    return folder


def write_returns(path: Path) -> None:
    """Radar returns of 34 numbers, as Ionosphere has them: the second is 0, most are good."""
    rng = np.random.default_rng(0)
    good = rng.random(RETURNS) < 0.64
    strength = np.linspace(0.25, 0.02, 34)
    rows = np.where(good, 1, -1)[:, None] * strength + rng.normal(0, 0.6, (RETURNS, 34))
    rows = rows.clip(-1, 1).round(5)
    rows[:, 0], rows[:, 1] = good | (rng.random(RETURNS) < 0.7), 0
    lines = [
        ",".join([*(f"{cell:g}" for cell in row), "g" if each else "b"])
        for row, each in zip(rows, good, strict=True)
    ]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")


def write_messages(path: Path) -> None:
    """Messages of words that are none; one in seven is spam, and has words of its own."""
    rng = np.random.default_rng(0)
    spam = rng.random(MESSAGES) < 1 / 7
    lines = []
    for each in spam:
        # The more frequent a word, the smaller its number, as in a language.
        drawn = (rng.pareto(0.7, 20) * 10).astype(int) % 5000
        words = [_word(2 * number + (each and number % 3 == 0)) for number in drawn]
        lines.append(f"{'spam' if each else 'ham'}\t{' '.join(words)}")
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")


def _word(number: int) -> str:
    return "".join(_SYLLABLES[int(digit)] for digit in f"{number:04d}")
