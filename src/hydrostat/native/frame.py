"""The memory that a function works in, which is used again for what comes later."""

from dataclasses import dataclass, field

_ALIGN = 64


@dataclass(eq=False)
class Space:
    """A piece of memory."""

    start: int
    size: int


@dataclass
class Frame:
    """Pieces of one block of memory, taken and given back."""

    size: int = 0
    free: list[Space] = field(default_factory=list)

    def take(self, count: int) -> Space:
        """A piece of so many bytes: the smallest free one that is large enough."""
        count = max(-(-count // _ALIGN) * _ALIGN, _ALIGN)
        fitting = [space for space in self.free if space.size >= count]
        if fitting:
            best = min(fitting, key=lambda space: (space.size, space.start))
            self.free.remove(best)
            if best.size > count:
                self.free.append(Space(best.start + count, best.size - count))
            return Space(best.start, count)
        # At the end, where what is free there can be made larger.
        last = next((space for space in self.free if space.start + space.size == self.size), None)
        start = self.size
        if last is not None:
            self.free.remove(last)
            start = last.start
        self.size = start + count
        return Space(start, count)

    def give(self, space: Space) -> None:
        """Give a piece back; with free ones beside it it becomes one."""
        for other in [one for one in self.free if one.start + one.size == space.start or space.start + space.size == one.start]:
            self.free.remove(other)
            space = Space(min(space.start, other.start), space.size + other.size)
        self.free.append(space)
