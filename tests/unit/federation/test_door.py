"""The door of `federation`: the names that it shows, and what showing them does not load."""

import subprocess
import sys

import sottovoce.federation as door


def test_the_door_shows_its_public_names_and_no_others() -> None:
    assert dir(door) == sorted(door.__all__)
    for name in door.__all__:
        assert getattr(door, name).__name__ == name


def test_opening_the_door_loads_no_grpc() -> None:
    code = (
        "import sys, sottovoce.federation as f; dir(f); f.Roster; sys.exit('grpc' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
