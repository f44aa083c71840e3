"""``sottovoce topics train``."""

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, assert_never, cast, get_args

from sottovoce.cli._groups import Only, OptionGroup
from sottovoce.cli._options import PlainReadingOptions, mention_resume, warn_about_rows
from sottovoce.cli._output import AsJson, counted_progress, progress, show_facts, show_json
from sottovoce.errors import ParameterError

if TYPE_CHECKING:
    from sottovoce.corpus.read.corpus import Corpus
    from sottovoce.topics.load import Model
    from sottovoce.topics.training import WordChoice
    from sottovoce.topics.voice.mentions import VoiceParameters


@dataclass(frozen=True)
class TrainedWordOptions(OptionGroup):
    """Which words a model knows.

    Args:
        vocabulary: Word list; without one, the words come from the texts.
        min_texts: Drop terms in fewer texts; default: 5.
        max_terms: Keep the most frequent terms; default: 100,000.
        stop_words: 'english', 'none', or a file with one word a line; voice reads them as words
            that are no evidence.
        first_person: voice: words for I in the texts' language, such as ich,mich,mir,mein;
            default: i,me,mine,my,myself.
        second_person: voice: words for you, such as du,dich,dir,dein; used by voice-s and
            voice-st.
        stem: Snowball stemmer, such as english.
        bigrams: lda: pairs of neighbouring words are terms too.
        shortest: Shortest word, in characters.
    """

    panel = "Which words count"

    vocabulary: Path | None = None
    min_texts: int | None = None
    max_terms: int | None = None
    stop_words: str = "english"
    first_person: str | None = None
    second_person: str | None = None
    stem: str | None = None
    bigrams: bool = False
    shortest: int = 3

    def choose_words(self) -> "WordChoice":
        """The words of lda and w2v."""
        from sottovoce.corpus.vocabulary import Vocabulary  # noqa: PLC0415 - keeps --help fast
        from sottovoce.corpus.words.rules import TokenRules, load_stop_words  # noqa: PLC0415 - keeps --help fast
        from sottovoce.topics.training import MAX_TERMS, MIN_TEXTS, WordChoice  # noqa: PLC0415 - fast --help

        if self.vocabulary is not None and (self.min_texts, self.max_terms) != (None, None):
            raise ParameterError(
                "--min-texts and --max-terms choose words; --vocabulary gives them."
            )
        dropped = load_stop_words(None if self.stop_words == "none" else self.stop_words)
        return WordChoice(
            rules=TokenRules(self.shortest, dropped, self.stem, self.bigrams),
            vocabulary=None if self.vocabulary is None else Vocabulary.load(self.vocabulary),
            min_texts=MIN_TEXTS if self.min_texts is None else self.min_texts,
            max_terms=MAX_TERMS if self.max_terms is None else self.max_terms,
        )

    def choose_voice_words(self) -> "WordChoice":
        """The words of voice: all but rare ones, as they are written."""
        from sottovoce.topics.voice.train import MIN_TEXTS  # noqa: PLC0415 - keeps --help fast

        usual = self.min_texts is None and self.vocabulary is None
        least = MIN_TEXTS if usual else self.min_texts
        plain = replace(self, min_texts=least, shortest=1, stop_words="none", bigrams=False)
        return plain.choose_words()

    def describe_voice(self) -> "VoiceParameters":
        """How people speak of themselves and of others."""
        from sottovoce.corpus.words.rules import load_stop_words  # noqa: PLC0415 - keeps --help fast
        from sottovoce.topics.voice.mentions import VoiceParameters  # noqa: PLC0415 - keeps --help fast

        usual = VoiceParameters()
        function_words = usual.function_words
        if self.stop_words != "english":
            function_words = load_stop_words(None if self.stop_words == "none" else self.stop_words)
        first, second = self.first_person, self.second_person
        return VoiceParameters(
            first_person=usual.first_person if first is None else tuple(first.split(",")),
            second_person=usual.second_person if second is None else tuple(second.split(",")),
            function_words=function_words,
        )


@dataclass(frozen=True)
class TrainingOptions(OptionGroup):
    """How a model is trained.

    Args:
        topics: lda: latent dimensions, up to 500.
        dimensions: w2v: dimensions of a word's vector.
        iterations: Passes over the texts; default: lda 500, w2v 5.
        seed: One seed and one worker give one result.
        workers: Threads; default: all cores.
    """

    topics: int = 200
    dimensions: int = 500
    iterations: int | None = None
    seed: int = 1
    workers: int | None = None


@dataclass(frozen=True)
class ProgressOptions(OptionGroup):
    """Where training keeps what is done so far.

    Args:
        checkpoint: Folder for progress so far; default: OUT.checkpoint.
        checkpoint_every: Steps between two checkpoints; default: lda 50 passes, w2v 5.
        resume: Go on from the checkpoint.
    """

    panel = "State and checkpoints"

    checkpoint: Path | None = None
    checkpoint_every: int | None = None
    resume: bool = False


def train(
    background: Path,
    *,
    out: Path,
    space: str = "lda",
    training: TrainingOptions,
    words: TrainedWordOptions,
    private: bool = False,
    kept: ProgressOptions,
    reading: Annotated[
        PlainReadingOptions, Only("file_format", "fields", "header", "encoding", "longest")
    ],
    as_json: AsJson = False,
) -> None:
    """Train background knowledge on texts: a topic model, word vectors, or first-person mentions.

    voice learns which words surround a topic when people speak of themselves. It needs no passes,
    seed or checkpoint, and function words are no evidence. For texts in other languages, list the
    words for I and you (--first-person, --second-person) and give --stop-words a file.

    After Ctrl-C or a crash, the same command with --resume continues from the last checkpoint.

    Example: sottovoce topics train community/background.parquet --topics 50 --out model

    Args:
        background: Public texts that an adversary knows too.
        out: Folder for the model.
        space: lda (latent topics), w2v (word vectors), voice (see above).
        private: The texts are private, and so is the model.
    """
    from sottovoce.corpus.read.corpus import open_documents  # noqa: PLC0415 - keeps --help fast
    from sottovoce.files import check_folder  # noqa: PLC0415 - keeps --help fast
    from sottovoce.topics.load import load_model  # noqa: PLC0415 - fast --help
    from sottovoce.topics.voice.train import train_voice  # noqa: PLC0415 - keeps --help fast

    if space not in get_args(_Passes):
        if space != "voice":
            raise ParameterError(f"--space must be lda, w2v or voice, got {space!r}.")
    elif (words.first_person, words.second_person) != (None, None):
        raise ParameterError(
            f"--first-person and --second-person are for --space voice, got {space}."
        )
    check_folder(out)
    texts = open_documents(background, options=reading.to_read_options())
    if space == "voice":
        parameters, chosen = words.describe_voice(), words.choose_voice_words()
        with progress("Training"):
            train_voice(texts, parameters, words=chosen, public=not private).save(out)
    else:
        _train_in_passes(cast("_Passes", space), texts, out, training, words, kept, private)
    warn_about_rows(texts)
    show_model(load_model(out), out, as_json)


_Passes = Literal["lda", "w2v"]
_USUAL: "dict[_Passes, tuple[int, int]]" = {"lda": (500, 50), "w2v": (5, 5)}
"""Passes over the texts, and steps between two checkpoints."""


def _train_in_passes(
    space: _Passes,
    texts: "Corpus",
    out: Path,
    training: TrainingOptions,
    words: TrainedWordOptions,
    kept: ProgressOptions,
    private: bool,
) -> None:
    from sottovoce.topics.lda.train import LdaParameters, train_lda  # noqa: PLC0415 - fast --help
    from sottovoce.topics.training import Checkpoint  # noqa: PLC0415 - keeps --help fast
    from sottovoce.topics.w2v.train import SkipGramParameters, train_skip_gram  # noqa: PLC0415 - fast --help

    passes, every = _USUAL[space]
    passes = passes if training.iterations is None else training.iterations
    every = every if kept.checkpoint_every is None else kept.checkpoint_every
    folder = kept.checkpoint or out.with_name(f"{out.name}.checkpoint")
    files = Checkpoint(folder, every, kept.resume)
    chosen, seed, workers = words.choose_words(), training.seed, training.workers
    with counted_progress("Training") as shown, mention_resume(folder):
        how: dict[str, Any] = {"words": chosen, "public": not private}
        how |= {"checkpoint": files, "progress": shown}
        match space:
            case "lda":
                lda = LdaParameters(
                    topics=training.topics, iterations=passes, seed=seed, workers=workers
                )
                train_lda(texts, lda, **how).save(out)
            case "w2v":
                size = training.dimensions
                w2v = SkipGramParameters(dimensions=size, epochs=passes, seed=seed, workers=workers)
                train_skip_gram(texts, w2v, **how).save(out)
            case _:
                assert_never(space)
    files.clear()


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
