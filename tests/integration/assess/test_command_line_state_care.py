"""No command destroys what it reads, and nothing of an erased user stays or comes back."""

from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
from support.commands import done, refused
from support.communities import TWO_TOPICS, random_posts
from support.shown import Run

MADE = "assess posts.parquet --topics topics.toml --measure bow-t --state s --out r.parquet"


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    pq.write_table(random_posts(1, users=20, posts=200), "posts.parquet")
    Path("topics.toml").write_text(TWO_TOPICS)
    return tmp_path


def users_of(file: str) -> list[Any]:
    users: list[Any] = pq.read_table(file)["user"].to_pylist()
    return users


def files(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir() if path.suffix != ".lock"}


@pytest.mark.parametrize(
    "command",
    [
        "alerts s --out s",
        "alerts s --out s.alerts",
        "assess posts.parquet --topics topics.toml --out posts.parquet",
        "assess posts.parquet --topics topics.toml --out topics.toml",
        "assess posts.parquet --state s --out ./s",
        "assess posts.parquet --state s --out s.alerts",
        "assess posts.parquet --state new --out new",
        "assess --state s --merge link --out r.parquet",
    ],
)
def test_an_output_is_never_written_over_what_is_read(run: Run, folder: Path, command: str) -> None:
    done(run, MADE)
    done(run, "alerts s --top 50")
    Path("link").symlink_to("s")
    before = files(folder)
    refused(run, command, "which is the same file; give another name.")
    assert files(folder) == before


def test_whose_last_post_is_deleted_is_in_no_alerts(run: Run) -> None:
    done(run, f"{MADE} --keep-posts")
    done(run, "alerts s --top 50")
    user = users_of("s.alerts")[0]
    hers = [row for row in pq.read_table("posts.parquet").to_pylist() if row["user"] == user]
    first, *later = [f"--post {time}" for time in sorted({row["time"].isoformat() for row in hers})]
    done(run, f"forget s --user {user} {first}")
    assert user in users_of("s.alerts")
    done(run, f"forget s --user {user} {' '.join(later)}")
    assert user not in users_of("s") + users_of("s.alerts")


def test_who_is_in_the_alerts_only_can_be_erased_once(run: Run) -> None:
    done(run, MADE)
    done(run, "alerts s --top 50")
    alerts, user = Path("s.alerts").read_bytes(), users_of("s.alerts")[0]
    done(run, f"forget s --user {user}")
    Path("s.alerts").write_bytes(alerts)
    done(run, f"forget s --user {user}")
    assert user not in users_of("s.alerts")
    said = refused(run, f"forget s --user {user}")
    assert said == "neither this state nor its alerts have this user.\n"
