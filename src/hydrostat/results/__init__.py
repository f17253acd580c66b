"""Recording, loading and describing results: arrays with names and units on disk, safe against being killed.

A result is a folder: `trajectory.zarr` (the recorded arrays), `committed.json` (how many of its rows are valid) and,
once a run has finished, `metrics.json`. Nothing here knows physics; a JAX array is welcome wherever NumPy's is.
"""

from hydrostat.results.folders import new_folder
from hydrostat.results.loading import load
from hydrostat.results.metrics import check_metrics, write_json
from hydrostat.results.recording import Recorder
from hydrostat.results.variables import Coordinate, Variable

__all__ = ["Coordinate", "Recorder", "Variable", "check_metrics", "load", "new_folder", "write_json"]
