"""The demo's learn part, without a federation."""

import pytest
from support.counted import counted_by_hand

from sottovoce.corpus.simulate.parameters import SimulationParameters
from sottovoce.corpus.simulate.write import simulate
from sottovoce.demo import _learn as demo_learn
from sottovoce.demo._learn import (
    CONCERNED,
    NOT,
    LearnDemo,
    community_words,
    make_sections,
    people_as_documents,
    run_learn_demo,
)
from sottovoce.errors import InputError


def test_people_are_concerned_who_are_no_bystanders_to_every_sensitive_topic() -> None:
    community = simulate(SimulationParameters(users=50, weeks=3, background_documents=1))
    documents = people_as_documents(community)
    users = list(dict.fromkeys(community.posts["user"].to_pylist()))
    personas: dict[str, set[str]] = {}
    for row in community.truth.to_pylist():
        personas.setdefault(row["user"], set()).add(row["persona"])
    expected = [NOT if personas[user] == {"bystander"} else CONCERNED for user in users]
    assert documents.labels == tuple(expected)
    assert {CONCERNED, NOT} == set(expected)
    first = [text for user, text in zip(community.posts["user"].to_pylist(),
             community.posts["text"].to_pylist(), strict=True) if user == users[0]]  # fmt: skip
    assert documents.texts[0] == " ".join(first)
    assert 20 < len(community_words(community)) < 200


def test_too_few_people_are_said_before_any_party_starts() -> None:
    """Which documents are held out is drawn: of 60 people no word was left in one demo of six."""
    community = simulate(SimulationParameters(users=99, weeks=3, background_documents=1))
    with pytest.raises(InputError, match="at least 100 people in all, got 99"):
        run_learn_demo(community)


def test_the_section_says_what_came_out(monkeypatch: pytest.MonkeyPatch) -> None:
    learns = [{"who": "coordinator", "what": "the sum"}]
    against = [{"who": "lying peer", "what": "no more"}]
    leakage = {"learns": learns, "against": against, "together": "all"}
    made = LearnDemo(
        people=100,
        words=88,
        trained={"seconds": 3.21, "rounds": 6, "leakage": leakage},
        evaluated={"accuracy": 0.75, "rows": 40, "counts": [[12, 4, 0], [6, 18, 0]]},
        labels={CONCERNED: 10, NOT: 15},
        sent=22_800,
        count=counted_by_hand(),
    )
    monkeypatch.setattr(demo_learn, "run_learn_demo", lambda _: made)
    (section,) = make_sections(None, "x")  # type: ignore[arg-type] # not looked at
    assert section.facts["Right on people kept apart"] == "75.0% of 40"
    assert section.facts["Who always says the commoner label"] == "60.0%"
    assert section.facts["Sent by all parties"] == "22.8 kB"
    assert section.table == (
        ("who", "learns"),
        ("coordinator", "the sum"),
        ("lying peer", "no more"),
        ("together", "all"),
    )
    assert section.parts[0].title == "What four count together, everybody hidden whole"
