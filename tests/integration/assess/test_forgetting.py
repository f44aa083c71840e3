"""Attack: somebody was forgotten; whoever gets the files afterwards searches them for the name.

Every kind of file in which a person's rows live is searched byte by byte, and in what its pages
unfold to: dictionaries and statistics of Parquet hold names of which no row is left.
"""

import json
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.csv as pacsv
import pyarrow.parquet as pq
import pytest
from support.commands import done, refused
from support.communities import TWO_TOPICS, random_posts
from support.shown import Run

from sottovoce.assess.state import parts as kept_state
from sottovoce.assess.state.parts import load_state, write_state
from sottovoce.topics.training import Checkpoint

# Names that CSV, JSON and HTML write otherwise than they are, and one that a table would compute.
NAMES = ("marigold-quince", 'zo\N{LATIN SMALL LETTER E WITH DIAERESIS} "<quince>", &', "=quince+1")
RANKS = ("ranks.parquet", "ranks.csv", "ranks.jsonl", "coded.parquet")
ENTERED = ("entered.parquet", "entered.csv", "entered.jsonl")


def strings_in(file: Path) -> Iterator[str]:
    """All that a Parquet file's pages hold: also what is in a dictionary, and in no row."""
    schema = pq.read_schema(file)
    once = [each.name for each in schema if pa.types.is_string(each.type)]
    once += [each.name for each in schema if pa.types.is_dictionary(each.type)]
    each_row = [each.name for each in schema if pa.types.is_large_string(each.type)]
    with pq.ParquetFile(file, read_dictionary=once) as opened:
        for group in range(opened.num_row_groups):
            rows = opened.read_row_group(group, columns=[*once, *each_row])
            for chunk in (chunk for column in rows.columns for chunk in column.chunks):
                yield from map(str, getattr(chunk, "dictionary", chunk).to_pylist())


def holds(file: Path, user: str) -> bool:
    content = file.read_bytes()
    written = {user, json.dumps(user)[1:-1], user.replace('"', '""'), user.replace("&", "&amp;")}
    if any(each.encode() in content for each in written):
        return True
    return content.startswith(b"PAR1") and user in strings_in(file)


def holders(folder: Path, user: str) -> set[str]:
    """The files that hold the name; inputs aside."""
    files = [file for file in folder.rglob("*") if file.is_file() and "posts" not in file.name]
    return {str(file.relative_to(folder)) for file in files if holds(file, user)}


def posts_of(seed: int, users: int) -> pa.Table:
    """Random posts, and posts of those who are to be forgotten, who write of nothing but debt."""
    others = random_posts(seed, users=users, posts=10 * users)
    rows = others.slice(0, 10 * len(NAMES)).to_pylist()
    own = [
        {**row, "user": NAMES[n % len(NAMES)], "text": "debt loan bank"}
        for n, row in enumerate(rows)
    ]
    return pa.concat_tables([others, pa.Table.from_pylist(own, schema=others.schema)])


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("made") / "folder"


@pytest.fixture
def folder(run: Run, made: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """All kinds of files that hold a person's rows, made by the commands of a user."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(kept_state, "LEAST", 0)
    if not made.exists():
        make_all(run)
        shutil.copytree(tmp_path, made)
    return Path(shutil.copytree(made, tmp_path, dirs_exist_ok=True))


def make_all(run: Run) -> None:
    pq.write_table(posts_of(1, 40), "posts.parquet")
    pq.write_table(posts_of(2, 4), "more-posts.parquet")
    Path("topics.toml").write_text(TWO_TOPICS)
    Path("outputs").mkdir()
    given = "assess posts.parquet --topics topics.toml --measure bow-t"
    done(run, f"{given} --state s --out outputs/ranks.parquet")
    for name in ENTERED:
        done(run, f"alerts s --top 50 --out outputs/{name}")
        Path("s.alerts").rename("kept.alerts")
    Path("kept.alerts").rename("s.alerts")
    for name in RANKS[1:3]:
        done(run, f"{given} --out outputs/{name}")
    again = "assess --state s --measure bow-t"
    done(run, f"{again} --report community.html --out r.csv")
    done(run, f"{again} --report outputs/people.html --people --out outputs/again.csv")
    done(run, "assess more-posts.parquet --update s --out outputs/updated.jsonl")
    shutil.copy("s", "outputs/of-last-week.state")
    shutil.copytree("s.earlier", "outputs/of-last-week.state.earlier")
    Checkpoint(Path("outputs/progress")).write(
        "r", 1, lambda to: write_state(to, load_state(Path("s")))
    )
    ranks = pq.read_table("outputs/ranks.parquet")
    coded = ranks.set_column(1, "user", ranks["user"].dictionary_encode())
    pq.write_table(coded, "outputs/coded.parquet")
    Path("looks.jsonl").write_text(
        "".join(json.dumps({"event": "reasons", "user": each}) + "\n" for each in (*NAMES, "u1"))
    )
    Path("outputs/.ranks.csv.0123abcd.part").write_text(f"user\n{NAMES[0]}\n")
    for file in Path().rglob("*"):
        if file.is_file():
            file.chmod(0o600)


def test_the_commands_leave_a_name_in_these_files_and_no_others(folder: Path) -> None:
    """The list that `forget` must reach; a community report names nobody."""
    found = holders(folder, NAMES[0])
    outputs = {f"outputs/{name}" for name in (*RANKS, *ENTERED)}
    outputs |= {"outputs/people.html", "outputs/again.csv", "outputs/updated.jsonl", "r.csv"}
    outputs |= {"outputs/of-last-week.state", "outputs/progress/state-1", "looks.jsonl"}
    outputs |= {"outputs/.ranks.csv.0123abcd.part", "s", "s.alerts"}
    assert outputs <= found
    assert {each for each in found - outputs if ".earlier/" not in each} == set()
    assert any(each.startswith("s.earlier/") for each in found)


def forget(run: Run, user: str, places: str) -> tuple[int, dict[str, Any]]:
    """How `forget` ends, and its answer as JSON."""
    named = [part for place in places.split() for part in ("--in", place)]
    code, out, err = run("forget", "s", "--user", user, *named, "--json")
    assert not err
    return code, json.loads(out)


@pytest.fixture
def pageless(folder: Path) -> Path:
    """Without the page, which only a person can mend."""
    (folder / "outputs/people.html").unlink()
    return folder


@pytest.mark.parametrize("user", NAMES)
def test_no_byte_of_a_name_is_left_where_forget_has_looked(
    run: Run, pageless: Path, user: str
) -> None:
    code, answer = forget(run, user, "outputs r.csv")
    assert code == 0
    assert holders(pageless, user) == {"looks.jsonl"}
    removed = {place["file"]: place["removed"] for place in answer["places"]}
    assert removed["s"] == 1
    for name in (*RANKS, "of-last-week.state"):
        assert removed[str(pageless / "outputs" / name)] == 1, name
    assert all(not file.stat().st_mode & 0o077 for file in pageless.rglob("*") if file.is_file())
    # A checkpoint that holds them begins again.
    assert Checkpoint(pageless / "outputs/progress", resume=True).find("r") is None


def test_who_is_not_forgotten_keeps_every_row(run: Run, pageless: Path) -> None:
    outputs = pageless / "outputs"
    before = {name: rows_of(outputs / name) for name in (*RANKS, *ENTERED)}
    parquet = ("ranks.parquet", "entered.parquet")
    schemas = {name: pq.read_schema(outputs / name) for name in parquet}
    assert forget(run, NAMES[0], "outputs")[0] == 0
    for name, rows in before.items():
        kept = [row for row in rows if row["user"] != NAMES[0]]
        assert rows_of(outputs / name) == kept, name
        assert 0 < len(kept) < len(rows)
    for name, schema in schemas.items():
        found = pq.read_schema(outputs / name)
        assert (found.names, found.types) == (schema.names, schema.types)
        assert found.metadata == schema.metadata


def rows_of(file: Path) -> list[dict[str, object]]:
    if file.suffix == ".parquet":
        return list(pq.read_table(file).to_pylist())
    if file.suffix == ".jsonl":
        return [json.loads(line) for line in file.read_text().splitlines()]
    return list(pacsv.read_csv(file).to_pylist())


def test_a_page_that_names_them_is_said_and_left_to_a_person(run: Run, folder: Path) -> None:
    """Also where their name has quotes, which HTML writes otherwise."""
    page, looks = folder / "outputs/people.html", folder / "looks.jsonl"
    before = looks.read_bytes()
    code, answer = forget(run, NAMES[1], "outputs looks.jsonl")
    assert (code, set(answer["still_named_in"])) == (1, {str(page), str(looks)})
    assert looks.read_bytes() == before
    code, out, _ = run(*f"forget s --user {NAMES[0]} --in outputs".split())
    assert (code, "people.html" in " ".join(out.split())) == (1, True)
    assert holders(folder, NAMES[0]) == {"outputs/people.html", "r.csv", "looks.jsonl"}


def test_posts_in_any_format_and_encoding_are_found_to_name_them(run: Run, folder: Path) -> None:
    """Compression hides a name from whoever reads bytes, and CSV doubles its quotes."""
    Path("given").mkdir()
    for user in NAMES[:2]:
        rows = pa.table({"author": [f"{user}s", user, "else"] * 50, "body": ["words"] * 150})
        pq.write_table(rows, "given/given.parquet", compression="gzip", use_dictionary=False)
        pacsv.write_csv(rows, "given/given.csv")
        Path("given/western.txt").write_text(f"by {user}.", encoding="cp1252")
        Path("given/wide.txt").write_text(f"by {user}.", encoding="utf-16")
        code, answer = forget(run, user, "given")
        found = {Path(each).name for each in answer["still_named_in"]}
        assert (code, found) == (1, {"given.parquet", "given.csv", "western.txt", "wide.txt"})
    pq.write_table(pa.table({"author": ["=quince+12"]}), "given/other.parquet")
    assert forget(run, NAMES[2], "given/other.parquet")[0] == 0


def test_forget_says_where_it_looked_and_what_it_cannot_know_of(run: Run, folder: Path) -> None:
    said = " ".join(done(run, f"forget s --user {NAMES[0]} --in r.csv").split())
    for each in ("s.alerts", "r.csv", "copies", "backups", "releases", "histograms"):
        assert each in said, each


def test_forgetting_that_was_cut_short_is_done_again(run: Run, pageless: Path) -> None:
    assert forget(run, NAMES[0], "")[0] == 0
    assert forget(run, NAMES[0], "outputs")[0] == 0
    assert holders(pageless, NAMES[0]) == {"r.csv", "looks.jsonl"}
    said = refused(run, f"forget s --user {NAMES[0]} --in outputs")
    assert said == "neither this state nor its alerts have this user.\n"


def test_a_link_is_what_it_points_to(run: Run, folder: Path) -> None:
    (folder / "r.csv").rename(folder / "elsewhere.csv")
    (folder / "r.csv").symlink_to("elsewhere.csv")
    shutil.copy("s", "true-state")
    shutil.copytree("s.earlier", "true-state.earlier")
    (folder / "linked").symlink_to("true-state")
    done(run, f"forget linked --user {NAMES[0]} --in r.csv")
    assert not {"elsewhere.csv", "true-state"} & holders(folder, NAMES[0])
    assert Path("r.csv").readlink() == Path("elsewhere.csv")


def test_places_that_are_not_there_are_refused_before_anything_is_erased(
    run: Run, folder: Path
) -> None:
    before = (folder / "s").read_bytes()
    refused(run, f"forget s --user {NAMES[0]} --in nowhere", "nowhere")
    assert (folder / "s").read_bytes() == before
