"""The judgement studies: sheets out, votes in, agreement, and what follows for a catalogue.

`_sheets` asks judges about topics and `_profiles` about people, `_votes` reads what they answered,
and `_agreement` says how far they agree and what they decided.
"""

from typing import TYPE_CHECKING

from sottovoce.lazy import attach

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

if TYPE_CHECKING:
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
    from sottovoce.topics.judgements.sheets import (
        CATEGORIES,
        SurveyCheck,
        read_survey,
        survey_check,
        topic_sheet,
    )
    from sottovoce.topics.judgements.votes import (
        ReadVotes,
        Vote,
        read_votes,
        topic_votes,
        without_checks,
    )
else:
    __getattr__, __dir__ = attach(
        __name__,
        {
            "CATEGORIES": "sottovoce.topics.judgements.sheets",
            "Agreement": "sottovoce.topics.judgements._agreement",
            "AgreementRow": "sottovoce.topics.judgements._agreement",
            "KappaInterval": "sottovoce.topics.judgements._agreement",
            "Profile": "sottovoce.topics.judgements.profiles",
            "ReadVotes": "sottovoce.topics.judgements.votes",
            "SurveyCheck": "sottovoce.topics.judgements.sheets",
            "TopicVerdict": "sottovoce.topics.judgements._agreement",
            "Vote": "sottovoce.topics.judgements.votes",
            "agreement": "sottovoce.topics.judgements._agreement",
            "agreement_table": "sottovoce.topics.judgements._agreement",
            "coded_profiles": "sottovoce.topics.judgements.profiles",
            "fleiss_kappa": "sottovoce.topics.judgements._agreement",
            "judged_catalogue": "sottovoce.topics.judgements._agreement",
            "judged_topics": "sottovoce.topics.judgements._agreement",
            "judged_truth": "sottovoce.topics.judgements.profiles",
            "kappa_interval": "sottovoce.topics.judgements._agreement",
            "load_key": "sottovoce.topics.judgements.profiles",
            "posts_in_order": "sottovoce.topics.judgements.profiles",
            "profile_sheet": "sottovoce.topics.judgements.profiles",
            "read_survey": "sottovoce.topics.judgements.sheets",
            "read_votes": "sottovoce.topics.judgements.votes",
            "save_key": "sottovoce.topics.judgements.profiles",
            "sensitive_users": "sottovoce.topics.judgements.profiles",
            "survey_check": "sottovoce.topics.judgements.sheets",
            "topic_sheet": "sottovoce.topics.judgements.sheets",
            "topic_votes": "sottovoce.topics.judgements.votes",
            "without_checks": "sottovoce.topics.judgements.votes",
        },
    )
