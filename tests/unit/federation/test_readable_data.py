"""A peer that cannot read its file, columns or labels says so before any run; others hear why."""

from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, cast

import msgspec
import pytest

from sottovoce.federation.config import PartyConfig, TextsFile, TrainingSettings, load_config
from sottovoce.federation.party.holdings import unreadable_data, why_untrainable
from sottovoce.federation.setup import SetupPlan, set_up

if TYPE_CHECKING:
    from sottovoce.learn.run.terms import RunTerms


@pytest.fixture(scope="module")
def config(tmp_path_factory: pytest.TempPathFactory) -> PartyConfig:
    root = tmp_path_factory.mktemp("readable") / "all"
    set_up(root, SetupPlan(("ada", "ben", "cy"), TrainingSettings()))
    found = load_config(root / "ada" / "party.toml")
    party = msgspec.structs.replace(found.party, texts=TextsFile("secret-name.csv"))
    return cast("PartyConfig", SimpleNamespace(party=party, path=lambda file: root / file))


def write(config: PartyConfig, text: str) -> None:
    Path(config.path("secret-name.csv")).write_text(text)


TRAIN = cast("RunTerms", SimpleNamespace(kind="train"))
CLASSIFY = cast("RunTerms", SimpleNamespace(kind="classify"))


@pytest.mark.parametrize(
    ("held", "owner", "others"),
    [
        (None, "No such file", "cannot be read"),
        ("", "is empty", "cannot be read"),
        ("body,label\na loan,yes\n", "no column 'text'", "lacks a column"),
        ("text,colour\na loan,red\n", "no column 'label'", "lacks a column"),
    ],
)
def test_what_cannot_be_read_is_told_to_the_owner_and_in_general_to_others(
    config: PartyConfig, held: str | None, owner: str, others: str
) -> None:
    Path(config.path("secret-name.csv")).unlink(missing_ok=True)
    if held is not None:
        write(config, held)
    found = unreadable_data(config)
    assert found is not None
    assert owner in found.to_owner
    said = why_untrainable(config, TRAIN)
    assert said is not None
    assert f"ada cannot take part: its file of data {others}" in said
    assert "secret-name" not in said
    assert "colour" not in said
    assert why_untrainable(config, CLASSIFY) is None


def test_labels_that_are_not_there_are_missed(config: PartyConfig, tmp_path: Path) -> None:
    path = tmp_path / "texts.jsonl"
    path.write_text('{"text": "a loan", "label": null}\n')
    party = msgspec.structs.replace(config.party, texts=TextsFile(str(path)))
    found = unreadable_data(
        cast("PartyConfig", SimpleNamespace(party=party, path=lambda _file: path))
    )
    assert found is not None
    assert "have no label in the column 'label'" in found.to_owner
    assert "has no labels" in found.to_others


def test_a_peer_that_can_read_its_texts_says_nothing(config: PartyConfig) -> None:
    write(config, "text,label\na loan,yes\n")
    assert unreadable_data(config) is None
    assert why_untrainable(config, TRAIN) is None
