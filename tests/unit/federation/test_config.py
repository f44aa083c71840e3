"""Configurations, rosters and what `learn init` writes."""

import dataclasses
import stat
import tomllib
from pathlib import Path
from typing import get_type_hints

import msgspec
import pytest

from sottovoce.cli.learn.parties import new_training
from sottovoce.errors import ConfigError, InputError, ParameterError
from sottovoce.federation._keys import load_secrets
from sottovoce.federation.certificates import check_certificate, days_left, load_certificate
from sottovoce.federation.config import (
    NONE,
    Accepts,
    FeatureSettings,
    TrainingSettings,
    load_config,
)
from sottovoce.federation.party.renewal import load_authority, renew, rotate_identity, rotate_tls
from sottovoce.federation.party.terms import opened_limit
from sottovoce.federation.roster import load_roster
from sottovoce.federation.setup import (
    FoundingPlan,
    SetupPlan,
    WrittenParty,
    new_federation,
    peer_names,
    set_up,
)
from sottovoce.learn import support
from sottovoce.learn.features import TextRecipe
from sottovoce.learn.paillier import key_files
from sottovoce.learn.support import OpenedLimit
from sottovoce.learn.training_terms import Recipe

FROM_VARIABLE = "env:PHRASE"
NAMES = ("ada", "ben", "cy")
MINIMAL = 'name = "ada"\nrole = "peer"\nlisten = "127.0.0.1:1"\n'


@pytest.fixture(autouse=True)
def cheap_derivation(monkeypatch: pytest.MonkeyPatch) -> None:
    """Scrypt's memory is for attackers; tests need none of it."""
    monkeypatch.setattr(key_files, "_SCRYPT_COST", 1 << 4)


def written(folder: Path, text: str) -> Path:
    path = folder / "party.toml"
    path.write_text(text, encoding="utf-8")
    return path


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (MINIMAL + "listne = 1", "the key 'listne' is unknown; known are name, role, listen"),
        (MINIMAL + "[tls]\ncert = 'x'", r"\[tls\]: the key 'cert' is unknown; known are cert"),
        (MINIMAL.replace("peer", "boss"), "role must be one of coordinator, keyholder, peer"),
        (MINIMAL.replace('"ada"', "3"), "name is wrong: expected str, got int"),
        ('role = "peer"\nlisten = "x:1"', "missing required field name"),
        ("name = ", "is not TOML"),
        (MINIMAL + "deadline_s = 0", "deadline_s must be > 0, got 0"),
        (MINIMAL + "[secrets]\npassphrase = 'hunter2'", "source must be none, prompt"),
        (MINIMAL.replace("peer", "keyholder") + "[texts]\nfile='x'", "only a peer has texts"),
        (MINIMAL + "[texts]\nfile='x'\n[rows]\nfile='y'", "either texts or rows"),
        (MINIMAL + "[accepts]\nmodes = ['paper']", "modes"),
    ],
)
def test_a_bad_configuration_is_refused_in_one_sentence(
    tmp_path: Path, text: str, said: str
) -> None:
    with pytest.raises(InputError, match=said) as refused:
        load_config(written(tmp_path, text))
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize(
    ("held", "said"), [(b"\xff\xfe\x00", "not UTF-8"), (b"#" * ((1 << 20) + 1), "too large")]
)
def test_a_binary_or_endless_configuration_is_refused(
    tmp_path: Path, held: bytes, said: str
) -> None:
    (tmp_path / "party.toml").write_bytes(held)
    with pytest.raises(ConfigError, match=said):
        load_config(tmp_path / "party.toml")


def test_init_writes_what_every_party_needs_and_nobody_else_can_read(tmp_path: Path) -> None:
    roster = set_up(
        tmp_path / "all", SetupPlan(NAMES, TrainingSettings(mode="hidden", key_bits=2048))
    )
    assert [each.certificate_name for each in roster] == ["coordinator", "key-holder", *NAMES]
    for entry in roster:
        folder = tmp_path / "all" / entry.certificate_name
        config = load_config(folder / "party.toml")
        assert load_roster(folder / "roster.toml") == roster
        pem = load_certificate(config.path(config.party.tls.certificate))
        check_certificate(pem, load_certificate(folder / "ca.pem"), name=entry.certificate_name)
        secrets = load_secrets(config)
        has_identity = secrets.identity is not None
        assert has_identity == (entry.role == "peer")
        assert (secrets.identity.public.hex() if secrets.identity else "") == entry.identity
        assert (secrets.paillier is not None) == (entry.role != "peer")
        assert stat.S_IMODE(folder.stat().st_mode) == 0o700
        for key in folder.glob("*.key"):
            assert stat.S_IMODE(key.stat().st_mode) == 0o600
    assert not (tmp_path / "all" / "ada" / "paillier.key").exists()
    assert roster.find_party("key-holder") is roster["key holder"]
    assert 'name = "key-holder"\nrole = "keyholder"\n' in (folder / "roster.toml").read_text()


def test_with_a_passphrase_no_key_is_in_clear_and_none_is_written_over(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PHRASE", "open sesame")
    set_up(tmp_path / "all", SetupPlan(NAMES, TrainingSettings(), passphrase=FROM_VARIABLE))
    keys = list((tmp_path / "all").rglob("*.key"))
    assert len(keys) == 1 + 3 * 4 + 3, "the authority's, three each, and the peers' identities"
    for key in keys:
        text = key.read_text()
        assert '"sealed"' in text
        assert "PRIVATE KEY" not in text
        assert '"secret":' not in text
    config = load_config(tmp_path / "all" / "ada" / "party.toml")
    assert load_secrets(config).identity is not None
    with pytest.raises(InputError, match="never written over"):
        set_up(tmp_path / "all", SetupPlan(NAMES, TrainingSettings()))


@pytest.mark.parametrize(
    "options",
    [
        {"peers": ("ada", "ada", "ben")},
        {"peers": ("ada", "ben", "coordinator")},
        {"peers": ("ada", "ben", "authority")},
        {"peers": ("ada", "ben", "C y")},
        {"peers": ("ada",)},
        {"hosts": ("one",)},
        {"base_port": 65535},
        {"base_port": 0},
    ],
)
def test_plans_that_cannot_be_are_refused(tmp_path: Path, options: dict[str, object]) -> None:
    given = {"peers": NAMES, "training": TrainingSettings()} | options
    with pytest.raises(ParameterError):
        set_up(tmp_path / "all", SetupPlan(**given))  # type: ignore[arg-type] # as they come
    assert not (tmp_path / "all").exists()


def test_hosts_and_ports_are_those_that_were_given(tmp_path: Path) -> None:
    hosts = ("c.example", "10.0.0.1", "10.0.0.2", "fd00::3")
    roster = set_up(
        tmp_path / "all", SetupPlan(NAMES, TrainingSettings(), hosts=hosts, base_port=7000)
    )
    assert [each.address for each in roster] == [
        "c.example:7000",
        "10.0.0.1:7001",
        "10.0.0.2:7002",
        "[fd00::3]:7003",
    ]


def test_peers_are_numbered_or_named(tmp_path: Path) -> None:
    assert peer_names(10, [])[:2] == ("peer-01", "peer-02")
    assert peer_names(None, ["b", "a"]) == ("b", "a")
    with pytest.raises(ParameterError, match="--peers says 3"):
        peer_names(3, ["a", "b"])


def test_renewing_and_rotating_tell_the_roster(tmp_path: Path) -> None:
    folder = tmp_path / "all"
    before = set_up(folder, SetupPlan(NAMES, TrainingSettings(), days=3))
    authority = load_authority(folder / "authority", passphrase=NONE)
    certificate, rosters = folder / "ada/certificate.pem", [folder / "authority/roster.toml"]
    pem = renew(certificate, authority, rosters, days=90)
    assert 89 < days_left(pem) <= 90
    assert certificate.read_bytes() == pem
    renewed = load_roster(rosters[0])
    assert renewed.find_party("ada").fingerprint != before.find_party("ada").fingerprint
    assert renewed.find_party("ben") == before.find_party("ben")
    config = load_config(folder / "ada" / "party.toml")
    identity = rotate_identity(config).find_party("ada").identity
    rotated = rotate_tls(config, authority)
    secrets = load_secrets(config)
    assert secrets.identity is not None
    assert secrets.identity.public.hex() == identity != before.find_party("ada").identity
    assert load_roster(folder / "ada/roster.toml") == rotated
    check_certificate(certificate.read_bytes(), authority.certificate, name="ada")
    with pytest.raises(ParameterError, match="only a peer"):
        rotate_identity(load_config(folder / "coordinator" / "party.toml"))


ENTRY = "[[party]]\nname='{0}'\nrole='peer'\naddress='x:1'\nfingerprint='{1}'\nidentity=''\n"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "roster"),
        ("party = 3", "roster"),
        ("party = [3]", "roster"),
        ("other = 1", "roster"),
        ("[[party]]\nname = 'a'", "roster"),
        (ENTRY.format("a", "00"), "64 hexadecimal digits"),
        (ENTRY.format("a", "ab" * 32) + ENTRY.format("b", "AB" * 32), "fingerprint of its own"),
        (ENTRY.format("a", "ab" * 32) + ENTRY.format("a", "cd" * 32), "of its own"),
    ],
)
def test_a_bad_roster_is_refused(tmp_path: Path, text: str, said: str) -> None:
    path = tmp_path / "roster.toml"
    path.write_text(text)
    with pytest.raises(ConfigError, match=said):
        load_roster(path)


def test_a_configuration_has_every_field_of_the_recipes_under_its_name() -> None:
    """What is missing is read from files, or the recipe's alone."""
    for recipe, table, beside in (
        (Recipe, TrainingSettings, {"penalties"}),
        (TextRecipe, FeatureSettings, {"words", "stop_words", "mapping"}),
    ):
        named = {each.name: (each.type, each.default) for each in msgspec.structs.fields(table)}
        types = get_type_hints(recipe)
        # Their one allowed sentence is checked by the recipe, which says it in its refusal.
        types |= {name: str | None for name in types if name.startswith("allow_")}
        wanted = {
            each.name: (types[each.name], each.default) for each in dataclasses.fields(recipe)
        }
        assert wanted.keys() - named.keys() == beside
        assert {name: named[name] for name in wanted.keys() - beside} == {
            name: wanted[name] for name in wanted.keys() - beside
        }


@pytest.mark.opened_share
def test_how_much_sums_may_hold_is_each_partys_own_to_say(tmp_path: Path) -> None:
    """The share stands in [accepts], and whose documents hide one another in [count_with]."""
    named = "[accepts]\nmodes = ['open']\nmost_opened_share = 0.2\n"
    whom = "[count_with]\npeers = ['ada', 'ben']\ncollude = 0\n"
    limit = opened_limit(load_config(written(tmp_path, MINIMAL + named + whom)))
    assert limit == OpenedLimit(0.2, 1, ("ada", "ben"))
    assert opened_limit(load_config(written(tmp_path, MINIMAL))).named == ()
    helper = load_config(written(tmp_path, MINIMAL.replace("peer", "keyholder")))
    assert opened_limit(helper).named is None
    assert Accepts(["open"]).most_opened_share == support.MOST_OPENED_SHARE
    none = load_config(written(tmp_path, MINIMAL + named.replace("0.2", "0.0")))
    with pytest.raises(ParameterError, match="most_opened_share must be > 0"):
        opened_limit(none)


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
