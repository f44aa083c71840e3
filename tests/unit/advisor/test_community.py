"""Communities from posts, states and the demo: the same standings whichever way."""

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from support.communities import CATALOGUE, FixedSpace, random_posts

from sottovoce.advisor.community import Community
from sottovoce.advisor.person import Person
from sottovoce.advisor.person_values import AdvisorSetting
from sottovoce.assess.measures.catalogue import plan_scoring
from sottovoce.assess.state.parts import save_state
from sottovoce.errors import InputError, ParameterError

POSTS = random_posts(4)


def state_file(folder: Path, measures: tuple[str, ...] = ("lda-dt", "bow", "ent")) -> Path:
    _, scoring = plan_scoring(CATALOGUE, [FixedSpace()], measures)
    save_state(folder / "community.state", scoring.state_of(POSTS.to_batches()))
    return folder / "community.state"


@pytest.mark.parametrize("measure", ["lda-dt", "bow-d", "ent"])
def test_a_state_gives_the_standings_of_the_posts(tmp_path: Path, measure: str) -> None:
    whole = Community.from_posts(POSTS, [FixedSpace()], CATALOGUE, AdvisorSetting(measure))
    stored = Community.from_state(state_file(tmp_path), [FixedSpace()], AdvisorSetting(measure))
    hers = whole.posts_of("u1")
    assert Person(stored, hers, "u1").standings() == Person(whole, user="u1").standings()
    assert stored.users == tuple(sorted(whole.users))
    with pytest.raises(InputError, match="holds no posts"):
        Person(stored, user="u1")


def test_a_state_offers_what_its_models_allow(tmp_path: Path) -> None:
    path = state_file(tmp_path)
    assert "lda-dt" in Community.from_state(path, [FixedSpace()]).measures
    without = Community.from_state(path)
    assert without.setting.measure == "bow-t"
    assert not any(name.startswith("lda") for name in without.measures)
    assert not any(
        name.startswith("lda") for name in Community.from_state(path, [FixedSpace(seed=9)]).measures
    )
    with pytest.raises(ParameterError, match="lda-dt is not available here"):
        Community.from_state(path, setting=AdvisorSetting("lda-dt"))
    with pytest.raises(InputError, match="none of the models"):
        Community.from_state(state_file(tmp_path, ("lda",)))


def test_what_a_state_fixes_cannot_be_changed(tmp_path: Path) -> None:
    stored_file = state_file(tmp_path)
    stored = Community.from_state(stored_file)
    assert stored.with_setting(AdvisorSetting("bow", k=0.9)).setting.k == 0.9
    with pytest.raises(ParameterError, match="no posts to score again"):
        stored.with_setting(AdvisorSetting("bow", bucket="1d"))
    with pytest.raises(ParameterError, match="no posts to score again"):
        Community.from_state(stored_file, setting=AdvisorSetting("bow", m=13))


def test_posts_allow_every_setting() -> None:
    weekly = Community.from_posts(POSTS, [FixedSpace()], CATALOGUE, AdvisorSetting("lda-t"))
    daily = AdvisorSetting("lda-t", m=14, bucket="1d")
    changed = Person(weekly, user="u1").with_setting(daily)
    anew = Community.from_posts(POSTS, [FixedSpace()], CATALOGUE, daily)
    assert changed.standings() == Person(anew, user="u1").standings()


def test_the_demo_is_the_same_each_time_and_has_somebody_to_look_at() -> None:
    community = Community.demo()
    assert community.example in community
    assert community.now is not None
    person = Person(community, user=community.example)
    assert person.now() == community.now
    assert any(standing.is_within(5) for standing in person.standings())
    assert any(person.disclosures.of_topic(topic).outright for topic in person.topics)
    age = datetime.now(UTC) - community.now
    assert timedelta(0) <= age <= timedelta(days=8), "dated recently"
    assert Community.demo(AdvisorSetting("ent")).example == community.example
    assert len(community.users) == 500


def test_the_demo_learns_a_latent_model_once_a_measure_asks_for_it() -> None:
    pytest.importorskip("tomotopy")
    plain = Community.demo()
    assert "lda-t" in plain.measures
    latent = plain.with_setting(AdvisorSetting("lda-t"))
    assert latent is Community.demo(AdvisorSetting("lda-t"))
    assert (latent.users, latent.topics) == (plain.users, plain.topics)
    person = Person(plain, user=plain.example).with_setting(AdvisorSetting("lda-t"))
    assert any(standing.is_within(10) for standing in person.standings())
    back = person.with_setting(AdvisorSetting())
    assert back.standings() == Person(plain, user=plain.example).standings()


def test_a_stranger_is_no_member() -> None:
    community = Community.from_posts(POSTS, [], CATALOGUE)
    assert "nobody" not in community
    assert 7 not in community
    with pytest.raises(InputError, match="the user has no post"):
        community.posts_of("nobody")


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"measure": "nonsense"}, "measure must be one of"),
        ({"k": 0}, "k must be"),
        ({"m": 0}, "m must be"),
        ({"bucket": "1y"}, "bucket must be"),
        ({"thresholds": ()}, "at least 1"),
        ({"thresholds": (0,)}, "a threshold must be"),
        ({"thresholds": (100,)}, "a threshold must be"),
        ({"hysteresis": -1}, "hysteresis must be"),
        ({"hysteresis": float("nan")}, "hysteresis must be"),
    ],
)
def test_a_setting_out_of_bounds_is_refused(change: dict[str, object], words: str) -> None:
    with pytest.raises(ParameterError, match=words):
        AdvisorSetting(**change)  # type: ignore[arg-type] # wrong on purpose
