"""Training finds planted topics, can be interrupted, and says what it was told."""

import stat
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from sottovoce.corpus.vocabulary import Vocabulary
from sottovoce.corpus.words.rules import TokenRules
from sottovoce.errors import CorpusError, ModelFileError, ParameterError
from sottovoce.topics import (
    LdaParameters,
    SkipGramParameters,
    WordChoice,
    train_lda,
    train_skip_gram,
)
from sottovoce.topics.lda.model import LdaModel
from sottovoce.topics.training import Checkpoint, corpus_facts

if TYPE_CHECKING:
    from sottovoce.topics.w2v.model import SkipGramModel

GROUPS = [
    ["debt", "loan", "bank", "credit", "owe"],
    ["baby", "birth", "womb", "midwife", "cradle"],
    ["guitar", "song", "drums", "concert", "melody"],
]
SMALL = LdaParameters(topics=3, iterations=40, seed=3, workers=1)
TINY = SkipGramParameters(dimensions=8, epochs=4, seed=3, step_texts=100, rate=0.1, workers=1)


class Interrupted(Exception):  # noqa: N818 - it stands for Ctrl-C
    pass


def texts(count: int = 300) -> list[str]:
    generator = np.random.default_rng(1)
    groups = generator.choice(3, count, p=[0.5, 0.3, 0.2])
    return [" ".join(generator.choice(GROUPS[group], 12)) for group in groups]


def interrupt_at(step: int) -> Callable[[int, int], None]:
    def progress(done: int, _all: int) -> None:
        if done == step:
            raise Interrupted

    return progress


def groups_of(model: LdaModel) -> set[frozenset[str]]:
    return {frozenset(word for word, _ in best) for best in model.top_words(5)}


def test_planted_topics_are_found_and_prior_weights_are_fitted() -> None:
    seen: list[tuple[int, int]] = []
    model = train_lda(texts(), SMALL, progress=lambda done, whole: seen.append((done, whole)))
    assert groups_of(model) == {frozenset(group) for group in GROUPS}
    np.testing.assert_allclose(model.phi.sum(axis=0), 1, atol=1e-5)
    assert len(set(model.alpha.tolist())) == 3
    assert (model.alpha != np.float32(0.1)).all()
    assert seen[0] == (0, 40)
    assert seen[-1] == (40, 40)


def test_too_few_iterations_do_not_find_them() -> None:
    """What the test above sees is training, not chance."""
    model = train_lda(texts(), replace(SMALL, iterations=1))
    assert groups_of(model) != {frozenset(group) for group in GROUPS}


def test_one_worker_and_one_seed_give_one_model() -> None:
    first, again, other = (
        train_lda(texts(), replace(SMALL, seed=seed, iterations=2)).fingerprint
        for seed in (1, 1, 2)
    )
    assert first == again != other


def test_an_interrupted_topic_model_goes_on_from_its_checkpoint(tmp_path: Path) -> None:
    folder = tmp_path / "checkpoint"
    with pytest.raises(Interrupted):
        train_lda(texts(), SMALL, checkpoint=Checkpoint(folder, 15), progress=interrupt_at(35))
    assert sorted(path.name for path in folder.iterdir()) == ["checkpoint.json", "state-30"]
    assert {stat.S_IMODE(path.stat().st_mode) for path in folder.iterdir()} == {0o600}
    seen: list[int] = []
    again = Checkpoint(folder, 15, resume=True)
    progress = lambda done, _all: seen.append(done)  # noqa: E731 - as it is asked for
    model = train_lda(texts(), SMALL, checkpoint=again, progress=progress)
    assert seen[0] == 30
    assert groups_of(model) == {frozenset(group) for group in GROUPS}


def test_resumed_word_vectors_are_the_bits_of_an_uninterrupted_run(tmp_path: Path) -> None:
    whole = train_skip_gram(texts(), TINY)
    for stop in (2, 5, 9):
        folder = tmp_path / str(stop)
        with pytest.raises(Interrupted):
            given = Checkpoint(folder, 1)
            train_skip_gram(texts(), TINY, checkpoint=given, progress=interrupt_at(stop))
        resumed = train_skip_gram(texts(), TINY, checkpoint=Checkpoint(folder, 1, resume=True))
        assert resumed.fingerprint == whole.fingerprint
    assert train_skip_gram(texts(), replace(TINY, seed=4)).fingerprint != whole.fingerprint


def test_word_vectors_put_words_of_a_topic_together() -> None:
    model = train_skip_gram(texts(), replace(TINY, epochs=30))
    vectors, known = model.lookup([word for group in GROUPS for word in group])
    assert known.all()
    unit = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    same = np.kron(np.eye(3), np.ones((5, 5))).astype(bool)
    cosines = unit @ unit.T
    assert cosines[same].min() > cosines[~same].max()


@pytest.mark.parametrize("train", [train_lda, train_skip_gram])
def test_a_checkpoint_is_only_taken_up_on_request_and_by_the_same_training(
    train: object, tmp_path: Path
) -> None:
    small = SMALL if train is train_lda else TINY
    folder = tmp_path / "checkpoint"

    def run(given: list[str], *, resume: bool, **changes: object) -> object:
        return train(  # type: ignore[operator] # one of the two
            given,
            replace(small, **changes),  # type: ignore[arg-type] # a field
            checkpoint=Checkpoint(folder, 1, resume),
            progress=interrupt_at(5),
        )

    def refuse(error: type[Exception], says: str, given: list[str], **options: Any) -> None:  # noqa: ANN401 - passed on
        with pytest.raises(error, match=says):
            run(given, **options)

    other = "belongs to other texts or parameters"
    with pytest.raises(Interrupted):
        run(texts(), resume=False)
    says = "continue with --resume [(]in Python resume=True[)], or remove the folder"
    refuse(ParameterError, says, texts(), resume=False)
    refuse(ParameterError, other, texts(301), resume=True)
    refuse(ParameterError, other, texts(), resume=True, seed=9)
    (state,) = folder.glob("state-*")
    state.write_bytes(state.read_bytes()[:-1])
    refuse(ModelFileError, "is damaged", texts(), resume=True)
    (folder / "checkpoint.json").write_text('{"file": "../x"}')
    refuse(ModelFileError, "no checkpoint of this version", texts(), resume=True)


def test_clearing_a_checkpoint_leaves_other_files_alone(tmp_path: Path) -> None:
    checkpoint = Checkpoint(tmp_path, 1)
    checkpoint.write("request", 3, lambda path: path.write_bytes(b"state"))
    (tmp_path / "mine.txt").write_text("keep")
    checkpoint.clear()
    assert [path.name for path in tmp_path.iterdir()] == ["mine.txt"]


def test_words_of_public_texts_are_public_and_of_private_ones_are_not() -> None:
    words = WordChoice(min_texts=1)
    public = train_lda(texts(), SMALL, words=words)
    private = train_lda(texts(), SMALL, words=words, public=False)
    assert not public.vocabulary.data_dependent
    assert public.origin.public
    assert private.vocabulary.data_dependent
    assert not private.origin.public


def test_a_given_vocabulary_is_kept_to_as_far_as_it_occurs() -> None:
    words = WordChoice(vocabulary=Vocabulary.public(["debt", "absent", "song", "baby", "the"]))
    model = train_lda(texts(), SMALL, words=words)
    assert model.vocabulary.terms == ("debt", "song", "baby")
    vectors = train_skip_gram(texts(), TINY, words=words)
    assert vectors.vocabulary.terms == ("debt", "song", "baby")
    nothing = WordChoice(vocabulary=Vocabulary.public(["absent"]))
    for train in (train_lda, train_skip_gram):
        with pytest.raises(CorpusError, match="no word of the vocabulary"):
            train(texts(), words=nothing)


def test_bigrams_are_terms_of_a_topic_model_and_refused_for_word_vectors() -> None:
    words = WordChoice(rules=TokenRules(bigrams=True), min_texts=20)
    model = train_lda(texts(), SMALL, words=words)
    assert "loan debt" in model.vocabulary.column
    assert model.rules.bigrams
    with pytest.raises(ParameterError, match="single words"):
        train_skip_gram(texts(), TINY, words=words)


def test_a_card_names_texts_parameters_and_library() -> None:
    model: LdaModel | SkipGramModel
    for model, library, name in (
        (train_lda(texts(), SMALL), "tomotopy", "topics"),
        (train_skip_gram(texts(), TINY), "gensim", "dimensions"),
    ):
        assert model.origin.corpus == corpus_facts(texts())
        assert name in model.origin.parameters
        assert set(model.origin.libraries) == {library}


def test_a_corpus_hash_tells_texts_apart_by_content_and_by_cut() -> None:
    assert corpus_facts(["ab", "c"]) != corpus_facts(["a", "bc"])
    assert corpus_facts(["ab", "c"]) != corpus_facts(["c", "ab"])
    assert corpus_facts(["ab", "c"]).texts == 2


@pytest.mark.parametrize(
    ("made", "change", "message"),
    [
        (LdaParameters, {"topics": 1}, "topics must be from 2 to 500, got 1"),
        (LdaParameters, {"topics": 501}, "topics must be from 2 to 500, got 501"),
        (LdaParameters, {"iterations": 0}, "iterations must be > 0"),
        (LdaParameters, {"workers": 0}, "workers must be > 0"),
        (LdaParameters, {"seed": -1}, "seed must be >= 0"),
        (LdaParameters, {"burn_in": -1}, "burn_in must be >= 0"),
        (LdaParameters, {"eta": float("nan")}, "eta must be > 0"),
        (SkipGramParameters, {"dimensions": 0}, "dimensions must be from 1 to 4096, got 0"),
        (SkipGramParameters, {"epochs": 0}, "epochs must be > 0"),
        (SkipGramParameters, {"sample": -1}, "sample must be >= 0"),
        (Checkpoint, {"folder": Path(), "every": 0}, "every >= 1 steps, got 0"),
    ],
)
def test_parameters_are_checked(
    made: Callable[..., object], change: dict[str, object], message: str
) -> None:
    with pytest.raises(ParameterError, match=message):
        made(**change)
