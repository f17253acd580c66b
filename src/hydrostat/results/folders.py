"""Folders that never overwrite each other, and files that are replaced whole or not at all."""

import ctypes
import json
import os
import shutil
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from pathlib import Path

PART = "partial-"
"""Beginning of the names of figures and replays until they are whole."""
_OF_RECORDER = {"trajectory.zarr", "committed.json", "committed.json.partial", "run.json", "run.json.partial"}
"""Files that a recorder and a run make before there is any result."""
_CHECKPOINTS = "checkpoint"
_PARTIAL = ".partial"  # at the end of a file's name until it is whole
_LIBRARY = ctypes.CDLL(None) if sys.platform == "linux" else None
_HERE, _BOTH = -100, 2  # AT_FDCWD and RENAME_EXCHANGE of renameat2(2)


_RESUMED: ContextVar[Path | None] = ContextVar("resumed", default=None)


@contextmanager
def resuming(folder: str | os.PathLike[str]) -> Iterator[None]:
    """Within, a recording in this folder is continued: rows that it holds already are not written again."""
    token = _RESUMED.set(Path(folder).resolve())
    try:
        yield
    finally:
        _RESUMED.reset(token)


def resumes(folder: Path) -> bool:
    """Whether a recording in a folder is to be continued."""
    return _RESUMED.get() == folder.resolve()


def missing_folders(directory: str | os.PathLike[str]) -> list[Path]:
    """The folders on the way to a directory that are not there yet, the innermost first."""
    directory = Path(directory)
    return [path for path in (directory, *directory.parents) if not path.exists()]


def discard_unless_recorded(folder: Path, made: list[Path]) -> bool:
    """Remove a result folder that holds nothing but an empty recording, and the folders made for it.

    **Arguments:** `made`: folders that were made to hold it, the innermost first; what is not empty stays.
    """
    try:
        names = {entry.name for entry in folder.iterdir() if not _is_empty_checkpoint(entry)}
        if names - _OF_RECORDER or _rows(folder) > 0:
            return False
        shutil.rmtree(folder)
        with suppress(OSError):
            for path in made:
                path.rmdir()
    except OSError:
        return False
    return True


def discard_leftovers(folder: Path) -> None:
    """Remove what a run that has come to its end needs no more: checkpoints, and figures that became not whole."""
    shutil.rmtree(folder / _CHECKPOINTS, ignore_errors=True)
    for path in folder.glob(f"{PART}*"):
        with suppress(OSError):
            path.unlink()


def _is_empty_checkpoint(entry: Path) -> bool:
    """Whether an entry is a folder of checkpoints in which none has become whole."""
    return entry.name == _CHECKPOINTS and all(path.name.endswith(_PARTIAL) for path in entry.iterdir())


def _rows(folder: Path) -> int:
    """The number of rows that a folder says to hold; 1 where it cannot be told."""
    try:
        return int(json.loads((folder / "committed.json").read_bytes())["rows"])
    except FileNotFoundError:
        return 0
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        return 1


def new_folder(directory: str | os.PathLike[str], name: str) -> Path:
    """Create `directory/name`, or `name-2`, `name-3`, ... when that is taken, and return its path.

    `mkdir` fails when the folder exists, so two processes never get the same one.

    **Arguments:** `directory`: where the folder goes; created with its parents when missing; `name`: one path
    component.
    """
    if name in {"", ".", ".."} or "/" in name or "\0" in name:
        raise ValueError(f"`name` must be a plain folder name without slashes; got {name!r}")
    directory = Path(directory)
    number = 1
    try:
        directory.mkdir(parents=True, exist_ok=True)
        while True:
            folder = directory / (name if number == 1 else f"{name}-{number}")
            try:
                folder.mkdir()
            except FileExistsError:
                number += 1
            else:
                return folder
    except OSError as error:
        reason = "it is not a folder" if isinstance(error, FileExistsError | NotADirectoryError) else error.strerror
        raise OSError(f"cannot create {name!r} in {str(directory)!r}: {reason}; give a writable directory") from error


def replace_file(path: Path, *content: bytes | memoryview, durable: bool = False) -> None:
    """Write a file so that a reader, or a crash at any moment, finds the old content or the new, never a mixture.

    **Arguments:** `path`: the file; its folder exists; `content`: all of its bytes, part after part; `durable`: also
    wait until the bytes are on the medium; not needed to survive a killed process, whose written bytes the kernel
    keeps; needed to survive a power cut.
    """
    temporary = path.with_name(path.name + _PARTIAL)
    with temporary.open("wb") as file:
        for part in content:
            file.write(part)
        if durable:
            file.flush()
            os.fsync(file.fileno())
    # Where one file takes another's name, ext4 carries it to the medium first, some milliseconds long: it need not
    # where both change names.
    if not durable and path.is_file() and _exchange(temporary, path):
        temporary.unlink()
    else:
        os.replace(temporary, path)


def carry_to_medium(*paths: Path) -> None:
    """Wait until files, or the names of the files in folders, are on the medium."""
    for path in paths:
        descriptor = os.open(path, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


def _exchange(one: Path, other: Path) -> bool:
    """Whether two files could be given each other's names at once: on Linux, where both are there."""
    call = getattr(_LIBRARY, "renameat2", None)
    return call is not None and call(_HERE, os.fsencode(one), _HERE, os.fsencode(other), _BOTH) == 0
