"""Which files a collection has."""

import os
from pathlib import Path


def scan(root: Path) -> list[str]:
    """Paths of the regular files under `root`, relative and with slashes, sorted; hidden files and folders are left out."""
    found = []
    for folder, folders, files in os.walk(root):
        folders[:] = [name for name in folders if not name.startswith(".")]
        for name in files:
            path = Path(folder, name)
            if not name.startswith(".") and path.is_file() and not path.is_symlink():
                found.append(path.relative_to(root).as_posix())
    return sorted(found)
