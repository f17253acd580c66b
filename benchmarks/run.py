"""Run all benchmarks, or some by name, each in a process of its own; write results.json, the figure and the page.

Figures of benchmarks that are not run stay as they are. All run on one core, but for those that say otherwise.
"""

import json
import os
import platform
import subprocess
import sys
import time
from pathlib import Path

import page

HERE = Path(__file__).parent
BENCHMARKS = {
    "arm": [str(HERE / "arm.py")],
    "sorosim": [str(HERE / "sorosim.py")],
    "octopus": [str(HERE / "octopus.py")],
    "batch": [str(HERE / "batch.py")],
    "gradient": [str(HERE / "gradient.py")],
    "start": [str(HERE / "start.py")],
    "rod": ["-m", "hydrostat.cli", "bench", "rod", "--json"],
    "scaling": ["-m", "hydrostat.cli", "bench", "scaling", "--json"],
    "squid": ["-m", "hydrostat.cli", "bench", "squid", "--json"],
    "forward_kinematics": [str(HERE / "forward_kinematics.py")],
    "tracking": [str(HERE / "tracking.py")],
}
ALL_CORES = ("batch", "start")


def main() -> int:
    names = sys.argv[1:] or list(BENCHMARKS)
    unknown = [name for name in names if name not in BENCHMARKS]
    if unknown:
        print(f"benchmarks: must be among {', '.join(BENCHMARKS)}; got {', '.join(unknown)}", file=sys.stderr)
        return 2
    path = HERE / "results.json"
    before = json.loads(path.read_text()) if path.exists() else {}
    results = {name: before[name] for name in ("machine", *BENCHMARKS) if name in before}
    failed = []
    for name in names:
        start = time.perf_counter()
        found = run(name)
        took = time.perf_counter() - start
        if found is None:
            failed.append(name)
            print(f"{name}: failed after {took:.0f} s", file=sys.stderr)
            continue
        left = found.get("left_out")
        said = f"left out: {left}" if isinstance(left, str) else f"{took:.0f} s"
        print(f"{name}: {said}", file=sys.stderr)
        if not isinstance(left, str):
            results[name] = found
            results["machine"] = machine()
            ordered = {key: results[key] for key in ("machine", *BENCHMARKS) if key in results}
            path.write_text(json.dumps(ordered, indent=1) + "\n")
    page.write(json.loads(path.read_text()), HERE.parent / "docs")
    print("docs/benchmarks.md")
    return 1 if failed else 0


def run(name: str) -> dict | None:
    """The report of a benchmark; None where it failed."""
    pinned = hasattr(os, "sched_setaffinity") and name not in ALL_CORES
    done = subprocess.run(
        [sys.executable, *BENCHMARKS[name]],
        stdout=subprocess.PIPE,
        text=True,
        check=False,
        preexec_fn=one_core if pinned else None,
    )
    if done.returncode:
        return None
    report = json.loads(done.stdout.splitlines()[-1])
    return report.get("metrics", report)


def machine() -> dict[str, str | int]:
    """The hardware and the versions that the figures belong to."""
    from importlib.metadata import version

    lines = Path("/proc/cpuinfo").read_text().splitlines() if Path("/proc/cpuinfo").exists() else []
    names = [line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")]
    return {
        "processor": names[0] if names else platform.machine(),
        "cores": os.cpu_count() or 1,
        "python": platform.python_version(),
        "jax": version("jax"),
        "llvmlite": version("llvmlite"),
    }


def one_core() -> None:
    os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})


if __name__ == "__main__":
    sys.exit(main())
