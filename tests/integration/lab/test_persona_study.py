"""Personas who write sentences: the study tells them apart, and its parts add up."""

import json
from collections.abc import Callable

import numpy as np
import pytest

from sottovoce.lab.assess.personas import _posts, study
from sottovoce.lab.assess.personas._posts import (
    PERSONAS,
    lines_of,
    persona_background,
    persona_community,
)
from sottovoce.topics import Catalogue, LdaParameters, shipped_catalogue

Run = Callable[..., tuple[int, str, str]]
TOPICS = ["debt", "depression", "religion"]
SMALL = study.PersonaStudySize(
    2, 60, 6, 240, LdaParameters(topics=12, iterations=20, burn_in=5, seed=8, workers=1)
)


def test_the_study_has_a_row_for_each_persona_and_measure(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(study, "QUICK", SMALL)
    few = Catalogue(tuple(topic for topic in shipped_catalogue() if topic.name in TOPICS))
    monkeypatch.setattr(study, "shipped_catalogue", lambda: few)
    code, out, error = run("study", "assess-personas", "--quick", "--json")
    assert (code, error) == (0, "")
    rows = {row["who"]: row for row in json.loads(out)}
    assert list(rows) == [*PERSONAS, *study.FOUND]
    assert rows["afflicted"]["outright"] > 0.5 > rows["bystander"]["outright"]
    for measure in ("voice-t", "bow-t", "keyword-kinds"):
        places = [rows[measure][f"first_{persona}"] for persona in PERSONAS]
        assert sum(places) == pytest.approx(1.0)
        assert rows[measure]["map"] > 0.2
        assert rows[measure]["map_low"] <= rows[measure]["map"] <= rows[measure]["map_high"]


def test_no_sentence_is_both_in_posts_and_in_the_background() -> None:
    for topic in TOPICS:
        for role in PERSONAS[:-1]:
            posts, background = (
                set(lines_of(topic, role, part)) for part in (_posts.OF_POSTS, _posts.OF_BACKGROUND)
            )
            assert posts
            assert background
            assert posts.isdisjoint(background)


def test_a_seed_gives_one_community_and_slots_are_filled() -> None:
    made, again = (persona_community(TOPICS, users=60, weeks=4, seed=3) for _ in range(2))
    assert made.posts == again.posts
    assert made.members == again.members
    texts = [*made.posts["text"].to_pylist(), *persona_background(TOPICS, 30, 1)]
    assert not [text for text in texts if "{" in text]
    count = [
        sum(m.topic == "debt" and m.persona == role for m in made.members) for role in PERSONAS
    ]
    assert count == [6, 2, 3, 4, 0]


def test_who_is_above_whom_is_counted_by_pairs() -> None:
    scores = np.array([3.0, 1.0, 2.0, 1.0, 0.0])
    personas = {
        "afflicted": np.array([True, True, False, False, False]),
        "professional": np.array([False, False, True, False, False]),
        "supporter": np.array([False, False, False, True, False]),
        "curious": np.zeros(5, np.bool_),
    }
    found = study._topic_metrics(scores, personas)
    assert found["above_helpers"] == pytest.approx((2 + 0.5) / 4)
    assert (found["first_afflicted"], found["first_professional"]) == (0.5, 0.5)
    assert found["first_bystander"] == 0.0
