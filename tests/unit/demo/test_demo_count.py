"""What the demo says of a count together."""

from support.counted import counted_by_hand

from sottovoce.demo._learn import count_section
from sottovoce.report.page import Report, Section

SECTION = count_section(counted_by_hand())


def test_every_number_has_an_interval_that_is_no_less_than_zero() -> None:
    names, people, *words = SECTION.table
    assert names == ("votes for", "concerned", "not concerned")
    assert people == ("people themselves", "52 (38 to 66)", "47 (33 to 61)")
    assert words[0] == ("debt", "25 (11 to 39)", "-3 (0 to 11)")
    assert SECTION.facts["The noise of a number"] == "within ±14, 95% of the time"


def test_words_that_the_concerned_say_oftener_come_first() -> None:
    """More people say "clean", but not more of the concerned."""
    assert [row[0] for row in SECTION.table[2:]] == ["debt", "clean"]


def test_the_promise_and_who_learns_what_stand_beside_the_numbers() -> None:
    promise = SECTION.paragraphs[1]
    assert "one whole document changes any outcome's probability" in promise
    assert SECTION.facts["Every peer learns"] == "the sum"
    assert SECTION.facts["Together"] == "no more"
    assert SECTION.facts["People in truth"] == "49 concerned, 51 not concerned"


def test_it_stands_within_its_part_of_the_report_and_not_in_the_contents() -> None:
    whole = Section("How four train", ("Before",), parts=(SECTION,))
    page = Report("A title", "A summary", (whole, Section("Another")), "0").html()
    contents, body = page.split("</nav>")
    assert contents.count("<li>") == 2
    heading = f'<h3 id="{SECTION.anchor}">{SECTION.title}</h3>'
    assert body.index("<h2") < body.index("Before") < body.index(heading) < body.index(">Another<")
    assert "<td>25 (11 to 39)</td>" in body
