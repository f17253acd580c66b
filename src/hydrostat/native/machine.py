"""From LLVM IR to a function in memory."""

import ctypes

import llvmlite.binding as llvm

_READY = False


def _target_machine(features: str | None = None, cpu: str | None = None, level: int = 2):
    global _READY
    if not _READY:
        llvm.initialize_native_target()
        llvm.initialize_native_asmprinter()
        ctypes.CDLL("libm.so.6", ctypes.RTLD_GLOBAL)
        _READY = True
    target = llvm.Target.from_default_triple()
    cpu = llvm.get_host_cpu_name() if cpu is None else cpu
    features = llvm.get_host_cpu_features().flatten() if features is None else features
    return target.create_target_machine(cpu=cpu, features=features, opt=level, jit=True)


class Machine:
    """Compiled code; `address` gives its functions."""

    def __init__(self, text: str, level: int = 2):
        module = llvm.parse_assembly(text)
        machine = _target_machine(level=level)
        options = llvm.create_pipeline_tuning_options(speed_level=level)
        options.loop_vectorization = False
        options.slp_vectorization = False
        options.loop_unrolling = False
        builder = llvm.create_pass_builder(machine, options)
        builder.getModulePassManager().run(module, builder)
        self.module, self.machine = module, machine
        self.engine = llvm.create_mcjit_compiler(module, machine)
        self.engine.finalize_object()

    def address(self, name: str) -> int:
        """Where a function is."""
        return self.engine.get_function_address(name)
