"""Commands that pages show and `test_readme.py` does not run, because they need something first.

Blocks `sh` and `python` run from top to bottom; `console`, and blocks without a language, need what
only their reader has: parties that listen, a cluster, hours. Here and where `RUN_BY` says they are
typed too, with what is missing made; the others at least parse, and say why.
"""

import re
import tomllib
from pathlib import Path

import httpx
import pytest
from sottovoce_lab.benches import BENCHES
from sottovoce_lab.studies import STUDIES
from support.help_examples import Run, address_in, answer_sheets, kept_running, parsed, ran
from support.rank_servers import having_published
from support.shown_commands import DOCS, PAGES, blocks, shown

from sottovoce.corpus.simulate.parameters import SimulationParameters
from sottovoce.corpus.simulate.write import write_community

HERE = Path(__file__).parent
KNOWN = {"console", "", "sh", "python", "pycon", "toml", "text"}
SH = frozenset({"sh"})
TOPIC = 'name = "debt"\ndomain = "finance"\nsensitive = true'
RUN_BY = {
    "how-to/advise.md": "test_shown_commands.py",
    "how-to/count-reading.md": "federation/test_learn_examples.py",
    "how-to/count-together.md": "federation/test_learn_examples.py",
    "how-to/extending.md": "test_shown_commands.py",
    "how-to/judgements.md": "test_shown_commands.py",
    "how-to/learn-federation.md": "federation/test_learn_examples.py",
    "how-to/learn-joining.md": "federation/test_deployment.py",
    "how-to/python.md": "test_readme.py",
    "how-to/rank-server.md": "advisor/rank/test_rank_docs.py",
    "tutorials/learn-scenario.md": "federation/test_learn_scenario.py",
}
NOT_RUN = {
    "how-to/operations.md": "it installs services as root; unit/test_units.py reads the units",
    "how-to/scale.md": "it reads from a cluster; long: integration/cluster/test_cluster.py",
    "how-to/spark.md": "it reads from a cluster; long: integration/cluster/test_cluster.py",
    "research/assess-blogs.md": "hours, on posts that we may not pass on; small in "
    "integration/test_command_line_blogs.py",
    "research/assess-studies.md": "minutes; small: integration/test_command_line_assess_studies.py",
    "research/loop-study.md": "an hour; small in integration/loop/test_study_loop.py",
    "research/release-studies.md": "minutes to hours; small in "
    "integration/lab/test_release_studies.py and integration/lab/test_release_analyse.py",
    "research/scale.md": "three quarters of an hour; small in unit/lab/test_scale.py",
    "tutorials/start.md": "it installs; integration/test_help_examples.py has the demo's report",
}


def test_every_block_is_of_a_kind_that_is_run_or_read() -> None:
    kinds = {kind for page in PAGES for kind, _ in blocks(page) if not kind.startswith("{")}
    assert kinds <= KNOWN


def test_commands_stand_where_they_are_found() -> None:
    texts = [text for page in PAGES for kind, text in blocks(page) if kind == "text"]
    assert not any(line.startswith("sottovoce ") for text in texts for line in text.splitlines())


def named(page: Path) -> str:
    return str(page.relative_to(DOCS))


@pytest.mark.parametrize("page", [named(page) for page in PAGES if shown(named(page))])
def test_a_command_that_is_shown_has_options_that_there_are(page: str) -> None:
    for line in shown(page):
        given = parsed(line)
        if line.startswith(("study ", "bench ")):
            assert given["name"] in {"list", *STUDIES, *BENCHES}, line


def test_pages_of_commands_are_run_but_for_those_with_a_reason() -> None:
    runs = re.findall(
        r'^    "docs/(\S+)": \[',
        (HERE / "test_readme.py").read_text(encoding="utf-8"),
        re.MULTILINE,
    )
    commands = {named(page) for page in PAGES if "sh" in dict(blocks(page))}
    more = {named(page) for page in PAGES if shown(named(page)) or "console" in dict(blocks(page))}
    assert commands | more == {*runs, *RUN_BY, *NOT_RUN}
    assert more <= {*RUN_BY, *NOT_RUN}


@pytest.mark.parametrize("page", RUN_BY)
def test_the_test_that_is_said_to_run_a_page_reads_it(page: str) -> None:
    text = (HERE / RUN_BY[page]).read_text(encoding="utf-8")
    # The list itself, if it stands there, is one mention.
    assert text.count(Path(page).name) > ("RUN_BY" in text)


@pytest.mark.parametrize("page", NOT_RUN)
def test_what_is_run_in_place_of_a_page_is_there(page: str) -> None:
    files = re.findall(r"\S+\.py", NOT_RUN[page])
    assert files
    assert all((HERE.parent / file).is_file() for file in files)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of a reader's own, with a community whose files are called as on the pages."""
    write_community(
        tmp_path / "community", SimulationParameters(users=60, weeks=2, background_documents=50)
    )
    for name in ("posts.parquet", "topics.toml"):
        (tmp_path / name).symlink_to(tmp_path / "community" / name)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_a_measure_of_another_package_ranks_once_it_is_installed(
    run: Run, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The package is what the page shows: its module, and what its project file names."""
    page = DOCS / "how-to" / "extending.md"
    kinds = dict(blocks(page))
    (folder / "mypackage").mkdir()
    (folder / "mypackage" / "measures.py").write_text(kinds["python"], encoding="utf-8")
    named_there = tomllib.loads(kinds["toml"])["project"]["entry-points"]
    ((group, points),) = named_there.items()
    installed = folder / "mypackage-1.dist-info"
    installed.mkdir()
    lines = "".join(f"{name} = {place}\n" for name, place in points.items())
    (installed / "entry_points.txt").write_text(f"[{group}]\n{lines}", encoding="utf-8")
    (installed / "METADATA").write_text("Metadata-Version: 2.1\nName: mypackage\nVersion: 1\n")
    monkeypatch.syspath_prepend(folder)
    (line,) = shown("how-to/extending.md")
    ran(run, line)
    assert (folder / "ranks.parquet").is_file()


def test_profiles_are_judged_as_the_page_shows(run: Run, folder: Path) -> None:
    ranking = ("--topics", "topics.toml", "--measure", "bow-t", "--out", "ranks.parquet")
    assert run("assess", "posts.parquet", *ranking)[0] == 0
    export, judged = shown("how-to/judgements.md")
    ran(run, export)
    answer_sheets("profiles.csv")
    (folder / "profiles.csv").rename("profiles-judged.csv")
    ran(run, judged)
    assert (folder / "truth.parquet").is_file()


def test_the_pages_of_advise_answer_until_they_are_stopped(run: Run, folder: Path) -> None:
    lines = shown("how-to/advise.md", SH)
    train = ("community/background.parquet", "--topics", 4, "--iterations", 1, "--out", "model")
    assert run("topics", "train", *train)[0] == 0
    (folder / "topics.toml").unlink()
    assert run("topics", "catalogue", "model", "--out", "topics.toml")[0] == 0
    judged = (folder / "topics.toml").read_text(encoding="utf-8")
    judged = re.sub("name = .*\ndomain = .*\nsensitive = false", TOPIC, judged, count=1)
    (folder / "topics.toml").write_text(judged, encoding="utf-8")
    with (
        having_published(folder / "others") as url,
        httpx.Client(trust_env=False, timeout=60) as browser,
    ):
        assert len(lines) > 3
        for line in lines:
            there = {"https://ranks.example": url}
            with kept_running(f"{line} --no-open", there) as page:
                assert browser.get(address_in(page)).status_code < 400, line


def test_settings_on_pages_are_toml() -> None:
    shown = [text for page in PAGES for kind, text in blocks(page) if kind == "toml"]
    assert len(shown) > 2
    for text in shown:
        assert tomllib.loads(text)


QUICK = [
    line
    for page in NOT_RUN
    if page.startswith("research/")
    for line in shown(page)
    if "--quick" in line
]


@pytest.mark.long
@pytest.mark.parametrize("line", QUICK)
def test_a_quick_look_at_a_study_is_quick(line: str, run: Run) -> None:
    ran(run, line)
