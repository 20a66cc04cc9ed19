"""A registry: channels of bundles, and who may change them."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path

from slipway.credentials import key_of
from slipway.errors import AlreadyThere, NoSuchBundle, NoSuchChannel, NotAllowed, SlipwayError
from slipway.journal import Journal

ENTRY_CHANNEL = "staging"


class Registry:
    """The registry in the directory `root`, as the holder of `token` sees it."""

    def __init__(self, root: str | Path, token: str = "", journal: Journal | None = None) -> None:
        self._root = Path(root)
        self._token = token
        self._journal = journal or Journal(self._root / "journal.log")

    def bundles(self, channel: str) -> list[str]:
        """Return the names of a channel's bundles, sorted."""
        return sorted(path.name for path in self._channel(channel).iterdir() if path.is_file() and path.suffix == ".gz")

    def publish(self, source: str | Path) -> str:
        """Copy a bundle into the entry channel and return its name."""
        source = Path(source)
        if not source.is_file() or not source.name.endswith(".tar.gz"):
            raise SlipwayError(f"{source} is not a bundle (a .tar.gz file)")
        self._permit(ENTRY_CHANNEL)
        self._place(source, ENTRY_CHANNEL)
        self._journal.add("publish", source.name, ENTRY_CHANNEL, key=key_of(self._token))
        return source.name

    def withdraw(self, bundle: str, channel: str) -> None:
        """Take a bundle out of a channel."""
        path = self._bundle(bundle, channel)
        self._permit(channel)
        path.unlink()
        self._journal.add("withdraw", bundle, channel, key=key_of(self._token))

    def promote(self, bundle: str, source: str, target: str) -> None:
        """Copy a bundle from one channel into another; it stays where it was."""
        path = self._bundle(bundle, source)
        self._permit(target)
        self._place(path, target)
        self._journal.add("promote", bundle, target, key=key_of(self._token))

    def _permit(self, channel: str) -> None:
        """Raise NotAllowed unless the token may change `channel`."""
        try:
            access = json.loads((self._root / "access.json").read_text(encoding="utf-8"))
        except (OSError, ValueError) as error:
            raise SlipwayError(f"{self._root}: access.json cannot be read") from error
        if channel not in access.get(key_of(self._token), ()):
            raise NotAllowed(f"your token may not change {channel}")

    def _place(self, source: Path, channel: str) -> None:
        """Copy `source` into a channel, so that no host ever sees half of it."""
        target = self._channel(channel) / source.name
        if target.exists():
            raise AlreadyThere(f"{source.name} is already in {channel}")
        partial = target.with_name(f".{source.name}.partial")
        shutil.copyfile(source, partial)
        os.replace(partial, target)

    def _bundle(self, name: str, channel: str) -> Path:
        if name not in self.bundles(channel):
            raise NoSuchBundle(f"{channel} has no bundle {name}")
        return self._channel(channel) / name

    def _channel(self, name: str) -> Path:
        path = self._root / name
        if not name.isalnum() or not path.is_dir():
            raise NoSuchChannel(f"there is no channel {name}")
        return path
