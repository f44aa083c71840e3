"""The bill of materials: all pins, in the form of CycloneDX 1.6, the same in every run."""

import json
import re
import tomllib
import uuid
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from support.tools import loaded_tool

ROOT = Path(__file__).parents[2]
PINS = (ROOT / "constraints" / "run.txt").read_text(encoding="utf-8")
# What the standard's schema allows and requires, as far as a bill of ours has it.
FIELDS = {
    "bomFormat",
    "specVersion",
    "serialNumber",
    "version",
    "metadata",
    "components",
    "dependencies",
}
KINDS = {"application", "library"}


@pytest.fixture(scope="module")
def sbom() -> ModuleType:
    return loaded_tool("sbom")


def project() -> dict[str, Any]:
    told: dict[str, Any] = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    return told


@pytest.fixture(scope="module")
def bill(sbom: ModuleType) -> dict[str, Any]:
    made: dict[str, Any] = sbom.bill(sbom.read_pins(PINS), project())
    return made


def test_every_pin_is_a_component_with_all_its_hashes(bill: dict[str, Any]) -> None:
    pinned = re.findall(r"^([^\s=]+)==(\S+)", PINS, re.MULTILINE)
    assert sorted((each["name"], each["version"]) for each in bill["components"]) == sorted(pinned)
    hashes = [told["content"] for each in bill["components"] for told in each["hashes"]]
    assert sorted(hashes) == sorted(re.findall(r"sha256:([0-9a-f]{64})", PINS))


def test_the_bill_has_what_the_standard_requires_and_nothing_it_does_not_know(
    bill: dict[str, Any],
) -> None:
    assert set(bill) == FIELDS
    assert (bill["bomFormat"], bill["specVersion"]) == ("CycloneDX", "1.6")
    assert bill["version"] >= 1
    assert uuid.UUID(bill["serialNumber"].removeprefix("urn:uuid:")).version == 5
    parts = [bill["metadata"]["component"], *bill["components"]]
    assert {each["type"] for each in parts} == KINDS
    for each in parts:
        assert each["name"]
        assert re.fullmatch(r"pkg:pypi/[a-z0-9]+(-[a-z0-9]+)*@[A-Za-z0-9.]+", each["purl"])
        assert {told["alg"] for told in each.get("hashes", ())} <= {"SHA-256"}
    references = [each["bom-ref"] for each in parts]
    assert len(set(references)) == len(references)


def test_what_the_package_asks_for_itself_is_told_and_is_among_the_components(
    bill: dict[str, Any],
) -> None:
    [own] = bill["dependencies"]
    assert own["ref"] == bill["metadata"]["component"]["bom-ref"]
    named = {each.split("/")[1].split("@")[0] for each in own["dependsOn"]}
    assert {"numpy", "cryptography", "grpcio", "jinja2"} <= named
    assert "cffi" not in named  # only others ask for it
    assert set(own["dependsOn"]) <= {each["bom-ref"] for each in bill["components"]}


def test_the_same_pins_give_the_same_bytes_and_others_another_number(
    sbom: ModuleType, bill: dict[str, Any]
) -> None:
    again = sbom.bill(sbom.read_pins(PINS), project())
    assert json.dumps(again) == json.dumps(bill)
    fewer = sbom.bill(sbom.read_pins(PINS)[1:], project())
    assert fewer["serialNumber"] != bill["serialNumber"]


def test_no_address_of_a_registry_is_in_it(bill: dict[str, Any]) -> None:
    assert "://" not in json.dumps(bill)


@pytest.mark.parametrize("line", ["numpy>=2\n", "numpy==2.0\n", "--index-url x\n"])
def test_a_line_that_pins_nothing_is_refused_with_its_number(sbom: ModuleType, line: str) -> None:
    pinned = f"anyio==1 \\\n    --hash=sha256:{'0' * 64}\n"
    with pytest.raises(SystemExit, match="Line 3 must pin a version"):
        sbom.read_pins(pinned + line)
