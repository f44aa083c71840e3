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


def test_commands_for_a_party_that_does_not_run_say_so(run: Run, folder: Path) -> None:
    config = folder / "coordinator" / "party.toml"
    assert "start it first" in refused(run, "train", "--config", config)
    assert "start it first" in refused(run, "evaluate", "--config", config)
    texts = folder / "texts.csv"
    texts.write_text("text\nhello\n")
    peer = folder / "ada" / "party.toml"
    assert "no classifier yet" in refused(run, "classify", texts, "--config", peer)
    assert ".csv or .jsonl" in refused(
        run, "classify", texts, "--config", peer, "--out", folder / "labels.txt"
    )
    assert "cannot write" in refused(run, "classify", texts, "--config", peer, "--out", texts)
    assert "there is no run" in refused(run, "transcript", "--config", peer, "--run", "abc")
    assert "only a peer classifies" in refused(run, "classify", texts, "--config", config)


def test_init_refuses_what_cannot_be(run: Run, tmp_path: Path) -> None:
    folder = tmp_path / "new"
    assert "at least 3 peers" in refused(run, "init", folder, "--peers", "2")
    assert "mode must be one of open, hidden" in refused(
        run, "init", folder, "--peers", "3", "--mode", "secret"
    )
    assert "give --peers or --names" in refused(run, "init", folder)
    assert "2048 to" in refused(run, "init", folder, "--peers", "3", "--key-bits", "512")
    assert not folder.exists()
    two = "each learns the other's summand"
    code, _, err = run("learn", "init", folder, "--peers", "2", "--allow-two", two)
    assert (code, err) == (0, "")


def test_rotation_wants_an_authority_and_a_known_key(run: Run, folder: Path) -> None:
    config = folder / "ada" / "party.toml"
    assert "one of identity, paillier, journal, tls" in refused(
        run, "rotate", "everything", "--config", config
    )
    assert "give --authority" in refused(run, "rotate", "tls", "--config", config)
    assert "only a coordinator or key holder" in refused(
        run, "rotate", "paillier", "--config", config
    )
    certificate = folder / "ada" / "certificate.pem"
    assert "give --authority" in refused(run, "renew", certificate)
    assert "ca.key" in refused(run, "renew", certificate, "--authority", folder / "ben")
