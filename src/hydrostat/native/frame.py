"""The memory that a function works in, which is used again for what comes later."""

from dataclasses import dataclass, field

_ALIGN = 64


@dataclass(eq=False)
class Space:
    """A piece of memory."""

    start: int
    size: int

    @property
    def end(self) -> int:
        """Where it ends."""
        return self.start + self.size


@dataclass
class Frame:
    """Pieces of one block of memory, taken and given back."""

    size: int = 0
    free: list[Space] = field(default_factory=list)
    turns: list[list[Space]] = field(default_factory=list)
    """For each loop that is being written, what has been taken within it."""

    def take(self, count: int, lasting: bool = False) -> Space:
        """A piece of memory of a size in bytes.

        **Arguments:** `lasting`: whether it is to last from turn to turn of the innermost loop: nothing else may have
        been in its place during a turn.
        """
        count = max(-(-count // _ALIGN) * _ALIGN, _ALIGN)
        avoided = self.turns[-1] if lasting and self.turns else []
        pieces = [piece for space in self.free for piece in _without(space, avoided) if piece.size >= count]
        if pieces:
            best = min(pieces, key=lambda space: (space.size, space.start))
            found = Space(best.start, count)
            self._cut_out(found)
        else:
            found = Space(self.size, count)
            self.size += count
        for taken in self.turns:
            taken.append(found)
        return found

    def _cut_out(self, found: Space) -> None:
        """Take a piece out of the free one that holds it."""
        whole = next(s for s in self.free if s.start <= found.start and found.end <= s.end)
        self.free.remove(whole)
        for start, end in ((whole.start, found.start), (found.end, whole.end)):
            if end > start:
                self.free.append(Space(start, end - start))

    def give(self, space: Space) -> None:
        """Give a piece back; with free ones beside it it becomes one."""
        for other in [one for one in self.free if one.end == space.start or space.end == one.start]:
            self.free.remove(other)
            space = Space(min(space.start, other.start), space.size + other.size)
        self.free.append(space)


def _without(space: Space, others: list[Space]) -> list[Space]:
    """What is left of a piece without others."""
    left = [space]
    for other in others:
        parts = []
        for piece in left:
            if other.end <= piece.start or piece.end <= other.start:
                parts.append(piece)
                continue
            for start, end in ((piece.start, other.start), (other.end, piece.end)):
                if end > start:
                    parts.append(Space(start, end - start))
        left = parts
    return left
