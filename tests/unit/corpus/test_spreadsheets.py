"""A spreadsheet or an archive is known by its first bytes, and what to do about it is said."""

import zipfile
from pathlib import Path

import pytest

from sottovoce.corpus.read.corpus import open_posts
from sottovoce.errors import CorpusError

OLD_EXCEL = bytes.fromhex("d0cf11e0a1b11ae1") + bytes(600)


def zipped(path: Path, member: str, text: str) -> Path:
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr(member, text)
    return path


@pytest.mark.parametrize("name", ["export.xlsx", "export.csv", "export"])
def test_an_excel_file_is_to_be_saved_as_csv_whatever_its_name(tmp_path: Path, name: str) -> None:
    path = zipped(tmp_path / name, "[Content_Types].xml", "<Types/>")
    with pytest.raises(CorpusError, match=r"is an Excel file: open it, choose Save As, CSV"):
        open_posts(path)


def test_other_spreadsheets_and_archives_are_told_apart(tmp_path: Path) -> None:
    (tmp_path / "old.xls").write_bytes(OLD_EXCEL)
    with pytest.raises(CorpusError, match="is an Excel file"):
        open_posts(tmp_path / "old.xls")
    kind = "application/vnd.oasis.opendocument.spreadsheet"
    with pytest.raises(CorpusError, match="is a spreadsheet of LibreOffice"):
        open_posts(zipped(tmp_path / "table.ods", "mimetype", kind))
    with pytest.raises(CorpusError, match="is a zip archive: unpack it"):
        open_posts(zipped(tmp_path / "export.zip", "export.csv", "user,time,text\n"))
