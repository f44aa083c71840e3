"""What Spark's workers run, without Spark: the bits of one machine however rows are dealt out."""

from dataclasses import dataclass, replace
from functools import partial
from itertools import pairwise

import numpy as np
import pyarrow as pa
import pytest
from sottovoce_spark._ranks import ORDER, Edge, edges_of, number_rows, positions, score_users
from sottovoce_spark._states import (
    CommunityCounts,
    community_of,
    count_community,
    merge_rows,
    score_posts,
    value_columns,
)
from sottovoce_spark._workers import Shipped, digest_of, pack_work
from sottovoce_spark.rank_sketch import RankSketch
from sottovoce_spark.sketches import Precision, look_up, merge_sketches, sketch_users
from support.communities import CATALOGUE, WORDS, random_posts

from sottovoce.assess.assess import score
from sottovoce.assess.measures.catalogue import MEASURES, PAPER_METHODS, plan_scoring
from sottovoce.assess.setting import Setting
from sottovoce.corpus.vocabulary import Vocabulary
from sottovoce.corpus.words.rules import TokenRules
from sottovoce.errors import InputError, ParameterError
from sottovoce.topics import Catalogue
from sottovoce.topics.lda.model import LdaModel
from sottovoce.topics.w2v.model import SkipGramModel

POSTS = random_posts(11, users=60, posts=1500, weeks=20)


@dataclass(frozen=True)
class Sent:
    """What Spark's broadcast is to a worker."""

    value: bytes


def spaces() -> tuple[LdaModel, SkipGramModel]:
    generator = np.random.default_rng(4)
    vocabulary, rules = Vocabulary.public(WORDS), TokenRules()
    phi = generator.dirichlet(np.full(len(WORDS), 0.3), 20).T.astype(np.float32)
    lda = LdaModel(phi, generator.random(20) + 0.05, vocabulary, rules)
    vectors = generator.normal(size=(len(WORDS), 12)).astype(np.float32)
    return lda, SkipGramModel(vectors, vocabulary, rules)


def catalogue() -> Catalogue:
    topics = (replace(topic, dimensions=(3 * n, 3 * n + 1)) for n, topic in enumerate(CATALOGUE))
    return Catalogue(tuple(topics), spaces()[0].fingerprint)


def shipped(*measures: str) -> Shipped:
    chosen, scoring = plan_scoring(catalogue(), spaces(), measures or ("all",))
    topics = [topic.name for topic in catalogue().sensitive]
    archive = pack_work(
        scoring, spaces(), tuple(chosen), topics, Setting(), timezone="UTC", longest_text=1 << 20
    )
    return Shipped(Sent(archive), digest_of(archive))


def grouped(rows: list[pa.RecordBatch], names: list[str]) -> pa.RecordBatch:
    """What Spark's aggregation makes of the rows of each user."""
    table = pa.Table.from_batches(rows)
    by_user: dict[str | None, list[dict[str, object]]] = {}
    for row in table.to_pylist():
        by_user.setdefault(row.pop("user"), []).append(row)
    kind = pa.struct([table.schema.field(name) for name in names])
    return pa.record_batch(
        {
            "user": pa.array(by_user.keys(), pa.string()),
            "parts": pa.array(by_user.values(), pa.list_(kind)),
        }
    )


def states(ship: Shipped, parts: int = 3) -> list[list[pa.RecordBatch]]:
    """Merged states in two parts, from posts in several."""
    names = value_columns(ship.work().header)
    partial_rows: list[pa.RecordBatch] = []
    for part in range(parts):
        batches = POSTS.take(pa.array(np.arange(part, len(POSTS), parts))).to_batches(
            max_chunksize=100
        )
        partial_rows += score_posts(ship, iter(batches))
    together = grouped(partial_rows, names)
    halves = [together.slice(0, 25), together.slice(25)]
    return [list(merge_rows(ship, iter([half]))) for half in halves]


def community(ship: Shipped, merged: list[list[pa.RecordBatch]]) -> CommunityCounts:
    amounts: dict[int, int] = {}
    for part in merged:
        for batch in count_community(ship, iter(part)):
            for row in batch.to_pylist():
                amounts[row["what"]] = amounts.get(row["what"], 0) + row["amount"]
    return community_of(amounts, ship.work().header.words, len(ship.work().places))


def dealt(ordered: pa.Table, cuts: list[int]) -> list[list[pa.RecordBatch]]:
    """Parts that follow one another, each in small batches."""
    edges = [0, *cuts, ordered.num_rows]
    found = []
    for part, (begin, end) in enumerate(pairwise(edges)):
        piece = ordered.slice(begin, end - begin)
        numbers = pa.array(np.full(piece.num_rows, part, np.int32))
        found.append(piece.append_column("part", numbers).to_batches(max_chunksize=37))
    return found


def ranked(ship: Shipped, cuts: list[int]) -> pa.Table:
    merged = states(ship)
    everyone = community(ship, merged)
    scores = [b for part in merged for b in score_users(ship, everyone, iter(part))]
    ordered = pa.Table.from_batches(scores).sort_by([(name, "ascending") for name in ORDER])
    parts = dealt(ordered.combine_chunks(), cuts)
    edges = [
        Edge(**row) for part in parts for batch in edges_of(iter(part)) for row in batch.to_pylist()
    ]
    known = positions(edges)
    places = ship.work().places
    numbered = (number_rows(places, everyone.evident, known, part) for part in parts)
    return pa.Table.from_batches(batch for part in numbered for batch in part)


def plain(table: pa.Table) -> dict[str, list[object]]:
    columns = {name: table[name].to_pylist() for name in table.column_names if name != "score"}
    return {**columns, "score": table["score"].to_numpy().view(np.int64).tolist()}


@pytest.mark.parametrize("cuts", [[], [1, 2, 3, 50, 51, 400, 1100, 2000], list(range(10, 2500, 7))])
def test_every_measure_has_the_bits_of_one_machine_wherever_parts_are_cut(cuts: list[int]) -> None:
    expected = score(POSTS, spaces(), catalogue()).table
    assert plain(ranked(shipped(), cuts)) == plain(expected)
    assert set(expected["measure"].to_pylist()) == set(PAPER_METHODS)


def test_other_measures_of_words_know_the_whole_community_too() -> None:
    names = [name for name in MEASURES if name.endswith("present") or name.startswith("keyword")]
    expected = score(POSTS, spaces(), catalogue(), measures=names).table
    assert plain(ranked(shipped(*names), [100])) == plain(expected)


def test_what_is_sent_loads_once_and_only_with_its_own_models() -> None:
    ship = shipped("lda")
    assert ship.work() is ship.work()
    _, scoring = plan_scoring(catalogue(), spaces(), ("lda",))
    true = spaces()[0]
    other = LdaModel(true.phi[::-1], true.alpha, true.vocabulary, true.rules)
    wrong = pack_work(
        scoring, [other], ("lda",), ["debts"], Setting(), timezone="UTC", longest_text=99
    )
    with pytest.raises(InputError):
        Shipped(Sent(wrong), digest_of(wrong)).work()


def test_a_space_that_cannot_be_stored_is_not_sent() -> None:
    from support.communities import FixedSpace  # noqa: PLC0415 - beside its use

    chosen, scoring = plan_scoring(CATALOGUE, [FixedSpace()], ("lda",))
    with pytest.raises(ParameterError, match="cannot be stored"):
        pack_work(
            scoring,
            [FixedSpace()],
            tuple(chosen),
            ["debts"],
            Setting(),
            timezone="UTC",
            longest_text=99,
        )


def test_sketches_of_parts_bracket_every_rank() -> None:
    ship = shipped("ent", "lda-dt")
    merged = states(ship)
    everyone = community(ship, merged)
    made = partial(sketch_users, ship, everyone, Precision(error=0.05))
    rows = [
        batch.set_column(1, "part", pa.array([0], pa.int32()))
        for part in merged
        for batch in made(iter(part))
    ]
    final = {
        row["place"]: row["sketch"] for b in merge_sketches(iter(rows)) for row in b.to_pylist()
    }
    assert all(len(RankSketch.from_bytes(each)) == 60 for each in final.values())
    sent = Sent([final[place] for place in sorted(final)])  # type: ignore[arg-type] # a list of them
    found = [
        row
        for part in merged
        for batch in look_up(ship, everyone, sent, iter(part))
        for row in batch.to_pylist()
    ]
    expected = score(POSTS, spaces(), catalogue(), measures=("ent", "lda-dt")).table.to_pylist()
    exact = {(row["measure"], row["topic"], row["user"]): row["rank"] for row in expected}
    assert len(found) == len(exact)
    for row in found:
        assert row["rank"] <= exact[row["measure"], row["topic"], row["user"]] <= row["rank_most"]
        assert row["rank_most"] - row["rank"] <= 3


def test_posts_that_cannot_be_used_are_counted_once() -> None:
    ship = shipped("ent")
    raw = pa.record_batch(
        {
            "user": ["a", None, "b"],
            "time": POSTS["time"][:3].combine_chunks(),
            "text": ["debt", "x", None],
        }
    )
    rows = list(score_posts(ship, iter([raw])))
    merged = list(merge_rows(ship, iter([grouped(rows, value_columns(ship.work().header))])))
    found = community(ship, [merged])
    assert (found.users, found.posts) == (1, 1)
    assert str(found.tally).startswith("3 rows read, 1 kept")
