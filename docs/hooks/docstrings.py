"""Keeps the square brackets of docstrings, which hold units and array entries, from being read as links."""

import re

import griffe


class PlainBrackets(griffe.Extension):
    """Writes brackets outside code spans as entities."""

    def on_instance(self, *, obj: griffe.Object, **_) -> None:
        """Treat one module, class, function or attribute."""
        if obj.docstring:
            parts = re.split(r"(`[^`]*`)", obj.docstring.value)
            parts[::2] = [part.replace("[", "&#91;").replace("]", "&#93;") for part in parts[::2]]
            obj.docstring.value = "".join(parts)
