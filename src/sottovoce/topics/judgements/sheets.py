"""Sheets for the judgement study of topics: R-Susceptibility, section 4.1."""

import hashlib
from collections.abc import Sequence

import numpy as np

from sottovoce.errors import ParameterError
from sottovoce.topics.catalogue import Catalogue, Topic
from sottovoce.topics.judgements.questions import (
    CHECK_TEXT,
    CHECKS,
    DOMAIN_QUESTION,
    TOPIC_JUDGES,
    TOPIC_QUESTION,
)
from sottovoce.topics.salient import SALIENT_WORDS

SHEET_COLUMNS = (
    "judge",
    "row",
    "item",
    "words",
    "question",
    "sensitive",
    "domain_question",
    "domain",
)
PLATFORM_COLUMNS = ("item", "words", "question", "domain_question")
MOST_JUDGES = 1000
_CODE_DIGITS = 12


def topic_item(topic: Topic) -> str:
    """The code of a topic on a sheet: it says nothing, and changes when the shown words do."""
    return _code("topic", topic.name, *_shown(topic))


def check_items() -> dict[str, tuple[str, str]]:
    """The codes of attention checks, which look like any other, with the answers asked for."""
    return {_code("check", str(number), *answers): answers for number, answers in enumerate(CHECKS)}


def topic_sheet(
    catalogue: Catalogue, *, judges: int = TOPIC_JUDGES, seed: int = 0, checks: int = 0
) -> list[dict[str, object]]:
    """One row per judge and topic, in an order of each judge's own.

    A judge sees the topic's words, not its name: the name would tell what to think of them. With
    0 judges there is one row per topic, as a crowdsourcing platform takes them.
    """
    if not 0 <= judges <= MOST_JUDGES:
        raise ParameterError(f"judges must be 0 to {MOST_JUDGES}, got {judges}.")
    if not 0 <= checks <= len(CHECKS):
        raise ParameterError(f"checks must be 0 to {len(CHECKS)}, got {checks}.")
    items = [(topic_item(topic), ", ".join(_shown(topic))) for topic in catalogue]
    items += [
        (code, CHECK_TEXT.format(answer=answer, domain=domain))
        for code, (answer, domain) in list(check_items().items())[:checks]
    ]
    rows: list[dict[str, object]] = []
    for judge in range(1, max(judges, 1) + 1):
        rows += _judge_rows(items, f"judge-{judge}" if judges else "", (seed, judge))
    return rows


def _judge_rows(
    items: list[tuple[str, str]], judge: str, seed: Sequence[int]
) -> list[dict[str, object]]:
    order = np.random.default_rng(seed).permutation(len(items))
    return [
        {
            "judge": judge,
            "row": row,
            "item": items[place][0],
            "words": items[place][1],
            "question": TOPIC_QUESTION,
            "sensitive": "",
            "domain_question": DOMAIN_QUESTION,
            "domain": "",
        }
        for row, place in enumerate(order.tolist(), start=1)
    ]


def _shown(topic: Topic) -> tuple[str, ...]:
    return topic.words[:SALIENT_WORDS]


def _code(*parts: str) -> str:
    digest = hashlib.sha256("\0".join(parts).encode()).hexdigest()
    return f"t-{digest[:_CODE_DIGITS]}"
