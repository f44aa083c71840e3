"""``sottovoce topics list``: the names that ``assess --topic`` takes."""

import json
from pathlib import Path

from support.shown import Run

from sottovoce.topics import Catalogue, Topic, shipped_catalogue


def test_it_lists_every_topic_that_ships_with_its_domain(run: Run) -> None:
    code, out, _ = run("topics", "list", "--json")
    assert code == 0
    rows = {row["topic"]: row for row in json.loads(out)}
    assert set(rows) == set(shipped_catalogue().names)
    for topic in shipped_catalogue().topics:
        row = {"topic": topic.name, "domain": topic.domain, "sensitive": True}
        assert rows[topic.name] == row | {"words": len(topic.words)}


def test_people_see_topics_of_one_domain_together(run: Run) -> None:
    code, out, _ = run("topics", "list")
    assert code == 0
    shown = [line.split("│")[1:3] for line in out.splitlines() if line.startswith("│")]
    assert [name.strip() for name, _ in shown if name.strip() in shipped_catalogue().names]
    domains = [domain.strip() for _, domain in shown]
    assert len(domains) == len(shipped_catalogue())
    assert domains == sorted(domains)


def test_it_lists_a_catalogue_of_one_s_own(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "own.toml"
    Catalogue((Topic("beekeeping", ("hive", "queen bee"), "leisure"),)).save(path)
    code, out, _ = run("topics", "list", path, "--json")
    row = {"topic": "beekeeping", "domain": "leisure", "sensitive": False, "words": 2}
    assert (code, json.loads(out)) == (0, [row])
