"""Presentation of answers: in notebooks, in terminals, as frames, figures and commands.

Nothing here is imported before an answer is shown, by ``gradwire.hooks``. HTML is plain: no
scripts, no external resources, colours for light and dark pages, and bounded output for huge
answers.
"""
