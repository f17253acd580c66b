"""A simulated GRBL controller on a pseudo-terminal, run as a process of its own.

    python grbl_simulator.py AXES BUFFER SPEED

It prints the name of its terminal, runs until its standard input closes, and then prints what happened as JSON. Bytes
go into a receive buffer of BUFFER bytes as they arrive, as an interrupt routine would put them; what does not fit is
lost and counted. Commands of one character are obeyed at once. A line leaves the buffer when the planner has room for
another of its 15 blocks, and is answered then. Motion takes the time that G93 says, divided by SPEED; a feed hold
brings the rate of motion down to zero within a tenth of a second. Motors have 4000 steps per millimetre.
"""

import json
import os
import pty
import re
import select
import sys
import time
import tty

STEPS_PER_MM = 4000
BLOCKS = 15
HOLD_SECONDS = 0.1
LONGEST = 79


class Grbl:
    def __init__(self, axes: int, buffer: int, speed: float):
        self.letters, self.size, self.speed = "XYZABCUVW"[:axes], buffer, speed
        self.master, slave = pty.openpty()
        tty.setraw(slave)
        tty.setraw(self.master)
        os.set_blocking(self.master, False)
        self.name, self._slave = os.ttyname(slave), slave
        self.received = bytearray()
        self.blocks: list[tuple[list[float], float]] = []
        self.offset = [0.0] * axes
        self.position = [0.25] * axes  # not zero: the program must not depend on where it begins
        self.counts = [round(x * STEPS_PER_MM) for x in self.position]
        self.target = list(self.position)
        self.begin, self.passed = list(self.position), 0.0
        self.holding, self.rate = False, 1.0
        self.clock = time.monotonic()
        self.log = dict.fromkeys(("overruns", "fullest", "lines", "steps", "errors", "resets", "held"), 0)

    def reply(self, text: str) -> None:
        os.write(self.master, text.encode() + b"\r\n")

    def take_bytes(self) -> None:
        try:
            data = os.read(self.master, 65536)
        except BlockingIOError:
            return
        for byte in data:
            if byte == ord("?"):
                self.report()
            elif byte == ord("!"):
                self.holding, self.log["held"] = True, self.log["held"] + 1
            elif byte == ord("~"):
                self.holding = False
            elif byte == 0x18:
                self.blocks, self.received, self.holding, self.rate = [], bytearray(), False, 1.0
                self.target, self.passed = list(self.position), 0.0
                self.log["resets"] += 1
                self.reply("Grbl 1.1h ['$' for help]")
            elif len(self.received) >= self.size:
                self.log["overruns"] += 1
            else:
                self.received.append(byte)
                self.log["fullest"] = max(self.log["fullest"], len(self.received))

    def report(self) -> None:
        if self.holding:
            state = "Hold:0" if self.rate == 0.0 or not self.blocks else "Hold:1"
        else:
            state = "Run" if self.blocks else "Idle"
        self.reply(f"<{state}|MPos:{','.join(f'{x:.3f}' for x in self.position)}|FS:0,0>")

    def take_line(self) -> None:
        """Parse one line, unless the planner is full or a hold suspends the main program."""
        end = self.received.find(b"\n")
        if end < 0 or len(self.blocks) >= BLOCKS or self.holding:
            return
        line = self.received[:end].decode()
        del self.received[: end + 1]
        if len(line) > LONGEST:
            self.log["errors"] += 1
            return self.reply("error:11")
        words = re.findall(r"([A-Z])([-+.\d]+)", line)
        if "".join(letter + value for letter, value in words) != line:
            self.log["errors"] += 1
            return self.reply("error:1")
        self.log["lines"] += 1
        codes = {(letter, float(value)) for letter, value in words}
        axes = {letter: float(value) for letter, value in words if letter in self.letters}
        if ("G", 92.0) in codes:
            self.offset = [self.target[i] - axes.get(x, 0.0) for i, x in enumerate(self.letters)]
        elif ("G", 1.0) in codes:
            feed = [value for letter, value in codes if letter == "F"]
            if not feed:
                self.log["errors"] += 1
                return self.reply("error:22")
            self.target = [
                axes[x] + self.offset[i] if x in axes else self.target[i] for i, x in enumerate(self.letters)
            ]
            if not self.blocks:
                self.begin, self.passed = list(self.position), 0.0
            self.blocks.append((self.target, 60.0 / feed[0]))
        elif any(letter == "G" and value not in (21.0, 90.0, 93.0, 94.0) for letter, value in codes):
            self.log["errors"] += 1
            return self.reply("error:20")
        self.reply("ok")

    def move(self) -> None:
        now = time.monotonic()
        passed, self.clock = (now - self.clock) * self.speed, now
        if self.holding:
            last, self.rate = self.rate, max(0.0, self.rate - passed / HOLD_SECONDS)
            passed *= 0.5 * (last + self.rate)
        else:
            self.rate = 1.0
        while self.blocks and passed > 0.0:
            goal, seconds = self.blocks[0]
            step = min(passed, seconds - self.passed)
            self.passed += step
            passed -= step
            share = self.passed / seconds
            if share >= 1.0 - 1e-12:
                share = 1.0
            self.go([a + share * (b - a) for a, b in zip(self.begin, goal, strict=True)])
            if share == 1.0:
                self.blocks.pop(0)
                self.begin, self.passed = list(goal), 0.0

    def go(self, position: list[float]) -> None:
        counts = [round(x * STEPS_PER_MM) for x in position]
        self.log["steps"] += sum(abs(a - b) for a, b in zip(counts, self.counts, strict=True))
        self.position, self.counts = position, counts

    def run(self) -> None:
        while True:
            ready, _, _ = select.select([self.master, sys.stdin], [], [], 0.0005)
            if sys.stdin in ready:
                break
            self.take_bytes()
            self.move()
            self.take_line()
        print(json.dumps(self.log | {"position": self.position, "blocks": len(self.blocks)}), flush=True)


if __name__ == "__main__":
    controller = Grbl(int(sys.argv[1]), int(sys.argv[2]), float(sys.argv[3]))
    print(controller.name, flush=True)
    controller.run()
