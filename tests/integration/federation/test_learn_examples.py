"""The examples in the help of `learn` run as they stand: a trial's, and those of joining.

What the pages on counting together show is typed in the same trial.
"""

import json
import re
from contextlib import ExitStack, chdir
from fractions import Fraction
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from support.help_examples import Run, Story, ran
from support.hidden_systems import BITS, small_keys_allowed
from support.ports import free_ports
from support.shown_commands import shown
from support.text_runs import WORDS, made_texts

from sottovoce.federation.party.approvals import note_asked
from sottovoce.learn.count.opened import TogetherCounts
from sottovoce.learn.count.recipe import CountRecipe

NAMES = ("ada", "ben", "cy", "dee")
# For the example in help, and for all that the pages count.
LABELS = f"labels = {json.dumps(sorted({*made_texts(20, 0)[1]}))}\n"
OWN_LIMITS = {"budget = 2\n": "budget = 9\n", "labels = []\n": LABELS}


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def write_texts() -> None:
    """What each peer holds, and what somebody wants labels for."""
    for at, name in enumerate(NAMES):
        texts, labels = made_texts(20, at)
        rows = "".join(f"{label},{text}\n" for label, text in zip(labels, texts, strict=True))
        config = Path("together", name, "party.toml")
        text = config.read_text(encoding="utf-8")
        for written, own in OWN_LIMITS.items():
            assert written in text
            text = text.replace(written, own)
        config.write_text(text, encoding="utf-8")
        Path("together", name, "texts.csv").write_text(f"label,text\n{rows}", encoding="utf-8")
    Path("new.csv").write_text(f"text\n{made_texts(1, 9)[0][0]}\n", encoding="utf-8")
    Path("words.txt").write_text("\n".join(WORDS[:4]), encoding="utf-8")


def write_pairs() -> None:
    """A count of pairs, as `learn count --pairs --out pairs.counts` keeps it."""
    low, high = np.triu_indices(len(WORDS))
    totals = np.where(low % 2 == high % 2, 5_000, 10).astype(np.int64)
    recipe = CountRecipe("pairs", 10, Fraction(1))
    counted = TogetherCounts(WORDS, (), totals, recipe, NAMES, NAMES)
    Path("pairs.counts").write_bytes(counted.to_bytes())


def write_complaints() -> None:
    """What the audit trains on."""
    rows = zip(*made_texts(200, 5), strict=True)
    lines = "".join(f"{label},{text}\n" for text, label in rows)
    Path("complaints.csv").write_text(f"product,text\n{lines}", encoding="utf-8")


def settle_for_few_words(config: Path) -> None:
    text = config.read_text(encoding="utf-8")
    text = text.replace('dictionary = "agreed"\nwidth = 1000', 'dictionary = "hashed"\nwidth = 8')
    assert "hashed" in text
    text = text.replace("[training]", "[training]\npenalty = 0.1")
    counted = f'[count]\nwords_file = "../../words.txt"\n{LABELS}'
    config.write_text(f"{text}\n{counted}", encoding="utf-8")


def test_the_examples_of_a_trial_run_while_its_parties_do(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    story = Story("trial", run, {})
    with small_keys_allowed(), ExitStack() as parties:
        story.typed("learn init")
        settle_for_few_words(Path("together", "coordinator", "party.toml"))
        write_texts()
        assert "listens at" in parties.enter_context(story.started("learn coordinator"))
        for name in NAMES:
            # As on machines of their own: nobody pays from another's ledger.
            monkeypatch.setenv("XDG_STATE_HOME", str(Path(f"state-{name}").absolute()))
            own = story.started("learn peer", **{"together/ada": f"together/{name}"})
            assert "listens at" in parties.enter_context(own)
        story.typed("learn train")
        story.typed("learn evaluate")
        story.typed("learn count")
        assert "train" in story.typed("learn status")
        story.typed("learn classify")
        assert Path("labels.csv").read_text(encoding="utf-8").startswith("row,label\n0,")
        story.typed("learn transcript")
        count_as_on_the_pages(story)
        check_intermediary(story)
    note_asked(Path("together", "ada", "store"), "3f2a9c" + "0" * 58, ["a peer less"])
    story.typed("learn approve")
    write_pairs()
    story.typed("learn topics")
    write_complaints()
    # Of four words no text has six, so that none is read.
    story.typed("learn audit", **{"--known 0.5": "--words 4 --seconds 1"})
    story.end()


def count_as_on_the_pages(story: Story) -> None:
    (words,) = shown("how-to/count-together.md")
    assert "count, open mode" in story.ran(words)
    pairs, topics, train = shown("how-to/count-reading.md")
    story.ran(pairs)
    assert Path("pairs.counts").is_file()
    story.ran(topics, **{"--topics 25": "--topics 2"})
    story.ran(train)


def check_intermediary(story: Story) -> None:
    """A trial with one: it trains by rados, which this one does not."""
    Path("mixed").mkdir()
    with chdir("mixed"):
        story.typed("learn init", **{"--mode open": f"--intermediary --key-bits {BITS}"})
        with story.started("learn keyholder") as told:
            assert "listens at" in told
        with story.started("learn intermediary") as told:
            assert "listens at" in told
            asked = ("learn", "status", "--config", "together/intermediary/party.toml", "--json")
            assert json.loads(story.run(*asked)[1])["running"]


def test_the_examples_of_joining_run_as_two_people_would_type_them(run: Run) -> None:
    ports = iter(free_ports(4))
    listen, join = (f"127.0.0.1:{next(ports)}" for _ in range(2))
    story = Story("joining", run, {"c.example:7443": f"{listen} --join {join}"})
    story.typed("learn new")
    coordinator = story.started("learn coordinator", **{"together/": ""})
    with coordinator as told:
        assert listen in told
        for name in ("ada", "dee"):
            joined(story, name, f"127.0.0.1:{next(ports)}")
        assert "coordinator, ada" in story.typed("learn roster")
        story.typed("learn renew")
        story.typed("learn rotate")
        assert "From now on, dee is refused" in story.typed("learn remove")
        assert "Moved to ada" in story.typed("learn move")
    story.end()


def joined(story: Story, name: str, address: str) -> None:
    token = story.typed("learn invite", ada=name).strip()
    own = {"ada": name, "TOKEN": token, "a.example:7443": address}
    (string,) = re.findall(r"Comparison string: (\S+)", story.typed("learn join", **own))
    story.typed("learn admit", **{"ada": name, "4k7p-9xqm": string})
    assert story.run("learn", "join", name, "--confirm", string)[0] == 0


def test_keys_are_sealed_by_what_is_typed_as_the_page_on_parties_shows(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sottovoce.learn.paillier.key_files._SCRYPT_COST", 1 << 4)
    monkeypatch.setattr("sys.stdin", SimpleNamespace(isatty=lambda: True))
    monkeypatch.setattr("getpass.getpass", lambda _question: "correct horse battery")
    (line,) = shown("how-to/learn-federation.md")
    with small_keys_allowed():
        ran(run, f"{line} --key-bits {BITS}")
    key = json.loads(Path("together", "ada", "tls.key").read_text(encoding="utf-8"))
    assert {"salt", "nonce"} < set(key), "sealed"
