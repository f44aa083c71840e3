"""Drawings of the learn studies, without a federation."""

from sottovoce_lab.learn.data import made_up_documents
from sottovoce_lab.learn.figures import Flow, architecture, pipeline

from sottovoce.report.page import as_svg

PEERS = ("ada", "ben", "cy", "dee")
SENT = [
    *(Flow(name, "coordinator", "masked", 2, 5000, "sums") for name in PEERS),
    *(Flow("coordinator", name, "model", 1, 700, "theta") for name in PEERS),
]


def test_drawings_hold_the_bytes_that_were_sent() -> None:
    drawn = as_svg(architecture(SENT, PEERS).figure)
    for words in ("↑ 5.0 kB", "↓ 700 B", "ada", "coordinator"):
        assert words in drawn
    assert drawn.count("↑ 5.0 kB") == len(PEERS)
    line = pipeline(SENT, 200, 20)
    assert "nothing leaves ada but 5.0 kB of masked sums and 0 B" in line.finding
    assert "rows of" in as_svg(line.figure)


def test_made_up_texts_have_two_labels_and_a_seed() -> None:
    first, again = made_up_documents(40, 1), made_up_documents(40, 1)
    assert (first.texts, first.labels) == (again.texts, again.labels)
    assert set(first.labels or ()) == {"garden", "kitchen"}
    assert made_up_documents(40, 2).texts != first.texts
