"""The map of a published release as the columns of a common classifier."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from scipy import sparse

from sottovoce.errors import ConfigError
from sottovoce.federation.config import FeatureSettings, TrainingSettings, load_config
from sottovoce.federation.party.terms import training_terms
from sottovoce.federation.roster import load_roster
from sottovoce.federation.setup import SetupPlan, set_up
from sottovoce.learn.features import Features as RowFeatures
from sottovoce.learn.run.terms import RunTerms
from sottovoce.release.compression.word_map import load_maps

Run = Callable[..., tuple[int, str, str]]
WORDS = ("debt", "loan", "bank", "money", "home", "work", "family", "sleep")


@pytest.fixture
def release(tmp_path: Path, run: Run) -> Callable[..., Path]:
    """`sottovoce release` itself, into a folder."""
    posts, words = tmp_path / "posts.csv", tmp_path / "words.txt"
    posts.write_text("text\n" + "debt loan bank\nmoney home work\n" * 9)
    words.write_text("\n".join(WORDS))

    def released(*options: object) -> Path:
        out = tmp_path / "out"
        code, _, err = run(
            *("release", posts, "--vocabulary", words, "--out", out, "--epsilon", 2),
            *("--precision", 2, "--compress", "random", "--columns", 3, *options),
        )
        assert code == 0, err
        return out

    return released


def proposed(tmp_path: Path, features: FeatureSettings) -> RunTerms:
    """What a coordinator with these features proposes."""
    root = tmp_path / "all"
    set_up(root, SetupPlan(("ada", "ben", "cy"), TrainingSettings(), features=features))
    config = load_config(root / "coordinator" / "party.toml")
    return training_terms(config, load_roster(root / "ada" / "roster.toml"))


def test_a_release_s_words_and_map_are_the_columns(
    tmp_path: Path, release: Callable[..., Path]
) -> None:
    out = release()
    features = FeatureSettings(dictionary="mapped", release=str(out), values="counts")
    text = RunTerms.from_bytes(proposed(tmp_path, features).to_bytes()).text
    assert text is not None
    assert text.words == WORDS
    (word_map,), _ = load_maps(out / "map")
    counts = np.array([[2, 0, 0, 0, 0, 0, 0, 1], [0, 0, 0, 0, 1, 0, 0, 0]])
    expected = word_map.compress(sparse.csr_array(counts)).toarray()
    rows = RowFeatures(text).rows(("debt debt sleep and more", "home"))
    assert rows.tolist() == expected.tolist()


def test_a_release_of_several_maps_is_refused(tmp_path: Path, release: Callable[..., Path]) -> None:
    features = FeatureSettings(dictionary="mapped", release=str(release("--maps", 2)))
    with pytest.raises(ConfigError, match="one map for all documents, got 2"):
        proposed(tmp_path, features)


def test_a_release_that_was_changed_is_refused(
    tmp_path: Path, release: Callable[..., Path]
) -> None:
    out = release()
    (out / "vocabulary.txt").write_text("\n".join(WORDS[::-1]))
    with pytest.raises(ConfigError, match="not what the card says"):
        proposed(tmp_path, FeatureSettings(dictionary="mapped", release=str(out)))


@pytest.mark.parametrize(
    "features",
    [FeatureSettings(dictionary="mapped"), FeatureSettings(release="out")],
    ids=["no map", "no use"],
)
def test_a_map_and_its_use_belong_together(tmp_path: Path, features: FeatureSettings) -> None:
    with pytest.raises(ConfigError, match="belong together"):
        proposed(tmp_path, features)
