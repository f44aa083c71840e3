"""The operator's view: off by default, gated, slowed down and logged."""

import csv
import json
import re
from collections.abc import Iterator
from html import unescape
from pathlib import Path

import pytest
from support.advisor_page import PageClient, served, write_weak_password

from sottovoce.advisor._community import Community
from sottovoce.advisor._settings import AdvisorSetting
from sottovoce.assess._ranking import rank
from sottovoce.errors import InputError
from sottovoce.web.advise._routes.operator import LASTS_S, TRIES, Operator, _harmless
from sottovoce.web.security._login import LookLog, PasswordFile, write_password

WORD = "correct horse battery"
TOPIC = "drug addiction"


class Clock:
    """A clock that moves when told."""

    now = 0.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def operated(tmp_path: Path, clock: Clock) -> Iterator[PageClient]:
    """A page with the operator's view, whose password was not given yet."""
    write_weak_password(tmp_path / "password", WORD)
    log = LookLog(tmp_path / "looks.jsonl")
    with served(
        tmp_path, operator=Operator(PasswordFile(tmp_path / "password"), log, clock)
    ) as page:
        yield page


def looks(folder: Path) -> list[dict[str, object]]:
    return [json.loads(line) for line in (folder / "looks.jsonl").read_text().splitlines()]


def by_words_alone(page: PageClient) -> Community:
    """Rank by a measure to which most people are nobody."""
    form = {"measure": "bow-t", "k": 0.3, "m": 3, "bucket": "1w", "thresholds": 5, "hysteresis": 0}
    assert page.post("/settings", data=form).status_code == 303
    return Community.demo(AdvisorSetting("bow-t"))


def enter(page: PageClient, password: str = WORD) -> int:
    return page.post("/operator/enter", data={"password": password}).status_code


def test_it_is_not_there_unless_asked_for(demo: PageClient) -> None:
    for path in ("/operator", f"/operator/ranking?name={TOPIC}"):
        assert demo.get(path).status_code == 404
    assert "Operator" not in demo.get("/standing").text
    assert demo.post("/operator/enter", data={"password": WORD}).status_code == 404


def test_nothing_is_shown_without_the_password(operated: PageClient) -> None:
    assert 'type="password"' in operated.get("/operator").text
    refused = operated.get("/operator/ranking", params={"name": TOPIC})
    assert refused.status_code == 403
    assert "u1" not in refused.text
    assert operated.post("/operator/leave").status_code == 403


def test_the_full_ranking_is_shown_page_by_page_and_each_look_is_logged_first(
    operated: PageClient, tmp_path: Path
) -> None:
    assert enter(operated) == 303
    community = by_words_alone(operated)
    assert community.state is not None
    how = {community.setting.measure: community.setting.how()}
    full = rank(community.state, how, topics=[TOPIC], setting=community.setting.risk)
    ranked = list(zip(full.table["user"].to_pylist(), full.table["score"].to_pylist(), strict=True))
    listed = [user for user, score in ranked if score > 0]
    pages = -(-len(listed) // 100)
    shown: list[str] = []
    for page in range(1, pages + 2):
        text = operated.get("/operator/ranking", params={"name": TOPIC, "page": page}).text
        shown += re.findall(r'<th scope="row">([^<]+)</th>', text)
        assert ("The next ones" in text) == (page < pages)
    assert shown == listed, "in order, and nobody at a score of 0"
    assert 0 < len(listed) < len(ranked)
    noted = [(one["event"], one.get("topic"), one.get("page")) for one in looks(tmp_path)]
    assert noted == [("entered", None, None), *(("looked", TOPIC, n + 1) for n in range(pages + 1))]
    assert all("time" in one for one in looks(tmp_path))


def test_reasons_are_linked_and_whose_they_are_is_logged_first(
    operated: PageClient, tmp_path: Path
) -> None:
    reasons = {"name": TOPIC, "user": str(Community.demo().example)}
    assert operated.get("/operator/reasons", params=reasons).status_code == 403
    enter(operated)
    ranking = operated.get("/operator/ranking", params={"name": TOPIC}).text
    address = unescape(re.findall(r'href="(/operator/reasons[^"]+)"', ranking)[0])
    text = operated.get(address).text
    assert "<mark>" in text
    last = looks(tmp_path)[-1]
    user = re.findall(r'<th scope="row">([^<]+)</th>', ranking)[0]
    assert (last["event"], last["topic"], last["user"]) == ("reasons", TOPIC, user)
    assert operated.get("/operator/reasons", params={"name": TOPIC, "user": "x"}).status_code == 404
    assert len(looks(tmp_path)) == 3


def test_an_export_is_logged_first_and_stops_where_evidence_does(
    operated: PageClient, tmp_path: Path
) -> None:
    assert operated.post("/operator/export", data={"name": TOPIC}).status_code == 403
    enter(operated)
    by_words_alone(operated)
    sent = operated.post("/operator/export", data={"name": TOPIC})
    assert sent.headers["content-disposition"].startswith("attachment")
    rows = list(csv.DictReader(sent.text.splitlines()))
    assert list(rows[0]) == ["rank", "user", "score", "band"], "and nothing of what posts say"
    assert all(float(row["score"]) > 0 for row in rows)
    assert 0 < len(rows) < len(Community.demo().users)
    assert [one["event"] for one in looks(tmp_path)] == ["entered", "exported"]
    (tmp_path / "looks.jsonl").unlink()
    (tmp_path / "looks.jsonl").mkdir()
    assert operated.post("/operator/export", data={"name": TOPIC}).status_code == 400


def test_a_name_that_looks_like_a_formula_is_exported_as_text() -> None:
    assert _harmless("=1+1") == "'=1+1"
    assert _harmless("u12") == "u12"


def test_a_look_that_cannot_be_logged_is_not_shown(operated: PageClient, tmp_path: Path) -> None:
    enter(operated)
    (tmp_path / "looks.jsonl").unlink()
    (tmp_path / "looks.jsonl").mkdir()
    refused = operated.get("/operator/ranking", params={"name": TOPIC})
    assert refused.status_code == 400
    assert "cannot write" in refused.text
    assert "<td" not in refused.text


def test_wrong_passwords_are_logged_without_them_and_slowed_down(
    operated: PageClient, tmp_path: Path
) -> None:
    assert [enter(operated, f"wrong guess {n}") for n in range(TRIES)] == [403] * TRIES
    slowed = operated.post("/operator/enter", data={"password": WORD})
    assert slowed.status_code == 429
    assert 0 < int(slowed.headers["retry-after"]) <= 30
    assert [one["event"] for one in looks(tmp_path)] == ["wrong password"] * TRIES
    assert "guess" not in (tmp_path / "looks.jsonl").read_text()


def test_it_closes_by_itself_and_by_hand(operated: PageClient, clock: Clock) -> None:
    ranking = f"/operator/ranking?name={TOPIC}"
    enter(operated)
    clock.now = LASTS_S - 1
    assert operated.get(ranking).status_code == 200
    clock.now = LASTS_S + 1
    assert operated.get(ranking).status_code == 403
    enter(operated)
    assert operated.post("/operator/leave").status_code == 303
    assert operated.get(ranking).status_code == 403


def test_the_files_are_for_their_owner_only(operated: PageClient, tmp_path: Path) -> None:
    for name in ("password", "looks.jsonl"):
        assert (tmp_path / name).stat().st_mode & 0o777 == 0o600
    assert WORD not in (tmp_path / "password").read_text()
    assert (tmp_path / "password").read_text().startswith("$argon2id$")


def test_an_old_log_is_kept_and_only_grows(tmp_path: Path) -> None:
    path = tmp_path / "looks.jsonl"
    path.write_text('{"event": "before"}\n')
    LookLog(path).note("after")
    assert [one["event"] for one in looks(tmp_path)] == ["before", "after"]


def test_a_password_file_that_others_can_read_or_that_is_none_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "password"
    with pytest.raises(InputError, match="at least 12 characters"):
        write_password(path, "short")
    with pytest.raises(InputError, match="No such file"):
        PasswordFile(path)
    write_password(path, WORD)
    path.chmod(0o640)
    with pytest.raises(InputError, match="chmod 600"):
        PasswordFile(path)
    path.chmod(0o600)
    path.write_text("plain words")
    with pytest.raises(InputError, match="holds no argon2 hash") as refused:
        PasswordFile(path)
    assert "plain words" not in str(refused.value)
