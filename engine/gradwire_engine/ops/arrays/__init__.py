"""The shape and the order of elements: views, parts, places, updates."""
