"""``tf.compat.v1.gfile``: ``tf.io.gfile`` by its former names."""

from gradwire.tf import gfile

__all__ = [
    "Copy",
    "DeleteRecursively",
    "Exists",
    "FastGFile",
    "GFile",
    "Glob",
    "IsDirectory",
    "ListDirectory",
    "MakeDirs",
    "MkDir",
    "Open",
    "Remove",
    "Rename",
    "Stat",
]

Copy = gfile.copy
DeleteRecursively = gfile.rmtree
Exists = gfile.exists
FastGFile = GFile = Open = gfile.GFile
Glob = gfile.glob
IsDirectory = gfile.isdir
ListDirectory = gfile.listdir
MakeDirs = gfile.makedirs
MkDir = gfile.mkdir
Remove = gfile.remove
Rename = gfile.rename
Stat = gfile.stat
