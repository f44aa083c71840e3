"""A person looks at what a peer has refused, and approves it."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from sottovoce.federation.config import FeatureSettings, TrainingSettings, load_config
from sottovoce.federation.party.approvals import is_approved, note_asked, waiting
from sottovoce.federation.setup import SetupPlan, set_up

NAME = "3f2a9c001122" + "0" * 52
Command = Callable[..., tuple[int, str, str]]


@pytest.fixture
def config(tmp_path: Path) -> Path:
    features = FeatureSettings(dictionary="hashed", width=8)
    set_up(tmp_path / "all", SetupPlan(("ada", "ben", "cy"), TrainingSettings(), features=features))
    return tmp_path / "all" / "ada" / "party.toml"


def asked(config: Path) -> Path:
    store = config.parent / "store"
    store.mkdir()
    note_asked(store, NAME, ["without dee", "held_out 0.1 -> 0.2"])
    return store


def test_nothing_waits_at_first(run: Command, config: Path) -> None:
    assert run("learn", "approve", "--config", config)[:2] == (0, "Nothing waits for approval.\n")


def test_what_waits_is_shown_with_its_difference_and_can_be_approved(
    run: Command, config: Path
) -> None:
    store = asked(config)
    code, shown, _ = run("learn", "approve", "--config", config)
    assert code == 0
    assert shown.splitlines()[:3] == [NAME, "  without dee", "  held_out 0.1 -> 0.2"]
    code, shown, _ = run("learn", "approve", NAME, "--config", config)
    assert (code, shown) == (0, f"ada takes part in {NAME} when it is proposed again.\n")
    assert is_approved(store, NAME)
    assert waiting(store) == {}


def test_both_speak_json(run: Command, config: Path) -> None:
    asked(config)
    listed = json.loads(run("learn", "approve", "--config", config, "--json")[1])
    assert listed["waiting"] == {NAME: ["without dee", "held_out 0.1 -> 0.2"]}
    done = json.loads(run("learn", "approve", NAME, "--config", config, "--json")[1])
    assert (done["approved"], done["party"]) == (NAME, "ada")


@pytest.mark.parametrize("given", [NAME[:12], NAME[:63], NAME[:63] + "1", NAME.upper(), "abc"])
def test_nothing_but_the_whole_digest_approves(run: Command, config: Path, given: str) -> None:
    store = asked(config)
    code, _, error = run("learn", "approve", given, "--config", config)
    assert code != 0
    said = " ".join(error.split())
    assert f"whole SHA-256, got '{given[:32]}' of {len(given)} characters" in said
    assert "copy the whole line of 64 that sottovoce learn approve lists" in said
    assert list(waiting(store)) == [NAME]


def test_damaged_lists_are_told(run: Command, config: Path) -> None:
    (asked(config) / "asked.json").write_text("{")
    code, _, error = run("learn", "approve", "--config", config)
    assert code != 0
    assert "is damaged" in error


def test_setup_writes_the_whole_policy_for_everybody_who_bears_a_risk(tmp_path: Path) -> None:
    plan = SetupPlan(("ada", "ben", "cy"), TrainingSettings(mode="hidden", key_bits=2048))
    set_up(tmp_path / "all", plan)
    for name in ("ada", "key-holder"):
        text = (tmp_path / "all" / name / "party.toml").read_text()
        accepts = load_config(tmp_path / "all" / name / "party.toml").party.accepts
        assert accepts is not None
        assert all(f"\n{field} = " in text for field in accepts.__struct_fields__)
    assert load_config(tmp_path / "all" / "coordinator" / "party.toml").party.accepts is None
