"""The step as machine code: traced by JAX, lowered to LLVM IR, compiled by LLVM.

XLA makes scalar code of a recursion over segments, and pays for every one of its small kernels. Here the whole loop
over steps becomes one function: the arms of a robot are the lanes of vectors, sweeps over segments are loops, and what
is computed on the way stays in registers. The physics is the same, written once in JAX.
"""

from hydrostat.native.program import NotLoweredError

__all__ = ["NotLoweredError"]
