"""Imported by the process that worker processes are forked from: they share what it has loaded."""

from gradwire_engine import native

native.warm_up()
