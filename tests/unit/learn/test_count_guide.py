"""The guide to counting together names every option and setting, and its examples run."""

from pathlib import Path
from typing import Any

import msgspec
import pytest
import typer

from sottovoce.cli._app import app
from sottovoce.federation.config import CountSettings, CountWith

GUIDE = Path(__file__).parents[3] / "docs" / "how-to" / "count-together.md"
TEXT = GUIDE.read_text(encoding="utf-8")


def test_every_option_of_the_command_is_in_the_guide() -> None:
    learn = typer.main.get_command(app).commands["learn"]  # type: ignore[attr-defined] # a group
    options = {opt for each in learn.commands["count"].params for opt in each.opts}
    elsewhere = {"--config", "--json", "--wait", "--help"}
    assert [option for option in sorted(options - elsewhere) if f"`{option}" not in TEXT] == []


@pytest.mark.parametrize("table", [CountSettings, CountWith])
def test_every_setting_of_a_party_is_in_the_guide(table: type[msgspec.Struct]) -> None:
    names = [field.name for field in msgspec.structs.fields(table)]
    assert [name for name in names if f"`{name}`" not in TEXT and f"{name} = " not in TEXT] == []


@pytest.mark.parametrize("page", ["count-together.md", "count-reading.md"])
def test_the_guides_examples_run_as_they_stand(
    page: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("SOTTOVOCE_LEDGER", str(tmp_path / "ledger"))
    words = [first + second for first in "bdfgklmpst" for second in ("an", "en", "in")]
    Path("words.txt").write_text("\n".join(words), encoding="utf-8")
    for name in ("north", "west", "harbour"):
        rows = [f"{' '.join(words[at : at + 5])} of {name} for {page} {at}" for at in range(25)]
        lines = [f"{row},{('admitted', 'sent home')[at % 2]}" for at, row in enumerate(rows)]
        Path(f"{name}.csv").write_text("\n".join(["note,label", *lines]), encoding="utf-8")
    told: dict[str, Any] = {}
    for part in GUIDE.with_name(page).read_text(encoding="utf-8").split("```python\n")[1:]:
        exec(compile(part.split("```")[0], page, "exec"), told)  # noqa: S102 - our own guide
    assert told["pairs"].what == "pairs"
    out = capsys.readouterr().out
    if page == "count-together.md":
        assert "one whole document" in out
    else:
        assert Path("model").is_dir()
        assert told["classifier"].predict(["ban"])[0] in told["labels"]
