"""Whoever stands between two people cannot choose anything that their strings are of in time.

They play the coordinator to the joiner with a token of their own, and the joiner to the
coordinator. If they could choose any part of the joiner's string after they have seen the joiner's
nonce, they would try until it is the coordinator's: 2^40 digests are minutes of work.
"""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Self

import pytest

from sottovoce.errors import ConfigError
from sottovoce.federation.certificates import Authority, fingerprint
from sottovoce.federation.join import folders
from sottovoce.federation.join import request as joining
from sottovoce.federation.join.folders import PendingJoin, begin_join
from sottovoce.federation.join.request import JoinReply, JoinToken

AUTHORITIES = [Authority.new("authority")[0].certificate for _ in range(2)]
TOKEN = JoinToken("ada", "peer", "127.0.0.1:1", "ab" * 32, bytes(8), bytes(16))


@dataclass
class Between:
    """Answers as who stands between would, with an authority of their choice at each step."""

    first: bytes
    later: bytes
    heard: list[str] = field(default_factory=list)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        pass

    def call(self, method: str, _request: bytes) -> JoinReply:
        self.heard.append(method)
        authority = self.first if method == "Ask" else self.later
        return JoinReply(joining.VERSION, nonce=b"n" * 32, authority=authority, mode="open")


def no_log(_event: str, /, **_fields: object) -> None:
    pass


def joined_through(between: Between, folder: Path, monkeypatch: pytest.MonkeyPatch) -> PendingJoin:
    monkeypatch.setattr(folders, "JoinClient", lambda *_: between)
    return begin_join(folder, TOKEN, "127.0.0.1:2", "none", no_log)


def test_what_is_told_after_the_joiners_nonce_does_not_change_its_string(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    told, instead = AUTHORITIES
    pending = joined_through(Between(told, instead), tmp_path / "ada", monkeypatch)
    assert fingerprint(pending.authority) == fingerprint(told)
    assert pending.string == joining.comparison_string(
        TOKEN.fingerprint, fingerprint(told), pending.request, pending.nonces
    )


def test_a_nonce_is_shown_to_nobody_who_has_not_named_an_authority(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    between = Between(b"", AUTHORITIES[0])
    with pytest.raises(ConfigError):
        joined_through(between, tmp_path / "ada", monkeypatch)
    assert between.heard == ["Ask"]
    assert not (tmp_path / "ada").exists()
