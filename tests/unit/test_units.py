"""The systemd units: closed to what they do not need, and of commands and options that exist."""

import re
import shlex
import shutil
import subprocess
import typing
from collections import defaultdict
from pathlib import Path

import pytest
import typer

from sottovoce.cli._app import app
from sottovoce.federation.config import Role

FOLDER = Path(__file__).parents[2] / "packaging" / "systemd"
UNITS = sorted(FOLDER.glob("*.service"))
CLOSED = {
    "NoNewPrivileges": "yes",
    "CapabilityBoundingSet": "",
    "ProtectSystem": "strict",
    "ProtectHome": "yes",
    "PrivateTmp": "yes",
    "PrivateDevices": "yes",
    "ProtectKernelTunables": "yes",
    "ProtectKernelModules": "yes",
    "ProtectControlGroups": "yes",
    "RestrictAddressFamilies": "AF_INET AF_INET6 AF_UNIX",
    "RestrictNamespaces": "yes",
    "SystemCallFilter": "@system-service",
    "LimitCORE": "0",
    "UMask": "0077",
    "StateDirectoryMode": "0700",
}


def sections(unit: Path) -> dict[str, dict[str, list[str]]]:
    """A unit's keys and their values, in order; a key may stand several times."""
    found: dict[str, dict[str, list[str]]] = defaultdict(lambda: defaultdict(list))
    section = ""
    for line in unit.read_text(encoding="utf-8").splitlines():
        if not line or line.startswith("#"):
            continue
        if line.startswith("["):
            section = line.strip("[]")
            continue
        key, equals, value = line.partition("=")
        assert equals
        found[section][key].append(value)
    return found


def environment(name: str) -> dict[str, str]:
    """The variables of an example of an environment file."""
    lines = (FOLDER / name).read_text(encoding="utf-8").splitlines()
    pairs = [line.partition("=") for line in lines if not line.startswith("#")]
    return {key: value.strip('"') for key, _, value in pairs}


def options_of(words: list[str]) -> tuple[set[str], list[str]]:
    """The options that a command line gives, and those that its command has."""
    command: typing.Any = typer.main.get_command(app)
    while words and words[0] in getattr(command, "commands", {}):
        command, words = command.commands[words[0]], words[1:]
    assert not hasattr(command, "commands"), f"no such command: {words[:1]}"
    return {word for word in words if word.startswith("--")}, [
        option for parameter in command.params for option in parameter.opts
    ]


def command_line(unit: Path, **given: str) -> list[str]:
    """What a unit starts, as words, after the program."""
    [line] = sections(unit)["Service"]["ExecStart"]
    for name, value in given.items():
        line = line.replace("${" + name + "}", value).replace(f"${name}", value)
    assert "$" not in line
    program, *words = shlex.split(line)
    assert Path(program).name == "sottovoce"
    return words


def test_there_is_a_unit_for_rank_servers_and_one_for_parties() -> None:
    names = ["sottovoce-party@.service", "sottovoce-rank-server@.service"]
    assert [unit.name for unit in UNITS] == names


@pytest.mark.parametrize("unit", UNITS, ids=lambda unit: unit.stem)
def test_a_unit_may_do_nothing_that_its_program_does_not_need(unit: Path) -> None:
    service = sections(unit)["Service"]
    assert {key: service[key] for key in CLOSED} == {key: [told] for key, told in CLOSED.items()}
    assert service["User"] == ["sottovoce"]
    assert "MemoryDenyWriteExecute" not in service, "kernels are compiled when they run"
    assert service["RestartPreventExitStatus"] == ["2"]
    assert set(sections(unit)) == {"Unit", "Service", "Install"}


@pytest.mark.parametrize("unit", UNITS, ids=lambda unit: unit.stem)
def test_what_a_unit_writes_lies_in_folders_that_it_may_write(unit: Path) -> None:
    service = sections(unit)["Service"]
    own = [f"%S/{name}" for name in " ".join(service["StateDirectory"]).split()]
    own += [f"%C/{name}" for name in service["CacheDirectory"]]
    text = " ".join(service["ExecStart"] + service["Environment"])
    named = re.findall(r"%[SC]/\S+", text)
    assert named
    assert [path for path in named if not any(path.startswith(each) for each in own)] == []


@pytest.mark.parametrize("name", ["rank-first.env", "rank-second.env"])
def test_a_rank_server_s_unit_gives_options_that_the_command_has(name: str) -> None:
    unit = FOLDER / "sottovoce-rank-server@.service"
    given, known = options_of(command_line(unit, **environment(name)))
    assert {"--store", "--log", "--peer-key", "--metrics-key"} <= given <= set(known)


@pytest.mark.parametrize("role", typing.get_args(Role))
def test_a_party_s_unit_starts_every_role(role: str) -> None:
    unit = FOLDER / "sottovoce-party@.service"
    given, known = options_of(command_line(unit, ROLE=role))
    assert given == {"--config", "--log"}
    assert given <= set(known)


def test_the_example_of_a_party_names_a_role_that_exists() -> None:
    given = environment("party-ada.env")
    assert options_of(command_line(FOLDER / "sottovoce-party@.service", **given))[0]


@pytest.mark.skipif(shutil.which("systemd-analyze") is None, reason="no systemd here to ask")
def test_systemd_itself_finds_nothing_wrong_with_the_units(tmp_path: Path) -> None:
    for unit in UNITS:
        (tmp_path / unit.name).write_text(of_this_machine(unit))
    assert complaints(tmp_path, *[unit.name for unit in UNITS]) == ""
    (tmp_path / "slip@.service").write_text(of_this_machine(UNITS[0]).replace("ctHome", "ctHme"))
    assert "Unknown key" in complaints(tmp_path, "slip@.service")


def of_this_machine(unit: Path) -> str:
    """With a program and a user that are here."""
    text = unit.read_text(encoding="utf-8").replace("/opt/sottovoce/bin/sottovoce", "/bin/true")
    return re.sub(r"^(User|Group)=.*$", r"\1=root", text, flags=re.MULTILINE)


def complaints(folder: Path, *units: str) -> str:
    command = ["systemd-analyze", "verify", "--man=no", *(f"./{unit}" for unit in units)]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=True).stderr


def test_an_option_that_is_not_there_would_be_noticed() -> None:
    given, known = options_of(["rank-server", "--sotre", "x"])
    assert not given <= set(known)
    with pytest.raises(AssertionError, match="no such command"):
        options_of(["learn", "pear"])
