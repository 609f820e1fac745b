"""Presentation of answers: in notebooks, in terminals, as frames and as commands.

Nothing here is imported before an answer is shown, by ``gradwire.hooks``. ``report`` describes what
is shown, by its type, as blocks, which ``text`` writes for terminals and ``html`` for notebooks.
"""
