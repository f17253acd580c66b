"""From LLVM IR to machine code, and from machine code to functions in memory."""

import ctypes
import ctypes.util
from functools import cache

import llvmlite
import llvmlite.binding as llvm

_LEVEL = 2


@cache
def _ready() -> None:
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    name = ctypes.util.find_library("m")
    if name is not None:
        ctypes.CDLL(name, ctypes.RTLD_GLOBAL)


def _machine(features: str | None = None):
    """What code is made for: this processor, or one with fewer features."""
    _ready()
    target = llvm.Target.from_default_triple()
    if features is None:
        cpu, features = llvm.get_host_cpu_name(), llvm.get_host_cpu_features().flatten()
    else:
        cpu = ""
    return target.create_target_machine(
        cpu=cpu, features=features, opt=_LEVEL, reloc="pic", codemodel="jitdefault", jit=True
    )


def processor() -> str:
    """What tells the code of one kind of machine from that of another."""
    features = llvm.get_host_cpu_features().flatten()
    return f"{llvmlite.__version__} {llvm.get_default_triple()} {llvm.get_host_cpu_name()} {features}"


def compiled(text: str, features: str | None = None) -> bytes:
    """Machine code of LLVM IR, as an object file."""
    machine = _machine(features)
    module = llvm.parse_assembly(text)
    options = llvm.create_pipeline_tuning_options(speed_level=_LEVEL)
    # Lanes are vectors already.
    options.loop_vectorization = options.slp_vectorization = options.loop_unrolling = False
    builder = llvm.create_pass_builder(machine, options)
    builder.getModulePassManager().run(module, builder)
    return machine.emit_object(module)


class Machine:
    """Functions of an object file, in memory."""

    def __init__(self, code: bytes):
        self._engine = llvm.create_mcjit_compiler(llvm.parse_assembly(""), _machine())
        self._engine.add_object_file(llvm.object_file.ObjectFileRef.from_data(code))
        self._engine.finalize_object()

    def address(self, name: str) -> int:
        """Where a function is."""
        return self._engine.get_function_address(name)
