"""The rank server's store: PostgreSQL's driver is an extra that SQLite does without."""

import subprocess
import sys
from pathlib import Path

CODE = """
import sys
sys.modules["psycopg"] = None  # as where it is not installed
from sottovoce.errors import MissingExtraError
from sottovoce.web.rank.store import open_store
open_store(sys.argv[1]).close()
try:
    open_store("postgresql://nowhere/rank")
except MissingExtraError as error:
    print(error)
"""


def test_a_server_without_postgres_opens_an_sqlite_file(tmp_path: Path) -> None:
    command = [sys.executable, "-c", CODE, str(tmp_path / "rank.sqlite")]
    done = subprocess.run(command, capture_output=True, check=True, text=True)
    assert "pip install 'sottovoce[postgres]'" in done.stdout
