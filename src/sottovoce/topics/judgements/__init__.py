"""The judgement studies: sheets out, votes in, agreement, and what follows for a catalogue."""

from sottovoce.topics.judgements.agreement import (
    Agreement,
    AgreementRow,
    agreement,
    agreement_table,
)
from sottovoce.topics.judgements.kappa import KappaInterval, fleiss_kappa, kappa_interval
from sottovoce.topics.judgements.outcome import JudgedTopic, judged_catalogue, judged_topics
from sottovoce.topics.judgements.profiles import (
    Profile,
    coded_profiles,
    judged_truth,
    load_key,
    posts_in_order,
    profile_sheet,
    save_key,
    sensitive_users,
)
from sottovoce.topics.judgements.questions import CATEGORIES
from sottovoce.topics.judgements.sheets import topic_sheet
from sottovoce.topics.judgements.survey import SurveyCheck, read_survey, survey_check
from sottovoce.topics.judgements.votes import (
    ReadVotes,
    Vote,
    read_votes,
    topic_votes,
    without_checks,
)

__all__ = [
    "CATEGORIES",
    "Agreement",
    "AgreementRow",
    "JudgedTopic",
    "KappaInterval",
    "Profile",
    "ReadVotes",
    "SurveyCheck",
    "Vote",
    "agreement",
    "agreement_table",
    "coded_profiles",
    "fleiss_kappa",
    "judged_catalogue",
    "judged_topics",
    "judged_truth",
    "kappa_interval",
    "load_key",
    "posts_in_order",
    "profile_sheet",
    "read_survey",
    "read_votes",
    "save_key",
    "sensitive_users",
    "survey_check",
    "topic_sheet",
    "topic_votes",
    "without_checks",
]
