"""``sottovoce topics train``."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from sottovoce.cli import _reading as formats
from sottovoce.cli._options import mentioning_resume, warn_about_rows
from sottovoce.cli._output import AsJson, counted_progress, progress, show_facts, show_json
from sottovoce.errors import ParameterError

if TYPE_CHECKING:
    from sottovoce.corpus.read.corpus import Corpus
    from sottovoce.topics.background import WordChoice
    from sottovoce.topics.load import Model
    from sottovoce.topics.voice.mentions import VoiceParameters


_LDA_EVERY, _W2V_EVERY = 50, 5


def train(
    background: Annotated[Path, typer.Argument(help="Public texts that an adversary knows too.")],
    out: Annotated[Path, typer.Option(help="Folder for the model.")],
    space: Annotated[
        str, typer.Option(help="lda (latent topics), w2v (word vectors), voice (see above).")
    ] = "lda",
    topics: Annotated[int, typer.Option(help="lda: latent dimensions, up to 500.")] = 200,
    dimensions: Annotated[int, typer.Option(help="w2v: dimensions of a word's vector.")] = 500,
    iterations: Annotated[
        int | None, typer.Option(help="Passes over the texts; default: lda 500, w2v 5.")
    ] = None,
    seed: Annotated[int, typer.Option(help="One seed and one worker give one result.")] = 1,
    workers: Annotated[int | None, typer.Option(help="Threads; default: all cores.")] = None,
    vocabulary: Annotated[
        Path | None, typer.Option(help="Word list; without one the texts choose the words.")
    ] = None,
    min_texts: Annotated[
        int | None, typer.Option(help="Drop terms in fewer texts; default: 5.")
    ] = None,
    max_terms: Annotated[
        int | None, typer.Option(help="Keep the most frequent terms; default: 100,000.")
    ] = None,
    stop_words: Annotated[
        str,
        typer.Option(
            help="'english', 'none', or a file with one word a line; voice reads them as words "
            "that are no evidence."
        ),
    ] = "english",
    first_person: Annotated[
        str | None,
        typer.Option(
            help="voice: the first person of the texts' language, such as ich,mich,mir,mein; "
            "default: i,me,mine,my,myself."
        ),
    ] = None,
    second_person: Annotated[
        str | None,
        typer.Option(
            help="voice: likewise the second, such as du,dich,dir,dein, for voice-s and voice-st."
        ),
    ] = None,
    stem: Annotated[str | None, typer.Option(help="Snowball stemmer, such as english.")] = None,
    bigrams: Annotated[bool, typer.Option("--bigrams", help="lda: neighbours are terms.")] = False,
    shortest: Annotated[int, typer.Option(help="Shortest word, in characters.")] = 3,
    private: Annotated[
        bool, typer.Option("--private", help="The texts are private: so is the model.")
    ] = False,
    checkpoint: Annotated[
        Path | None, typer.Option(help="Folder for what is done so far; default: OUT.checkpoint.")
    ] = None,
    checkpoint_every: Annotated[
        int | None,
        typer.Option(help="Steps between two checkpoints; default: lda 50 passes, w2v 5."),
    ] = None,
    resume: Annotated[bool, typer.Option("--resume", help="Go on from the checkpoint.")] = False,
    file_format: formats.FormatOption = None,
    fields: formats.FieldsOption = None,
    header: formats.HeaderOption = None,
    encoding: formats.EncodingOption = "utf-8",
    longest: formats.LineLimitOption = formats.LONGEST,
    as_json: AsJson = False,
) -> None:
    """Train background knowledge on texts: a topic model, word vectors, or first-person mentions.

    voice learns which words surround a topic when people speak of themselves; it reads function
    words, which are no evidence, and needs no passes, seed or checkpoint. For texts that are not
    in English, name the persons (--first-person, --second-person) and give --stop-words a file.

    After Ctrl-C or a crash the same command with --resume goes on from the last checkpoint.

    Example: sottovoce topics train community/background.parquet --topics 50 --out model
    """
    from sottovoce.corpus.read.corpus import open_documents  # noqa: PLC0415 - keeps --help fast
    from sottovoce.files import check_folder  # noqa: PLC0415 - keeps --help fast
    from sottovoce.topics.checkpoint import Checkpoint  # noqa: PLC0415 - keeps --help fast
    from sottovoce.topics.lda.train import LdaParameters, train_lda  # noqa: PLC0415 - fast --help
    from sottovoce.topics.load import load_model  # noqa: PLC0415 - fast --help
    from sottovoce.topics.w2v.train import SkipGramParameters, train_skip_gram  # noqa: PLC0415 - fast --help

    if space not in {"lda", "w2v", "voice"}:
        raise ParameterError(f"--space must be lda, w2v or voice, got {space!r}.")
    check_folder(out)
    options = formats.read_options(file_format, fields, header, "UTC", encoding, longest)
    texts = open_documents(background, options=options)
    if space != "voice" and (first_person, second_person) != (None, None):
        raise ParameterError(
            f"--first-person and --second-person are for --space voice, got {space}."
        )
    if space == "voice":
        parameters = _voice_parameters(first_person, second_person, stop_words)
        words = _voice_words(vocabulary, min_texts, max_terms, stem)
        _train_voice(texts, out, parameters, words, private)
        warn_about_rows(texts)
        show_model(load_model(out), out, as_json)
        return
    words = _words(vocabulary, min_texts, max_terms, shortest, stop_words, stem, bigrams)
    usual = _LDA_EVERY if space == "lda" else _W2V_EVERY
    every = usual if checkpoint_every is None else checkpoint_every
    kept = Checkpoint(checkpoint or out.with_name(f"{out.name}.checkpoint"), every, resume)
    with counted_progress("Training") as shown, mentioning_resume(kept.folder):
        model: Model
        if space == "lda":
            model = train_lda(
                texts,
                LdaParameters(
                    topics=topics,
                    iterations=500 if iterations is None else iterations,
                    seed=seed,
                    workers=workers,
                ),
                words=words,
                public=not private,
                checkpoint=kept,
                progress=shown,
            )
        else:
            model = train_skip_gram(
                texts,
                SkipGramParameters(
                    dimensions=dimensions,
                    epochs=5 if iterations is None else iterations,
                    seed=seed,
                    workers=workers,
                ),
                words=words,
                public=not private,
                checkpoint=kept,
                progress=shown,
            )
    model.save(out)
    kept.clear()
    warn_about_rows(texts)
    show_model(model, out, as_json)


def show_model(model: "Model", folder: Path, as_json: bool) -> None:
    """Print what a model that was just written is."""
    facts = {
        "space": model.name,
        "words": len(model.vocabulary),
        "dimensions": model.dimensions,
        "fingerprint": model.fingerprint,
        "public": model.origin.public,
        "folder": folder,
    }
    if as_json:
        show_json(facts)
    else:
        show_facts("Model", facts)


def _train_voice(
    texts: "Corpus", out: Path, parameters: "VoiceParameters", words: "WordChoice", private: bool
) -> None:
    from sottovoce.topics.voice.train import train_voice  # noqa: PLC0415 - keeps --help fast

    with progress("Training"):
        train_voice(texts, parameters, words=words, public=not private).save(out)


def _voice_parameters(first: str | None, second: str | None, stop_words: str) -> "VoiceParameters":
    from sottovoce.corpus.words.rules import load_stop_words  # noqa: PLC0415 - keeps --help fast
    from sottovoce.topics.voice.mentions import VoiceParameters  # noqa: PLC0415 - keeps --help fast

    usual = VoiceParameters()
    function_words = usual.function_words
    if stop_words != "english":
        function_words = load_stop_words(None if stop_words == "none" else stop_words)
    return VoiceParameters(
        first_person=usual.first_person if first is None else tuple(first.split(",")),
        second_person=usual.second_person if second is None else tuple(second.split(",")),
        function_words=function_words,
    )


def _voice_words(
    vocabulary: Path | None, min_texts: int | None, max_terms: int | None, stem: str | None
) -> "WordChoice":
    from sottovoce.topics.voice.train import MIN_TEXTS  # noqa: PLC0415 - keeps --help fast

    usual = MIN_TEXTS if min_texts is None and vocabulary is None else min_texts
    return _words(vocabulary, usual, max_terms, 1, "none", stem, bigrams=False)


def _words(
    vocabulary: Path | None,
    min_texts: int | None,
    max_terms: int | None,
    shortest: int,
    stop_words: str,
    stem: str | None,
    bigrams: bool,
) -> "WordChoice":
    from sottovoce.corpus.vocabulary import Vocabulary  # noqa: PLC0415 - keeps --help fast
    from sottovoce.corpus.words.rules import TokenRules, load_stop_words  # noqa: PLC0415 - keeps --help fast
    from sottovoce.topics.background import MAX_TERMS, MIN_TEXTS, WordChoice  # noqa: PLC0415 - fast --help

    if vocabulary is not None and (min_texts, max_terms) != (None, None):
        raise ParameterError("--min-texts and --max-terms choose words; --vocabulary gives them.")
    dropped = load_stop_words(None if stop_words == "none" else stop_words)
    return WordChoice(
        rules=TokenRules(shortest=shortest, stop_words=dropped, stem=stem, bigrams=bigrams),
        vocabulary=None if vocabulary is None else Vocabulary.load(vocabulary),
        min_texts=MIN_TEXTS if min_texts is None else min_texts,
        max_terms=MAX_TERMS if max_terms is None else max_terms,
    )
