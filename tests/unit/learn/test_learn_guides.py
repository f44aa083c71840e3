"""The guides to learning together: their examples run, and they name all that can be set."""

import re
from pathlib import Path
from typing import Any

import msgspec
import pytest
import typer
from support.leakage_page import LINK
from support.shown_commands import blocks_in

from sottovoce.cli._app import app
from sottovoce.federation.config import CountSettings, CountWith
from sottovoce.learn.documents import Documents
from sottovoce.learn.features import TextRecipe
from sottovoce.learn.run.classify import call_labels
from sottovoce.learn.run.party import make_party
from sottovoce.learn.run.records import read_trained
from sottovoce.learn.run.terms import Holdings, RunTerms
from sottovoce.learn.sums.keys import Identity
from sottovoce.learn.wire.exchange import Exchange
from sottovoce.learn.wire.message import new_session

DOCS = Path(__file__).parents[3] / "docs"
COUNTING = (DOCS / "how-to" / "count-together.md").read_text(encoding="utf-8")


def run_examples(page: str, number: int | None = None) -> dict[str, Any]:
    """Run a guide's first examples, one after the other; the names that they leave."""
    names: dict[str, Any] = {}
    for example in blocks_in(DOCS / page, "python")[:number]:
        exec(compile(example, page, "exec"), names)  # noqa: S102 - our own guide
    return names


@pytest.mark.parametrize(
    ("page", "printed"),
    [
        ("how-to/learn.md", ""),
        ("explanation/learn-protocols.md", "(?m)^coordinator  +which peers"),
        ("explanation/learn-arithmetic.md", r"^\[0 0 1\] 2 "),
        ("explanation/learn-hidden.md", r"\["),
    ],
)
def test_a_guides_first_example_runs(
    page: str, printed: str, capsys: pytest.CaptureFixture[str]
) -> None:
    run_examples(page, 1)
    assert re.search(printed, capsys.readouterr().out)
    assert LINK in (DOCS / page).read_text(encoding="utf-8")


def test_the_examples_from_documents_to_a_classifier_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    names = run_examples("how-to/learn-text.md")
    assert names["classifier"].predict(["see you"]).tolist() == ["ham"]
    # What fit does inside: the same terms at every party, and what a peer keeps classifies.
    identities = {name: Identity() for name in names["peers"]}
    public = {name: identity.public for name, identity in identities.items()}
    terms = RunTerms(new_session(), "train", "open", public, text=TextRecipe(width=50)).to_bytes()
    parties = [make_party(terms, "coordinator", Holdings())]
    for name, given in names["peers"].items():
        holdings = Holdings(identities[name], Documents.from_texts(*given))
        parties.append(make_party(terms, name, holdings))
    Exchange(parties).run()
    kept = parties[1].result()
    assert kept["labels"] == ("ham", "spam")
    assert list(call_labels(read_trained(kept), Documents.from_texts(["free prize"]))) == ["spam"]


def test_every_option_of_the_command_is_in_the_guide() -> None:
    learn = typer.main.get_command(app).commands["learn"]  # type: ignore[attr-defined] # a group
    options = {opt for each in learn.commands["count"].params for opt in each.opts}
    elsewhere = {"--config", "--json", "--wait", "--help"}
    assert [option for option in sorted(options - elsewhere) if f"`{option}" not in COUNTING] == []


@pytest.mark.parametrize("table", [CountSettings, CountWith])
def test_every_setting_of_a_party_is_in_the_guide(table: type[msgspec.Struct]) -> None:
    names = [field.name for field in msgspec.structs.fields(table)]
    assert [
        name for name in names if f"`{name}`" not in COUNTING and f"{name} = " not in COUNTING
    ] == []


@pytest.mark.parametrize("page", ["count-together.md", "count-reading.md"])
def test_the_guides_examples_run_as_they_stand(
    page: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("SOTTOVOCE_LEDGER", str(tmp_path / "ledger"))
    words = [first + second for first in "bdfgklmpst" for second in ("an", "en", "in")]
    Path("words.txt").write_text("\n".join(words), encoding="utf-8")
    for name in ("north", "west", "harbour"):
        rows = [f"{' '.join(words[at : at + 5])} of {name} for {page} {at}" for at in range(25)]
        lines = [f"{row},{('admitted', 'sent home')[at % 2]}" for at, row in enumerate(rows)]
        Path(f"{name}.csv").write_text("\n".join(["note,label", *lines]), encoding="utf-8")
    told = run_examples(f"how-to/{page}")
    assert told["pairs"].what == "pairs"
    out = capsys.readouterr().out
    if page == "count-together.md":
        assert "one whole document" in out
    else:
        assert Path("model").is_dir()
        assert told["classifier"].predict(["ban"])[0] in told["labels"]
