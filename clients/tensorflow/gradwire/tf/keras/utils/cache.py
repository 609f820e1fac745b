"""Keras's folder of downloaded files, from which files are taken; nothing is downloaded."""

from __future__ import annotations

import hashlib
import os
import tarfile
import zipfile
from pathlib import Path
from urllib.parse import urlsplit

from gradwire.tf.arguments import only

__all__ = ["get_file"]


def keras_home() -> Path:
    """``KERAS_HOME``, or ``~/.keras``."""
    return Path(os.environ.get("KERAS_HOME") or "~/.keras").expanduser()


def get_file(
    fname: str | None = None,
    origin: str | None = None,
    untar: bool = False,
    md5_hash: str | None = None,
    file_hash: str | None = None,
    cache_subdir: str = "datasets",
    hash_algorithm: str = "auto",
    extract: bool = False,
    archive_format: str | None = "auto",
    cache_dir: str | None = None,
    force_download: bool = False,
) -> str:
    """The path of a file in Keras's folder, or of the folder where its archive is extracted.

    Nothing is downloaded: the file has to be there, under the name that Keras gives it.

    Raises:
        FileNotFoundError: says which file has to be put where.
        ValueError: for a file whose hash is another.
    """
    if origin is None:
        raise ValueError("`origin`, the file's URL, is missing")
    only("get_file", force_download=(force_download, False))
    name = fname or Path(urlsplit(origin).path).name
    if not name:
        raise ValueError(f"the URL '{origin}' does not end in a file's name; pass `fname`")
    if os.sep in name:
        raise ValueError(
            f"`fname` must be a name without folders, which go into `cache_dir`; got {name}"
        )
    home = keras_home() if cache_dir is None else Path(cache_dir).expanduser()
    folder = home / cache_subdir
    if not (extract or untar):
        path = folder / name
        _check(path, origin, file_hash or md5_hash, "md5" if md5_hash else hash_algorithm)
        return str(path)
    if fname and "." in name:
        target = folder / f"{name[: name.find('.')]}_extracted"
        archive = folder / name
    else:
        target, archive = folder / name, folder / f"{name}_archive"
    if not target.is_dir() or archive.exists():
        _check(archive, origin, file_hash or md5_hash, "md5" if md5_hash else hash_algorithm)
        _extract(archive, target, "tar" if untar else archive_format)
    return str(target)


def _check(path: Path, origin: str, file_hash: str | None, algorithm: str) -> None:
    if not path.exists():
        raise FileNotFoundError(
            f"nothing is downloaded here: put the file of {origin} at {path}, where Keras keeps it"
        )
    if file_hash is None:
        return
    long = algorithm == "sha256" or (algorithm == "auto" and len(file_hash) == 64)
    found = hashlib.file_digest if hasattr(hashlib, "file_digest") else None
    with path.open("rb") as file:
        kind = "sha256" if long else "md5"
        digest = found(file, kind) if found else hashlib.new(kind, file.read())
    if digest.hexdigest() != file_hash:
        raise ValueError(
            f"the {algorithm} hash of {path} is not {file_hash}; the file may be damaged"
        )


def _extract(archive: Path, target: Path, archive_format: str | None) -> None:
    formats = ("tar", "zip") if archive_format == "auto" else (archive_format,)
    if "tar" in formats and tarfile.is_tarfile(archive):
        with tarfile.open(archive) as tar:
            tar.extractall(target, filter="data")
    elif "zip" in formats and zipfile.is_zipfile(archive):
        with zipfile.ZipFile(archive) as packed:
            for member in packed.infolist():  # extract() leaves out roots and dots
                packed.extract(member, target)
    else:
        raise ValueError(f"Could not extract archive: {archive} is none of {formats}")
