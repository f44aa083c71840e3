"""The demo's count together, as its report shows it."""

import re
from html import unescape
from pathlib import Path


def section(report: Path) -> str:
    page = report.read_text(encoding="utf-8")
    begin = page.index('id="what-four-count-together-everybody-hidden-whole"')
    return unescape(page[begin : page.index("</section>", begin)])


def test_the_report_says_what_is_promised_to_a_whole_document(demo_report: Path) -> None:
    shown = section(demo_report)
    assert "Adding or removing one whole document changes any outcome's probability" in shown
    assert "of at most e^1 " in shown
    assert "everyone but more than 1 of the 4 peers colluding" in shown


def test_intervals_stand_beside_the_numbers_and_hold_the_truth(demo_report: Path) -> None:
    """The noise is another each time: five times the margin is passed once in millions."""
    shown = section(demo_report)
    margin = int(re.findall(r"within ±(\d+), 95% of the time", shown)[0])
    (truth,) = re.findall(r"([\d,]+) concerned, ([\d,]+) not concerned", shown)
    people = re.findall(r"people themselves</td>(.*?)</tr>", shown, re.DOTALL)[0]
    counted = re.findall(r"(-?\d+) \((\d+) to (\d+)\)", people)
    assert sum(map(int, truth)) == 100
    for (total, low, high), known in zip(counted, truth, strict=True):
        assert int(low) == max(0, int(total) - margin)
        assert int(high) == max(0, int(total) + margin)
        assert abs(int(total) - int(known)) <= 5 * margin


def test_the_table_of_the_training_says_whom_its_rows_are_about(demo_report: Path) -> None:
    page = demo_report.read_text(encoding="utf-8")
    assert "if everybody follows the protocol" not in page
    assert "the rows after that say what those would gain who do not" in page
