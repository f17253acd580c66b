"""Folders that never overwrite each other, and files that are replaced whole or not at all."""

import os
from pathlib import Path


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


def replace_file(path: Path, content: bytes | memoryview, durable: bool = False) -> None:
    """Write a file so that a reader, or a crash at any moment, finds the old content or the new, never a mixture.

    **Arguments:** `path`: the file; its folder exists; `content`: all of its bytes; `durable`: also wait until the
    bytes are on the medium; not needed to survive a killed process, whose written bytes the kernel keeps; needed to
    survive a power cut.
    """
    temporary = path.with_name(path.name + ".partial")
    with temporary.open("wb") as file:
        file.write(content)
        if durable:
            file.flush()
            os.fsync(file.fileno())
    os.replace(temporary, path)
