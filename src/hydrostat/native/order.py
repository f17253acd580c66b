"""The order of instructions within a block: each where it is needed.

Written as the equations come, values wait for their use in memory, since registers are few. Here what a store or a
branch needs is computed before it, depth first, the longest chain first. Loads stay before stores that may overwrite
them.
"""

import re

_NAME = re.compile(r"[%@][A-Za-z_][\w.]*")
_SHORT = 8


def ordered(lines: list[str], spaces: dict[str, tuple[int, int]]) -> list[str]:
    """Lines of a function, blocks in their order, the instructions of each in the order of need.

    **Arguments:** `spaces`: of pointers into the frame, where what they point to begins and ends.
    """
    roots: dict[str, str] = {}
    found: list[str] = []
    block: list[str] = []
    for line in lines:
        if line.startswith(" "):
            block.append(line)
        else:
            found += _block(block, roots, spaces)
            found.append(line)
            block = []
    return found + _block(block, roots, spaces)


class _Block:
    """The instructions of a block: what each needs, and what it does to memory."""

    def __init__(self, lines: list[str], roots: dict[str, str]):
        self.uses: list[list[int]] = []
        self.depth: list[int] = []
        self.acting: list[int] = []
        """Instructions that do something, in their order."""
        self.loads: list[tuple[int, str]] = []
        self.stored: dict[int, str | None] = {}
        """What instructions write to; None for anything."""
        defined: dict[str | None, int] = {}
        for i, line in enumerate(lines):
            names: list[str] = _NAME.findall(line)
            text = line.lstrip()
            own = names.pop(0) if text.startswith("%") else None
            if own is None:
                self.acting.append(i)
                if text.startswith("store "):
                    self.stored[i] = roots.get(names[-1], names[-1])
                elif text.startswith("call "):
                    self.stored[i] = None
            elif " = getelementptr " in line:
                roots[own] = roots.get(names[0], names[0])
            elif " = load " in line:
                self.loads.append((i, roots.get(names[0], names[0])))
            self.uses.append([defined[n] for n in names if n in defined])
            self.depth.append(1 + max((self.depth[k] for k in self.uses[-1]), default=0))
            if own is not None:
                defined[own] = i


def _block(lines: list[str], roots: dict[str, str], spaces: dict) -> list[str]:
    block = _Block(lines, roots)
    if len(lines) < _SHORT:
        return lines
    done = [False] * len(lines)
    order: list[int] = []

    def put(i: int) -> None:
        stack = [(i, False)]
        while stack:
            k, ready = stack.pop()
            if done[k]:
                continue
            if ready:
                done[k] = True
                order.append(k)
                continue
            stack.append((k, True))
            # The last on the stack is done first.
            stack += [(n, False) for n in sorted(block.uses[k], key=block.depth.__getitem__) if not done[n]]

    for i in block.acting:
        if i in block.stored:
            own = block.stored[i]
            for k, root in block.loads:
                if k < i and not done[k] and (own is None or _same(own, root, spaces)):
                    put(k)
        elif i == block.acting[-1]:
            for k in range(len(lines)):
                if k != i:
                    put(k)
        put(i)
    for k in range(len(lines)):
        put(k)
    return [lines[k] for k in order]


def _same(a: str, b: str, spaces: dict) -> bool:
    """Whether two pointers may point to the same memory."""
    if a == b:
        return True
    one, other = spaces.get(a), spaces.get(b)
    return one is not None and other is not None and one[0] < other[1] and other[0] < one[1]
