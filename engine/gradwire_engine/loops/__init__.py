"""Loops as instructions: bodies recorded once, and how they are built, joined and inlined."""
