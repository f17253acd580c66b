"""Python's garbage collector, paused while functions are traced and lowered.

Tracing makes millions of small objects, nearly all of which are kept: the collector visits them over and over for a
sixth of the time, and finds nothing.
"""

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def paused_collector() -> Iterator[None]:
    """No automatic collection of garbage within the context; after it everything is as before."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()
