"""What cleaning takes out of a post, and that it takes nothing else."""

import pyarrow as pa
import pytest

from sottovoce.corpus.clean import CleaningCounts, clean_posts, clean_text, of_nobody


@pytest.mark.parametrize(
    ("written", "own", "step"),
    [
        ("[quote=ada]I am sad[/quote] Take care", "Take care", "quotes"),
        ("[quote]a [quote]b[/quote] c[/quote]d", "d", "quotes"),
        ("<blockquote>I am sad</blockquote><p>Take care</p>", "Take care", "quotes"),
        ("> I am sad\n> very\nTake care", "Take care", "quotes"),
        ("On Monday Ada wrote:\n> I am sad\n\nTake care", "Take care", "quotes"),
        ("&gt; I am sad\nTake care", "Take care", "quotes"),
        ("Take care\n-----Original Message-----\nI am sad", "Take care", "quotes"),
        ('>"I am sad," she said\nTake care', "Take care", "quotes"),
        ("On Monday Ada wrote:\r\n>\r\n> I am sad\r\n\r\nTake care", "Take care", "quotes"),
        ("ada wrote:\nI am sad\nvery\n\nTake care", "Take care", "quotes"),
        ("fish &amp; chips&nbsp;here", "fish & chips\xa0here", "HTML"),
        ("fish &amp;amp; chips", "fish & chips", "HTML"),
        ("&lt;p&gt;Take care&lt;/p&gt;", "Take care", "HTML"),
        ("de<b>pres</b>sed<br/>today", "depressed\ntoday", "HTML"),
        ("<script>alert('sad')</script>hello", "hello", "HTML"),
        ("see https://example.org/a?utm_source=x&y=1 there", "see  there", "web addresses"),
        ("see [this](https://example.org/sad) there", "see [this] there", "web addresses"),
        ("Re: AW: hello", "hello", "reply prefixes"),
        ("@ada @ben: hello", "hello", "reply prefixes"),
        ("hello\n-- \nAda\nsad since 1980", "hello", "signatures"),
    ],
)
def test_what_is_not_the_authors_is_removed_and_counted(written: str, own: str, step: str) -> None:
    counts = CleaningCounts()
    assert clean_text(written, counts) == own
    assert counts.steps[step] == 1


@pytest.mark.parametrize(
    "text",
    [
        "I am in debt & tired; 5 > 3, a < b, x<y",
        "I <3 you >_< [sic]",
        "R&D at AT&T;",
        "he said: -- never mind",
        "My doctor wrote:\nyou are sad\n\nTake care",
        "ada wrote:\nI am sad",
        "I wrote:\nI am sad\n\nTake care",
        "mail me: ada@example.org",
        "reply: yes\n\n>_<\n>:(",
        "--\nonly this",
        "  blanks around stay  ",
        "",
        "the quote was [quote without an end",
    ],
)
def test_a_clean_post_is_left_as_it_is(text: str) -> None:
    counts = CleaningCounts()
    assert clean_text(text, counts) == text
    assert not counts.facts() or not any(counts.facts().values())


@pytest.mark.parametrize(
    "name", ["[Gelöscht]", "Gelo\u0308schter Benutzer", "-1", "Deleted Account", "Former member"]
)
def test_nobody_has_other_names_too(name: str) -> None:
    assert of_nobody(pa.array([name, "Deleted Duck"])).tolist() == [True, False]


def test_a_post_that_only_quotes_has_nothing_left() -> None:
    counts = CleaningCounts()
    assert clean_text("[quote]I am sad[/quote]", counts) == ""
    assert counts.facts()["only quotes"] == 1


def test_authors_that_stand_for_nobody_are_left_out_with_a_sentence() -> None:
    names = [
        "ada",
        "[deleted]",
        "Anonymous ",
        "AutoModerator",
        "remind_bot",
        "RemindMeBot",
        "abbot",
    ]
    assert of_nobody(pa.array(names)).tolist() == [False, True, True, True, True, True, False]
    batch = pa.record_batch({"user": pa.array(names), "text": pa.array(["a loan"] * len(names))})
    counts = CleaningCounts()
    assert clean_posts(batch, counts)["user"].to_pylist() == ["ada", "abbot"]
    assert "5 posts without a person as author" in counts.in_words()


@pytest.mark.parametrize(
    "piece",
    [
        "[quote]",
        "<p ",
        "<!--",
        "<script>",
        "&amp",
        "> ",
        "@a ",
        "--\n",
        "[/quote]",
        "<b",
        "a wrote:\n",
        "a wrote:\na\n",
    ],
)
def test_work_is_linear_in_a_hostile_text(piece: str) -> None:
    """A quadratic step would take minutes here."""
    assert len(clean_text(piece * 20_000)) <= len(piece) * 20_000
