"""The guide from documents to a classifier says what the code says, and its examples run."""

from pathlib import Path
from typing import Any

import pytest

from sottovoce.learn.documents import Documents
from sottovoce.learn.features import TextRecipe
from sottovoce.learn.run.classify import call_labels
from sottovoce.learn.run.party import make_party
from sottovoce.learn.run.records import read_trained
from sottovoce.learn.run.terms import Holdings, RunTerms
from sottovoce.learn.sums.keys import Identity
from sottovoce.learn.wire.exchange import Exchange
from sottovoce.learn.wire.message import new_session

GUIDE = Path(__file__).parents[3] / "docs" / "how-to" / "learn-text.md"


def test_the_guides_examples_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    names: dict[str, Any] = {}
    examples = GUIDE.read_text(encoding="utf-8").split("```python\n")[1:]
    assert len(examples) == 2
    for example in examples:
        exec(compile(example.split("```")[0], "learn-text.md", "exec"), names)  # noqa: S102 - our own guide
    assert names["classifier"].predict(["see you"]).tolist() == ["ham"]
    _check_party_by_party(names["peers"])


def _check_party_by_party(peers: dict[str, tuple[list[str], list[str]]]) -> None:
    """What fit does inside: the same terms at every party, and what a peer keeps classifies."""
    identities = {name: Identity() for name in peers}
    public = {name: identity.public for name, identity in identities.items()}
    terms = RunTerms(new_session(), "train", "open", public, text=TextRecipe(width=50)).to_bytes()
    parties = [make_party(terms, "coordinator", Holdings())]
    for name, given in peers.items():
        holdings = Holdings(identities[name], Documents.from_texts(*given))
        parties.append(make_party(terms, name, holdings))
    Exchange(parties).run()
    kept = parties[1].result()
    assert kept["labels"] == ("ham", "spam")
    assert list(call_labels(read_trained(kept), Documents.from_texts(["free prize"]))) == ["spam"]
