"""The work-precision figure: error of the tip over wall time, of every program and every integrator."""

from pathlib import Path
from typing import Any

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
from matplotlib.ticker import LogLocator, NullFormatter

TITLES = {"dry": "Soft arm in air, undamped", "damped": "The same, damped", "water": "Arm in a current",
          "nitinol": "Stiff NiTi rod"}  # fmt: skip
LOOKS = {
    ("hydrostat", "SDIRK2", "all six"): ("hydrostat SDIRK2, six strains", "#00796b", "o", "-"),
    ("hydrostat", "SDIRK2", "bends"): ("hydrostat SDIRK2, bends", "#26a69a", "o", "--"),
    ("hydrostat", "linearly implicit Euler", "bends"): ("hydrostat linearly implicit Euler", "#7cb342", "s", "--"),
    ("hydrostat", "RK4", "bends"): ("hydrostat RK4", "#1b5e20", "^", "--"),
    ("mujoco", "Euler", "bends"): ("MuJoCo Euler", "#e65100", "o", "-"),
    ("mujoco", "implicitfast", "bends"): ("MuJoCo implicitfast", "#ffa726", "s", "--"),
    ("mujoco", "RK4", "bends"): ("MuJoCo RK4", "#bf360c", "^", "-"),
    ("pyelastica", "position Verlet", "all six"): ("PyElastica position Verlet", "#5e35b1", "D", "-"),
    ("soromox", "semi-implicit Euler", "all six"): ("SoRoMoX semi-implicit Euler, six strains", "#0d47a1", "v", "--"),
    ("soromox", "Tsit5", "all six"): ("SoRoMoX Tsit5, six strains, as shipped", "#64b5f6", "^", ":"),
    ("soromox", "semi-implicit Euler", "bends"): ("SoRoMoX semi-implicit Euler", "#1565c0", "v", "-"),
}


def work_precision(found: dict[str, Any], path: Path) -> None:
    """Draw two panels for each arm: the error of the step above, the error from the converged rod below."""
    cases = [case for case in TITLES if case in found]
    rows = (("step_error_percent", "error of the step alone [% of length]"),
            ("error_percent", "error from the converged rod [% of length]"))  # fmt: skip
    figure, axes = plt.subplots(len(rows), len(cases), figsize=(4.0 * len(cases), 8.2), sharex="col", sharey="row",
                                squeeze=False)  # fmt: skip
    handles: dict[str, Any] = {}
    for column, case in enumerate(cases):
        for row, (key, said) in enumerate(rows):
            axis = axes[row, column]
            for entry in found[case]["rows"]:
                _curve(axis, entry, key, handles)
            axis.set(xscale="log", yscale="log")
            axis.axhline(1.0, color="0.6", linewidth=0.8, zorder=0)
            axis.grid(which="major", color="0.92")
            axis.set_title(TITLES[case] if row == 0 else "")
            axis.set_ylabel(said if column == 0 else "")
            axis.set_xlabel("wall seconds per simulated second" if row == len(rows) - 1 else "")
            axis.set_ylim(bottom=1e-3 if row == 0 else 2e-2)
            axis.xaxis.set_minor_formatter(NullFormatter())
            axis.xaxis.set_major_locator(LogLocator(numticks=6))
            axis.tick_params(labelbottom=row == len(rows) - 1)
    figure.legend(handles.values(), handles.keys(), loc="lower center", ncols=4, frameon=False, fontsize=9)
    figure.tight_layout(rect=(0.0, 0.09, 1.0, 1.0))
    figure.savefig(path, dpi=110)
    plt.close(figure)


def _curve(axis, entry: dict[str, Any], key: str, handles: dict[str, Any]) -> None:
    """The points of one method at all its steps."""
    points = [point for point in entry["points"] if point.get(key) and point[key] < 100.0]
    if not points:
        return
    label, colour, marker, line = LOOKS[entry["program"], entry["method"], entry["strains"]]
    if entry["segments"] != 20:
        label, line = f"{label}, {entry['segments']} segments", ":"
    x, y = [point["wall_per_second"] for point in points], [point[key] for point in points]
    (handles[label],) = axis.plot(x, y, color=colour, marker=marker, linestyle=line, markersize=4, linewidth=1.2)
