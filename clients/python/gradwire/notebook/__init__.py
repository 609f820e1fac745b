"""How answers look: in notebooks, in terminals, as frames, figures and commands.

Nothing here is imported before something is shown. HTML is plain: no scripts, nothing loaded,
colours that read on light and dark pages alike, and of huge answers a bounded picture.
"""
