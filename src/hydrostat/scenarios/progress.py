"""Progress of a run, for whoever shows it."""


class Progress:
    """Progress that nobody watches."""

    def say(self, what: str) -> None:
        """Name what is going on."""

    def show(self, what: str, done: float) -> None:
        """Name what is going on, and how much of it is done."""

    def close(self) -> None:
        """Leave the terminal as it was."""
