"""The server of a masked sum: it carries, adds, and opens the masks of the sum only."""

from collections.abc import Callable, Iterable

import numpy as np

from sottovoce.learn._sums import _masks as masks
from sottovoce.learn._sums._expansion import KEY_BYTES
from sottovoce.learn._sums._fixed import Ring
from sottovoce.learn._sums._masks import MaskedSum, pair_mask, self_mask, summed, told_part
from sottovoce.learn._sums.keys import AgreementKey, opened
from sottovoce.learn._sums.mask_peer import commitment
from sottovoce.learn._wire._refusals import (
    CorruptShareError,
    DamagedMessageError,
    TooFewPartiesError,
)
from sottovoce.learn._wire.codec import Value
from sottovoce.learn._wire.message import Inbox, Message


class MaskServer:
    """Goes on from step to step with those it has heard, as long as they are enough."""

    def __init__(self, terms: MaskedSum) -> None:
        self.name = terms.server
        self.total: Ring | None = None
        self.survivors: tuple[str, ...] = ()
        self._terms = terms
        self._inbox = Inbox(terms.session, terms.server)
        self._keys: dict[str, tuple[bytes, bytes, bytes]] = {}
        self._sharers: tuple[str, ...] = ()
        self._commitments: dict[str, bytes] = {}
        self._vectors: dict[str, Ring] = {}

    @property
    def finished(self) -> bool:
        """Whether the sum is known."""
        return self.total is not None

    def start(self) -> list[Message]:
        """Wait for the peers' keys."""
        self._inbox.expect(masks.KEYS, "keys", self._terms.peers)
        return []

    def receive(self, message: Message) -> list[Message]:
        """Take a peer's word; go on when everybody has been heard."""
        if message.kind == "masked" and message.array("vector", "<u8").size != self._terms.size:
            raise DamagedMessageError(f"a masked vector must have {self._terms.size} values.")
        return self._next_step() if self._inbox.take(message) else []

    def time_out(self) -> list[Message]:
        """Go on with those who have been heard, if they are enough."""
        return self._next_step()

    def _next_step(self) -> list[Message]:
        heard = self._inbox.taken
        if len(heard) < self._terms.threshold:
            raise TooFewPartiesError(
                f"{len(heard)} of {len(self._terms.peers)} peers are left in step "
                f"{self._inbox.step}, at least {self._terms.threshold} must be; run the sum again."
            )
        steps: dict[int, Callable[[dict[str, Message]], list[Message]]] = {
            masks.KEYS: self._list_keys,
            masks.SHARES: self._carry_shares,
            masks.MASKED: self._name_survivors,
            masks.AGREED: self._carry_agreement,
            masks.OPENED: self._unmask,
        }
        return steps[self._inbox.step](heard)

    def _list_keys(self, heard: dict[str, Message]) -> list[Message]:
        for name, said in heard.items():
            parts = (said.item(part, bytes) for part in ("sealing", "masking", "signature"))
            sealing, masked, signature = parts
            self._keys[name] = (sealing, masked, signature)
        self._inbox.expect(masks.SHARES, "shares", heard)
        directory: dict[str, Value] = dict(self._keys)
        return self._to_all(heard, masks.DIRECTORY, "directory", {"keys": directory})

    def _carry_shares(self, heard: dict[str, Message]) -> list[Message]:
        self._sharers = tuple(heard)
        self._commitments = {name: said.item("commitment", bytes) for name, said in heard.items()}
        self._inbox.expect(masks.MASKED, "masked", heard)
        return [
            self._said(name, masks.SEALED, "sealed shares", {"sealed": _addressed_to(name, heard)})
            for name in heard
        ]

    def _name_survivors(self, heard: dict[str, Message]) -> list[Message]:
        self._vectors = {name: said.array("vector", "<u8") for name, said in heard.items()}
        self.survivors = tuple(heard)
        self._inbox.expect(masks.AGREED, "agreed", heard)
        return self._to_all(heard, masks.SURVIVORS, "survivors", {"names": self.survivors})

    def _carry_agreement(self, heard: dict[str, Message]) -> list[Message]:
        signatures: dict[str, Value] = {
            name: said.item("signature", bytes) for name, said in heard.items()
        }
        self._inbox.expect(masks.OPENED, "opened", heard)
        return self._to_all(heard, masks.AGREEMENT, "agreement", {"signatures": signatures})

    def _unmask(self, heard: dict[str, Message]) -> list[Message]:
        size = self._terms.size
        masked = summed(self._vectors.values(), size)
        own = summed((self._self_mask(name, heard) for name in self.survivors), size)
        left_over = summed(self._orphaned_masks(heard), size)
        self.total = masked - own - left_over
        self._inbox.close()
        vector = told_part(self.total, told=self._terms.told)
        return self._to_all(heard, masks.SUM, "sum", {"vector": vector})

    def _self_mask(self, name: str, heard: dict[str, Message]) -> Ring:
        seed = self._opened("seeds", name, heard)
        if commitment(self._terms, name, seed) != self._commitments[name]:
            raise CorruptShareError(f"the shares of {name}'s seed do not give that seed back.")
        return self_mask(self._terms, seed, name)

    def _orphaned_masks(self, heard: dict[str, Message]) -> Iterable[Ring]:
        """What the survivors added for those who shared their keys and then fell silent."""
        for gone in sorted(set(self._sharers) - set(self.survivors)):
            secret = self._opened("keys", gone, heard)
            key = AgreementKey.matching(secret, self._keys[gone][1])
            for name in self.survivors:
                yield np.negative(pair_mask(self._terms, key, gone, name, self._keys[name][1]))

    def _opened(self, part: str, owner: str, heard: dict[str, Message]) -> bytes:
        held = {self._terms.place(name): _share(said, part, owner) for name, said in heard.items()}
        return opened(held, threshold=self._terms.threshold, size=KEY_BYTES)

    def _to_all(
        self, names: Iterable[str], step: int, kind: str, payload: dict[str, Value]
    ) -> list[Message]:
        return [self._said(name, step, kind, payload) for name in names]

    def _said(self, receiver: str, step: int, kind: str, payload: dict[str, Value]) -> Message:
        return Message(self._terms.session, self.name, receiver, step, kind, payload)


def _addressed_to(receiver: str, heard: dict[str, Message]) -> dict[str, Value]:
    sealed: dict[str, Value] = {}
    for name, said in heard.items():
        if name != receiver:
            shares = said.payload.get("sealed")
            if not isinstance(shares, dict) or receiver not in shares:
                raise DamagedMessageError(f"{name} must seal a share for every advertised peer.")
            sealed[name] = shares[receiver]
    return sealed


def _share(said: Message, part: str, owner: str) -> int:
    held = said.payload.get(part)
    share = held.get(owner) if isinstance(held, dict) else None
    if not isinstance(share, int):
        raise CorruptShareError(f"{said.sender} must give its share of {owner}'s secret.")
    return share
