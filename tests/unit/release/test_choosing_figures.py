"""The guide on choosing epsilon and N says what the forecast says."""

import re
from pathlib import Path

from sottovoce.release.analysis import forecast_release

GUIDE = (Path(__file__).parents[3] / "docs" / "how-to" / "choosing.md").read_text(encoding="utf-8")
RATES = ("2", "1", "0.5", "0.2", "0.1")


def _cell(documents: int, rate: str) -> str:
    found = forecast_release(
        documents=documents, length=70, words=1000, epsilon=rate, precision=1,
        true_accuracy=0.80, largest_class=0.46,
    )  # fmt: skip
    assert found.accuracy is not None
    return f"{found.topics_seen}; {found.accuracy:.2f}".replace(" 0.", " .")


def test_the_table_of_documents_is_that_of_the_forecast() -> None:
    for documents in (1_000, 10_000, 100_000, 1_000_000):
        cells = " | ".join(_cell(documents, rate) for rate in RATES)
        assert f"| {documents:,} | {cells} |" in GUIDE


def test_the_forecast_that_the_guide_quotes_is_what_its_command_says() -> None:
    asked = forecast_release(documents=20_000, length=70, words=1000, epsilon=2, precision=4)
    quoted = " ".join(
        line.removeprefix("> ") for line in re.findall(r"^> .*$", GUIDE, re.MULTILINE)
    )
    assert asked.in_words() in quoted
