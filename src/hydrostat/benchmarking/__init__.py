"""Benchmarks: how fast this machine is, as `hydrostat bench` measures it.

Nothing here needs JAX: the cases are listed, and what a user typed is checked, before it is imported.
"""

from hydrostat.benchmarking.cases import CASES, Case, find_case, run_case

__all__ = ["CASES", "Case", "find_case", "run_case"]
