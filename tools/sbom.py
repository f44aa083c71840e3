"""Print the bill of materials of an install, as CycloneDX 1.6 in JSON, from the pinned versions.

The same pins give the same bytes: the serial number is derived from the contents, and no time is
in it. Every file of a version that may be installed has a hash, so a component may have several.
No registry is named: a package's `purl` says which it is, whatever host it comes from.
"""

import argparse
import hashlib
import json
import re
import sys
import tomllib
import uuid
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
SPEC_VERSION = "1.6"
_PIN = re.compile(
    r"([A-Za-z0-9._-]+)(?:\[[^]]*\])?==([^\s;\\]+)((?:\s*\\\s*--hash=sha256:[0-9a-f]{64})+)\s*"
)
_HASH = re.compile(r"--hash=sha256:([0-9a-f]{64})")
_NAMED = re.compile(r"[A-Za-z0-9._-]+")
_EXTRAS = re.compile(r"sottovoce\[([^\]]+)\]")


@dataclass(frozen=True)
class Pin:
    """One package of a file of pins."""

    name: str
    version: str
    hashes: tuple[str, ...]

    @property
    def purl(self) -> str:
        """Which package this is, in the form that bills of materials share."""
        return f"pkg:pypi/{plain(self.name)}@{self.version}"

    def component(self) -> dict[str, Any]:
        """The package as the standard writes it."""
        return {
            "type": "library",
            "bom-ref": self.purl,
            "name": self.name,
            "version": self.version,
            "purl": self.purl,
            "hashes": [{"alg": "SHA-256", "content": each} for each in self.hashes],
        }


def plain(name: str) -> str:
    """A package's name in the one spelling that indexes and purls use."""
    return re.sub(r"[-_.]+", "-", name).lower()


def read_pins(text: str) -> list[Pin]:
    """All packages of a file of pins; a line that is none of one stops the tool."""
    pins, at = [], 0
    while at < len(text):
        found = _PIN.match(text, at)
        if found is None:
            line = text.count("\n", 0, at) + 1
            sys.exit(f"Line {line} must pin a version with sha256 hashes; run make pins.")
        name, version, hashes = found.groups()
        pins.append(Pin(name, version, tuple(sorted(_HASH.findall(hashes)))))
        at = found.end()
    return sorted(pins, key=lambda pin: plain(pin.name))


def direct(project: Mapping[str, Any]) -> set[str]:
    """What the package itself asks for, with all extras of `all`."""
    return set(_asked(project["dependencies"], project["optional-dependencies"])) | set(
        _asked(["sottovoce[all]"], project["optional-dependencies"])
    )


def _asked(wanted: list[str], extras: Mapping[str, list[str]]) -> Iterator[str]:
    for each in wanted:
        if inner := _EXTRAS.match(each):
            for extra in inner[1].split(","):
                yield from _asked(extras[extra.strip()], extras)
        elif named := _NAMED.match(each):
            yield plain(named[0])


def bill(pins: list[Pin], project: Mapping[str, Any]) -> dict[str, Any]:
    """The whole document."""
    own = f"pkg:pypi/{project['name']}@{project['version']}"
    asked = direct(project)
    document = {
        "bomFormat": "CycloneDX",
        "specVersion": SPEC_VERSION,
        "version": 1,
        "metadata": {
            "component": {
                "type": "application",
                "bom-ref": own,
                "name": project["name"],
                "version": project["version"],
                "purl": own,
                "licenses": [{"license": {"id": project["license"]}}],
            }
        },
        "components": [pin.component() for pin in pins],
        # The pins do not say which package asks for which: only our own edges are known.
        "dependencies": [
            {"ref": own, "dependsOn": [pin.purl for pin in pins if plain(pin.name) in asked]}
        ],
    }
    digest = hashlib.sha256(json.dumps(document, sort_keys=True).encode()).hexdigest()
    return document | {"serialNumber": f"urn:uuid:{uuid.uuid5(uuid.NAMESPACE_OID, digest)}"}


def main() -> None:
    """Print the bill of the pins that are named."""
    parser = argparse.ArgumentParser(description="A bill of materials from pinned versions.")
    parser.add_argument("pins", type=Path, nargs="?", default=ROOT / "constraints" / "run.txt")
    pins = read_pins(parser.parse_args().pins.read_text(encoding="utf-8"))
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    print(json.dumps(bill(pins, project), indent=2, sort_keys=True))


if __name__ == "__main__":
    main()
