"""Votes are read as they were cast, or refused with the row that is wrong."""

import csv
import io
from pathlib import Path

import numpy as np
import pytest

from sottovoce.errors import InputError, ParameterError
from sottovoce.topics.catalogue import Catalogue, Topic
from sottovoce.topics.judgements.agreement import (
    agreement,
    agreement_table,
    judged_catalogue,
    judged_topics,
    plurality,
)
from sottovoce.topics.judgements.votes import (
    CATEGORIES,
    Vote,
    check_items,
    csv_text,
    read_rows,
    read_votes,
    topic_item,
    topic_sheet,
    topic_votes,
    vote_counts,
    without_checks,
)

DEBTS = Topic("debts", ("debt",), "other", dimensions=(3,))
PETS = Topic("pets", ("cat",), "other")
CATALOGUE = Catalogue((DEBTS, PETS), model="m")
PRIVATE = "zanzibar"


def read(tmp_path: Path, text: str) -> list[Vote]:
    path = tmp_path / "votes.csv"
    path.write_text(text)
    return list(read_votes([path]).votes)


LIST = "judge,topic,sensitive,domain\na,debts,yes,finance\nb,debts,No,\n"
TURK = """HITId,WorkerId,AssignmentStatus,Input.item,Answer.sensitive,Answer.domain
1,A,Approved,debts,yes,finance
2,B,Rejected,debts,no,law
3,C,Submitted,pets,no,other
"""
OPTIONS = """WorkerId,Input.topic,Answer.sensitive.yes,Answer.sensitive.no,Answer.domain.law
A,debts,true,false,true
B,debts,false,true,false
"""
PARTS = "judge,item,part,parts,topic,sensitive\na,p,1,2,hiv,(later)\na,p,2,2,hiv,yes\n"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (LIST, [("a", "debts", True, "finance"), ("b", "debts", False, None)]),
        (TURK, [("A", "debts", True, "finance"), ("C", "pets", False, "other")]),
        (OPTIONS, [("A", "debts", True, "law"), ("B", "debts", False, None)]),
        (PARTS, [("a", "p", True, None)]),
    ],
    ids=["plain", "without rejected rows", "a column per option", "the last part is the vote"],
)
def test_votes_are_read_from_each_form(
    tmp_path: Path, text: str, expected: list[tuple[str, str, bool, str | None]]
) -> None:
    votes = [(each.judge, each.item, each.sensitive, each.domain) for each in read(tmp_path, text)]
    assert votes == expected


def test_domains_are_optional_and_answers_come_in_many_forms(tmp_path: Path) -> None:
    answers = ("YES", "true", "1", "no", "FALSE", "0")
    text = "judge,topic,sensitive\n" + "".join(f"j{a},debts,{a}\n" for a in answers)
    assert [vote.sensitive for vote in read(tmp_path, text)] == [True] * 3 + [False] * 3


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("judge,topic,sensitive\n,debts,yes\n", "row 1: every vote needs a judge"),
        ("judge,topic,sensitive\na,,yes\n", "row 1: every vote needs a topic"),
        (f"judge,topic,sensitive\na,debts,{PRIVATE}\n", "row 1: sensitive must be yes or no"),
        (f"judge,topic,sensitive,domain\na,debts,yes,{PRIVATE}\n", "domain must be one of"),
        ("judge,topic,sensitive\na,debts,yes\nb,debts,no\na,debts,no\n", "row 3: this judge voted"),
        ("judge,topic,sensitive\na,debts,\nb,debts,no\n", "1 rows have no answer, the first votes"),
        ("who,topic,sensitive\na,debts,yes\n", "no column judge or WorkerId"),
        ("judge,sensitive\na,yes\n", "no column item or topic"),
        ("judge,topic\na,debts\n", "no column sensitive"),
        ("judge,topic,sensitive\n", "no vote"),
    ],
)
def test_a_wrong_row_is_told_by_its_place_and_not_quoted(
    tmp_path: Path, text: str, says: str
) -> None:
    with pytest.raises(InputError, match=says) as refused:
        read(tmp_path, text)
    assert PRIVATE not in str(refused.value)


def test_rows_without_an_answer_can_be_left_out_and_are_counted(tmp_path: Path) -> None:
    path = tmp_path / "votes.csv"
    path.write_text("judge,topic,sensitive\na,debts,\nb,debts,no\n")
    found = read_votes([path], allow_missing=True)
    assert (len(found.votes), found.missing) == (1, 1)


def test_topics_are_known_by_name_or_code_and_not_twice() -> None:
    votes = [Vote("a", "pets", False), Vote("a", topic_item(DEBTS), True)]
    assert [vote.item for vote in topic_votes(votes, CATALOGUE)] == ["pets", "debts"]
    with pytest.raises(InputError, match="voted on the same item"):
        topic_votes([*votes, Vote("a", "debts", True)], CATALOGUE)
    with pytest.raises(InputError, match="1 votes are on topics .* the first: here"):
        topic_votes([*votes, Vote("a", "cars", True, place="here")], CATALOGUE)


def test_failed_attention_checks_are_counted_by_judge_and_are_no_votes() -> None:
    code, (answer, domain) = next(iter(check_items().items()))
    right = Vote("good", code, answer == "yes", domain)
    votes = [right, Vote("bad", code, answer == "yes", "other"), Vote("bad", "debts", True)]
    votes += [Vote("worse", code, answer != "yes", domain)]
    real, failed = without_checks(votes)
    assert [vote.item for vote in real] == ["debts"]
    assert failed == {"bad": 1, "worse": 1}


def ballots(*counts: tuple[str, int, int]) -> list[Vote]:
    return [
        Vote(f"j{judge}", topic, judge < yes)
        for topic, yes, judges in counts
        for judge in range(judges)
    ]


def test_table_1_counts_topics_by_judges_agreeing() -> None:
    votes = ballots(("debts", 3, 3), ("pets", 0, 3), ("cars", 0, 3))
    rows = [(row.agreeing, row.judges, row.items) for row in agreement_table(votes)]
    assert rows == [(3, 3, 1), (2, 3, 0), (1, 3, 0), (0, 3, 2)]
    found = agreement(votes)
    assert (found.items, found.judges, found.votes, found.equal_judges) == (3, 3, 9, True)
    assert found.kappa.kappa == pytest.approx(1.0)


def test_unequal_numbers_of_judges_have_rows_of_their_own() -> None:
    votes = ballots(("debts", 2, 3), ("pets", 1, 2))
    found = agreement(votes)
    assert not found.equal_judges
    assert {(row.agreeing, row.judges) for row in found.table if row.items} == {(2, 3), (1, 2)}
    assert vote_counts(votes)[1].tolist() == np.array([[2, 1], [1, 1]]).tolist()


@pytest.mark.parametrize(
    ("yes", "judges", "threshold", "sensitive"),
    [
        (4, 7, 0.5, True),
        (3, 7, 0.5, False),
        (2, 4, 0.5, False),
        (6, 7, 0.9, False),
        (1, 7, 0, True),
    ],
)
def test_a_topic_is_sensitive_when_more_than_the_threshold_say_so(
    yes: int, judges: int, threshold: float, sensitive: bool
) -> None:
    judged = judged_topics(
        Catalogue((DEBTS,)), ballots(("debts", yes, judges)), threshold=threshold
    )
    assert judged[0].sensitive is sensitive
    assert judged[0].share == yes / judges


@pytest.mark.parametrize(
    ("domains", "expected"),
    [
        (["law", "law", "other"], ("law", False)),
        (["other", "law"], ("law", True)),
        (["law", "medicine", "finance"], ("medicine", True)),
        (["other", "other", "law"], ("other", False)),
        ([], None),
    ],
)
def test_the_domain_is_the_plurality_and_ties_go_by_the_order_of_categories(
    domains: list[str], expected: tuple[str, bool] | None
) -> None:
    assert plurality(domains) == expected


def test_the_judged_catalogue_keeps_what_was_not_judged() -> None:
    votes = [Vote("a", "debts", True, "finance"), Vote("b", "debts", True)]
    with pytest.raises(InputError, match="1 of 2 topics have no vote, the first 'pets'"):
        judged_topics(CATALOGUE, votes)
    judged = judged_catalogue(CATALOGUE, judged_topics(CATALOGUE, votes, allow_missing=True))
    assert judged.model == "m"
    assert judged.by_name["debts"] == Topic(
        "debts", ("debt",), "finance", sensitive=True, dimensions=(3,)
    )
    assert judged.by_name["pets"] == PETS


def test_votes_without_domains_leave_the_domain(tmp_path: Path) -> None:
    judged = judged_topics(Catalogue((DEBTS,)), ballots(("debts", 3, 3)))
    assert (judged[0].domain, judged[0].domain_tied) == ("other", False)


@pytest.mark.parametrize("threshold", [-0.1, 1.0, float("nan")])
def test_an_impossible_threshold_is_refused(threshold: float) -> None:
    with pytest.raises(ParameterError, match="threshold"):
        judged_topics(Catalogue((DEBTS,)), ballots(("debts", 1, 1)), threshold=threshold)


WORDS = tuple(f"word{number:02}" for number in range(25))
THREE_TOPICS = Catalogue(
    tuple(Topic(f"secret name {number}", (f"own{number}", *WORDS), "other") for number in range(9))
)


def test_every_judge_sees_every_topic_once_in_an_order_of_her_own() -> None:
    rows = topic_sheet(THREE_TOPICS, judges=3, seed=1)
    orders = [[row["item"] for row in rows if row["judge"] == f"judge-{n}"] for n in (1, 2, 3)]
    assert all(sorted(order) == sorted(orders[0]) for order in orders)  # type: ignore[type-var] # texts
    assert len({tuple(order) for order in orders}) == 3
    assert len(set(orders[0])) == len(THREE_TOPICS)
    assert topic_sheet(THREE_TOPICS, judges=3, seed=1) == rows
    assert topic_sheet(THREE_TOPICS, judges=3, seed=2) != rows


def test_a_sheet_shows_twenty_words_the_questions_and_no_name() -> None:
    row = topic_sheet(THREE_TOPICS, judges=1)[0]
    assert len(str(row["words"]).split(", ")) == 20
    assert all(category in str(row["domain_question"]) for category in CATEGORIES)
    assert "secret name" not in str(row)
    assert (row["sensitive"], row["domain"]) == ("", "")


def test_without_judges_there_is_one_row_a_topic() -> None:
    rows = topic_sheet(THREE_TOPICS, judges=0)
    assert len(rows) == len(THREE_TOPICS)
    assert {row["judge"] for row in rows} == {""}


def test_an_item_s_code_changes_with_the_words_that_are_shown_only() -> None:
    topic = Topic("a", WORDS, "other")
    assert topic_item(topic) == topic_item(Topic("a", WORDS[:20], "law", sensitive=True))
    assert topic_item(topic) != topic_item(Topic("a", WORDS[1:], "other"))
    assert topic_item(topic) != topic_item(Topic("b", WORDS, "other"))


def test_attention_checks_say_what_to_answer_and_look_like_any_row() -> None:
    rows = topic_sheet(THREE_TOPICS, judges=1, checks=2)
    checks = [row for row in rows if row["item"] in check_items()]
    assert len(checks) == 2
    for row in checks:
        answer, domain = check_items()[str(row["item"])]
        assert f"answer {answer}, and choose {domain}" in str(row["words"])
    assert len({len(str(row["item"])) for row in rows}) == 1


@pytest.mark.parametrize(
    "options", [{"judges": -1}, {"judges": 1001}, {"checks": 5}, {"checks": -1}]
)
def test_impossible_sheets_are_refused(options: dict[str, int]) -> None:
    with pytest.raises(ParameterError):
        topic_sheet(THREE_TOPICS, **options)


def test_what_is_written_is_read_again_whatever_the_delimiter(tmp_path: Path) -> None:
    rows = [{"a": '=x,"y"\nz', "b": "-"}, {"a": "plain;", "b": "'q"}]
    path = tmp_path / "rows.csv"
    for delimiter in ",;\t":
        out = io.StringIO()
        writer = csv.writer(out, delimiter=delimiter)
        writer.writerows(csv.reader(io.StringIO(csv_text(("a", "b"), rows))))
        path.write_text(out.getvalue())
        assert [row for _, row in read_rows(path)] == rows


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (b"a,b\n1,2,3\n", "row 1 has more cells"),
        (b"\xff\xfe\x00", "UTF-8"),
        (None, "No such file"),
        (b"a,b\n" + b"x" * 200_000 + b",1\n", "cannot be read as CSV"),
        (b"a,b\n" + b"1,2\n" * 60_000, "at most 201,000 bytes"),
        (b"topic,answer, topic \nhiv,yes,debts\n", "name of column 1 comes again"),
    ],
)
def test_a_file_that_is_absent_broken_or_too_large_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, content: bytes | None, says: str
) -> None:
    monkeypatch.setattr("sottovoce.topics.judgements.votes.MOST_BYTES", 201_000)
    path = tmp_path / "rows.csv"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(InputError, match=says):
        list(read_rows(path))


def test_blank_names_of_columns_may_repeat(tmp_path: Path) -> None:
    path = tmp_path / "votes.csv"
    path.write_text("topic,,answer,\nhiv,,yes,\n")
    assert [row["answer"] for _, row in read_rows(path)] == ["yes"]
