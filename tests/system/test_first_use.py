"""What is used for the first time within a traced function leaves nothing of the trace behind."""

import subprocess
import sys

PROGRAM = """
import jax
import hydrostat as hs
print(jax.jit(lambda x: x * hs.Ground().law.stiffness)(1.0))
print(hs.Ball(0.1, 1.0).law.stiffness, hs.Ground().law.stiffness + 0.0)
"""


def test_constants_of_modules_are_not_traced():
    done = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["80.0", "100.0", "80.0"]
