"""How soon the first result is there: import, and a second of an octopus arm and of an octopus, cold and warm.

Every figure is of a process of its own. Cold means an empty cache folder, so that everything is traced and compiled;
warm is the next process with the same folder.
"""

import json
import os
import subprocess
import sys
import tempfile
import time
from typing import Any

IMPORT = "import hydrostat as hs; hs.simulate"
ARM = (
    "system = hs.System(hs.robots.octopus_arm({segments}), [hs.Water()]); hs.simulate(system, seconds=1.0, dt=5e-3).tip"
)
OCTOPUS = (
    "system = hs.System(hs.robots.octopus(8, {segments}), [hs.Water(), hs.Ground(), hs.Suckers(), hs.ArmContact()]); "
    "hs.simulate(system, hs.gaits.Crawl(heading=0.0), seconds=1.0, dt=5e-3).tip"
)


def seconds(program: str, cache: str) -> float:
    """Wall seconds of a process, from its start to its end."""
    start = time.perf_counter()
    subprocess.run([sys.executable, "-c", program], check=True, env={**os.environ, "XDG_CACHE_HOME": cache})
    return time.perf_counter() - start


def measure(segments: int = 20, octopus: bool = True, repetitions: int = 3) -> dict[str, Any]:
    """Seconds from the start of a process to its end."""
    with tempfile.TemporaryDirectory() as cache:
        found: dict[str, Any] = {
            "python_s": min(seconds("pass", cache) for _ in range(repetitions)),
            "import_s": min(seconds(IMPORT, cache) for _ in range(repetitions)),
        }
        for name, program in {"arm": ARM, **({"octopus": OCTOPUS} if octopus else {})}.items():
            text = "import hydrostat as hs; " + program.format(segments=segments)
            found[f"{name}_cold_s"] = seconds(text, cache)
            found[f"{name}_warm_s"] = min(seconds(text, cache) for _ in range(repetitions))
    return found


def main() -> None:
    print(json.dumps(measure()))


if __name__ == "__main__":
    main()
