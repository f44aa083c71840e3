"""Have Debian's chromium for the browser tests, or say plainly why not."""

import os
import shutil
import subprocess
import sys


def main() -> None:
    """Install chromium when it is missing and this machine lets us."""
    if shutil.which("chromium"):
        return
    if not shutil.which("apt-get") or os.geteuid() != 0:
        _cannot("it needs apt-get and root; run: sudo apt-get install chromium")
        return
    print("Installing chromium for the browser tests (once) ...")
    for command in (["apt-get", "update"], ["apt-get", "install", "--yes", "chromium"]):
        if not _succeeds(command):
            _cannot(f"'{' '.join(command)}' failed")
            return


def _succeeds(command: list[str]) -> bool:
    environment = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    done = subprocess.run(command, env=environment, check=False, capture_output=True)
    return done.returncode == 0


def _cannot(why: str) -> None:
    print(f"No chromium, so the browser tests will be skipped: {why}.", file=sys.stderr)


main()
