"""What a party's owner can be told while it does not run: out of its journal."""

from collections.abc import Mapping
from typing import Any

from sottovoce.errors import InputError
from sottovoce.federation.config.party import PartyConfig
from sottovoce.federation.parties.configured import ConfiguredParty
from sottovoce.federation.parties.view import (
    JournalView,
    given_examples,
    labelled,
    told_status,
    told_transcript,
    trained,
)


def answer_asleep(config: PartyConfig, request: Mapping[str, Any]) -> Any:  # noqa: ANN401 - JSON
    """The answer that the party itself would give, as far as its journal has it."""
    party = ConfiguredParty(config, strict=False)
    with party.journal() as journal:
        view = JournalView(journal, party.name)
        if request["do"] == "status":
            return told_status(party, view, running=False)
        if request["do"] == "transcript":
            return told_transcript(view, party.name, request.get("run"))
        examples = given_examples(config, str(request["file"]))
        if trained(view, config.party.role).mode != "open":
            raise InputError(
                "in the hidden mode others help to classify: start this peer first, and ask again."
            )
        return {"labels": labelled(view, examples), "run": None}
