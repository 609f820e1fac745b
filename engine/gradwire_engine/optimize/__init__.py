"""Equivalent tapes that cost less."""
