"""The judgement studies: sheets out, votes in, agreement, and what follows for a catalogue."""

from sottovoce.topics.judgements._agreement import (
    Agreement,
    AgreementRow,
    KappaInterval,
    TopicVerdict,
    agreement,
    agreement_table,
    fleiss_kappa,
    judged_catalogue,
    judged_topics,
    kappa_interval,
)
from sottovoce.topics.judgements._profiles import (
    Profile,
    coded_profiles,
    judged_truth,
    load_key,
    posts_in_order,
    profile_sheet,
    save_key,
    sensitive_users,
)
from sottovoce.topics.judgements._sheets import (
    CATEGORIES,
    SurveyCheck,
    read_survey,
    survey_check,
    topic_sheet,
)
from sottovoce.topics.judgements._votes import (
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
    "KappaInterval",
    "Profile",
    "ReadVotes",
    "SurveyCheck",
    "TopicVerdict",
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
