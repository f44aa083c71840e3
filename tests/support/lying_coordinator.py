"""A coordinator's process that tells one peer something else than it tells the others."""

import os
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import msgspec
import numpy as np

from sottovoce.federation._node.exchange import MessageInbox
from sottovoce.federation.transport.calls import MessageClient
from sottovoce.federation.transport.frames import Answer, Frame, Header, Proposal, pack_frame
from sottovoce.learn.modes.sums import Alike
from sottovoce.learn.run.terms import RunTerms
from sottovoce.learn.training_terms import COORDINATOR
from sottovoce.learn.wire.message import Message

Lie = Callable[[Frame], Frame]
ELSE = "cy"
_true_sessions: dict[bytes, bytes] = {}
_told_sessions: dict[bytes, bytes] = {}


def lie(what: str) -> None:
    """In the process of the coordinator, which is about to begin: lie to one peer from now on."""
    if not os.environ["XDG_STATE_HOME"].endswith(f"/{COORDINATOR}"):
        return
    changed = {"terms": _other_terms, "kept features": _other_kept}[what]
    deliver, admit, take = MessageClient.deliver, MessageInbox.admit, MessageInbox.take

    def delivered(self: MessageClient, frame: Frame) -> Answer | None:
        return deliver(self, changed(frame) if frame.header.receiver == ELSE else frame)

    MessageClient.deliver = delivered  # type: ignore[method-assign] # in this process alone
    Alike._check_statement = lenient(Alike._check_statement)  # type: ignore[method-assign] # it knows that it lies

    def admitted(self: MessageInbox, header: Header) -> Any:  # noqa: ANN401 - as it is
        return admit(self, _true(header))

    def taken(self: MessageInbox, frame: Frame, now: float) -> Any:  # noqa: ANN401 - as it is
        return take(self, Frame(_true(frame.header), frame.body), now)

    MessageInbox.admit = admitted  # type: ignore[method-assign] # in this process alone
    MessageInbox.take = taken  # type: ignore[method-assign] # likewise


def lenient(checked: Callable[..., int]) -> Callable[..., int]:
    """The coordinator takes whatever a peer states, and passes it on."""

    def taken(same: Alike, name: str, peer: str, entry: Any) -> int:  # noqa: ANN401 - a record
        if name == COORDINATOR:
            return int(entry["documents"])
        return checked(same, name, peer, entry)

    return taken


def _other_terms(frame: Frame) -> Frame:
    """The same proposal with a share held out; a run of other terms has another name."""
    header, body = frame
    if header.kind == "propose":
        proposal = msgspec.msgpack.decode(body, type=Proposal)
        terms = RunTerms.from_bytes(proposal.terms)
        other = replace(terms, held_out=0.2)
        told = Proposal(other.to_bytes(), proposal.participants)
        _told_sessions[header.session] = told.session
        _true_sessions[told.session] = header.session
        body = pack_frame(told)
    return _with(frame, body, _told_sessions.get(header.session, header.session))


def _other_kept(frame: Frame) -> Frame:
    """A list of kept features that lacks the first."""
    if frame.header.kind != "message":
        return frame
    message = Message.from_bytes(frame.body)
    if message.kind != "kept":
        return frame
    kept = message.array("kept", "|b1") & (np.arange(message.array("kept", "|b1").size) > 0)
    return _with(frame, replace(message, payload={"kept": kept}).to_bytes(), frame.header.session)


def _with(frame: Frame, body: bytes, session: bytes) -> Frame:
    header = frame.header
    place = (header.sender, header.receiver, header.sequence)
    return Frame.make(header.kind, session, *place, body)


def _true(header: Header) -> Header:
    session = _true_sessions.get(header.session, header.session)
    return msgspec.structs.replace(header, session=session)
