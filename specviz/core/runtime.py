"""The machine: which device, which number format, how many threads, how much memory is free.

Knows nothing of models. Example: in a container that may use one and a half of 64 processors `cpu_quota()` is 1, and
`use_threads()` keeps torch from starting 64 threads that then wait for each other.
"""

from __future__ import annotations

import math
import os
import platform
import sys
from collections.abc import Collection
from pathlib import Path
from time import perf_counter

import psutil
import torch

from specviz.core.settings import SpecvizError
from specviz.core.words import sentence

DTYPES: dict[str, torch.dtype] = {
    "float32": torch.float32,
    "bfloat16": torch.bfloat16,
    "float16": torch.float16,
}
_CGROUPS = Path("/sys/fs/cgroup")
_MEMBERSHIP = Path("/proc/self/cgroup")


def pick_device(name: str = "auto") -> torch.device:
    """ "auto" is the first GPU there is, else the CPU. Raises SpecvizError for one that this machine does not have."""
    if name == "auto":
        kind = "cuda" if torch.cuda.is_available() else "mps" if torch.backends.mps.is_available() else "cpu"
        return torch.device(kind)
    try:
        device = torch.device(name)
        if device.type != "cpu":
            torch.empty(1, device=device)
    except (AssertionError, NotImplementedError, RuntimeError, TypeError) as error:
        raise SpecvizError(sentence("errors.no_device", name=repr(str(name)))) from error
    return device


def pick_dtype(name: str, device: torch.device, stored: torch.dtype | None = None) -> torch.dtype:
    """The number format to compute in; `stored` is that of the weights on disk where it is known.

    "auto" never rounds weights: those stored in float32 stay so, since the promise of identical output is for float32.
    On a CPU, bfloat16 weights stay bfloat16 only where the processor has instructions for it, and the rest is float32.
    """
    if name != "auto":
        if name not in DTYPES:
            raise SpecvizError(sentence("errors.no_dtype", name=repr(str(name)), known=", ".join(DTYPES)))
        return DTYPES[name]
    half = stored if stored is not None else torch.bfloat16
    if half not in (torch.bfloat16, torch.float16):
        return torch.float32
    if device.type == "cpu":
        return torch.bfloat16 if half is torch.bfloat16 and cpu_has_bfloat16() else torch.float32
    if half is torch.bfloat16 and device.type == "cuda" and not torch.cuda.is_bf16_supported(False):
        return torch.float32
    return half


def cpu_has_bfloat16() -> bool:
    """Whether the processor multiplies bfloat16 itself (AVX512-BF16, AMX, ARM BF16); emulation is slow."""
    try:
        if not torch.ops.mkldnn._is_mkldnn_bf16_supported():  # an operator: absent in builds without oneDNN
            return False
    except (AttributeError, RuntimeError):
        return False
    if platform.machine().lower() in ("aarch64", "arm64"):
        return True  # there the query above asks for the instruction itself; on x86 any AVX512 will do for it
    names = ("_is_avx512_bf16_supported", "_is_amx_tile_supported")
    return any(bool(getattr(torch.cpu, name, bool)()) for name in names)


def cpu_quota(cgroups: Path = _CGROUPS, membership: Path = _MEMBERSHIP) -> int:
    """Processors this process may keep busy, at least 1: the lesser of affinity mask and container quota."""
    try:
        allowed = float(len(os.sched_getaffinity(0)))
    except AttributeError:  # macOS, Windows
        allowed = float(os.cpu_count() or 1)
    for folder in _cgroup_folders(cgroups, membership, "cpu"):
        limit = _numbers(folder / "cpu.max")  # v2: "quota period" or "max period"
        if len(limit) < 2:
            limit = _numbers(folder / "cpu.cfs_quota_us") + _numbers(folder / "cpu.cfs_period_us")
        if len(limit) == 2 and limit[0] > 0 and limit[1] > 0:  # v1 writes "no limit" as -1
            allowed = min(allowed, limit[0] / limit[1])
    return max(1, math.floor(allowed))


def use_threads(count: int | None = None) -> int:
    """Let torch compute on `count` threads, by default the quota, never more than it would use by itself."""
    chosen = count or min(cpu_quota(), torch.get_num_threads())
    if chosen != torch.get_num_threads():
        torch.set_num_threads(chosen)
    return chosen


def synchronize(device: torch.device) -> None:
    """Wait until `device` has done what it was asked, so that a clock read now tells the truth. Nothing on a CPU."""
    if device.type == "cuda":
        torch.cuda.synchronize(device)
    elif device.type == "mps":
        torch.mps.synchronize()


class Clock:
    """Seconds since the last lap, after waiting for the devices to finish what they were given."""

    def __init__(self, devices: Collection[torch.device]) -> None:
        self.devices = devices
        self.last = 0.0
        self.lap()

    def lap(self) -> float:
        """Seconds since the lap before, or since the clock was made."""
        for device in self.devices:
            synchronize(device)
        now, before = perf_counter(), self.last
        self.last = now
        return now - before


def free_memory(device: torch.device) -> int:
    """Bytes that can still be used on `device`, the container's limit counted. Very large where nobody can say."""
    try:
        if device.type == "cuda":
            return int(torch.cuda.mem_get_info(device)[0])
        if device.type == "mps":
            return int(torch.mps.recommended_max_memory() - torch.mps.driver_allocated_memory())
    except (AttributeError, RuntimeError):
        return sys.maxsize
    return min(int(psutil.virtual_memory().available), container_memory())


def container_memory(cgroups: Path = _CGROUPS, membership: Path = _MEMBERSHIP) -> int:
    """Bytes left under the container's memory limit; very large where there is none."""
    free = sys.maxsize
    for folder in _cgroup_folders(cgroups, membership, "memory"):
        for limit_name, used_name in (
            ("memory.max", "memory.current"),
            ("memory.limit_in_bytes", "memory.usage_in_bytes"),
        ):
            limit, used = _numbers(folder / limit_name), _numbers(folder / used_name)
            if limit and used and limit[0] < 1 << 60:  # v1 writes "no limit" as a huge number
                # pages of files read before are counted as used but given back on demand
                cached = _stat(folder / "memory.stat", ("inactive_file", "total_inactive_file"))
                free = min(free, int(limit[0] - max(0, used[0] - cached)))
    return max(0, free)


def _cgroup_folders(cgroups: Path, membership: Path, controller: str) -> list[Path]:
    """This process's group and those around it: a limit on any holds. v2 mounts all in one place, v1 by controller."""
    try:
        lines = membership.read_text().splitlines()
    except OSError:
        lines = []
    folders = [cgroups, cgroups / controller]
    for line in lines:
        _, controllers, path = line.split(":", 2)
        if controllers and controller not in controllers.split(","):
            continue
        base = cgroups / controller if controllers else cgroups
        inner = base.joinpath(*[part for part in path.split("/") if part not in ("", "..")])
        while inner != base:
            folders.append(inner)
            inner = inner.parent
    return folders


def _numbers(path: Path) -> list[float]:
    try:
        return [math.inf if word == "max" else float(word) for word in path.read_text().split()]
    except (OSError, ValueError):
        return []


def _stat(path: Path, names: tuple[str, ...]) -> float:
    try:
        pairs = dict(line.split() for line in path.read_text().splitlines() if len(line.split()) == 2)
    except OSError:
        return 0.0
    return max((float(pairs[name]) for name in names if name in pairs), default=0.0)
