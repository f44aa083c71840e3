"""Our attacks on opened sums read documents where they can, and the audit counts what they read."""

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from sottovoce.arrays import Floats, Integers
from sottovoce.learn._train import train
from sottovoce.learn.attacks.audit import (
    TrainingAudit,
    audit_openings,
    audit_training,
    heard_totals,
    openings_heard,
)
from sottovoce.learn.attacks.opening import JointAttack, OpenedSums, plain_share, read_one_by_one
from sottovoce.learn.documents import Documents

ROOT = Path(__file__).parents[3]
LONG = "6 or more"
SHARES = 0.4 / np.sqrt(np.arange(1, 61))
EVEN = np.full(120, 0.15)
WORDS = tuple(f"zq{tens}{ones}" for tens in "abcdefghijkl" for ones in "abcdefghij")


def drawn(
    documents: int, words: int, *, shares: Floats = SHARES, seed: int = 0
) -> tuple[Floats, Integers]:
    """Documents of words as frequent as words are, and labels."""
    chance = np.random.default_rng(seed)
    rows = (chance.random((documents, words)) < shares[:words]).astype(np.float64)
    return rows, chance.integers(0, 2, documents)


def by_word(rows: Floats) -> dict[str, Floats]:
    return {str(at): column for at, column in enumerate(rows.T)}


def as_texts(rows: Floats, labels: Integers) -> Documents:
    names = np.array(WORDS[: rows.shape[1]])
    texts = [" ".join(names[row > 0]) or "nothing" for row in rows]
    return Documents.from_texts(texts, [f"l{label}" for label in labels])


def of_part(rows: Floats, labels: Integers, members: Integers) -> OpenedSums:
    found = OpenedSums.from_documents("part", rows[members], labels[members])
    return OpenedSums(
        found.name, found.words, found.sizes, found.totals, found.products, members=members
    )


@pytest.fixture(scope="module")
def unlimited() -> TrainingAudit:
    """Of a training without a limit; pytest's own fixtures lift it for each test only."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("sottovoce.learn.support.MOST_OPENED_SHARE", np.inf)
        return audit_training(as_texts(*drawn(120, 120, shares=EVEN)), seconds=10)


def test_an_open_training_without_a_limit_is_read_word_for_word(unlimited: TrainingAudit) -> None:
    (reading,) = unlimited.readings
    assert reading.read[LONG][0] == reading.read[LONG][1] == 120
    assert reading.read[LONG][2] == 0
    assert not unlimited.holds


@pytest.mark.opened_share
@pytest.mark.parametrize("known", [0.0, 0.5])
def test_the_limit_leaves_nothing_to_read_but_what_guesses_get(known: float) -> None:
    found = audit_training(as_texts(*drawn(450, 60)), known=known, seconds=1)
    (reading,) = found.readings
    assert found.holds
    assert 5 < reading.words < 60
    assert reading.read[LONG][1] > 5


def test_sums_that_nobody_attacks_are_named(unlimited: TrainingAudit) -> None:
    assert unlimited.unread == ["pairs", "support", "uses"]


def test_known_documents_are_taken_off_and_not_counted_as_read() -> None:
    rows, labels = drawn(100, 80, shares=EVEN)
    opening = of_part(rows, labels, np.arange(100))
    (half,) = audit_openings([[opening]], by_word(rows), labels, known=0.5, seconds=3)
    assert 35 < half.documents < 65
    assert half.read[LONG][0] == half.read[LONG][1] > 25


def test_the_joint_attack_reads_more_documents_than_there_are_words() -> None:
    rows, labels = drawn(60, 40)
    opening = OpenedSums.from_documents("all", rows, labels)
    found = JointAttack(opening).run(20)
    assert found.off == 0
    assert {row.tobytes() for row in found.rows} == {row.tobytes() for row in rows}


def test_a_word_that_two_columns_differ_in_once_shows_that_document_at_any_number() -> None:
    rows, labels = drawn(2000, 12)
    rows[:, 11] = rows[:, 0]
    rows[7, 11] = 1 - rows[7, 0]
    found = read_one_by_one(OpenedSums.from_documents("all", rows, labels), 20)
    assert [row.tolist() for row in found] == [rows[7].tolist()]


def test_the_difference_of_two_trainings_shows_added_removed_and_changed_documents() -> None:
    rows, labels = drawn(1004, 80, shares=EVEN)
    before, after = np.arange(1000), np.arange(4, 1004)
    trainings = [[of_part(rows, labels, each)] for each in (before, after)]
    *alone, difference = audit_openings(trainings, by_word(rows), labels, seconds=0.5)
    assert [reading.read[LONG][0] for reading in alone] == [0, 0]
    assert difference.documents == 8
    assert difference.read[LONG][0] == difference.read[LONG][1] > 4


def test_a_peer_that_is_absent_is_read_from_the_difference() -> None:
    rows, labels = drawn(290, 80, shares=EVEN)
    everybody, others = np.arange(290), np.arange(250)
    trainings = [[of_part(rows, labels, each)] for each in (others, everybody)]
    *_, peer = audit_openings(trainings, by_word(rows), labels, seconds=0.5)
    assert peer.documents == 40
    assert peer.read[LONG][0] == peer.read[LONG][1] > 20


def test_three_trainings_are_combined_where_two_differ_by_many() -> None:
    """Each adds the same number, so that the second difference has both signs."""
    rows, labels = drawn(24, 60, shares=EVEN)
    trainings = [[of_part(rows, labels, np.arange(end))] for end in (8, 16, 24)]
    *_, last = audit_openings(trainings, by_word(rows), labels, seconds=1)
    assert last.opening.count("less") == 3
    assert last.read[LONG][0] > 0


def test_a_fold_that_is_another_s_is_not_read_as_this_one() -> None:
    """The planted fault of the count: documents of another draw are not found by chance."""
    (rows, labels), (others, _) = drawn(60, 40), drawn(60, 40, seed=1)
    (reading,) = audit_openings([[of_part(rows, labels, np.arange(60))]], by_word(others), labels)
    assert reading.off == 0
    assert reading.read[LONG][0] == 0


def test_captured_sums_are_those_of_the_documents() -> None:
    rows, labels = drawn(500, 120, shares=EVEN)
    documents = as_texts(rows, labels)
    texts, names = np.array(documents.texts), np.array(documents.labels)
    places = [np.arange(500)[k::4] for k in range(4)]
    with heard_totals() as totals:
        trained = train([(texts[own].tolist(), names[own]) for own in places], words=WORDS)
    ((opening,), _) = openings_heard(totals, trained, np.concatenate(places))
    with heard_totals() as nothing:
        pass
    assert not nothing
    truth = rows[np.ix_(opening.members, np.isin(WORDS, opening.words))]
    assert np.array_equal(opening.products, truth.T @ truth)
    assert opening.sizes.tolist() == np.bincount(labels).tolist()


def test_moments_of_rados_give_pairs_about_right() -> None:
    rows, labels = drawn(160, 10)
    documents = as_texts(rows, labels)
    texts, names = np.array(documents.texts), np.array(documents.labels)
    places = [np.arange(160)[k::4] for k in range(4)]
    with heard_totals() as totals:
        trained = train(
            [(texts[own].tolist(), names[own]) for own in places],
            words=WORDS[:10],
            statistics="rados",
            rados=20_000,
        )
    ((opening,), _) = openings_heard(totals, trained, np.concatenate(places))
    assert np.abs(opening.products - rows.T @ rows).max() <= 6
    assert opening.totals.tolist() == [rows.sum(axis=0).tolist()]


def test_the_share_of_bits_is_that_of_a_small_case_by_hand() -> None:
    """Two words of half of four documents: 8 bits less those of an order, one pair count."""
    overlap = np.array([1, 4, 1]) / 6
    pairs = -float(np.sum(overlap * np.log2(overlap)))
    four = OpenedSums.from_documents(
        "four", np.array([[1, 1], [1, 0], [0, 1], [0, 0]]), np.zeros(4, int)
    )
    assert plain_share(four) == pytest.approx(pairs / (8 - np.log2(24)))


def written(path: Path, rows: Floats, labels: Integers, header: str = "") -> Path:
    documents = as_texts(rows, labels)
    pairs = zip(documents.labels or (), documents.texts, strict=True)
    lines = "".join(f"{label},{text}\n" for label, text in pairs)
    path.write_text(header + lines, encoding="utf-8")
    return path


def audited(
    run: Callable[..., tuple[int, str, str]], folder: Path, rows: Floats, labels: Integers
) -> tuple[int, str, str]:
    path = written(folder / "texts.csv", rows, labels, header="label,text\n")
    return run("learn", "audit", path, "--seconds", 3, "--json")


def test_an_audit_that_reads_documents_says_so_and_no_word_of_them(
    run: Callable[..., tuple[int, str, str]], tmp_path: Path
) -> None:
    code, out, err = audited(run, tmp_path, *drawn(120, 120, shares=EVEN))
    assert code == 1
    assert len(json.loads(out)["openings"]) == 1
    assert "zq" not in out + err
    assert "the attack read more texts of six or more kept words from opened sums" in err


CHANGES = ("appended", "removed", "changed words", "a peer away", "three")


@pytest.mark.opened_share
@pytest.mark.parametrize("change", CHANGES)
def test_several_files_are_trainings_whose_differences_are_read(
    run: Callable[..., tuple[int, str, str]], tmp_path: Path, change: str
) -> None:
    """Nobody remembers here: what differs is read though each opening is not."""
    rows, labels = drawn(640, 60, seed=3)
    first, second, third = np.arange(600), np.arange(612), np.arange(624)
    other = rows.copy()
    other[:12] = rows[-12:]
    given = {
        "appended": [(rows, first), (rows, second)],
        "removed": [(rows, second), (rows, first)],
        "changed words": [(rows, first), (other, first)],
        "a peer away": [(rows, first), (rows, first[np.arange(600) % 40 != 0])],
        "three": [(rows, first), (rows, second), (rows, third)],
    }[change]
    files = [
        written(tmp_path / f"{at}.csv", x[own], labels[own]) for at, (x, own) in enumerate(given)
    ]
    words = ("--header", "label,text", "--seconds", 0.5, "--json")
    code, out, err = run("learn", "audit", *files, *words)
    names = {each["opened"]: each for each in json.loads(out)["openings"]}
    read = {name: int(each["6 or more words"].split(" of ")[0]) for name, each in names.items()}
    assert code == 1
    assert "more texts of six or more kept words" in err
    assert read["statistics 1"] <= 1
    assert read["statistics 2 less statistics 1"] >= 3
    assert len(read) == (7 if change == "three" else 3)


@pytest.mark.opened_share
def test_an_audit_of_the_products_own_limit_ends_well(
    run: Callable[..., tuple[int, str, str]], tmp_path: Path
) -> None:
    code, out, _ = audited(run, tmp_path, *drawn(450, 60))
    (opening,) = json.loads(out)["openings"]
    assert code == 0
    assert opening["6 or more words"].startswith("0 of ")
    assert 0 < opening["rho"] <= 0.5


@pytest.mark.opened_share
def test_an_audit_of_so_few_words_that_rho_has_no_value_says_so(
    run: Callable[..., tuple[int, str, str]], tmp_path: Path
) -> None:
    """Before, it ended in a traceback where JSON was asked for."""
    code, out, _ = audited(run, tmp_path, *drawn(200, 4))
    (opening,) = json.loads(out)["openings"]
    assert (code, opening["rho"]) == (0, None)


def recorded(data: Path, *asked: str) -> list[dict[str, Any]]:
    command = [sys.executable, "tools/learn_audit.py", *asked]
    env = {**os.environ, "SOTTOVOCE_DATA": str(data), "OPENBLAS_NUM_THREADS": "1"}
    shown = subprocess.run(command, env=env, capture_output=True, text=True, check=True, cwd=ROOT)
    return [json.loads(line) for line in shown.stdout.splitlines()]


@pytest.mark.long
def test_the_recorded_attack_reads_the_training_before_and_what_sums_tell(
    shared_data: Path,
) -> None:
    """Of the training at least 700 of 720; where m/d is 1.5 or 2 at least 90%."""
    lines = recorded(shared_data, "before", "told")
    read = [np.sum(list(line["read"].values()), axis=0)[:2] for line in lines]
    assert len(lines) == 9
    assert np.sum(read[:5], axis=0).tolist() >= [700, 720]
    assert all(found >= 0.9 * among for found, among in read[5:])


@pytest.mark.long
def test_of_trainings_by_the_products_limit_no_long_document_is_read_but_by_chance(
    shared_data: Path,
) -> None:
    """What several have alike apart. Who knows half knows more than the limit reckons with."""
    lines = recorded(shared_data, "after")
    assert len(lines) == 36
    whole, half = (
        [line["read"][LONG] for line in lines if line["known"] == known] for known in (0.0, 0.5)
    )
    assert sum(among for _, among, _, _ in whole) > 15_000
    assert all(once <= guessed for _, _, guessed, once in whole)
    assert sum(once for *_, once in half) <= 3
