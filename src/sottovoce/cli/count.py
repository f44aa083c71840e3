"""``sottovoce count``."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from sottovoce.cli.reading import (
    EncodingOption,
    FieldsOption,
    FormatOption,
    HeaderOption,
    LineLimitOption,
    read_options,
    skipped_rows,
    warn_about_rows,
)
from sottovoce.cli.shown import AsJson, progress, show_facts, show_json
from sottovoce.corpus.reading.options import DEFAULT_LINE_BYTES
from sottovoce.errors import ParameterError

if TYPE_CHECKING:
    from sottovoce.corpus.vocabulary import Vocabulary
    from sottovoce.corpus.words.rules import TokenRules


def count(
    corpus: Annotated[Path, typer.Argument(help="Texts, one row of counts each.")],
    out: Annotated[Path, typer.Option(help="Folder for counts.npz and vocabulary.txt.")],
    vocabulary: Annotated[
        Path | None, typer.Option(help="Public word list; without one the data choose the words.")
    ] = None,
    min_texts: Annotated[int, typer.Option(min=1, help="Drop terms in fewer texts.")] = 1,
    max_terms: Annotated[
        int | None, typer.Option(min=1, help="Keep the most frequent terms.")
    ] = None,
    stop_words: Annotated[
        str | None, typer.Option(help="'english', or a file with one word a line.")
    ] = None,
    stem: Annotated[str | None, typer.Option(help="Snowball stemmer, such as english.")] = None,
    bigrams: Annotated[bool, typer.Option("--bigrams", help="Count neighbours too.")] = False,
    shortest: Annotated[int, typer.Option(help="Shortest word, in characters.")] = 2,
    file_format: FormatOption = None,
    fields: FieldsOption = None,
    header: HeaderOption = None,
    encoding: EncodingOption = "utf-8",
    max_line_bytes: LineLimitOption = DEFAULT_LINE_BYTES,
    as_json: AsJson = False,
) -> None:
    """Count the words of texts into a sparse matrix (scipy.sparse.load_npz reads it).

    Example: sottovoce count community/posts.parquet --out counts --stop-words english
    """
    from sottovoce.corpus.count_files import count_to_folder  # noqa: PLC0415 - keeps --help fast
    from sottovoce.corpus.reading import open_documents  # noqa: PLC0415 - keeps --help fast
    from sottovoce.corpus.vocabulary import Vocabulary  # noqa: PLC0415 - keeps --help fast
    from sottovoce.corpus.words.rules import TokenRules  # noqa: PLC0415 - keeps --help fast
    from sottovoce.corpus.words.stopwords import load_stop_words  # noqa: PLC0415 - fast --help

    if vocabulary is not None and (max_terms is not None or min_texts != 1):
        raise ParameterError("--min-texts and --max-terms choose words; --vocabulary gives them.")
    rules = TokenRules(
        shortest=shortest, stop_words=load_stop_words(stop_words), stem=stem, bigrams=bigrams
    )
    texts = open_documents(
        corpus,
        options=read_options(file_format, fields, header, "UTC", encoding, max_line_bytes),
    )
    given = None if vocabulary is None else _usable(Vocabulary.load(vocabulary), rules)
    with progress("Counting words"):
        written = count_to_folder(
            texts, out, rules, vocabulary=given, min_texts=min_texts, max_terms=max_terms
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
    usable = vocabulary.under(rules)
    lost = len(vocabulary) - len(usable)
    if lost:
        listed = f"{lost} of the vocabulary's {len(vocabulary)} terms"
        typer.echo(f"{listed} fall together or away under these rules", err=True)
    return usable
