"""The rows of `study learn-count`: those of `release-analyse`, of whole documents."""

from collections.abc import Mapping, Sequence

from sottovoce.report.result import Row
from sottovoce_lab.learn._count_sums import CountSetting
from sottovoce_lab.release.analyse_rows import AnalyseSetting, compared_rows, reader_row

STUDY = "learn-count"
LOCAL, CLEAR, PROCESSES = "local release", "no noise", "chosen, processes"
UNIT = "document"


def count_rows(
    setting: CountSetting,
    shown: AnalyseSetting,
    chosen: Sequence[float],
    baselines: Mapping[str, Sequence[float]],
    *,
    clear: Sequence[float] = (),
    reference: float | None = None,
) -> list[Row]:
    """Baselines, the chosen reader, their difference, and the same reader without noise."""
    rows = compared_rows(shown, chosen, baselines, reference=reference)
    if clear:
        rows.append(reader_row(shown, CLEAR, clear, reference=reference))
    return [filled(row, setting) for row in rows]


def one_row(
    setting: CountSetting,
    shown: AnalyseSetting,
    reader: str,
    values: Sequence[float],
    *,
    reference: float | None = None,
) -> Row:
    """A reader with nothing beside it."""
    row = reader_row(shown, reader, values, reference=reference)
    return filled(row, setting)


def filled(row: Row, setting: CountSetting) -> Row:
    """``row`` with what a count has besides: epsilon of a document, and how it was counted."""
    return row | {
        "study": STUDY,
        "unit": UNIT,
        "epsilon": float(setting.epsilon),
        "rate": float(setting.epsilon / setting.votes),
        "S": setting.votes,
        "parties": setting.parties,
        "collude": setting.collude,
        "drop": setting.drop,
    }
