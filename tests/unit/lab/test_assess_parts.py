"""What the assess studies are made of."""

from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from sottovoce_lab.assess import _paper as paper
from sottovoce_lab.assess._paper import TABLE_4, TABLE_5, TABLE_6, table_5_columns
from sottovoce_lab.assess.experiment import is_own
from sottovoce_lab.assess.figure_1 import count_covered_tenths
from sottovoce_lab.assess.outcomes import (
    CommunityOutcome,
    gain_columns,
    judged_outcome,
    level_rows,
    metric_columns,
    share_above,
    standing,
    strength_of,
)
from sottovoce_lab.options import StudyOptions

from sottovoce.assess.evaluation.metrics import JudgedTopic, user_rows
from sottovoce.errors import InputError, ParameterError
from sottovoce.loop.adversary import keep_domains
from sottovoce.loop.subject import StudyCommunity
from sottovoce.topics import Catalogue, Topic

PERSONAS = np.array(["afflicted", "afflicted", "professional", "curious", *["bystander"] * 6])
# Table 3, sensitive users by topic, with 10 Quora users in debt.
SENSITIVE = {
    "clinical depression": (24, 42, 20),
    "drug addiction": (22, 31, 11),
    "pregnancy": (15, 42, 21),
    "hiv": (14, 19, 5),
    "financial debts": (24, 0, 10),
}


def community(level: str = "default") -> StudyCommunity:
    sensitive = PERSONAS == "afflicted"
    users = pa.array([f"u{place}" for place in range(len(PERSONAS))])
    topic = JudgedTopic("t", users, sensitive, np.where(sensitive, 0.9, 0.1))
    return StudyCommunity(level, pa.table({"user": users}), (topic,), (PERSONAS,))


def outcome_of(**scores: list[float]) -> CommunityOutcome:
    runs = {name.replace("_", "-"): (np.array(own),) for name, own in scores.items()}
    return judged_outcome(community(), runs)


BEST = [9.0, 8.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0]
WORSE = [7.0, 6.0, 9.0, 8.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0]
NOTHING = [0.0] * 10


@pytest.mark.parametrize("measure", ["lda", "lda-d", "lda-t", "lda-dt"])
@pytest.mark.parametrize("place", [0, 1, 2])
def test_the_paper_s_table_5_recomputes_from_its_tables_3_and_6(measure: str, place: int) -> None:
    """So both are copied right, and the number of Quora users in debt is 10, not the printed 11."""
    cells = [
        (rows[measure][place], SENSITIVE[topic][place])
        for topic, rows in TABLE_6.items()
        if rows[measure][place] is not None
    ]
    values = np.array([float(value or 0.0) for value, _ in cells])
    weights = [weight for _, weight in cells]
    micro, macro = TABLE_5[measure][place][:2]
    if (measure, place) == ("lda", 1):
        # One of the two cells of 42 users is printed a hit too high; see the study's notes.
        values[cells.index((0.571, 42))] -= 1 / 42
    assert np.average(values, weights=weights) == pytest.approx(micro, abs=0.001)
    assert values.mean() == pytest.approx(macro, abs=0.001)


def test_the_paper_s_tables_4_and_5_agree_on_word_vectors() -> None:
    for four, five in zip(TABLE_4["w2v"], TABLE_5["w2v"], strict=True):
        assert [*four[:2], *four[3:]] == five


def test_a_persona_s_standing_is_the_share_of_others_below_it() -> None:
    found = standing(community(), (np.array(BEST),))
    assert found["afflicted"] == pytest.approx((1.0 + 8 / 9) / 2)
    assert found["professional"] == pytest.approx((7 / 2) / 9)
    assert set(standing(community(), (np.array(NOTHING),)).values()) == {0.5}


def test_gains_are_taken_community_by_community() -> None:
    outcomes = [outcome_of(a=BEST, b=WORSE), outcome_of(a=BEST, b=NOTHING)]
    row = gain_columns(outcomes, "a", "b")
    values = [each.metrics["a"]["map"] - each.metrics["b"]["map"] for each in outcomes]
    assert row["map_gain"] == pytest.approx(np.mean(values))
    assert gain_columns(outcomes, "a", None)["map_gain"] is None


def test_one_community_has_bootstrap_intervals_and_several_have_student_s() -> None:
    one, other = outcome_of(a=WORSE, b=NOTHING), outcome_of(a=BEST, b=NOTHING)
    alone = metric_columns([one], "a")
    assert alone["map"] == pytest.approx(one.metrics["a"]["map"])
    assert alone["map_low"] < alone["map"] < alone["map_high"]  # type: ignore[operator] # numbers
    both = metric_columns([one, other], "a")
    assert both["map"] == pytest.approx((one.metrics["a"]["map"] + 1.0) / 2)
    gain = gain_columns([one], "a", "b")
    assert gain["map_gain_low"] <= gain["map_gain"] <= gain["map_gain_high"]  # type: ignore[operator] # numbers


def test_rows_carry_tests_with_holm_s_correction() -> None:
    outcomes = [outcome_of(bow=WORSE, bow_d=BEST, bow_t=BEST)]
    rows = level_rows(outcomes, against=strength_of, paper=table_5_columns, shared={"seeds": 1})
    found = {row["measure"]: row for row in rows}
    assert found["bow"]["p_holm"] is None
    assert found["bow-d"]["p_permutation"] == 0.5
    assert found["bow-d"]["p_holm"] == 1.0
    assert found["bow-d"]["hits_gain"] == pytest.approx(1.0)


def seeds(**scores: list[float]) -> list[CommunityOutcome]:
    """Three communities that differ a little."""
    nudged = [
        {
            name: [value + 0.01 * shift * place for place, value in enumerate(own)]
            for name, own in scores.items()
        }
        for shift in (0, 1, -1)
    ]
    return [outcome_of(**each) for each in nudged]


def test_a_claim_holds_only_if_the_numbers_say_so() -> None:
    better = seeds(lda=BEST, ent=WORSE, diff_priv=WORSE)
    assert {claim.verdict for claim in paper.strength_claims(better, ["lda"])} == {"Holds"}
    worse = seeds(lda=WORSE, ent=BEST, diff_priv=BEST)
    assert {claim.verdict for claim in paper.strength_claims(worse, ["lda"])} == {"Does not hold"}
    alike = seeds(lda=BEST, ent=BEST, diff_priv=BEST)
    found = paper.strength_claims(alike, ["lda"])
    assert {claim.verdict for claim in found} == {"Not clear"}
    assert str(found[0]).startswith("Not clear: lda has a higher MAP than ent (difference 0.000")


def test_personas_are_lowered_against_the_afflicted() -> None:
    without_professional = [7.0, 6.0, 0.0, 8.0, *[1.0] * 6]
    without_curious = [7.0, 6.0, 9.0, 0.0, *[1.0] * 6]
    outcomes = seeds(lda=WORSE, lda_d=without_professional, lda_t=without_curious, lda_dt=BEST)
    found = {
        claim.says.split()[0] + claim.says.split()[3]: claim.verdict
        for claim in paper.persona_claims(outcomes, ["lda"])
    }
    assert found["lda-dprofessional"] == "Holds"
    assert found["lda-tcurious"] == "Holds"
    unmoved = seeds(lda=WORSE, lda_d=WORSE, lda_t=WORSE, lda_dt=WORSE)
    verdicts = {claim.verdict for claim in paper.persona_claims(unmoved, ["lda"])}
    assert verdicts == {"Not clear"}
    raised = seeds(lda=BEST, lda_d=WORSE, lda_t=WORSE, lda_dt=WORSE)
    verdicts = {claim.verdict for claim in paper.persona_claims(raised, ["lda"])}
    assert "Does not hold" in verdicts
    assert "Holds" not in verdicts


def test_personas_that_rise_more_than_the_afflicted_are_not_lowered() -> None:
    last = [2.0, 1.5, 1.0, 0.5, *[9.0] * 6]
    first = [7.0, 6.0, 9.0, 8.0, *[1.0] * 6]
    outcomes = seeds(lda=last, lda_d=first, lda_t=first, lda_dt=first)
    verdicts = {claim.verdict for claim in paper.persona_claims(outcomes, ["lda"])}
    assert verdicts == {"Does not hold"}


def test_pairs_count_where_the_afflicted_stand_higher() -> None:
    scores = np.array([5.0, 2.0, 5.0, 1.0, *[0.0] * 6])
    assert share_above(scores, PERSONAS, "professional") == pytest.approx((0.5 + 0.0) / 2)
    assert share_above(scores, PERSONAS, "curious") == 1.0
    assert share_above(scores, PERSONAS, "supporter") is None


def test_the_best_of_a_space_is_named_and_must_be_clear_of_strength() -> None:
    good = paper.best_claims(seeds(lda=WORSE, lda_d=WORSE, lda_t=WORSE, lda_dt=BEST), ["lda"])
    assert [claim.verdict for claim in good] == ["Holds", "Holds"]
    bad = paper.best_claims(seeds(lda=BEST, lda_d=WORSE, lda_t=WORSE, lda_dt=WORSE), ["lda"])
    assert [claim.verdict for claim in bad] == ["Does not hold", "Does not hold"]
    other = paper.best_claims(seeds(lda=WORSE, lda_d=WORSE, lda_t=BEST, lda_dt=WORSE), ["lda"])
    assert [claim.verdict for claim in other] == ["Does not hold", "Does not hold"]


def test_a_control_that_gains_is_told() -> None:
    variants = {"lda": NOTHING, "lda_d": NOTHING, "lda_t": NOTHING, "lda_dt": NOTHING}
    silent = paper.control_claims([outcome_of(**variants, random=NOTHING)] * 3, ["lda"])
    assert {claim.verdict for claim in silent} == {"Holds"}
    leaking = paper.control_claims(
        [outcome_of(**(variants | {"lda_dt": BEST}), random=NOTHING)] * 3, ["lda"]
    )
    assert {claim.verdict for claim in leaking} == {"Does not hold"}
    assert "lda-dt" in leaking[0].seen


def test_topics_of_other_domains_are_not_scored() -> None:
    topics = (
        Topic("a", ("one",), "health", sensitive=True),
        Topic("b", ("two",), "health"),
        Topic("c", ("three",), "sport"),
    )
    assert keep_domains(Catalogue(topics, "mark")).names == ("a", "b")
    assert keep_domains(Catalogue(topics, "mark")).model == "mark"


def test_regions_are_covered_when_they_hold_a_twentieth() -> None:
    everybody = np.linspace(0.0, 1.0, 1001)
    assert count_covered_tenths(everybody, everybody) == 10
    assert count_covered_tenths(np.r_[np.zeros(96), np.ones(4)], everybody) == 1


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (StudyOptions(posts=Path("p")), "--posts, --truth and --topics together"),
        (StudyOptions(models=(Path("m"),)), "--model goes with"),
        (StudyOptions(data="news"), "take no --data"),
        (StudyOptions(documents=3), "take no --documents"),
        (
            StudyOptions(posts=Path("p"), truth=Path("t"), topics=Path("c"), seeds=2),
            "leave --seeds out",
        ),
    ],
)
def test_half_of_what_a_study_needs_is_refused(options: StudyOptions, message: str) -> None:
    with pytest.raises(ParameterError, match=message):
        is_own(options)


def test_a_judged_user_without_a_post_is_refused() -> None:
    with pytest.raises(InputError, match="9 of 10 judged users of topic 't' have no post"):
        user_rows(community().judged[0], pa.array(["u0", "stranger"]))
