"""Every public name of every door has a page in the API reference."""

import inspect
import sys
from pathlib import Path
from types import ModuleType, SimpleNamespace

import pytest
from support.tools import loaded_tool


@pytest.fixture(scope="module")
def api_pages() -> ModuleType:
    return loaded_tool("api_pages")


def test_every_public_name_of_every_door_has_a_page(api_pages: ModuleType) -> None:
    reference = api_pages.Reference(api_pages.doors())
    pages = reference.pages()
    for door, entries in reference.offered.items():
        offered = getattr(sys.modules[door], "__all__", None)
        if offered is not None:
            assert {entry.name for entry in entries} == set(offered), door
        for entry in entries:
            assert f"{reference.page(entry)}.rst" in pages, entry.path


def test_the_verbs_and_what_is_beneath_them_are_doors(api_pages: ModuleType) -> None:
    found = {door.name for held in api_pages.doors().values() for door in held}
    verbs = {f"sottovoce.{name}" for name in ("assess", "release", "learn", "corpus", "topics")}
    assert found >= {"sottovoce", "sottovoce.errors", *verbs}


def test_no_page_has_a_private_module_in_its_path(api_pages: ModuleType) -> None:
    pages = api_pages.Reference(api_pages.doors()).pages()
    shown = [line for text in pages.values() for line in text.splitlines() if ".. auto" in line]
    assert len(shown) > 100
    assert [line for line in shown if "._" in line] == []


def test_a_name_that_two_doors_offer_has_one_page(api_pages: ModuleType) -> None:
    reference = api_pages.Reference(api_pages.doors())
    verb = _entry(reference, "sottovoce.assess", "assess_posts")
    assert reference.page(verb) == "sottovoce.assess_posts"
    pages = reference.pages()
    assert "sottovoce.assess.assess_posts.rst" not in pages
    assert "The same as ``sottovoce.assess.assess_posts``." in pages["sottovoce.assess_posts.rst"]


def test_a_door_offered_by_another_is_told_on_its_own_page(api_pages: ModuleType) -> None:
    reference = api_pages.Reference(api_pages.doors())
    entry = _entry(reference, "sottovoce", "assess")
    assert inspect.ismodule(entry.value)
    assert reference.page(entry) == "sottovoce.assess.door"


def test_names_that_differ_in_case_alone_have_files_that_differ_in_more(
    api_pages: ModuleType,
) -> None:
    files = [name.casefold() for name in api_pages.Reference(api_pages.doors()).pages()]
    assert len(files) == len(set(files))


def test_a_new_public_name_has_its_page_at_the_next_build(
    api_pages: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = ModuleType("made_up")
    kept = type("Kept", (), {"__module__": "made_up"})
    vars(made).update(Kept=kept, LIMITS=("low", "high"), __all__=["Kept"])
    monkeypatch.setattr(api_pages, "GROUPS", {"Made up": "made_up"})
    monkeypatch.setitem(sys.modules, "made_up", made)
    api_pages.write(tmp_path)
    assert _written(tmp_path) == {"index.inc", "made_up.door.rst", "made_up.Kept.rst"}
    vars(made).update(__all__=["LIMITS"])
    api_pages.write(tmp_path)
    assert _written(tmp_path) == {"index.inc", "made_up.door.rst", "made_up.LIMITS.rst"}
    assert "``low``, ``high``" in (tmp_path / "made_up.LIMITS.rst").read_text(encoding="utf-8")


def _entry(reference: SimpleNamespace, door: str, name: str) -> SimpleNamespace:
    found: list[SimpleNamespace] = reference.offered[door]
    return next(entry for entry in found if entry.name == name)


def _written(folder: Path) -> set[str]:
    return {path.name for path in folder.iterdir()}
