"""``sottovoce topics`` as a user meets it: real processes, real signals, real files."""

import gzip
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from support.shown import Run
from support.warm_python import WarmPopen

from sottovoce.errors import ModelFileError
from sottovoce.release.compression.embedding import EmbeddingClusterCompression, read_embedding
from sottovoce.topics import load_model
from sottovoce.topics.w2v.model import SkipGramModel

GROUPS = [["debt", "loan", "bank", "credit"], ["baby", "birth", "womb", "midwife"]]


@pytest.fixture
def background(tmp_path: Path) -> Path:
    generator = np.random.default_rng(1)
    texts = [" ".join(generator.choice(GROUPS[n % 2], 30)) for n in range(400)]
    path = tmp_path / "background.parquet"
    pq.write_table(pa.table({"text": texts}), path)
    return path


def train(run: Run, background: Path, out: Path, *more: object) -> dict[str, object]:
    code, shown, errors = run("topics", "train", background, "--out", out, "--json", *more)
    assert code == 0, errors
    found: dict[str, object] = json.loads(shown)
    return found


def test_a_topic_model_is_trained_shown_and_found_again(
    run: Run, background: Path, tmp_path: Path
) -> None:
    out = tmp_path / "model"
    made = train(run, background, out, "--topics", 2, "--iterations", 40, "--workers", 1)
    assert made["space"] == "lda"
    assert made["words"] == 8
    code, shown, _ = run("topics", "show", out, "--words", 4, "--json")
    card = json.loads(shown)
    assert code == 0
    assert card["fingerprint"] == made["fingerprint"]
    assert card["corpus"]["texts"] == 400
    found = {frozenset(each["word"] for each in topic["words"]) for topic in card["topics"]}
    assert found == {frozenset(group) for group in GROUPS}
    code, shown, _ = run("topics", "show", out)
    assert code == 0
    assert "Latent dimensions" in shown
    assert not (tmp_path / "model.checkpoint").exists()


def test_word_vectors_are_trained_and_place_released_words(
    run: Run, background: Path, tmp_path: Path
) -> None:
    out = tmp_path / "vectors"
    train(run, background, out, "--space", "w2v", "--dimensions", 6, "--workers", 1)
    code, shown, _ = run("topics", "show", out)
    assert code == 0
    assert "w2v" in shown
    words = tmp_path / "words.txt"
    words.write_text("\n".join(word for group in GROUPS for word in group))
    code, shown, errors = run(
        *("release", background, "--vocabulary", words, "--epsilon", 2, "--precision", 2),
        *("--compress", "embedding-cluster", "--columns", 2, "--embedding", out),
        *("--out", tmp_path / "released", "--json"),
    )
    assert code == 0, errors
    assert json.loads((tmp_path / "released" / "card.json").read_text())["columns"] == 2


def test_our_word_vectors_are_an_embedding_and_a_private_or_latent_model_is_not(
    run: Run, background: Path, tmp_path: Path
) -> None:
    vectors, private, latent = (tmp_path / name for name in ("vectors", "private", "latent"))
    tiny = ("--space", "w2v", "--dimensions", 6, "--workers", 1)
    train(run, background, vectors, *tiny)
    train(run, background, private, *tiny, "--private")
    train(run, background, latent, "--topics", 2, "--iterations", 4)
    model = load_model(vectors)
    assert isinstance(model, SkipGramModel)
    terms = model.vocabulary.terms
    counts = np.eye(len(terms), dtype=np.int64)
    columns = [
        EmbeddingClusterCompression(
            2, embedding=space, vocabulary=terms, random_state=1
        ).fit_transform(counts)
        for space in (model, read_embedding(vectors))
    ]
    np.testing.assert_array_equal(*(placed.toarray() for placed in columns))
    with pytest.raises(ModelFileError, match="trained on private texts"):
        read_embedding(private)
    with pytest.raises(ModelFileError, match="must be a model of word vectors"):
        read_embedding(latent)
    assert {path.stat().st_mode & 0o777 for path in private.iterdir()} == {0o600}


def started(background: Path, out: Path, *more: str) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-m", "sottovoce.cli", "topics", "train", str(background)]
    return WarmPopen(
        [*command, "--out", str(out), *more], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )


def steps_of(checkpoint: Path) -> int:
    try:
        found: int = json.loads((checkpoint / "checkpoint.json").read_text())["steps"]
    except (OSError, ValueError):
        return 0
    return found


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGKILL, -9)])
@pytest.mark.parametrize("space", ["lda", pytest.param("w2v", marks=pytest.mark.long)])
def test_training_that_was_killed_goes_on_from_its_checkpoint(
    run: Run, background: Path, tmp_path: Path, number: int, code: int, space: str
) -> None:
    out, checkpoint = tmp_path / "model", tmp_path / "model.checkpoint"
    common = ["--space", space, "--workers", "1", "--checkpoint-every", "2", "--topics", "2"]
    common += ["--iterations", "100000", "--dimensions", "5"]
    process = started(background, out, *common)
    deadline = time.monotonic() + 60
    while steps_of(checkpoint) < 4 and time.monotonic() < deadline:
        assert process.poll() is None, process.communicate()
        time.sleep(0.01)
    os.kill(process.pid, number)
    _, errors = process.communicate(timeout=60)
    assert process.returncode == code
    assert b"Traceback" not in errors
    assert not out.exists() or not any(out.iterdir())
    kept = steps_of(checkpoint)
    assert kept >= 4
    again = ("topics", "train", background, "--out", out, *common)
    refused, _, words = run(*again)
    assert refused == 2
    assert "--resume" in words
    resumed = started(background, out, *common, "--resume")
    while steps_of(checkpoint) <= kept and time.monotonic() < deadline + 60:
        assert resumed.poll() is None, resumed.communicate()
        time.sleep(0.01)
    # It went on, rather than beginning again: the steps never fell back.
    assert steps_of(checkpoint) > kept
    resumed.kill()
    resumed.communicate()


def test_a_mallet_state_is_imported(run: Run, tmp_path: Path) -> None:
    state = tmp_path / "state.gz"
    lines = ["#doc source pos typeindex type topic", "#alpha : 0.1 0.1", "#beta : 0.01"]
    lines += ["0 NA 0 0 debt 0", "0 NA 1 1 baby 1", ""]
    state.write_bytes(gzip.compress("\n".join(lines).encode()))
    out = tmp_path / "model"
    code, shown, errors = run("topics", "import", state, "--format", "mallet", "--out", out)
    assert code == 0, errors
    assert "lda" in shown
    assert load_model(out).vocabulary.terms == ("debt", "baby")
    code, _, _ = run(
        *("topics", "import", state, "--format", "mallet", "--out", out),
        *("--stop-words", "english", "--shortest", 3),
    )
    assert code == 0
    assert load_model(out).rules.shortest == 3


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--topics", 1), "topics must be from 2 to 500, got 1"),
        (("--iterations", 0), "iterations must be > 0, got 0"),
        (("--space", "bow"), "--space must be lda, w2v or voice, got 'bow'"),
        (("--space", "w2v", "--bigrams"), "single words"),
        (("--min-texts", 401), "no term occurs in 401 texts"),
        (("--vocabulary", "x.txt", "--min-texts", 2), "--vocabulary gives them"),
        (("--checkpoint-every", 0), "every >= 1 steps"),
    ],
)
def test_bad_usage_is_refused_with_a_sentence(
    run: Run, background: Path, tmp_path: Path, arguments: tuple[object, ...], message: str
) -> None:
    code, shown, errors = run("topics", "train", background, "--out", tmp_path / "m", *arguments)
    assert (code, shown) == (2, "")
    assert message in errors
    assert not (tmp_path / "m").exists()


def test_a_pickle_is_refused_without_the_word_for_it_and_warned_of_with_it(
    run: Run, tmp_path: Path
) -> None:
    (tmp_path / "lda").write_bytes(b"junk")
    plain = ("topics", "import", tmp_path / "lda", "--format", "gensim", "--out", tmp_path / "m")
    code, _, errors = run(*plain)
    assert code == 2
    assert "--trust-pickle" in errors
    code, _, errors = run(*plain, "--trust-pickle")
    assert code == 2
    assert "runs whatever code it holds" in errors


def test_a_model_that_is_none_is_refused(run: Run, tmp_path: Path) -> None:
    for nothing in (tmp_path, tmp_path / "absent"):
        code, _, errors = run("topics", "show", nothing)
        assert code == 2
        assert "is no model: it must be a folder that `sottovoce topics train`" in errors
    (tmp_path / "card.json").mkdir()
    code, _, errors = run("topics", "show", tmp_path)
    assert code == 2
    assert "cannot read the model" in errors
