"""What a new federation is set up with: a part is held out, and columns are named."""

import tomllib
from pathlib import Path

from sottovoce.cli.learn.parties import new_training
from sottovoce.federation.config import FeatureSettings, load_config
from sottovoce.federation.setup import FoundingPlan, SetupPlan, WrittenParty, new_federation, set_up

FIFTH = 0.2


def test_a_fifth_is_held_out_in_whatever_way_a_federation_begins(tmp_path: Path) -> None:
    new_federation(tmp_path / "coordinator", FoundingPlan("127.0.0.1:7443"))
    set_up(tmp_path / "trial", SetupPlan(("ada", "ben", "cy"), new_training({"mode": "open"})))
    for folder in (tmp_path / "coordinator", tmp_path / "trial" / "coordinator"):
        training = load_config(folder / "party.toml").party.training
        assert training is not None
        assert training.held_out == FIFTH
        assert "held_out = 0.2" in (folder / "party.toml").read_text()


def test_a_peers_template_has_the_keys_of_its_columns() -> None:
    training = new_training({"mode": "open"})
    texts = tomllib.loads(WrittenParty("ada", "peer", "a:1", training, FeatureSettings()).toml)
    assert texts["texts"] == {"file": "texts.csv", "text": "text", "label": "label"}
    columns = FeatureSettings(columns=["one"])
    rows = tomllib.loads(WrittenParty("ada", "peer", "a:1", training, columns).toml)
    assert rows["rows"] == {"file": "rows.csv", "label": "label"}
