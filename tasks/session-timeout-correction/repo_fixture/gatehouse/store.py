"""Where sessions are kept."""

from __future__ import annotations

import json
import os
from dataclasses import asdict
from pathlib import Path
from typing import Protocol

from gatehouse.errors import StoreError
from gatehouse.model import Session


class Store(Protocol):
    """Sessions by the digest of their token."""

    def get(self, token_digest: str) -> Session | None: ...
    def save(self, session: Session) -> None: ...
    def remove(self, token_digest: str) -> None: ...
    def all(self) -> list[Session]: ...


class MemoryStore:
    """Sessions of one process, gone when it ends."""

    def __init__(self) -> None:
        self._sessions: dict[str, Session] = {}

    def get(self, token_digest: str) -> Session | None:
        return self._sessions.get(token_digest)

    def save(self, session: Session) -> None:
        self._sessions[session.token_digest] = session

    def remove(self, token_digest: str) -> None:
        self._sessions.pop(token_digest, None)

    def all(self) -> list[Session]:
        return list(self._sessions.values())


class FileStore:
    """Sessions in one JSON file, read and replaced whole on every change."""

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self._path = Path(path)

    def get(self, token_digest: str) -> Session | None:
        return self._read().get(token_digest)

    def save(self, session: Session) -> None:
        sessions = self._read()
        sessions[session.token_digest] = session
        self._write(sessions)

    def remove(self, token_digest: str) -> None:
        sessions = self._read()
        if sessions.pop(token_digest, None) is not None:
            self._write(sessions)

    def all(self) -> list[Session]:
        return list(self._read().values())

    def _read(self) -> dict[str, Session]:
        try:
            rows = json.loads(self._path.read_text(encoding="utf-8"))
            return {row["token_digest"]: Session(**row) for row in rows}
        except FileNotFoundError:
            return {}
        except (ValueError, TypeError, KeyError) as error:
            raise StoreError(f"{self._path}: not a session store") from error

    def _write(self, sessions: dict[str, Session]) -> None:
        rows = [asdict(session) for session in sessions.values()]
        fresh = self._path.with_suffix(".new")
        fresh.write_text(json.dumps(rows, indent=1), encoding="utf-8")
        os.replace(fresh, self._path)
