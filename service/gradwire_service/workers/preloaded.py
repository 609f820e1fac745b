"""Imported by the process that workers are forked from: they share the compiler that it loads."""

from gradwire_engine import native

if native.is_available():
    native.warm_up()
