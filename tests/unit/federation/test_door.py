"""The door of `federation`: the one name that it shows, and what showing it does not load."""

import subprocess
import sys

import sottovoce.federation as door


def test_the_door_shows_a_running_federation_and_nothing_else() -> None:
    assert dir(door) == ["Connected"]
    assert door.Connected.__name__ == "Connected"


def test_opening_the_door_loads_no_grpc() -> None:
    code = "import sys, sottovoce.federation as f; dir(f); sys.exit('grpc' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
