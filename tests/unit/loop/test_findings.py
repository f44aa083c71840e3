"""What the loop says and draws about its numbers."""

from sottovoce.loop._figures import draw_rates
from sottovoce.loop._round import FOUND, KEPT
from sottovoce.loop._verdict import LEVELS, notes
from sottovoce.report.result import Row


def row(rate: float | None, found: float) -> Row:
    return {"compression": "none", "epsilon": None, "rate": rate, f"{FOUND}: tally": found}


def test_each_level_has_a_line_of_its_own_and_rates_are_plain_numbers() -> None:
    levels = {name: 0.1 * (1 + at) for at, name in enumerate(LEVELS)}
    plot = draw_rates([row(None, 0.5), row(4.0, 0.4), row(0.25, 0.1)], levels, FOUND)
    (axes,) = plot.figure.axes
    styles = [line.get_linestyle() for line in axes.lines if line.get_label() in LEVELS.values()]
    assert len(styles) == len(set(styles)) == len(LEVELS)
    assert [label.get_text() for label in axes.get_xticklabels()] == ["0.25", "4"]
    assert "goes from 0.40 to 0.10" in plot.finding


def test_what_is_measured_is_explained_as_what_it_is() -> None:
    assert any("R-precision" in note for note in notes(FOUND))
    assert not any("R-precision" in note for note in notes(KEPT))
    assert any("stays at the top" in note for note in notes(KEPT))
