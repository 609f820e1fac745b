"""``tf.io.gfile``: files and folders of this machine.

Paths with a scheme, ``gs://`` for example, are refused.
"""

from __future__ import annotations

import errno
import glob as patterns
import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple, Self

from gradwire.tf.errors import (
    AlreadyExistsError,
    FailedPreconditionError,
    NotFoundError,
    OpError,
    invalid,
)


class FileStatistics(NamedTuple):
    """A file's length in bytes, the time of its last change, and whether it is a folder."""

    length: int
    mtime_nsec: int
    is_directory: bool


def local(path: Any) -> str:
    """A path of this machine as text.

    Raises:
        NotImplementedError: a path of another file system.
    """
    text = os.fsdecode(path.numpy() if hasattr(path, "numpy") else path)
    scheme, separator, rest = text.partition("://")
    if not separator:
        return text
    if scheme == "file":
        return rest
    raise NotImplementedError(f"gradwire.tf has files of this machine only, not {text}")


class GFile:
    """A file, opened when it is first read or written.

    ``read`` and ``write`` are of text, or of bytes where the mode has a ``b``.
    """

    def __init__(self, name: Any, mode: str = "r") -> None:
        if mode not in ("r", "w", "a", "r+", "w+", "a+", "rb", "wb", "ab", "rb+", "wb+", "ab+"):
            raise invalid(f"`mode` {mode!r} is unknown; use r, w or a, if needed with + or b")
        self._name: Any = name
        self._mode: str = mode
        self._file: Any = None

    @property
    def name(self) -> Any:
        """The path as it was given."""
        return self._name

    @property
    def mode(self) -> str:
        """The mode."""
        return self._mode

    @property
    def _opened(self) -> Any:
        if self._file is None:
            binary = "b" in self._mode
            encoding, newline = (None, None) if binary else ("utf-8", "")
            path = Path(local(self._name))
            with _named(self._name):
                self._file = path.open(self._mode, encoding=encoding, newline=newline)
        return self._file

    def read(self, n: int = -1) -> Any:
        """The rest, or the next ``n`` characters or bytes."""
        return self._opened.read(n)

    def readline(self) -> Any:
        """The next line with its end, empty at the end of the file."""
        return self._opened.readline()

    def readlines(self) -> list[Any]:
        """The lines that follow."""
        return list(self._opened.readlines())

    def write(self, file_content: Any) -> None:
        """Write at the place where it stands."""
        self._opened.write(file_content)

    def seek(self, offset: int, whence: int = 0) -> None:
        """Go to a place."""
        self._opened.seek(offset, whence)

    def tell(self) -> int:
        """The place where it stands."""
        return int(self._opened.tell())

    def size(self) -> int:
        """The length in bytes."""
        return stat(self._name).length

    def seekable(self) -> bool:
        """True."""
        return True

    def flush(self) -> None:
        """Have what was written reach the file."""
        if self._file is not None:
            self._file.flush()

    def close(self) -> None:
        """Close it."""
        if self._file is not None:
            self._file.close()
            self._file = None

    def __iter__(self) -> Iterator[Any]:
        return iter(self._opened)

    def __next__(self) -> Any:
        return next(self._opened)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()


def exists(path: Any) -> bool:
    """True if there is a file or folder."""
    return Path(local(path)).exists()


def isdir(path: Any) -> bool:
    """True if it is a folder."""
    return Path(local(path)).is_dir()


def glob(pattern: Any) -> list[str]:
    """The files that a pattern fits, or one of several patterns, in order."""
    given = pattern if isinstance(pattern, (list, tuple)) else [pattern]
    return [path for each in given for path in sorted(patterns.glob(local(each)))]  # noqa: PTH207 - of any root


def listdir(path: Any) -> list[str]:
    """The names in a folder, without an order.

    Raises:
        NotFoundError: there is no such folder.
    """
    if not isdir(path):
        raise NotFoundError(None, None, f"Could not find directory {local(path)}")
    return os.listdir(local(path))  # noqa: PTH208 - names, as TensorFlow gives them


def makedirs(path: Any) -> None:
    """Make a folder and those above it where there are none."""
    with _named(path):
        Path(local(path)).mkdir(parents=True, exist_ok=True)


def mkdir(path: Any) -> None:
    """Make a folder in one that there is."""
    with _named(path):
        Path(local(path)).mkdir(exist_ok=True)


def remove(path: Any) -> None:
    """Remove a file."""
    with _named(path):
        Path(local(path)).unlink()


def rmtree(path: Any) -> None:
    """Remove a folder with all that is in it."""
    with _named(path):
        shutil.rmtree(local(path))


def rename(src: Any, dst: Any, overwrite: bool = False) -> None:
    """Move a file."""
    _refuse_existing(dst, overwrite)
    with _named(src):
        Path(local(src)).replace(local(dst))


def copy(src: Any, dst: Any, overwrite: bool = False) -> None:
    """Copy a file."""
    _refuse_existing(dst, overwrite)
    with _named(src):
        shutil.copyfile(local(src), local(dst))


def join(path: Any, *paths: Any) -> Any:
    """A path of several parts."""
    return os.path.join(path, *paths)  # noqa: PTH118 - texts, as TensorFlow takes them


def stat(path: Any) -> FileStatistics:
    """A file's length, the time of its last change, and whether it is a folder."""
    with _named(path):
        found = Path(local(path)).stat()
        return FileStatistics(found.st_size, found.st_mtime_ns, Path(local(path)).is_dir())


def walk(
    top: Any, topdown: bool = True, onerror: Any = None
) -> Iterator[tuple[str, list[str], list[str]]]:
    """Each folder below one, with the names of the folders and of the files in it."""
    return os.walk(local(top), topdown, onerror)


def get_registered_schemes() -> list[str]:
    """The schemes of paths: those of this machine."""
    return ["", "file"]


def _refuse_existing(path: Any, overwrite: bool) -> None:
    if exists(path) and not overwrite:
        raise AlreadyExistsError(None, None, "file already exists")


class _named:  # noqa: N801 - used as a statement
    """A context in which errors of the file system are TensorFlow's."""

    def __init__(self, path: Any) -> None:
        self._path: Any = path

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: object, error: BaseException | None, traceback: object) -> None:
        if not isinstance(error, OSError):
            return
        raised: type[OpError] = {
            errno.ENOENT: NotFoundError,
            errno.EEXIST: AlreadyExistsError,
            errno.ENOTEMPTY: FailedPreconditionError,
            errno.EISDIR: FailedPreconditionError,
            errno.ENOTDIR: FailedPreconditionError,
        }.get(error.errno or 0, OpError)
        raise raised(None, None, f"{self._path}; {os.strerror(error.errno or 0)}") from None
