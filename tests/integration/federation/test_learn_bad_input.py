"""What `sottovoce learn` says to bad input: one sentence, exit code 2."""

import socket
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest

from sottovoce.federation import certificates
from sottovoce.federation._keys import save_key
from sottovoce.federation.certificates import Authority
from sottovoce.federation.config import TrainingSettings
from sottovoce.federation.roster import Roster, load_roster, save_roster
from sottovoce.federation.setup import SetupPlan, set_up
from sottovoce.learn.paillier import key_files

Run = Callable[..., tuple[int, str, str]]
NAMES = ("ada", "ben", "cy")


@pytest.fixture(autouse=True)
def cheap_derivation(monkeypatch: pytest.MonkeyPatch) -> None:
    """Scrypt's memory is for attackers; tests need none of it."""
    monkeypatch.setattr(key_files, "_SCRYPT_COST", 1 << 4)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    set_up(tmp_path / "all", SetupPlan(NAMES, TrainingSettings()))
    return tmp_path / "all"


def refused(run: Run, *command: object) -> str:
    """The one sentence that the command says."""
    code, out, err = run("learn", *command)
    assert code == 2, err
    assert out == ""
    assert err.count("\n") == 1, err
    assert "Traceback" not in err
    return err


def started(run: Run, folder: Path, name: str = "ada", role: str = "peer") -> str:
    return refused(run, role, "--config", folder / name / "party.toml")


def test_a_missing_file_is_named(run: Run, folder: Path) -> None:
    for file in ("party.toml", "roster.toml", "certificate.pem", "tls.key", "identity.key"):
        path = folder / "ada" / file
        held = path.read_bytes()
        path.unlink()
        assert file in started(run, folder)
        path.write_bytes(held)
        path.chmod(0o600)


def test_an_ended_certificate_is_refused_at_the_start(
    run: Run, folder: Path, tmp_path: Path
) -> None:
    pem = (folder / "authority" / "ca.pem").read_bytes()
    key = (folder / "authority" / "ca.key").read_bytes()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(certificates, "_validity", ended)
        issued = Authority(pem, key).issue("ada")
    (folder / "ada" / "certificate.pem").write_bytes(issued.certificate)
    save_key(issued.key, folder / "ada" / "tls.key", passphrase=None)
    assert "ended on 2020-02-01; renew it: sottovoce learn renew" in started(run, folder)


def ended(builder: object, _days: int) -> object:
    begun = builder.not_valid_before(datetime(2020, 1, 1, tzinfo=UTC))  # type: ignore[attr-defined] # a CertificateBuilder
    return begun.not_valid_after(datetime(2020, 2, 1, tzinfo=UTC))


def test_a_certificate_of_another_authority_or_party_is_refused(run: Run, folder: Path) -> None:
    stranger = Authority.new("another")[0].issue("ada")
    (folder / "ada" / "certificate.pem").write_bytes(stranger.certificate)
    assert "must be signed by the federation's authority" in started(run, folder)
    ben = (folder / "ben" / "certificate.pem").read_bytes()
    (folder / "ada" / "certificate.pem").write_bytes(ben)
    assert "must name ada" in started(run, folder)


def test_a_roster_that_means_another_certificate_or_identity_is_refused(
    run: Run, folder: Path
) -> None:
    roster = load_roster(folder / "ada" / "roster.toml")
    ada = replace(roster.find_party("ada"), identity=roster.find_party("ben").identity)
    mixed = Roster(tuple(ada if each.name == "ada" else each for each in roster))
    save_roster(mixed, folder / "ada" / "roster.toml")
    assert "another identity" in started(run, folder)
    path = folder / "ada" / "roster.toml"
    path.write_text(path.read_text().replace(roster.find_party("ada").fingerprint, "0" * 64))
    assert "another certificate" in started(run, folder)


def test_a_wrong_key_role_or_passphrase_is_refused(
    run: Run, folder: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    assert "start it with sottovoce learn peer" in started(run, folder, role="coordinator")
    config = folder / "ada" / "party.toml"
    config.write_text(config.read_text() + "\n[tsl]\nkey = 'x'\n")
    assert "the key 'tsl' is unknown; known are name, role" in started(run, folder)
    monkeypatch.setenv("PHRASE", "right")
    source = "env:PHRASE"
    set_up(tmp_path / "sealed", SetupPlan(NAMES, TrainingSettings(), passphrase=source))
    monkeypatch.setenv("PHRASE", "wrong")
    assert "is wrong, or the file was changed" in started(run, tmp_path / "sealed")
    monkeypatch.delenv("PHRASE")
    assert "environment variable PHRASE" in started(run, tmp_path / "sealed")


def test_keys_that_others_can_read_are_refused(run: Run, folder: Path) -> None:
    (folder / "ada" / "tls.key").chmod(0o644)
    assert "chmod 600" in started(run, folder)


def test_a_port_in_use_is_said(run: Run, folder: Path) -> None:
    address = load_roster(folder / "ada" / "roster.toml").find_party("ada").address
    with socket.create_server(("127.0.0.1", int(address.rpartition(":")[2]))):
        assert f"cannot listen at {address}" in started(run, folder)


REFUSED = {
    "train --config {coordinator}": "start it first",
    "evaluate --config {coordinator}": "start it first",
    "classify {texts} --config {ada}": "no classifier yet",
    "classify {texts} --config {ada} --out {texts}.txt": ".csv or .jsonl",
    "classify {texts} --config {ada} --out {texts}": "cannot write",
    "classify {texts} --config {coordinator}": "only a peer classifies",
    "transcript --config {ada} --run abc": "there is no run",
    "rotate everything --config {ada}": "one of identity, paillier, journal, tls",
    "rotate tls --config {ada}": "give --authority",
    "rotate paillier --config {ada}": "only a coordinator or key holder",
    "renew {certificate}": "give --authority",
    "renew {certificate} --authority {ben}": "ca.key",
    "init {new} --peers 2": "at least 3 peers",
    "init {new} --peers 3 --mode secret": "mode must be one of open, hidden",
    "init {new}": "give --peers or --names",
    "init {new} --peers 3 --key-bits 512": "2048 to",
}


def test_commands_that_cannot_be_say_why(run: Run, folder: Path) -> None:
    new, texts = folder / "new", folder / "texts.csv"
    texts.write_text("text\nhello\n")
    files = {"new": new, "texts": texts, "ben": folder / "ben"}
    files |= {name: folder / name / "party.toml" for name in ("coordinator", "ada")}
    files["certificate"] = folder / "ada" / "certificate.pem"
    for command, words in REFUSED.items():
        assert words in refused(run, *command.format(**files).split()), command
    assert not new.exists()
    two = "each learns the other's summand"
    code, _, err = run("learn", "init", new, "--peers", "2", "--allow-two", two)
    assert (code, err) == (0, "")
