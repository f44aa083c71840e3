"""The guide to counting together names every option and setting, and its examples run."""

from pathlib import Path

import msgspec
import pytest
import typer

from sottovoce.cli._app import app
from sottovoce.federation._config import CountSettings, CountWith

GUIDE = Path(__file__).parents[3] / "docs" / "count-together.md"
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


def test_the_guides_examples_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("SOTTOVOCE_LEDGER", str(tmp_path / "ledger"))
    Path("words.txt").write_text("debt\nloan\n", encoding="utf-8")
    for name in ("north", "west", "harbour"):
        rows = "".join(f"a debt and a loan of {name} {at}\n" for at in range(20))
        Path(f"{name}.csv").write_text(f"note\n{rows}", encoding="utf-8")
    first, second = (part.split("```")[0] for part in TEXT.split("```python\n")[1:3])
    told: dict[str, object] = {}
    # The story begins with a budget for two counts, the first lines of the page with none.
    exec(compile(first.replace("epsilon=1", "epsilon=1, budget=2"), "guide", "exec"), told)  # noqa: S102 - our own guide
    exec(compile(second, "guide", "exec"), told)  # noqa: S102 - likewise
    assert "one whole document" in capsys.readouterr().out
    assert told["pairs"].what == "pairs"  # type: ignore[attr-defined] # a count
