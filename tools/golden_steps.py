"""The commands whose outputs `golden_outputs` keeps, on inputs that it writes itself.

A step that ends in ``[--json]`` is run a second time with that option.
"""

import csv
import gzip
from collections.abc import Iterator
from pathlib import Path

PEERS = ("ada", "ben", "cy")
_POSTS = "community/posts.parquet"
_TOPICS = "--topics community/topics.toml"
_RELEASE = f"release {_POSTS} --vocabulary words.txt --epsilon 2 --precision 2"
_WORDS = [
    "debt",
    "doctor",
    "baby",
    "sleep",
    "work",
    "home",
    "friend",
    "money",
    "garden",
    "flour",
    "rose",
    "kitchen",
    "some",
    "here",
]
_SENTENCES = (
    "I saw a doctor about my depression and cannot sleep",
    "we baked bread in the kitchen with flour and salt",
    "my debt grows and the bank wants its money back",
    "the roses in the garden bloom and the bees like them",
)
_MALLET = """\
#doc source pos typeindex type topic
#alpha : 0.1 0.1
#beta : 0.01
0 NA 0 0 debt 0
0 NA 1 1 baby 1
"""

DATA = f"""
--version
--help
describe {_POSTS} --truth community/truth.parquet [--json]
describe export.csv [--json]
describe posts.tsv --format tsv
describe posts.jsonl --fields user=author,text=body [--json]
describe missing.csv
count {_POSTS} --out counts --stop-words english [--json]
count texts.csv --out counts-stem --stem english --bigrams --min-texts 2 --max-terms 30
topics list [--json]
topics list --topic health
topics train small.parquet --topics 8 --iterations 3 --out lda [--json]
topics train small.parquet --space w2v --dimensions 8 --iterations 2 --out w2v
topics show lda --words 5 [--json]
topics catalogue lda --out own.toml --words 6 [--json]
topics match lda {_TOPICS[9:]} --allow-unmatched --least-share 0.001 --out matched.toml [--json]
topics import state.gz --format mallet --out mallet [--json]
topics show mallet
topics judge export {_TOPICS[9:]} --out sheets.csv --judges 3 --split --checks 1 [--json]
"""
JUDGED = f"""
topics judge agreement sheets-judge-1.csv sheets-judge-2.csv sheets-judge-3.csv [--json]
topics judge import {_TOPICS[9:]} sheets-judge-1.csv sheets-judge-2.csv sheets-judge-3.csv\
 --out judged.toml [--json]
"""
ASSESS = f"""
assess {_POSTS} {_TOPICS} --measure bow-t --state s.state --out ranks.parquet --keep-posts
assess {_POSTS} {_TOPICS} --measure all --out all.csv [--json]
assess {_POSTS} {_TOPICS} --measure paper --mode paper --out paper.jsonl
assess {_POSTS} {_TOPICS} --model lda --measure lda-dt,lda-t --out lda.csv --bucket 1d
assess {_POSTS} --report community.html --people --show-users 3 --concerned 2% --out r.csv [--json]
assess export.csv --topic health --report report.html --out export-ranks.csv [--json]
assess export.csv --topic nothing
assess posts.jsonl --fields user=author,text=body --out j.csv --checkpoint cp
assess {_POSTS} --update s.state --only-newer --out ranks2.parquet
assess --state s.state --topic sensitive --out ranks3.csv --show-users 2 [--json]
assess export.csv --state e.state --measure keyword-kinds --out e.csv
assess new.csv --update e.state --out e2.csv
alerts e.state --top 1,5 --out alerts.parquet [--json]
evaluate ranks.parquet community/truth.parquet --posts {_POSTS} {_TOPICS} --replicates 50 [--json]
explain {_POSTS} {_TOPICS} --user u07 --topic sensitive --show-text [--json]
explain export.csv --user ada --topic depression [--json]
forget s.state --user u07 --in ranks.parquet [--json]
topics judge export-profiles {_POSTS} ranks.parquet --sample 4 --out profiles.csv --split\
 --judges 2 --key profiles.key --with-texts
"""
PROFILES = """
topics judge import-profiles profiles-judge-1.csv profiles-judge-2.csv --key profiles.key\
 --out judged-truth.parquet [--json]
"""
RELEASE = f"""
{_RELEASE} --out dry --dry-run [--json]
{_RELEASE} --out released [--json]
{_RELEASE} --out released
{_RELEASE} --out spent --label again
{_RELEASE} --out users --user-documents 2 --ledger users.ledger --budget 4 [--json]
{_RELEASE} --out random --compress random --columns 5 --ledger c1.ledger [--json]
{_RELEASE} --out frequent --compress frequency --columns 5 --prior local --ledger c2.ledger
{_RELEASE} --out central --compress frequency --columns 5 --prior central --ledger c3.ledger
{_RELEASE} --out paper --compress random --columns 5 --accounting paper --ledger c4.ledger
{_RELEASE} --out cluster --compress embedding-cluster --embedding vectors.txt --columns 5\
 --ledger c5.ledger
{_RELEASE} --out disperse --compress embedding-disperse --embedding vectors.txt --columns 5\
 --ledger c6.ledger --maps 2
{_RELEASE} --out work --constant-work --ledger c7.ledger --threshold 3
{_RELEASE} --out by --by user --ids public --ledger c8.ledger
release texts.csv --vocabulary everyday --max-terms 50 --epsilon 1/2 --precision 3\
 --out labelled --labels label --ledger c9.ledger [--json]
release texts.csv --epsilon 1 --precision 3 --out no-words --ledger c10.ledger
{_RELEASE} --epsilon 0 --out refused
analyse released [--json]
analyse released --topics 2 --most 3 --report analysis.html
analyse labelled --classifier --level 0.9 [--json]
analyse by [--json]
audit --control paper-accounting [--json]
audit --control float-noise
statement released --out statement.md
statement released [--json]
statement labelled --out labelled.md
statement users --out users.md
ledger show [--json]
ledger show c9.ledger [--json]
ledger move c9.ledger carried.zip [--json]
ledger move carried.zip c9.ledger
ledger forget-place old/notes.ledger
loop missing --epsilon 2 --precision 2
rank-server --dry-run --json
rank-server {_TOPICS} --epsilon 1 --period 1w --dry-run
rank-server --mode shares --peer http://127.0.0.1:1 --dry-run
study list
bench list
learn init plain --names ada,ben --mode open
learn audit texts.csv --words 4 --seconds 1 --known 0.5 [--json]
"""
CONFIG = "--config all/coordinator/party.toml"
LEARN = f"""
learn train {CONFIG} [--json]
learn evaluate {CONFIG} [--json]
learn classify new-texts.csv --config all/ada/party.toml --out labels.csv [--json]
learn count {CONFIG} --words words.txt --epsilon 1 --votes 2 --out words.counts [--json]
learn count {CONFIG} --words words.txt --pairs --epsilon 1 --votes 2 --out pairs.counts
learn status --config all/ada/party.toml [--json]
learn transcript --config all/ada/party.toml [--json]
statement words.counts --out counts.md
learn topics pairs.counts --out count-topics --topics 2 [--json]
learn roster --config all/ada/party.toml [--json]
"""


def steps_of(text: str) -> Iterator[list[str]]:
    """The commands of a block, those for machines after those for people."""
    for line in text.strip().splitlines():
        words = line.split()
        if words[-1] == "[--json]":
            yield words[:-1]
            words[-1] = "--json"
        yield words


def write_inputs(folder: Path) -> None:
    """Posts in several formats, labelled texts, a word list, word vectors and a foreign model."""
    (folder / "words.txt").write_text("\n".join(sorted(_WORDS)) + "\n", encoding="utf-8")
    rows = list(_posts())
    _write_csv(folder / "export.csv", [("user", "time", "text"), *rows[:60]])
    _write_csv(folder / "new.csv", [("user", "time", "text"), *rows[60:]])
    _write_csv(folder / "posts.tsv", [("user", "time", "text"), *rows[:30]], delimiter="\t")
    lines = (
        f'{{"author": "{who}", "time": "{when}", "body": "{text}"}}' for who, when, text in rows
    )
    (folder / "posts.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")
    _write_csv(folder / "texts.csv", [("label", "text"), *_texts(40)])
    _write_csv(folder / "new-texts.csv", [("text",), ("some rose here",), ("flour",)])
    (folder / "state.gz").write_bytes(gzip.compress(_MALLET.encode(), mtime=0))
    vectors = (
        f"{word} {at % 3 - 1}.5 {at % 5 / 2} {at / 7:.3f}" for at, word in enumerate(sorted(_WORDS))
    )
    (folder / "vectors.txt").write_text("\n".join(vectors) + "\n", encoding="utf-8")


def write_texts(path: Path) -> None:
    """What a peer holds."""
    _write_csv(path, [("label", "text"), *_texts(40)])


def answer_sheets(paths: list[Path]) -> None:
    """Answer every row of judges' sheets: every other one is sensitive."""
    for path in paths:
        with path.open(encoding="utf-8-sig", newline="") as file:
            rows = list(csv.DictReader(file))
        for at, row in enumerate(rows):
            row["sensitive"] = "yes" if at % 2 else "no"
            if "domain" in row:
                row["domain"] = "other"
        with path.open("w", newline="", encoding="utf-8") as file:
            writer = csv.DictWriter(file, rows[0])
            writer.writeheader()
            writer.writerows(rows)


def _posts() -> Iterator[tuple[str, str, str]]:
    people = ("ada", "ben", "cy", "dee", "eve", "fay", "gus", "hal")
    for at in range(80):
        text = _SENTENCES[at % len(_SENTENCES)] if at % 3 else _SENTENCES[1]
        yield people[at % 8], f"2024-0{1 + at // 20}-{1 + at % 20:02d}T12:00:00Z", text


def _texts(number: int) -> Iterator[tuple[str, str]]:
    for at in range(number):
        label, word = (("kitchen", "flour"), ("garden", "rose"))[at % 2]
        yield label, f"some {word} here"


def _write_csv(path: Path, rows: list[tuple[str, ...]], delimiter: str = ",") -> None:
    with path.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file, delimiter=delimiter).writerows(rows)
