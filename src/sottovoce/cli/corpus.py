"""``sottovoce count``, ``describe`` and ``simulate``: a corpus counted, described, made up."""

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from sottovoce.cli._groups import Only, OptionGroup
from sottovoce.cli._options import ReadingOptions, skipped_rows, warn_about_rows
from sottovoce.cli._output import AsJson, progress, show_facts, show_json
from sottovoce.corpus.read.tally import ReadOptions
from sottovoce.errors import ParameterError

if TYPE_CHECKING:
    from sottovoce.corpus.vocabulary import Vocabulary
    from sottovoce.corpus.words.rules import TokenRules


@dataclass(frozen=True)
class TermOptions(OptionGroup):
    """Which words are counted.

    Args:
        min_texts: Drop terms in fewer texts.
        max_terms: Keep the most frequent terms.
        stop_words: 'english', or a file with one word a line.
        stem: Snowball stemmer, such as english.
        bigrams: Count pairs of neighbouring words too.
        shortest: Shortest word, in characters.
    """

    panel = "Which words count"

    min_texts: Annotated[int, typer.Option(min=1)] = 1
    max_terms: Annotated[int | None, typer.Option(min=1)] = None
    stop_words: str | None = None
    stem: str | None = None
    bigrams: bool = False
    shortest: int = 2

    def rules(self) -> "TokenRules":
        """How texts are cut into words."""
        from sottovoce.corpus.words.rules import TokenRules, load_stop_words  # noqa: PLC0415 - keeps --help fast

        return TokenRules(
            shortest=self.shortest,
            stop_words=load_stop_words(self.stop_words),
            stem=self.stem,
            bigrams=self.bigrams,
        )


def count(
    corpus: Path,
    *,
    out: Path,
    vocabulary: Path | None = None,
    words: TermOptions,
    reading: Annotated[
        ReadingOptions, Only("file_format", "fields", "header", "delimiter", "encoding", "longest")
    ],
    as_json: AsJson = False,
) -> None:
    """Count the words of texts into a sparse matrix (scipy.sparse.load_npz reads it).

    If no column is called text, the column of texts is guessed.

    Example: sottovoce count community/posts.parquet --out counts --stop-words english

    Args:
        corpus: Texts, one row of counts each.
        out: Folder for counts.npz and vocabulary.txt.
        vocabulary: Public word list; without one, the words come from your texts.
    """
    from sottovoce.corpus.counts import count_to_folder  # noqa: PLC0415 - keeps --help fast
    from sottovoce.corpus.read.corpus import open_documents  # noqa: PLC0415 - keeps --help fast
    from sottovoce.corpus.schema import DOCUMENTS  # noqa: PLC0415 - keeps --help fast
    from sottovoce.corpus.vocabulary import Vocabulary  # noqa: PLC0415 - keeps --help fast

    if vocabulary is not None and (words.max_terms is not None or words.min_texts != 1):
        raise ParameterError("--min-texts and --max-terms choose words; --vocabulary gives them.")
    rules = words.rules()
    texts = open_documents(corpus, options=reading.choose(corpus, DOCUMENTS))
    given = None if vocabulary is None else _usable(Vocabulary.load(vocabulary), rules)
    with progress("Counting words"):
        written = count_to_folder(
            texts,
            out,
            rules,
            vocabulary=given,
            min_texts=words.min_texts,
            max_terms=words.max_terms,
        )
    warn_about_rows(texts)
    facts = {
        "texts": written.rows,
        "terms": len(written.vocabulary),
        "nonzero_counts": written.cells,
        "words_chosen_by_the_data": written.vocabulary.data_dependent,
        "folder": out,
    }
    if as_json:
        show_json({**facts, "skipped": skipped_rows(texts), "repaired": texts.tally.repaired})
    else:
        show_facts("Counts", facts)


def _usable(vocabulary: "Vocabulary", rules: "TokenRules") -> "Vocabulary":
    """The list as the rules count it; says how many of its terms can never occur."""
    usable = vocabulary.apply_rules(rules)
    lost = len(vocabulary) - len(usable)
    if lost:
        listed = f"{lost} of the vocabulary's {len(vocabulary)} terms"
        typer.echo(f"{listed} become equal or disappear under these rules", err=True)
    return usable


def describe(
    posts: Path, *, truth: Path | None = None, reading: ReadingOptions, as_json: AsJson = False
) -> None:
    """Describe a community in numbers, without showing a word or a name.

    If the columns are not called user, time and text, they are guessed.

    Example: sottovoce describe community/posts.parquet --truth community/truth.parquet

    Args:
        posts: Posts: user, time, text.
        truth: A truth file to check against the posts: user, topic, ...
    """
    from sottovoce.corpus.read.corpus import open_posts  # noqa: PLC0415 - keeps --help fast
    from sottovoce.corpus.schema import POSTS  # noqa: PLC0415 - keeps --help fast
    from sottovoce.corpus.summary import QUANTILES, summarise_posts  # noqa: PLC0415 - likewise

    options = reading.choose(posts, POSTS)
    corpus = open_posts(posts, options=options)
    with progress("Reading posts"):
        summary = asdict(summarise_posts(corpus))
        coverage = {} if truth is None else _coverage(truth, posts, options)
    weeks = summary.pop("posts_by_week")
    spans = {
        name: {
            f"{share:.0%}": value for share, value in zip(QUANTILES, summary.pop(name), strict=True)
        }
        for name in ("posts_per_user", "words_per_post")
    }
    warn_about_rows(corpus)
    if as_json:
        by_week = {week.isoformat(): number for week, number in weeks.items()}
        skips = {"skipped": skipped_rows(corpus), "repaired": corpus.tally.repaired}
        show_json({**summary, **spans, "posts_by_week": by_week, **skips, **coverage})
        return
    shown = {name: _span(values) for name, values in spans.items()}
    show_facts("Community", {**summary, "weeks": len(weeks), **shown, **coverage})


def _coverage(truth: Path, posts: Path, options: ReadOptions) -> dict[str, int]:
    from sottovoce.corpus.read.corpus import check_truth_against_posts, open_posts, read_truth  # noqa: PLC0415 - keeps --help fast

    return check_truth_against_posts(
        read_truth(truth), open_posts(posts, options=options)
    )._asdict()


def _span(values: dict[str, float]) -> str:
    return ", ".join(f"{share}: {value:,.0f}" for share, value in values.items())


def simulate(
    folder: Path,
    *,
    users: int = 1000,
    weeks: int = 26,
    seed: int = 0,
    difficulty: str = "default",
    control: bool = False,
    as_json: AsJson = False,
) -> None:
    """Simulate a community with known personas.

    Writes posts.parquet (user, time, text), truth.parquet (user, topic, persona, sensitive,
    grade), background.parquet (text) and topics.toml.

    Example: sottovoce simulate community --users 2000 --weeks 26 --seed 7

    Args:
        folder: Where to write the community.
        users: People in the community.
        weeks: Weeks of history.
        seed: The same seed gives the same files.
        difficulty: very-easy, easy, default, hard or very-hard.
        control: Give all personas the same behaviour, under different names.
    """
    from sottovoce.corpus.simulate.parameters import SimulationParameters, difficulty_named  # noqa: PLC0415 - keeps --help fast
    from sottovoce.corpus.simulate.write import write_community  # noqa: PLC0415 - keeps --help fast

    parameters = SimulationParameters(
        users=users,
        weeks=weeks,
        seed=seed,
        difficulty=difficulty_named(difficulty),
        control=control,
    )
    with progress("Simulating a community"):
        summary = asdict(write_community(folder, parameters))
    if as_json:
        show_json(summary)
        return
    personas = summary.pop("personas")
    sensitive = ", ".join(summary.pop("sensitive_topics"))
    show_facts("Simulated community", {**summary, "sensitive topics": sensitive, **personas})
