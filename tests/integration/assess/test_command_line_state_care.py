"""No command destroys what it reads, and nothing of an erased user stays or comes back."""

import shutil
from collections.abc import Callable
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from support.communities import TWO_TOPICS, random_posts

Run = Callable[..., tuple[int, str, str]]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    pq.write_table(random_posts(1, users=20, posts=200), "posts.parquet")
    Path("topics.toml").write_text(TWO_TOPICS)
    return tmp_path


def made(run: Run, *options: object) -> None:
    given = ("--topics", "topics.toml", "--measure", "bow-t", "--state", "s", "--out", "r.parquet")
    code, _, err = run("assess", "posts.parquet", *given, *options)
    assert code == 0, err


def files(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir() if path.suffix != ".lock"}


@pytest.fixture(scope="module")
def kept(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("kept") / "folder"


@pytest.fixture
def with_alerts(run: Run, folder: Path, kept: Path) -> Path:
    """A state and its alerts, made once and copied."""
    if not kept.exists():
        made(run)
        assert run("alerts", "s", "--top", "50")[0] == 0
        shutil.copytree(folder, kept)
    return Path(shutil.copytree(kept, folder, dirs_exist_ok=True))


@pytest.mark.parametrize(
    "command",
    [
        ("alerts", "s", "--out", "s"),
        ("alerts", "s", "--out", "s.alerts"),
        ("assess", "posts.parquet", "--topics", "topics.toml", "--out", "posts.parquet"),
        ("assess", "posts.parquet", "--topics", "topics.toml", "--out", "topics.toml"),
        ("assess", "posts.parquet", "--state", "s", "--out", "./s"),
        ("assess", "posts.parquet", "--state", "s", "--out", "s.alerts"),
        ("assess", "posts.parquet", "--state", "new", "--out", "new"),
        ("assess", "--state", "s", "--merge", "link", "--out", "r.parquet"),
    ],
)
def test_an_output_is_never_written_over_what_is_read(
    run: Run, with_alerts: Path, command: tuple[str, ...]
) -> None:
    Path("link").symlink_to("s")
    before = files(with_alerts)
    code, out, err = run(*command)
    assert (code, out) == (2, "")
    assert "which is the same file; give another name." in err
    assert files(with_alerts) == before


def test_whose_last_post_is_deleted_is_in_no_alerts(run: Run, folder: Path) -> None:
    made(run, "--keep-posts")
    run("alerts", "s", "--top", "50")
    user = pq.read_table("s.alerts")["user"][0].as_py()
    hers = [row for row in pq.read_table("posts.parquet").to_pylist() if row["user"] == user]
    times = sorted({row["time"].isoformat() for row in hers})
    given = [part for time in times for part in ("--post", time)]
    assert run("forget", "s", "--user", user, *given[:2])[0] == 0
    assert user in pq.read_table("s.alerts")["user"].to_pylist()
    assert run("forget", "s", "--user", user, *given[2:])[0] == 0
    for name in ("s", "s.alerts"):
        assert user not in pq.read_table(folder / name)["user"].to_pylist()


def test_who_is_in_the_alerts_only_can_be_erased_once(run: Run, folder: Path) -> None:
    made(run)
    run("alerts", "s", "--top", "50")
    alerts = (folder / "s.alerts").read_bytes()
    user = pq.read_table("s.alerts")["user"][0].as_py()
    assert run("forget", "s", "--user", user)[0] == 0
    (folder / "s.alerts").write_bytes(alerts)
    assert run("forget", "s", "--user", user)[0] == 0
    assert user not in pq.read_table("s.alerts")["user"].to_pylist()
    code, _, err = run("forget", "s", "--user", user)
    assert (code, err) == (2, "the user is not in this state, nor in its alerts.\n")
