"""What the demo's assess part says is what the community, the ranking and the truth are."""

from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from sottovoce.assess import score
from sottovoce.assess.explanation import Explanation, Interest, Position, PostShare, WordShare
from sottovoce.corpus.simulate.community import SimulatedCommunity
from sottovoce.corpus.simulate.parameters import SimulationParameters
from sottovoce.corpus.simulate.write import simulate
from sottovoce.demo import _assess as assess
from sottovoce.demo import demo
from sottovoce.demo._assess import (
    AssessDemo,
    Portrait,
    TopicRanking,
    band_facts,
    band_plot,
    portrait_table,
    ranking_table,
    run_assess_demo,
    timeline,
)
from sottovoce.errors import MissingExtraError
from sottovoce.loop.adversary import Training
from sottovoce.report.page import Section

QUICK = Training(topics=100, iterations=30, burn_in=5, dimensions=8, epochs=1)


@pytest.fixture(scope="module")
def community() -> SimulatedCommunity:
    return simulate(SimulationParameters(users=120, weeks=6, background_documents=4000))


@pytest.fixture(scope="module")
def assessed(community: SimulatedCommunity) -> AssessDemo:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(assess, "TRAINING", QUICK)
        return run_assess_demo(community)


def ranking(bands: list[str], personas: list[str], topic: str = "t") -> TopicRanking:
    users = tuple(f"u{place}" for place in range(len(bands)))
    return TopicRanking(topic, users, np.array(personas), np.array(bands))


RANKED = ranking(
    ["top 1%", "top 5%", "top 5%", "top 10%", "rest", "rest"],
    ["afflicted", "curious", "afflicted", "supporter", "afflicted", "bystander"],
)


def post(number: int, week: int, strength: float) -> PostShare:
    day = date(2024, 1, 1) + timedelta(weeks=week)
    return PostShare(number, datetime(2024, 1, 1, tzinfo=UTC), day, 0.1, strength)


POSTS = tuple(post(n, n, s) for n, s in enumerate([0.0, 0.9, 0.3, 0.8, 0.1]))


def portrait(user: str, persona: str, interest: Interest, **changed: Any) -> Portrait:  # noqa: ANN401 - any field
    told = Explanation(
        Position(0.5, 1, 40),
        interest,
        POSTS,
        (WordShare("tired", 0.2), WordShare("numb", 0.1)),
        Position(0.1, 7, 40),
    )
    return Portrait(user, persona, {"lda": 9, "lda-dt": 1}, replace(told, **changed))


FIRST = portrait("u1", "afflicted", Interest(0.9, 0.1, 0.8))
PROFESSIONAL = portrait("u2", "professional", Interest(0.95, 0.9, 0.7))
CURIOUS = portrait("u3", "curious", Interest(0.95, 0.2, 0.3))


def test_a_wider_band_holds_the_narrower_ones() -> None:
    assert [len(RANKED.personas_in_top(percent)) for percent in (1, 5, 10)] == [1, 3, 4]
    assert [RANKED.count_afflicted_in_top(percent) for percent in (1, 5, 10)] == [1, 2, 2]
    assert band_facts([RANKED])["By chance"].startswith("50% of any places")


def test_facts_of_bands_add_up_over_topics() -> None:
    other = ranking(["top 10%", "rest"], ["curious", "afflicted"])
    facts = band_facts([RANKED, other])
    assert facts["In the top 5%"] == "3 places, 2 of people concerned (67%)"
    assert facts["In the top 10%"] == "5 places, 2 of people concerned (40%)"
    assert band_facts([other])["In the top 1%"] == "0 places, 0 of people concerned"


def test_the_table_of_rankings_says_who_stands_first_and_who_they_are() -> None:
    head, row = ranking_table([RANKED])
    assert head[2] == "people concerned in the top 5%"
    assert row[:4] == ("t", "1 of 1", "2 of 3", "2 of 4")
    assert row[4].startswith("u0 (afflicted), u1 (curious), u2 (afflicted), u3 (supporter)")


def test_the_finding_on_the_top_5_percent_is_counted_from_its_people() -> None:
    plot = band_plot([RANKED])
    assert plot.finding == (
        "67% of the 3 places in the top 5% go to people whom the topic concerns, 33% to others: "
        "afflicted 2, supporter 0, curious 1, professional 0, bystander 0."
    )
    widths = [bar.get_width() for bar in plot.figure.axes[0].patches]  # type: ignore[attr-defined] # bars
    assert widths == [2, 0, 1, 0, 0]
    assert band_plot([ranking(["rest"], ["curious"])]).finding == "Too few people for a top 5%."


@pytest.mark.parametrize(
    ("other", "why", "role"),
    [
        (PROFESSIONAL, "their breadth, 0.90 against 0.10", "they work in the field"),
        (CURIOUS, "their persistence, 0.30 against 0.80", "they were curious for a week"),
    ],
)
def test_what_sets_another_apart_is_the_larger_difference(
    other: Portrait, why: str, role: str
) -> None:
    (told,) = assess._fallen((FIRST, other))
    assert assess._fallen((FIRST,)) == ()
    assert f"above all {why}. In truth {role}." in told


def test_a_portrait_tells_parts_words_and_what_if() -> None:
    cells = {name: tuple(own) for name, *own in portrait_table((FIRST, PROFESSIONAL))}
    assert cells[""] == ("u1", "u2")
    assert cells["in truth"] == ("afflicted", "professional")
    assert cells["strength"] == ("0.90", "0.95")
    assert cells["breadth"] == ("0.10", "0.90")
    assert cells["persistence"] == ("0.80", "0.70")
    assert cells["rank by lda-dt"] == ("1 of 40", "1 of 40")
    assert cells["rank by strength alone (lda)"] == ("9 of 40", "9 of 40")
    assert cells["words that put them there"] == ("tired, numb", "tired, numb")
    assert cells["rank without the 3 posts that matter most"] == ("7", "7")


def test_the_best_weeks_stand_out_in_a_timeline() -> None:
    plot = timeline((FIRST, CURIOUS), best=2)
    bars = plot.figure.axes[0].patches
    assert [bar.get_height() for bar in bars] == [0.0, 0.9, 0.3, 0.8, 0.1]  # type: ignore[attr-defined] # bars
    colours = [bar.get_facecolor() for bar in bars]
    assert colours[1] == colours[3]
    assert colours[0] == colours[2] == colours[4] != colours[1]
    assert plot.finding == (
        "u1's 2 best weeks come to 0.80 on average, their breadth is 0.10; "
        "u3's 2 best weeks come to 0.30 on average, their breadth is 0.20."
    )


def test_rankings_are_those_of_the_product_and_personas_those_of_the_truth(
    assessed: AssessDemo, community: SimulatedCommunity
) -> None:
    product = score(
        community.posts,
        assessed.knowledge.spaces,
        assessed.knowledge.catalogue,
        measures=["lda-dt"],
    )
    persona = {(row["user"], row["topic"]): row["persona"] for row in community.truth.to_pylist()}
    assert len(assessed.rankings) + len(assessed.unknown) == 5
    for found in assessed.rankings:
        table = product.select("lda-dt", found.topic)
        assert list(found.users) == table["user"].to_pylist()
        assert found.bands.tolist() == table["band"].to_pylist()
        assert found.personas.tolist() == [persona[user, found.topic] for user in found.users]


def test_portraits_fit_their_weeks(assessed: AssessDemo) -> None:
    first, other = assessed.portraits
    assert first.user == assessed.rankings[0].users[0]
    assert first.ranks["lda-dt"] == 1
    # So that some week has several posts, of which the strongest counts.
    assert len(other.explanation.posts) > len(other.weeks())
    for shown in (first, other):
        weeks = [*shown.weeks().values(), 0.0, 0.0, 0.0]
        assert max(weeks) == pytest.approx(shown.interest.strength)
        assert np.sort(weeks)[-3:].mean() == pytest.approx(shown.interest.persistence)
        score_of = shown.explanation.position.score
        assert score_of == pytest.approx(shown.interest.persistence - shown.interest.breadth)


def test_without_her_strongest_posts_she_stands_where_scoring_anew_puts_her(
    assessed: AssessDemo, community: SimulatedCommunity
) -> None:
    for shown in assessed.portraits:
        gone = np.array([post.number - 1 for post in shown.explanation.posts[:3]])
        kept = np.ones(community.posts.num_rows, bool)
        kept[gone] = False
        anew = score(
            community.posts.filter(pa.array(kept)),
            assessed.knowledge.spaces,
            assessed.knowledge.catalogue,
            measures=["lda-dt"],
        ).select("lda-dt", assessed.rankings[0].topic)
        ranks = dict(zip(anew["user"].to_pylist(), anew["rank"].to_pylist(), strict=True))
        assert shown.explanation.without is not None
        assert shown.explanation.without.rank == ranks.get(shown.user)


def test_the_other_portrait_is_of_the_first_whom_only_strength_would_flag(
    assessed: AssessDemo,
) -> None:
    shown = assessed.portraits[1]
    ranking = assessed.rankings[0]
    assert shown.ranks["lda"] <= len(ranking.users) // 10 < shown.ranks["lda-dt"]
    assert ranking.bands[ranking.users.index(shown.user)] == "rest"


def test_the_table_of_measures_agrees_with_the_truth(
    assessed: AssessDemo, community: SimulatedCommunity
) -> None:
    section = assess._make_measure_section(assessed.judged, "again")
    cells = {name: values for name, *values in section.table[1:]}
    assert {"ent", "diff-priv", "lda-dt", "random", "posts"} <= set(cells)
    for ranking in assessed.rankings:
        most = int((ranking.personas == "afflicted").sum())
        found = next(each for each in assessed.judged.measures if each.measure == "lda-dt")
        share = (ranking.personas[:most] == "afflicted").mean()
        assert found.r_precision_by_topic[ranking.topic] == pytest.approx(share, abs=1 / most)
    share = community.parameters.role_counts["afflicted"] / community.parameters.users
    assert float(cells["random"][0].split()[0]) == pytest.approx(share, abs=0.0006)


@pytest.mark.parametrize(("persona", "alarm"), [("afflicted", False), ("supporter", True)])
def test_a_false_alarm_is_called_one(assessed: AssessDemo, persona: str, alarm: bool) -> None:
    first = portrait("u1", persona, Interest(0.9, 0.1, 0.8))
    told = assess._first(replace(assessed, portraits=(first,)))
    assert ("A false alarm." in told) == alarm


def test_a_topic_that_the_model_lacks_is_named(assessed: AssessDemo) -> None:
    without = replace(assessed, unknown=("hiv", "debts"))
    said = assess._make_rank_section(without, "again").paragraphs
    assert "Their model has nothing for hiv, debts" in said[-1]
    known = assess._make_rank_section(replace(assessed, unknown=()), "again").paragraphs
    assert len(known) == len(said) - 1


def test_a_part_without_its_extra_is_left_out_and_the_others_stay(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def stub(module: str, community: SimulatedCommunity, command: str) -> tuple[Section, ...]:
        if module == "_assess":
            raise MissingExtraError("tomotopy", "topics")
        return make_part(module, community, command) if module == "_loop" else ()

    make_part = demo.make_part
    monkeypatch.setattr(demo, "make_part", stub)
    parameters = SimulationParameters(users=50, weeks=1, background_documents=500)
    made = demo.run_demo(tmp_path, parameters)
    assert list(made.left_out) == ["Who stands out", "Assess, release, assess again"]
    assert "needs at least 40 documents" in made.left_out["Assess, release, assess again"]
    page = made.report.read_text(encoding="utf-8")
    assert "This part was left out: tomotopy is not installed" in page
    assert "pip install &#39;sottovoce[topics]&#39;" in page
    assert page.count("<svg") == 3


def test_a_missing_module_of_ours_is_a_defect_and_no_missing_extra() -> None:
    ours = ModuleNotFoundError("gone", name="sottovoce.demo._assess")
    with pytest.raises(ModuleNotFoundError):
        MissingExtraError.of_import(ours, "all")
    theirs = MissingExtraError.of_import(ModuleNotFoundError("gone", name="sklearn"), "all")
    assert "sklearn is not installed" in str(theirs)
