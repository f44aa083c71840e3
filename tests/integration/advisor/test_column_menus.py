"""A file whose columns have other names: kept, and read once they were chosen from menus."""

import re
import tempfile
from pathlib import Path

import pyarrow as pa
import pytest
from support.advisor_page import PageClient, table_bytes


def chosen(page: str, field: str) -> tuple[list[str], str]:
    """The names in a menu, and what is chosen in it."""
    (menu,) = re.findall(rf'<select id="{field}".*?</select>', page, re.DOTALL)
    options = re.findall(r'<option value="([^"]*)"( selected)?>([^<]*)', menu)
    return [name for _, _, name in options], next((key for key, at, _ in options if at), "")


@pytest.mark.parametrize("name", ["posts.csv", "posts.tsv", "posts.jsonl", "posts.parquet"])
def test_a_file_of_other_columns_is_kept_and_its_columns_are_chosen_from_menus(
    client: PageClient, tmp_path: Path, name: str
) -> None:
    rows = [("ann", "2024-01-01", "rehab relapse"), ("bob", "2024-01-02", "heroin")]
    columns = dict(zip(("author", "created", "body"), zip(*rows, strict=True), strict=True))
    table = pa.table(columns)
    asked = client.upload(name, table_bytes(table, name, tmp_path), ask="yes")
    assert asked.status_code == 200
    names, key = chosen(asked.text, "text")
    assert [each.split(":")[0] for each in names[1:]] == ["author", "created", "body"]
    form = {field: chosen(asked.text, field)[1] for field in ("time", "text", "user")}
    assert all(form.values()), "the likely ones are chosen already"
    wrong = client.post("/start/columns", data={**form, "time": key})
    assert wrong.status_code == 400
    assert "Which column is which?" in wrong.text
    assert client.get("/start/columns").status_code == 200
    who = client.post("/start/columns", data={**form, "holds": "community"})
    assert who.headers["location"] == "/start/who"
    assert "2 posts of 2 people" in client.get("/start/who").text
    assert client.get("/start/columns").headers["location"] == "/start", "read, and gone"


def test_a_file_without_a_header_can_be_read_and_a_kept_one_is_deleted_with_the_rest(
    client: PageClient, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    content = b"2024-01-01,rehab relapse\n2024-01-02,heroin\n"
    for _ in range(2):
        assert client.upload("posts.csv", content).status_code == 200
    (kept,) = list(tmp_path.glob("sottovoce-*/posts.csv"))
    form = {"time": "0", "text": "1", "no_header": "yes"}
    assert client.post("/start/columns", data=form).headers["location"] == "/standing"
    assert not kept.exists()
    assert "2 posts of yours" in client.get("/standing").text
    assert client.upload("posts.csv", content).status_code == 200
    client.post("/delete", data={"sure": "yes"})
    assert list(tmp_path.glob("sottovoce-*/posts.csv")) == []
