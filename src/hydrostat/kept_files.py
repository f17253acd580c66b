"""Files kept in the user's cache folder between runs: private, checked, bounded. Nothing here needs JAX.

A folder is used only where it belongs to the user and nobody else can write to it, because what is kept there is
loaded as code. An entry is written whole or not at all, with a checksum; one that is damaged, or belongs to somebody
else, is removed where possible and counts as missing.
"""

import hashlib
import os
import stat
from contextlib import suppress
from pathlib import Path

MOST_BYTES = 200 * 2**20
"""Largest size of each folder; entries not used for longest go first [bytes]."""
_DIGEST = 32
_LEFT = 0.9  # share of the largest size that is left after entries have been dropped
_POSIX = hasattr(os, "getuid")


class KeptFiles:
    """Entries by key in a folder of the user's cache.

    **Arguments:** `name`: of the folder.
    """

    def __init__(self, name: str):
        self.name = name
        self._sizes: dict[Path, int] = {}

    def folder(self) -> Path | None:
        """The folder, made if need be; None where there is none that belongs to the user alone and can be written."""
        return private_folder(self.name)

    def load(self, key: str) -> bytes | None:
        """An entry; None where there is none that can be used."""
        folder = self.folder()
        if folder is None:
            return None
        entry = folder / key
        try:
            status = entry.lstat()
            if not stat.S_ISREG(status.st_mode) or not _mine(status):
                return None
            if status.st_mode & 0o022 or status.st_nlink > 1:  # others could have written it, where it was or elsewhere
                entry.unlink()
                return None
            data = entry.read_bytes()
            os.utime(entry)
        except OSError:
            return None
        if hashlib.sha256(data[_DIGEST:]).digest() != data[:_DIGEST]:
            with suppress(OSError):
                entry.unlink()
            return None
        return data[_DIGEST:]

    def store(self, key: str, data: bytes, most_bytes: int = MOST_BYTES) -> None:
        """Keep an entry, and drop those not used for longest where all would take too much room."""
        folder = self.folder()
        if folder is None:
            return
        part = folder / f"{key}.{os.getpid()}"
        try:
            handle = os.open(part, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | getattr(os, "O_NOFOLLOW", 0), 0o600)
            with os.fdopen(handle, "wb") as file:
                file.write(hashlib.sha256(data).digest())
                file.write(data)
            part.replace(folder / key)
        except OSError:  # no room, say: it runs all the same
            with suppress(OSError):
                part.unlink()
            return
        # Others write here as well; so the folder is looked through from time to time, by the size that is known.
        size = self._sizes.get(folder, most_bytes) + _DIGEST + len(data)
        self._sizes[folder] = _dropped(folder, most_bytes) if size > most_bytes else size


def private_folder(name: str) -> Path | None:
    """The folder of a name in hydrostat's part of the user's cache folder, made if need be.

    None where there is no cache folder, or one that somebody else owns or can write to, or that cannot be written.
    """
    home = cache_home()
    if home is None:
        return None
    folder = home / "hydrostat"
    for path in (folder, folder / name):
        try:
            path.mkdir(mode=0o700, parents=True, exist_ok=True)
            status = path.lstat()
            if not stat.S_ISDIR(status.st_mode) or not _mine(status):
                return None
            if status.st_mode & 0o077:
                path.chmod(0o700)
        except OSError:
            return None
    return folder / name if os.access(folder / name, os.R_OK | os.W_OK | os.X_OK) else None


def cache_home() -> Path | None:
    """The user's cache folder; None for a user who has none."""
    chosen = os.environ.get("XDG_CACHE_HOME", "")
    if os.path.isabs(chosen):
        return Path(chosen)
    try:
        return Path.home() / ".cache"
    except RuntimeError:  # neither HOME nor an entry among the users
        return None


def _mine(status: os.stat_result) -> bool:
    """Whether what has this status belongs to the user."""
    return not _POSIX or status.st_uid == os.getuid()


def _dropped(folder: Path, most_bytes: int) -> int:
    """The size of what is left after the entries not used for longest have been dropped [bytes]."""
    entries = []
    for entry in os.scandir(folder):
        with suppress(OSError):
            status = entry.stat(follow_symlinks=False)
            entries.append((status.st_mtime, status.st_size, entry.path))
    total = sum(size for _, size, _ in entries)
    if total <= most_bytes:
        return total
    for _, size, path in sorted(entries):
        with suppress(OSError):
            os.unlink(path)
            total -= size
        if total <= _LEFT * most_bytes:
            break
    return total
