"""``sottovoce release`` as its users meet it."""

import json
import os
import random
import shutil
import signal
import subprocess
import sys
import time
from functools import partial
from pathlib import Path
from types import SimpleNamespace

import pytest
from scipy import sparse
from support.shown import Run
from support.warm_python import WarmPopen

from sottovoce.corpus.vocabulary import Vocabulary
from sottovoce.corpus.words.codes import tokenize
from sottovoce.privacy.ledger.chosen_ledger import forget_ledger
from sottovoce.privacy.ledger.elsewhere import user_ledger
from sottovoce.privacy.ledger.ledger import Ledger

PRIVATE = "veryprivatesentence"
STATED = ("--epsilon", "2", "--precision", "2")
UNCLEAN = "texts_with_quotes_tags_or_addresses"


@pytest.fixture
def run(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    """Releases in a folder with a small corpus and a public list."""
    rows = ["user,time,text"]
    rows += [f"u{i % 3},2024-01-0{1 + i % 9},debt loan {PRIVATE} debt" for i in range(9)]
    monkeypatch.chdir(tmp_path)
    Path("posts.csv").write_text("\n".join(rows))
    Path("words.txt").write_text("debt\nloan\nhome\nwork\n")
    return partial(run, "release")


LISTED = ("posts.csv", "--vocabulary", "words.txt")
CHOSEN = "a vocabulary that the data chose"


def test_a_release_writes_counts_map_and_card_and_promises_in_words(run: Run) -> None:
    shown = run(*LISTED, *STATED, "--out", "r")
    assert shown.code == 0
    assert "Adding or removing up to 2 words" in shown.out
    assert "a whole document of 50 counted words, say," in shown.out
    assert sparse.load_npz("r/counts.npz").shape == (9, 4)
    card = json.loads(Path("r/card.json").read_text())
    assert card["guarantee"]["epsilon"] == "2"
    assert PRIVATE not in Path("r/card.json").read_text()


def test_the_same_command_again_gives_the_same_bytes_and_spends_nothing(run: Run) -> None:
    for out in ("r1", "r2"):
        assert run(*LISTED, *STATED, "--out", out, "--ledger", "l").code == 0
    assert Path("r1/counts.npz").read_bytes() == Path("r2/counts.npz").read_bytes()
    (account,) = Ledger(Path("l")).accounts()
    assert account.spent == account.budget.rate == 1


def test_a_folder_with_another_release_is_left_alone(run: Run) -> None:
    more = ("--ledger", "l", "--budget", "5")
    assert run(*LISTED, *STATED, "--out", "r", *more).code == 0
    before = Path("r/counts.npz").read_bytes()
    shown = run(*LISTED, *STATED, "--out", "r", *more, "--label", "again")
    assert shown.code == 2
    assert "holds another release" in shown.err
    assert run(*LISTED, *STATED, "--out", "r", *more, "--label", "again", "--dry-run").code == 2
    assert Path("r/counts.npz").read_bytes() == before
    (account,) = Ledger(Path("l")).accounts()
    assert account.spent == 1
    assert run(*LISTED, *STATED, "--out", "r", *more).code == 0


def test_a_dry_run_takes_an_empty_file_for_a_new_ledger(run: Run) -> None:
    Path("l").touch()
    for more in (("--dry-run",), ()):
        assert run(*LISTED, *STATED, "--out", "r", "--ledger", "l", *more).code == 0


def test_a_share_for_a_prior_that_is_not_bought_is_no_other_request(run: Run) -> None:
    for share in ("1/10", "1/5"):
        shown = run(*LISTED, *STATED, "--out", "r", "--ledger", "l", "--prior-share", share)
        assert shown.code == 0
    (account,) = Ledger(Path("l")).accounts()
    assert account.spent == 1


def test_a_disk_without_room_is_seen_before_anything_is_spent(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(shutil, "disk_usage", lambda path: SimpleNamespace(free=100))
    shown = run(*LISTED, *STATED, "--out", "r", "--ledger", "l")
    assert shown.code == 2
    assert "of disk, but only 100 bytes are free" in shown.err
    assert not Path("r").exists()
    assert not Path("l").exists()


def test_what_is_spent_is_said_for_a_first_a_repeated_and_a_dry_run(run: Run) -> None:
    dry = run(*LISTED, *STATED, "--out", "r", "--ledger", "l", "--dry-run").out
    assert "Dry run: nothing was drawn or spent" in dry
    assert "epsilon then spent" in dry
    first = run(*LISTED, *STATED, "--out", "r", "--ledger", "l").out
    assert "epsilon spent so far" in first
    assert "paid for before" not in first
    again = run(*LISTED, *STATED, "--out", "r", "--ledger", "l").out
    assert "paid for before: this run spent nothing" in again
    shown = run(*LISTED, *STATED, "--out", "r", "--ledger", "l", "--json").out
    assert json.loads(shown)["paid_before"] is True


def test_another_release_beyond_the_budget_is_refused_and_leaves_nothing(run: Run) -> None:
    assert run(*LISTED, *STATED, "--out", "r1", "--ledger", "l").code == 0
    shown = run(*LISTED, "--epsilon", "1", "-N", "2", "--out", "r2", "--ledger", "l")
    assert shown.code == 2
    assert "nothing was spent or released. The first release of a corpus sets" in shown.err
    assert not Path("r2").exists()


def test_a_budget_said_at_the_start_allows_several_releases(run: Run) -> None:
    more = ("--ledger", "l", "--budget", "5")
    assert run(*LISTED, *STATED, "--out", "r1", *more).code == 0
    assert run(*LISTED, *STATED, "--out", "r2", *more, "--label", "again").code == 0
    assert Path("r1/counts.npz").read_bytes() != Path("r2/counts.npz").read_bytes()
    shown = run(*LISTED, *STATED, "--out", "r3", "--ledger", "l", "--budget", "9")
    assert shown.code == 2
    assert "already has another budget, epsilon 5 at N=2, which cannot be changed" in shown.err


def test_a_ledger_of_another_corpus_is_refused(run: Run) -> None:
    assert run(*LISTED, *STATED, "--out", "r1", "--ledger", "l").code == 0
    Path("posts.csv").write_text("user,time,text\na,2024-01-01,other words\n")
    shown = run(*LISTED, *STATED, "--out", "r2", "--ledger", "l")
    assert shown.code == 2
    assert "no budget for this corpus" in shown.err


def test_a_dry_run_draws_and_writes_nothing(run: Run) -> None:
    shown = run(*LISTED, *STATED, "--out", "r", "--dry-run", "--json")
    assert shown.json["dry_run"] is True
    assert shown.json["guarantee"]["epsilon"] == "2"
    assert shown.json["expected_nonzero_cells"] > 0
    assert shown.json["errors"]["smallest_total_that_stands_out"] > 0
    told = ["expected_nonzero_cells", "documents_alike", UNCLEAN, "spent_before"]
    assert shown.json["private"] == told
    assert sorted(path.name for path in Path().iterdir()) == ["posts.csv", "words.txt"]


def test_what_follows_from_the_true_texts_is_marked(run: Run) -> None:
    shown = run(*LISTED, *STATED, "--out", "r", "--dry-run").out
    assert "expected nonzero cells (private)" in shown
    assert "documents alike (private)" in shown
    assert "do not share them" in shown
    made = run(*LISTED, *STATED, "--out", "r", "--json")
    assert made.json["private"] == ["documents_alike", UNCLEAN, "spent_before"]
    assert "expected_nonzero_cells" not in made.json


@pytest.mark.parametrize(("second", "told"), [("Twice!", True), ("thrice", False)])
def test_copies_of_a_document_within_a_release_are_told(run: Run, second: str, told: bool) -> None:
    rows = f"user,time,text\na,2024-01-01,twice\na,2024-01-02,{second}\n"
    Path("posts.csv").write_text(rows)
    shown = run(*LISTED, *STATED, "--out", "r", "--dry-run").out
    assert ("Texts with the same words as another text: 1. If they are" in shown) is told


@pytest.mark.parametrize(("epsilon", "warned"), [("7.9", False), ("8", True), ("40", True)])
def test_a_promise_that_is_next_to_none_is_said_to_be(run: Run, epsilon: str, warned: bool) -> None:
    shown = run(*LISTED, "--epsilon", epsilon, "-N", "2", "--out", "r")
    assert shown.code == 0
    assert ("is next to no promise" in shown.err) is warned


def test_what_documents_spent_before_and_where_is_said(run: Run) -> None:
    assert run(*LISTED, *STATED, "--out", "r1", "--budget", "4").code == 0
    with Path("posts.csv").open("a") as posts:
        posts.write("\nu9,2024-01-01,another one")
    shown = run(*LISTED, *STATED, "--out", "r2")
    assert "1 of these 2 documents has spent 2 of 4 already, at N=2, before this" in shown.out
    assert run(*LISTED, *STATED, "--out", "r2", "--json").json["ledger"] == str(user_ledger())


def test_the_card_says_what_a_word_is(run: Run) -> None:
    assert run(*LISTED, *STATED, "--out", "r").code == 0
    said = json.loads(Path("r/card.json").read_text())["word"]
    assert "a hyphenated compound such as mother-in-law is several words" in said
    assert tokenize(["mother-in-law"]) == [["mother", "in", "law"]]


def test_paper_accounting_warns_and_records_the_truth(run: Run) -> None:
    compressed = ("--compress", "random", "--columns", "2", "--accounting", "paper")
    shown = run(*LISTED, *STATED, "--out", "r", *compressed)
    assert shown.code == 0
    assert "paper accounting states epsilon 2, but the noise gives 4 at N=2" in shown.err
    assert json.loads(Path("r/card.json").read_text())["guarantee"]["epsilon"] == "4"
    (account,) = Ledger(user_ledger()).accounts()
    assert account.spent == 2


@pytest.mark.parametrize(
    ("given", "says", "card_says"),
    [
        (("posts.csv", "--min-texts", 2), "--declare-data-dependent", CHOSEN),
        (("posts.csv", "--vocabulary", "chosen.txt"), CHOSEN, CHOSEN),
        ((*LISTED, "--stop-words", "stop.txt"), "a stop list from a file", "not covered: a stop"),
        (("posts.jsonl", "--vocabulary", "words.txt"), "1 rows could not be used", "left out"),
    ],
)
def test_what_the_data_chose_must_be_declared(
    run: Run, given: tuple[object, ...], says: str, card_says: str
) -> None:
    chosen = Vocabulary(("debt", "loan"), data_dependent=True, origin="built from a corpus")
    chosen.save(Path("chosen.txt"))
    Path("stop.txt").write_text("loan\n")
    Path("posts.jsonl").write_text('{"text": "debt"}\n{"text": null}\n')
    shown = run(*given, *STATED, "--out", "r")
    assert (shown.code, says in shown.err) == (2, True)
    assert not Path("r").exists()
    assert run(*given, *STATED, "--out", "r", "--declare-data-dependent").code == 0
    assert card_says in json.loads(Path("r/card.json").read_text())["in_words"]


def test_documents_per_user_are_bounded_and_promised_for(run: Run) -> None:
    shown = run(*LISTED, *STATED, "--out", "r", "--user-documents", "2", "--json")
    assert shown.json["documents"] == 6
    assert shown.json["documents_left_out"] == 3
    assert shown.json["per_user"]["n"] == 4
    assert shown.json["per_user"]["epsilon"] == "4"


@pytest.mark.parametrize("prior", ["local", "central"])
def test_frequencies_can_be_bought(run: Run, prior: str) -> None:
    bought = ("--compress", "frequency", "--columns", "2", "--prior", prior)
    assert run(*LISTED, *STATED, "--out", "r", *bought).code == 0
    card = json.loads(Path("r/card.json").read_text())
    assert card["prior"] == {"kind": prior, "rate": "1/10"}
    assert card["noise_rate"] == "9/10"
    assert card["guarantee"]["epsilon"] == "2"


def test_public_frequencies_and_vectors_come_from_files(run: Run) -> None:
    Path("freq.tsv").write_text("debt\t10\nhome\t3\n")
    frequent = ("--compress", "frequency", "--columns", "2", "--frequencies", "freq.tsv")
    assert run(*LISTED, *STATED, "--out", "r", *frequent, "--budget", "9").code == 0
    vectors = "\n".join(
        f"{word} {i}.0 1.0" for i, word in enumerate(("debt", "loan", "home", "work"))
    )
    Path("vectors.txt").write_text(vectors)
    near = ("--compress", "embedding-cluster", "--columns", "2", "--embedding", "vectors.txt")
    assert run(*LISTED, *STATED, "--out", "r2", *near).code == 0
    Path("vectors.txt").write_text(vectors.replace("0.0", "9.0"))
    assert run(*LISTED, *STATED, "--out", "r3", *near).code == 0
    (account,) = Ledger(user_ledger()).accounts()
    assert account.spent == 3, "other vectors are another release, which is paid for"


RANDOM, FREQUENT = ("--compress", "random"), ("--compress", "frequency", "--columns", 2)
NEAR = ("--compress", "embedding-cluster", "--columns", 2, "--embedding", "few.txt")
BAD: list[tuple[tuple[object, ...], str]] = [
    (("--epsilon", 0), "epsilon must be > 0, got 0"),
    (("--epsilon", "nan"), "epsilon must be a finite number"),
    (("--precision", 0), "--precision must be > 0, got 0"),
    (("--precision", 10**20), "n must be at most 281474976710656"),
    (("--precision", 10**8), "the rate epsilon/N must lie between"),
    ((*RANDOM, "--columns", 4), "number of words, 4"),
    ((*RANDOM, "--columns", 0), "columns must be >= 1"),
    ((*RANDOM, "--columns", 2, "--maps", 10), "maps must be at most one per document"),
    (FREQUENT, "needs frequencies"),
    ((*FREQUENT, "--frequencies", "zeros.tsv"), "lists none of the vocabulary's words"),
    (NEAR, "must cover at least 50% of the words"),
    (("--prior", "local"), "leave the prior public"),
    (("--budget", 0), "epsilon must be > 0"),
    (("--budget", 1), "the budget does not allow even this release"),
    (("--min-texts", 2), "choose words"),
    (("--user-documents", 0), "user documents must be > 0"),
    (("--vocabulary", "pairs.txt"), "got 1 terms of two"),
    (("--out", "nowhere"), "nowhere is no folder that can be written"),
    (("--out", "words.txt"), "words.txt"),
]


@pytest.mark.parametrize(("given", "says"), BAD)
def test_what_cannot_end_well_is_refused_in_a_sentence_and_spends_nothing(
    run: Run, given: tuple[object, ...], says: str
) -> None:
    Path("zeros.tsv").write_text("other\t1\n")
    Path("few.txt").write_text("debt 1.0 2.0\nfar 2.0 1.0\n")
    Path("pairs.txt").write_text("debt\nloan\ndebt loan\n")
    Path("nowhere").symlink_to("gone")
    shown = run(*LISTED, *STATED, "--out", "r", "--ledger", "l", *given)
    assert shown.code == 2
    assert says in shown.err
    assert shown.err.count("\n") == 1
    assert PRIVATE not in shown.err
    assert not Path("r").exists()
    assert not Path("l").exists()


def test_a_new_ledger_beside_the_outputs_of_another_is_refused(run: Run) -> None:
    own = ("--ledger", "l")
    assert run(*LISTED, "--epsilon", "200", "-N", "2", "--out", "r", *own).code == 0
    for file in Path().glob("l*"):
        if file.is_file():
            file.unlink()
    shown = run(*LISTED, "--epsilon", "1/10", "-N", "2", "--out", "r2", *own)
    assert (shown.code, "is gone, from which 1 spends were made" in shown.err) == (2, True)
    assert forget_ledger(Path("l")) == 1
    shown = run(*LISTED, "--epsilon", "1/10", "-N", "2", "--out", "r2", *own)
    assert shown.code == 2
    assert "holds 1 outputs that this ledger does not know" in shown.err
    assert not Path("r2").exists()


def test_a_bound_on_users_is_no_new_corpus(run: Run) -> None:
    first = run(*LISTED, *STATED, "--out", "r1", "--user-documents", "1", "--budget", "2")
    assert first.code == 0
    shown = run(*LISTED, *STATED, "--out", "r2", "--user-documents", "2", "--budget", "2")
    assert shown.code == 2
    assert "nothing was spent or released" in shown.err


def test_a_users_bound_holds_over_the_whole_file(run: Run) -> None:
    rows = [f"u{i % 2},2024-01-01,debt" for i in range(9000)]
    Path("posts.csv").write_text("\n".join(["user,time,text", *rows]))
    shown = run(*LISTED, *STATED, "--out", "r", "--user-documents", "3", "--json")
    assert shown.json["documents"] == 6


def test_another_vocabulary_or_frequencies_are_another_request(run: Run) -> None:
    Path("other.txt").write_text("debt\nloan\nhome\nfood\n")
    compressed = ("--compress", "frequency", "--columns", "2", "--budget", "99")
    for number, (words, numbers) in enumerate(
        [("words.txt", "9\t1"), ("other.txt", "9\t1"), ("words.txt", "1\t9")]
    ):
        debt, loan = numbers.split("\t")
        Path("f.tsv").write_text(f"debt\t{debt}\nloan\t{loan}\n")
        listed = ("posts.csv", "--vocabulary", words, "--frequencies", "f.tsv", *compressed)
        assert run(*listed, *STATED, "--out", f"r{number}").code == 0
    (account,) = Ledger(user_ledger()).accounts()
    assert account.spent == 3


def test_a_dry_run_refuses_what_the_real_run_would(run: Run) -> None:
    small = (*LISTED, *STATED, "--out", "r", "--budget", "1")
    for more in ((), ("--dry-run",)):
        assert run(*small, *more).code == 2
    assert run(*LISTED, *STATED, "--out", "r", "--budget", "2").code == 0
    assert run(*LISTED, *STATED, "--out", "r", "--dry-run").code == 0
    assert run(*LISTED, *STATED, "--out", "r", "--budget", "7", "--dry-run").code == 2
    Path("posts.csv").write_text("user,time,text\na,2024-01-01,other words\n")
    assert run(*LISTED, *STATED, "--out", "r", "--dry-run").code == 2


@pytest.mark.parametrize("kills", [6, pytest.param(120, marks=pytest.mark.long)])
def test_a_killed_release_is_whole_or_absent_and_spends_once(run: Run, kills: int) -> None:
    draw = random.Random(7)
    command = [sys.executable, "-m", "sottovoce.cli", "release", *LISTED, *STATED]
    command += ["--ledger", "l", "--budget", "1000"]
    for attempt in range(kills):
        labelled = [*command, "--label", str(attempt), "--out", f"r{attempt}"]
        child = WarmPopen(labelled, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        wait_for_work(child, Path("l"))
        time.sleep(draw.uniform(0, 0.06))
        os.kill(child.pid, signal.SIGKILL)
        child.wait()
        shown = run(*labelled[4:])
        assert shown.code == 0, shown.err
        assert not list(Path("l.outputs").glob("*.part*"))
    (account,) = Ledger(Path("l")).accounts()
    assert account.spent == kills


def wait_for_work(child: "subprocess.Popen[bytes]", ledger: Path) -> None:
    """Until the release has opened its ledger: before that there is nothing to lose."""
    log = ledger.with_name(f"{ledger.name}-wal")
    while child.poll() is None and not log.exists():
        time.sleep(0.001)


def test_texts_that_hold_others_words_are_counted_as_they_stand_and_that_is_said(run: Run) -> None:
    rows = ["user,time,text,subject", "a,2024-01-01,> debt,Loans", "b,2024-01-02,loan,Re: Loans"]
    rows += ["[deleted],2024-01-03,see www.example.org loan,The sea"]
    Path("posts.csv").write_text("\n".join(rows))
    shown = run(*LISTED, *STATED, "--by", "subject", "--out", "r", "--dry-run")
    assert "2 of 3 texts hold quotes, tags or web addresses (private)." in shown.out
    assert "release does not clean" in shown.out
    assert "rows, one for each subject" in shown.out
    assert "3 texts are in 2 rows. Replies (Re: ...) went to their subject: 1 names." in shown.out
    told = run(*LISTED, *STATED, "--by", "subject", "--out", "r", "--dry-run", "--json").json
    assert (told["texts"], told[UNCLEAN]) == (3, 2)
    assert {"texts", UNCLEAN} <= set(told["private"])


def test_a_column_that_says_whose_documents_are_is_noticed(run: Run) -> None:
    Path("posts.csv").write_text("patient_id,note\np1,a debt\np1,a loan\n")
    asked = (*LISTED, "--fields", "text=note", *STATED)
    shown = run(*asked, "--out", "r", "--dry-run")
    assert "the column patient_id says whose each document is" in shown.err
    bounded = run(*LISTED, "--fields", "user=patient_id,text=note", *STATED, "--user-documents", 1)
    assert "says whose" not in bounded.err


def test_a_first_release_says_that_it_fixes_the_budget_and_others_do_not(run: Run) -> None:
    fixed = "this first release fixes the budget of these documents: epsilon 2 at N=2"
    assert fixed in run(*LISTED, *STATED, "--out", "r", "--dry-run").err
    assert fixed in run(*LISTED, *STATED, "--out", "r").err
    assert "fixes the budget" not in run(*LISTED, *STATED, "--out", "r").err
