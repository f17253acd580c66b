"""What every test shares: checked shapes, float64, a compilation cache, and reproducible examples."""

import ctypes
import gc
import os
from pathlib import Path

from jaxtyping import install_import_hook

# Shapes and dtypes that the mechanics declares are checked at every call of this process; subprocesses run unchecked,
# as a user's would. `robots.spec`, `system` and what starts a run are left out, since they take anything and refuse it
# in words of their own, and so is `lie.small`, whose products broadcast their batches.
install_import_hook(
    [
        "hydrostat.actuation",
        "hydrostat.bodies",
        "hydrostat.lie._stumpff",
        "hydrostat.lie.se3",
        "hydrostat.lie.so3",
        "hydrostat.mechanics",
        "hydrostat.robots.build",
        "hydrostat.segments",
        "hydrostat.sensing.observation",
        "hydrostat.simulation.loop",
        "hydrostat.statics",
        "hydrostat.stepping",
        "hydrostat.surroundings",
    ],
    "beartype.beartype",
)

# Compiling is most of the time that tests take: see `pytest_configure` for what `hydrostat.compiling` compiles.
os.environ["XLA_FLAGS"] = " ".join(
    [os.environ.get("XLA_FLAGS", ""), "--xla_cpu_use_fusion_emitters=false", "--xla_backend_optimization_level=0"]
)

import jax  # noqa: E402
import pytest  # noqa: E402
from hypothesis import HealthCheck, settings  # noqa: E402

import chromium  # noqa: E402
import hydrostat  # noqa: E402, F401  switches JAX to float64; comes after the hook
import interpreter  # noqa: E402
from hydrostat import compiling, executables  # noqa: E402

# Keep all that is compiled, however small.
jax.config.update("jax_compilation_cache_dir", str(Path(__file__).parents[1] / ".cache" / "jax-tests"))
jax.config.update("jax_persistent_cache_min_compile_time_secs", 0)
jax.config.update("jax_persistent_cache_min_entry_size_bytes", -1)

# Bytes, from where a module that ends leaves nothing compiled behind.
MOST_MEMORY = max(3 * 2**30, os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") // 5)

# The same examples in every run, and no clock: the first one compiles.
settings.register_profile("hydrostat", deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("hydrostat")


def pytest_configure(config):
    """Quick tests compile for seconds what runs for moments; slow ones run for long, at the level of a user's run."""
    if config.getoption("markexpr") != "slow":
        interpreter.install()
        # A sixth of the time: what tests trace is kept. `little_memory` collects.
        gc.disable()
        for options in (compiling._OPTIONS, compiling._FAST):
            options["xla_backend_optimization_level"] = 0


@pytest.fixture(autouse=True, scope="module")
def little_memory():
    """Everything compiled, each small operation as well, holds some 2 MB: unless it is let go, a run needs 7 GB."""
    yield
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    if pages * os.sysconf("SC_PAGE_SIZE") > MOST_MEMORY:
        jax.clear_caches()
        executables.forget_all()
        interpreter.forget()
        gc.collect()
        ctypes.CDLL(None).malloc_trim(0)


@pytest.fixture(scope="session")
def browser():
    """The browser that all tests of pages share."""
    with chromium.browser() as found:
        yield found
