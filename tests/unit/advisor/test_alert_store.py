"""Alerts on this machine: the rule of assess, private, and gone when erased."""

import sqlite3
import stat
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
import pytest

from sottovoce.advisor.alert_store import AlertStore
from sottovoce.advisor.evidence import inside
from sottovoce.advisor.person_values import AdvisorSetting
from sottovoce.advisor.standing import Standing
from sottovoce.assess.alerts import _find_members
from sottovoce.errors import InputError

SETTING = AdvisorSetting(thresholds=(5, 10))
NOON = datetime(2024, 5, 1, 12, tzinfo=UTC)


def at(place: int | None, users: int = 100) -> list[Standing]:
    if place is None:
        return [Standing("debts", "money", "bow-dt", users)]
    return [Standing("debts", "money", "bow-dt", users, 0.5, place, place, place)]


@pytest.fixture
def store(tmp_path: Path) -> AlertStore:
    return AlertStore(tmp_path / "folder" / "advisor.sqlite")


def told(store: AlertStore, place: int | None) -> set[tuple[int | None, bool]]:
    return {(alert.percent, alert.entered) for alert in store.update(at(place), SETTING, NOON)}


def test_she_enters_at_the_border_and_leaves_beyond_it(store: AlertStore) -> None:
    assert told(store, 11) == set()
    assert told(store, 10) == {(10, True)}
    assert told(store, 12) == set()
    assert told(store, 13) == {(10, False)}
    assert told(store, 12) == set()
    assert told(store, 5) == {(5, True)}
    assert told(store, None) == {(10, False)}


def test_a_band_of_made_up_people_is_not_one_of_real_ones(store: AlertStore) -> None:
    (made_up,) = store.update([replace(at(3)[0], simulated=True)], SETTING, NOON)
    (real,) = store.update(at(3), SETTING, NOON)
    assert (made_up.simulated, real.simulated) == (True, False)
    assert store.update([replace(at(90)[0], simulated=True)], SETTING, NOON) != []
    assert told(store, 3) == set(), "they have not left the band of real people"


def test_what_happens_at_once_is_one_alert_that_tells_most(store: AlertStore) -> None:
    (alert,) = store.update(at(1), SETTING, NOON, outright={"debts": 2})
    assert (alert.percent, alert.entered, alert.outright) == (5, True, 2)
    assert told(store, 8) == {(5, False)}
    (left,) = store.update(at(60), SETTING, NOON, outright={"debts": 2})
    assert (left.percent, left.entered) == (10, False)


def test_more_posts_that_say_it_outright_raise_an_alert_whatever_the_place(
    store: AlertStore,
) -> None:
    (alert,) = store.update(at(90), SETTING, NOON, outright={"debts": 1})
    assert (alert.percent, alert.outright) == (None, 1)
    assert store.update(at(90), SETTING, NOON, outright={"debts": 1}) == []
    assert store.update(at(90), SETTING, NOON, outright={"debts": 0}) == []
    assert len(store.update(at(90), SETTING, NOON, outright={"debts": 1})) == 1


def test_a_score_of_nothing_raises_no_alert_however_few_there_are(store: AlertStore) -> None:
    left_over = [Standing("debts", "money", "bow-d", 100, -0.2, 1, 1, 1)]
    assert store.update(left_over, SETTING, NOON) == []
    assert left_over[0].band == "lower half"
    assert not left_over[0].is_within(50)


def test_the_rule_is_that_of_assess() -> None:
    for users in (3, 20, 57, 100):
        at_least = np.arange(1, users + 1)
        for percent in (1, 5, 10, 33):
            for was in (False, True):
                for slack in (0.0, 0.2, 1.5):
                    expected = _find_members(at_least, percent, np.full(users, was), slack)
                    found = [
                        inside(int(place), users, percent, slack, was=was) for place in at_least
                    ]
                    assert found == expected.tolist()


def test_alerts_and_settings_outlive_the_program(store: AlertStore) -> None:
    store.save_setting(AdvisorSetting("ent", k=0.5, thresholds=(2,)))
    store.update(at(8), SETTING, NOON)
    store.update(at(1), SETTING, NOON)
    newest = store.alerts()[0]
    store.acknowledge([newest.id])
    store.close()
    again = AlertStore(store.path)
    assert again.setting() == AdvisorSetting("ent", k=0.5, thresholds=(2,))
    assert [alert.seen for alert in again.alerts()] == [True, False]
    assert len(again.alerts(unseen=True)) == 1
    assert (newest.time, newest.low, newest.users) == (NOON, 1, 100)
    assert again.update(at(1), SETTING, NOON) == []


def test_the_file_is_for_its_owner_only(store: AlertStore) -> None:
    store.update(at(1), SETTING)
    for file in store.path.parent.iterdir():
        assert stat.S_IMODE(file.stat().st_mode) == 0o600
    store.path.chmod(0o644)
    AlertStore(store.path)
    assert stat.S_IMODE(store.path.stat().st_mode) == 0o600


def test_erasing_leaves_nothing_behind(store: AlertStore) -> None:
    store.save_setting(AdvisorSetting("ent"))
    store.update([replace(at(1)[0], topic="a very unusual topic")], SETTING)
    assert b"unusual" in store.path.read_bytes()
    companions = [store.path.with_name(store.path.name + end) for end in ("-wal", "-shm")]
    for companion in companions:
        companion.write_bytes(b"left over")
    with store.path.open("rb") as held:
        store.erase()
        assert b"unusual" not in held.read()
    assert not any(companion.exists() for companion in companions)
    assert (store.alerts(), store.setting()) == ([], AdvisorSetting())
    assert told(store, 1) == {(5, True)}


def test_a_file_of_another_kind_is_refused_and_kept(tmp_path: Path) -> None:
    path = tmp_path / "notes.txt"
    path.write_text("not a database, but something of hers" * 100)
    with pytest.raises(InputError, match="not a store of the advisor"):
        AlertStore(path)
    assert path.read_text().startswith("not a database")
    with pytest.raises(InputError, match="cannot write"):
        AlertStore(path / "below")


def test_a_setting_that_is_damaged_is_the_default(store: AlertStore) -> None:
    store.save_setting(AdvisorSetting("ent"))
    with sqlite3.connect(store.path) as base:
        base.execute('UPDATE setting SET value = \'{"measure": "nonsense"}\'')
    base.close()
    assert store.setting() == AdvisorSetting()
