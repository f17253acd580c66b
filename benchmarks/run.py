"""Run all benchmarks, or some by name, each in a process of its own on one core; write results.json and results.md.

Figures of benchmarks that are not run stay as they are.
"""

import json
import os
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).parent
BENCHMARKS = {
    "octopus": [str(HERE / "octopus.py")],
    "forward_kinematics": [str(HERE / "forward_kinematics.py")],
    "tracking": [str(HERE / "tracking.py")],
    "rod": ["-m", "hydrostat.cli", "bench", "rod", "--json"],
    "scaling": ["-m", "hydrostat.cli", "bench", "scaling", "--json"],
    "squid": ["-m", "hydrostat.cli", "bench", "squid", "--json"],
}


def main():
    path = HERE / "results.json"
    before = json.loads(path.read_text()) if path.exists() else {}
    results = {name: before[name] for name in BENCHMARKS if name in before}
    for name in sys.argv[1:] or BENCHMARKS:
        arguments = BENCHMARKS[name]
        print(f"{name} ...", file=sys.stderr)
        done = subprocess.run(
            [sys.executable, *arguments],
            stdout=subprocess.PIPE,
            text=True,
            check=True,
            preexec_fn=one_core if hasattr(os, "sched_setaffinity") else None,
        )
        report = json.loads(done.stdout.splitlines()[-1])
        results[name] = report.get("metrics", report)
    path.write_text(json.dumps(results, indent=1) + "\n")
    lines = [
        "# Results of `make bench`",
        "",
        "Best of several runs, one core. Ratios above 1 mean hydrostat is faster.",
        "",
    ]
    for name, report in results.items():
        lines += [f"## {name}", "", "| figure | value |", "|---|---|"]
        lines += [f"| {key} | {_shown(value)} |" for key, value in report.items()] + [""]
    (HERE / "results.md").write_text("\n".join(lines))
    print((HERE / "results.md").read_text())


def _shown(value):
    return ", ".join(map(_shown, value)) if isinstance(value, list) else f"{value:.4g}"


def one_core():
    os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})


if __name__ == "__main__":
    main()
