"""``tf.compat.v1.gfile``: ``tf.io.gfile`` by its former names."""

from collections.abc import Callable
from typing import Any

from gradwire.tf import gfile

Copy: Callable[..., Any] = gfile.copy
DeleteRecursively: Callable[..., Any] = gfile.rmtree
Exists: Callable[..., Any] = gfile.exists
FastGFile = GFile = Open = gfile.GFile
Glob: Callable[..., Any] = gfile.glob
IsDirectory: Callable[..., Any] = gfile.isdir
ListDirectory: Callable[..., Any] = gfile.listdir
MakeDirs: Callable[..., Any] = gfile.makedirs
MkDir: Callable[..., Any] = gfile.mkdir
Remove: Callable[..., Any] = gfile.remove
Rename: Callable[..., Any] = gfile.rename
Stat: Callable[..., Any] = gfile.stat
