"""Other tools' models become ours, and what could run code does not."""

import gzip
import os
import pickle
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from sottovoce.corpus.words.rules import TokenRules
from sottovoce.errors import ModelFileError, ParameterError
from sottovoce.topics.imports.files import import_mallet, import_word2vec
from sottovoce.topics.imports.libraries import (
    from_gensim,
    from_tomotopy,
    import_gensim,
    import_model,
    import_tomotopy,
)
from sottovoce.topics.lda.model import LdaModel
from sottovoce.topics.lda.train import only_plain_pickles
from sottovoce.topics.w2v.model import SkipGramModel

DOCUMENTS = [["debt", "loan", "bank"], ["baby", "birth", "New_York"], ["debt", "loan", "x!"]] * 20
STATE = """#doc source pos typeindex type topic
#alpha : 0.1 0.3
#beta : 0.5
0 a file.txt 0 0 debt 0
0 a file.txt 1 1 loan 0
0 a file.txt 2 0 debt 1
1 NA 0 2 new_york 1
1 NA 1 3 x! 1
"""


class Explosion:
    """What a pickle runs when it is read."""

    def __reduce__(self) -> tuple[Callable[..., object], tuple[str]]:
        return os.mkdir, ("exploded",)


def write_state(path: Path, text: str = STATE, *, packed: bool = True) -> Path:
    content = text.encode()
    path.write_bytes(gzip.compress(content) if packed else content)
    return path


@pytest.mark.parametrize("packed", [True, False])
def test_a_mallet_state_gives_smoothed_counts_and_its_priors(tmp_path: Path, packed: bool) -> None:
    model = import_mallet(write_state(tmp_path / "state.gz", packed=packed))
    assert model.vocabulary.terms == ("debt", "loan", "new york")
    np.testing.assert_allclose(model.alpha, [0.1, 0.3])
    # "x!" is no word of ours: its share is divided among the others.
    np.testing.assert_allclose(model.phi[:, 0], np.array([1.5, 1.5, 0.5]) / 3.5, rtol=1e-6)
    np.testing.assert_allclose(model.phi[:, 1], np.array([1.5, 0.5, 1.5]) / 3.5, rtol=1e-6)
    assert model.rules == TokenRules(shortest=3, bigrams=True)
    assert model.origin.parameters == {"tool": "mallet", "words_left_out": 1}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "must begin with the lines"),
        ("#doc\n#alpha : 1 1\n", "must begin with the lines"),
        (STATE.replace("0.5", "half"), "must begin with the lines"),
        (STATE.replace("debt 1", "debt 2"), "topic must be from 0 to 1"),
        (STATE.replace("debt 1", "debt -1"), "topic must be from 0 to 1"),
        (STATE.replace("debt 1", "debt " + "9" * 5000), "topic must be from 0 to 1"),
        (STATE + "short line\n", "must have 6 fields"),
        (STATE.replace("0.1 0.3", "0.1 nan"), "alpha must be finite"),
        (STATE.replace("0.1 0.3", "0.1 -1"), "alpha must be finite and > 0"),
        (STATE.partition("\n0 a")[0], "holds no token"),
        (STATE + "x" * (1 << 20), "under 1048576 bytes"),
    ],
)
def test_a_broken_mallet_state_is_refused(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(ModelFileError, match=message):
        import_mallet(write_state(tmp_path / "state.gz", text))


def tomotopy_model() -> Any:  # noqa: ANN401 - its library has no types
    import tomotopy  # noqa: PLC0415 - slow to import

    model = tomotopy.LDAModel(k=3, seed=1)
    for words in DOCUMENTS:
        model.add_doc(words)
    model.train(20, workers=1, show_progress=False)
    return model


def test_a_tomotopy_model_keeps_its_numbers(tmp_path: Path) -> None:
    theirs = tomotopy_model()
    theirs.save(str(tmp_path / "model.bin"), full=False)
    model = import_tomotopy(tmp_path / "model.bin")
    assert set(model.vocabulary.terms) == {"debt", "loan", "bank", "baby", "birth", "new york"}
    np.testing.assert_allclose(model.alpha, theirs.alpha, rtol=1e-6)
    whole = np.array(theirs.get_topic_word_dist(1))
    column = list(theirs.used_vocabs).index("debt")
    lost = list(theirs.used_vocabs).index("x!")
    wanted = whole[column] / (1 - whole[lost])
    found = model.phi[model.vocabulary.column["debt"], 1]
    np.testing.assert_allclose(found, wanted, rtol=1e-5)
    assert from_tomotopy(theirs).fingerprint == model.fingerprint


def test_code_hidden_in_a_tomotopy_file_does_not_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    tomotopy_model().save("model.bin", full=False)
    content = Path("model.bin").read_bytes()
    begin = content.index(b"\x80\x04\x95")
    end = content.index(b".", content.index(b"seed", begin)) + 1
    evil = pickle.dumps(Explosion(), protocol=4)
    assert len(evil) <= end - begin
    Path("model.bin").write_bytes(content[:begin] + evil.ljust(end - begin, b"\0") + content[end:])
    with pytest.raises(ModelFileError, match="holds pickled code"):
        import_tomotopy(Path("model.bin"))
    assert not Path("exploded").exists()
    import tomotopy  # noqa: PLC0415 - slow to import

    with warnings.catch_warnings():
        tomotopy.LDAModel.load("model.bin")
    assert Path("exploded").exists(), "the file is armed: without our guard it does run"


def test_plain_pickles_are_read_and_the_guard_ends_with_its_block() -> None:
    plain, python_s = pickle.dumps({"k": [1, 2.5, "text"], "none": None}), pickle.loads
    with only_plain_pickles():
        assert pickle.loads(plain) == {"k": [1, 2.5, "text"], "none": None}  # noqa: S301 - guarded
        with pytest.raises(ModelFileError, match="could run code"):
            pickle.loads(pickle.dumps(Explosion()))  # noqa: S301 - guarded
    assert pickle.loads is python_s


def gensim_lda() -> Any:  # noqa: ANN401 - its library has no types
    from gensim.corpora import Dictionary  # noqa: PLC0415 - slow to import
    from gensim.models import LdaModel as GensimLda  # noqa: PLC0415 - slow to import

    dictionary = Dictionary(DOCUMENTS)
    corpus = [dictionary.doc2bow(words) for words in DOCUMENTS]
    return GensimLda(corpus, 3, id2word=dictionary, alpha="asymmetric", random_state=1)


def test_a_gensim_topic_model_is_read_only_when_trusted(tmp_path: Path) -> None:
    theirs = gensim_lda()
    theirs.save(str(tmp_path / "lda"))
    with pytest.raises(ModelFileError, match="can run any code .* add --trust-pickle"):
        import_gensim(tmp_path / "lda")
    model = import_gensim(tmp_path / "lda", trust_pickle=True)
    assert isinstance(model, LdaModel)
    np.testing.assert_allclose(model.alpha, theirs.alpha, rtol=1e-6)
    topics = theirs.get_topics()
    number = theirs.id2word.token2id
    wanted = topics[:, number["debt"]] / (1 - topics[:, number["x!"]])
    np.testing.assert_allclose(model.phi[model.vocabulary.column["debt"]], wanted, rtol=1e-4)
    assert from_gensim(theirs).fingerprint == model.fingerprint


def word_vectors() -> Any:  # noqa: ANN401 - its library has no types
    from gensim.models import KeyedVectors  # noqa: PLC0415 - slow to import

    vectors = KeyedVectors(3)
    words = ["debt", "Debt", "new_york", "</s>", "loan"]
    vectors.add_vectors(words, np.arange(15, dtype=np.float32).reshape(5, 3))
    return vectors


@pytest.mark.parametrize("way", ["text", "binary", "native", "object"])
def test_word_vectors_are_read_from_each_format(tmp_path: Path, way: str) -> None:
    theirs = word_vectors()
    if way == "native":
        theirs.save(str(tmp_path / "kv"))
        found = import_gensim(tmp_path / "kv", trust_pickle=True)
    elif way == "object":
        found = from_gensim(theirs)
    else:
        path = tmp_path / ("vectors.bin" if way == "binary" else "vectors.txt")
        theirs.save_word2vec_format(str(path), binary=way == "binary")
        found = import_word2vec(path)
    assert isinstance(found, SkipGramModel)
    assert found.vocabulary.terms == ("debt", "new york", "loan")
    np.testing.assert_array_equal(found.vectors, [[0, 1, 2], [6, 7, 8], [12, 13, 14]])
    assert found.rules.bigrams


def trusted(path: Path) -> object:
    return import_gensim(path, trust_pickle=True)


@pytest.mark.parametrize(
    ("importer", "content", "message"),
    [
        (import_word2vec, None, "cannot read"),
        (import_word2vec, b"", "holds no word"),
        (import_word2vec, b"</s> 1 2\n", "no word that could be found in a text"),
        (import_tomotopy, None, "as a tomotopy LDA model"),
        (import_tomotopy, b"nothing of the kind", "as a tomotopy LDA model"),
        (import_mallet, None, "absent, damaged or cut short"),
        (import_mallet, gzip.compress(STATE.encode())[:-9], "absent, damaged or cut short"),
        (trusted, None, "as a gensim model"),
        (trusted, b"junk", "as a gensim model"),
        (lambda _: from_gensim(object()), None, "must be LdaModel, Word2Vec or KeyedVectors"),
    ],
)
def test_what_is_absent_damaged_or_something_else_is_refused(
    tmp_path: Path, importer: Callable[[Path], object], content: bytes | None, message: str
) -> None:
    path = tmp_path / "given.txt"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(ModelFileError, match=message):
        importer(path)


def test_an_unknown_format_is_refused_and_rules_can_be_given(tmp_path: Path) -> None:
    with pytest.raises(ParameterError, match="format must be one of mallet, gensim"):
        import_model(tmp_path, "excel")
    rules = TokenRules(shortest=2, stop_words=frozenset({"the"}))
    model = import_model(write_state(tmp_path / "state.gz"), "mallet", rules)
    assert model.rules == TokenRules(shortest=2, stop_words=frozenset({"the"}), bigrams=True)
