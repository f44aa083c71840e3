"""``sottovoce advise`` as a process."""

import json
import signal
import socket
import subprocess
from collections.abc import Callable
from pathlib import Path

import httpx
import pytest
from support.rank_processes import COMMAND, announced, browsing
from support.warm_python import WarmPopen

Run = Callable[..., tuple[int, str, str]]


def test_the_address_it_prints_opens_the_page_once(tmp_path: Path) -> None:
    command = [*COMMAND, "advise", "--json", "--no-open", "--store", str(tmp_path / "kept.sqlite")]
    with WarmPopen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            first = json.loads(process.stdout.readline())["address"]
            with httpx.Client(trust_env=False, timeout=60) as browser:
                assert browser.get(first).status_code == 200
                home = first.partition("/enter")[0]
                assert "How much do your posts show" in browser.get(f"{home}/start").text
                with httpx.Client(trust_env=False, timeout=60) as other:
                    assert other.get(first).status_code == 401
                    assert other.get(f"{home}/enter?token=wrong").status_code == 401
                    second = json.loads(process.stdout.readline())["address"]
                    assert other.get(second).status_code == 200
        finally:
            process.send_signal(signal.SIGINT)
        said = process.communicate(timeout=60)
    assert process.returncode == 130
    assert "Traceback" not in "".join(said)
    assert (tmp_path / "kept.sqlite").stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (["--host", "0.0.0.0"], "one address"),  # noqa: S104 - refused
        (["--host", "192.0.2.1"], "--i-know-others-can-reach-it"),
        (["--host", "example.org"], "an address such as 127.0.0.1"),
        (["--port", "99999"], "from 0 to 65535, got 99999"),
        (["--port", "1", "--host", "192.0.2.1", "--i-know-others-can-reach-it"], "port 1:"),
        (["--topics", "topics.toml"], "--community"),
        (["--community", "posts.csv"], "posts.csv"),
        (["--rank-budget", "1"], "--rank-server"),
        (["--second-rank-server", "https://b.example"], "--rank-budget"),
        (["--rank-server", "https://a.example", "--rank-budget", "none"], "--rank-budget"),
    ],
)
def test_what_cannot_be_is_refused_in_a_sentence(
    run: Run, tmp_path: Path, options: list[str], sentence: str
) -> None:
    code, _, err = run("advise", "--no-open", "--store", tmp_path / "s.sqlite", *options)
    assert code == 2
    assert sentence in err
    assert len(err.splitlines()) == 1


def test_a_port_in_use_is_said_once(run: Run, tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        code, _, err = run(
            "advise", "--no-open", "--store", tmp_path / "s.sqlite", "--port", str(port)
        )
    assert (code, err) == (
        2,
        f"cannot listen on port {port}: Address already in use; choose another with --port.\n",
    )


def test_a_community_of_ones_own_is_compared_with(run: Run, tmp_path: Path) -> None:
    folder = tmp_path / "community"
    assert run("simulate", folder, "--users", 100, "--weeks", 2)[0] == 0
    known = ("--community", folder / "posts.parquet", "--topics", folder / "topics.toml")
    store = ("--no-open", "--store", tmp_path / "kept.sqlite")
    with announced("advise", *store, *known) as page, browsing(page["address"]) as browser:
        browser.post("/start/paste", data={"posts": "debts and loans"})
        assert "of 101" in browser.get("/standing").text
