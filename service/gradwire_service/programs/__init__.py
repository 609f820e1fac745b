"""Stored programs, which requests refer to by id or name, and their graphs."""
