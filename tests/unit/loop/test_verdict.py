"""Whether a setting is both useful and safe, in words."""

from sottovoce.loop._round import FOUND
from sottovoce.loop._verdict import choose_setting, passage_words, verdict
from sottovoce.report.result import Row


def row(rate: float | None, found: float, jaccard: float, error: float) -> Row:
    return {
        "method": "every word",
        "epsilon": None if rate is None else str(rate),
        "precision": None if rate is None else 1,
        "rate": rate,
        FOUND: found,
        f"{FOUND}_high": found + 0.02,
        "jaccard": jaccard,
        "jaccard_chance": 0.06,
        "accuracy": 0.5,
        "accuracy_true": 0.9 if rate is None else 0.5,
        "accuracy_majority": 0.5,
        "totals_error": error,
        "passage_seen": 0.1,
        "passage_strongest": 0.2,
        "passage_bound": 0.3,
        "defect": None,
        "r_precision_luck": 0.05,
    }


ROWS = [
    row(None, 0.4, 0.6, 0.0),
    row(2.0, 0.2, 0.5, 0.02),
    row(1.0, 0.07, 0.2, 0.08),
    row(0.5, 0.03, 0.07, 0.3),
]


def test_who_is_served_by_a_safe_setting_is_named_and_who_is_not() -> None:
    told = verdict(ROWS, FOUND, 0.1)
    assert told.startswith(
        "Both useful and safe, for anybody who asks how often topics are spoken of in all: "
        "every word at 1 nat per word."
    )
    assert "Nothing that is safe serves anybody who looks for topics, " in told


def test_a_setting_whose_interval_passes_the_limit_is_not_safe() -> None:
    assert verdict(ROWS, FOUND, 0.08).startswith("No setting is both useful and safe here")
    best = choose_setting(ROWS, FOUND, 0.08)
    assert best is not None
    assert best["rate"] == 0.5


def test_a_higher_limit_serves_more() -> None:
    told = verdict(ROWS, FOUND, 0.25)
    assert "for anybody who looks for topics: every word at 2 nats per word" in told
    assert "spoken of in all: every word at 2 or 1 nats per word" in told


def test_more_than_the_bound_is_called_a_defect() -> None:
    assert passage_words(ROWS).endswith("by more than chance allows.")
    wrong = [*ROWS[:-1], ROWS[-1] | {"defect": "above the bound"}]
    assert "DEFECT: of every word at 0.5 nats per word" in passage_words(wrong)
