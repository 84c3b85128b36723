"""CUDA kernels on any machine: what each memory access costs, and what is wrong.

>>> import dslc, numpy as np
>>> scale = dslc.kernel("__global__ void scale(float *x, float a) { x[threadIdx.x] *= a; }")
>>> x = np.ones(32, np.float32)
>>> report = scale(1, 32, x, 2.5)
>>> report.assert_clean()
>>> float(x[0]), report.site("x[threadIdx.x]", "load").sectors
(2.5, 4)
"""

from ._dslc import __version__
from ._errors import CompileError, DslcError, LaunchError, NotCleanError, NotFoundError
from ._kernel import Kernel, kernel
from ._memory import DeviceArray, Unset, device_array, to_device, unset
from ._report import Compiled, Finding, Launch, Report, Site
from ._run import binary, run
from ._sweep import Sweep, sweep

__all__ = [
    "CompileError",
    "Compiled",
    "DeviceArray",
    "DslcError",
    "Finding",
    "Kernel",
    "Launch",
    "LaunchError",
    "NotCleanError",
    "NotFoundError",
    "Report",
    "Site",
    "Sweep",
    "Unset",
    "__version__",
    "binary",
    "device_array",
    "kernel",
    "run",
    "sweep",
    "to_device",
    "unset",
]
