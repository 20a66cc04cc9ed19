"""The rules of a session's life."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace

from gatehouse.errors import SessionExpired, UnknownSession
from gatehouse.model import Session
from gatehouse.store import Store
from gatehouse.tokens import digest, new_token

DEFAULT_IDLE_TIMEOUT_S = 1020
"""How long a staff session may go unused."""


class Sessions:
    """Opens, resolves and closes sessions in a store."""

    def __init__(
        self,
        store: Store,
        *,
        clock: Callable[[], float] = time.time,
        idle_timeout_s: float = DEFAULT_IDLE_TIMEOUT_S,
    ) -> None:
        self._store = store
        self._clock = clock
        self._idle_timeout_s = idle_timeout_s

    def open(self, user: str, origin: str = "") -> str:
        """Start a session for `user` and return its token, which is not kept."""
        token = new_token()
        now = self._clock()
        self._store.save(Session(digest(token), user, opened_at=now, last_seen=now, origin=origin))
        return token

    def resolve(self, token: str) -> Session:
        """Return the session of `token`, noting that it was seen just now; one that sat idle too long is dropped instead."""
        now = self._clock()
        session = self._find(token)
        if now - session.last_seen > self._idle_timeout_s:
            self._store.remove(session.token_digest)
            raise SessionExpired(f"the session of {session.user} was idle for too long")
        session = replace(session, last_seen=now)
        self._store.save(session)
        return session

    def close(self, token: str) -> None:
        """End the session of `token`."""
        self._store.remove(self._find(token).token_digest)

    def close_all(self, user: str) -> int:
        """End every session of `user` and return how many there were."""
        theirs = [session for session in self._store.all() if session.user == user]
        for session in theirs:
            self._store.remove(session.token_digest)
        return len(theirs)

    def listing(self) -> list[Session]:
        """Return the open sessions, the one seen last first."""
        return sorted(self._store.all(), key=lambda session: session.last_seen, reverse=True)

    def _find(self, token: str) -> Session:
        session = self._store.get(digest(token))
        if session is None:
            raise UnknownSession("no open session has this token")
        return session
