"""A wire that is listened to: a TCP proxy before each party, which keeps every byte."""

import re
import selectors
import socket
import threading
from dataclasses import replace
from pathlib import Path

from sottovoce.federation.config import ROSTER_FILE
from sottovoce.federation.roster import Roster, load_roster, save_roster


class Proxy:
    """Passes on to one address, and keeps what it passes, each way as one stream."""

    def __init__(self, address: str) -> None:
        host, _, port = address.rpartition(":")
        self._target = (host, int(port))
        self._server = socket.create_server(("127.0.0.1", 0))
        self.address = f"127.0.0.1:{self._server.getsockname()[1]}"
        self.streams: list[bytearray] = []
        self._threads = [threading.Thread(target=self._serve, daemon=True)]
        self._threads[0].start()

    def close(self) -> None:
        """When the parties have gone: nothing is carried any more."""
        self._server.shutdown(socket.SHUT_RDWR)
        self._server.close()
        for thread in self._threads:
            thread.join(10)

    def _serve(self) -> None:
        while True:
            try:
                near, _ = self._server.accept()
            except OSError:
                return
            try:
                far = socket.create_connection(self._target)
            except OSError:
                near.close()
                continue
            kept = bytearray(), bytearray()
            self.streams += kept
            thread = threading.Thread(target=_carry, args=(near, far, kept), daemon=True)
            self._threads.append(thread)
            thread.start()


def _carry(near: socket.socket, far: socket.socket, kept: tuple[bytearray, bytearray]) -> None:
    """Both ways, until either side has gone."""
    with near, far, selectors.DefaultSelector() as ready:
        ready.register(near, selectors.EVENT_READ, (far, kept[0]))
        ready.register(far, selectors.EVENT_READ, (near, kept[1]))
        while True:
            for key, _ in ready.select():
                try:
                    data = key.fileobj.recv(1 << 16)  # type: ignore[union-attr] # a socket
                    key.data[0].sendall(data)
                except OSError:
                    return
                if not data:
                    return
                key.data[1].extend(data)


class Capture:
    """All traffic between the parties of a folder, from the moment that this is made."""

    def __init__(self, folder: Path) -> None:
        roster = load_roster(folder / "authority" / ROSTER_FILE)
        self.proxies = {member.name: Proxy(member.address) for member in roster}
        told = Roster(
            tuple(replace(member, address=self.proxies[member.name].address) for member in roster)
        )
        for member in roster:
            save_roster(told, folder / member.certificate_name / ROSTER_FILE)

    def close(self) -> None:
        for proxy in self.proxies.values():
            proxy.close()

    @property
    def size(self) -> int:
        return sum(len(stream) for proxy in self.proxies.values() for stream in proxy.streams)

    def seen(self, words: set[bytes]) -> set[bytes]:
        """Those of the words, of letters only, that stand in clear somewhere, in any case."""
        shortest = min(map(len, words))
        letters = re.compile(rb"[a-z]{%d,}" % shortest)
        runs = {
            run
            for proxy in self.proxies.values()
            for stream in proxy.streams
            for run in letters.findall(bytes(stream).lower())
        }
        return {word for word in words if any(word in run for run in runs)}
