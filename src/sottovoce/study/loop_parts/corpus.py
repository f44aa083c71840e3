"""A user's own community for the loop: a folder as ``simulate`` writes it, or single files."""

from dataclasses import dataclass
from pathlib import Path

from sottovoce.assess.evaluation import judged_topics
from sottovoce.assess.evaluation.reading import read_judgements
from sottovoce.corpus.reading import ReadOptions, open_documents, open_posts
from sottovoce.errors import InputError, ParameterError
from sottovoce.release.counts import Floats
from sottovoce.study.assess_parts.knowledge import (
    Knowledge,
    Training,
    fitted,
    load_knowledge,
    train_knowledge,
)
from sottovoce.study.loop_parts.subjects import (
    Subject,
    asked_of,
    public_words,
    word_frequencies,
)
from sottovoce.topics import Catalogue

POSTS, TOPICS, TRUTH, BACKGROUND = (
    "posts.parquet",
    "topics.toml",
    "truth.parquet",
    "background.parquet",
)
TRAINING = Training(topics=100, iterations=100, burn_in=25)


@dataclass(frozen=True)
class CorpusFiles:
    """Where a community's files are; only posts and topics must be there."""

    posts: Path
    topics: Path
    truth: Path | None = None
    background: Path | None = None
    models: tuple[Path, ...] = ()

    @classmethod
    def found(
        cls,
        corpus: Path,
        *,
        topics: Path | None = None,
        truth: Path | None = None,
        background: Path | None = None,
        models: tuple[Path, ...] = (),
    ) -> "CorpusFiles":
        """The files of a folder, or a file of posts with those that are named."""
        if corpus.is_dir():
            topics = topics or corpus / TOPICS
            truth = truth or _if_there(corpus / TRUTH)
            background = background or _if_there(corpus / BACKGROUND)
            corpus /= POSTS
        if not corpus.exists():
            raise InputError(f"cannot read {corpus}: no such file.")
        if topics is None:
            raise ParameterError("a catalogue of topics is needed; give it with --topics.")
        return cls(corpus, topics, truth, background, models)


def corpus_subject(files: CorpusFiles, read: ReadOptions, seed: int) -> Subject:
    """The community of some files, with what an adversary may know of its topics."""
    catalogue = Catalogue.load(files.topics)
    words = public_words(catalogue)
    posts = open_posts(files.posts, options=read).read_all()
    knowledge = _knowledge(files, catalogue, seed)
    judged = () if files.truth is None else judged_topics(read_judgements(files.truth))
    return Subject(
        posts,
        knowledge,
        catalogue,
        words,
        _frequencies(files, words),
        asked_of(judged, knowledge),
        seed,
    )


def _knowledge(files: CorpusFiles, catalogue: Catalogue, seed: int) -> Knowledge:
    if files.models:
        return load_knowledge(files.models, files.topics)
    if files.background is not None:
        texts = open_documents(files.background).read_all()["text"].to_pylist()
        return train_knowledge(texts, catalogue, TRAINING, seed, ("lda",))
    return fitted((), catalogue)


def _frequencies(files: CorpusFiles, words: tuple[str, ...]) -> Floats | None:
    if files.background is None:
        return None
    return word_frequencies(open_documents(files.background).read_all()["text"], words)


def _if_there(path: Path) -> Path | None:
    return path if path.exists() else None
