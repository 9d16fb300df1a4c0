"""Quotas and limits, read from folders that look like those of a container."""

from __future__ import annotations

import sys

import pytest
import torch

from specviz.core import runtime
from specviz.core.runtime import (
    container_memory,
    cpu_quota,
    free_memory,
    pick_device,
    pick_dtype,
    synchronize,
    use_threads,
)
from specviz.core.settings import SpecvizError

CPU = torch.device("cpu")


@pytest.fixture(autouse=True)
def many_processors(monkeypatch):
    monkeypatch.setattr(runtime.os, "sched_getaffinity", lambda pid: set(range(8)), raising=False)


def write(root, files):
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return root


@pytest.mark.parametrize(
    ("files", "group", "count"),
    [
        ({"cpu.max": "150000 100000\n"}, "0::/\n", 1),
        ({"cpu.max": "max 100000\n"}, "0::/\n", 8),
        ({"a/b/cpu.max": "max 100000\n", "a/cpu.max": "200000 100000\n"}, "0::/a/b\n", 2),
        ({"cpu/cpu.cfs_quota_us": "300000\n", "cpu/cpu.cfs_period_us": "100000\n"}, "4:cpu,cpuacct:/\n", 3),
        ({"cpu/cpu.cfs_quota_us": "-1\n", "cpu/cpu.cfs_period_us": "100000\n"}, "4:cpu:/\n", 8),
        ({"cpu.max": "10000 100000\n"}, "0::/\n", 1),
        ({}, "", 8),
    ],
)
def test_the_quota_of_the_container_bounds_the_processors(tmp_path, files, group, count):
    root = write(tmp_path / "cgroup", files | {"self": group})
    assert cpu_quota(root, root / "self") == count


def test_the_memory_limit_counts_what_can_be_given_back(tmp_path):
    files = {"memory.max": "1000\n", "memory.current": "800\n", "memory.stat": "anon 1\ninactive_file 300\n"}
    root = write(tmp_path, files)
    assert container_memory(root, root / "none") == 500
    assert container_memory(tmp_path / "nothing", root / "none") == sys.maxsize
    assert 0 < free_memory(CPU) < 1 << 50


def test_auto_takes_bfloat16_only_where_weights_and_processor_have_it(monkeypatch):
    for has, expected in ((True, torch.bfloat16), (False, torch.float32)):
        monkeypatch.setattr(runtime, "cpu_has_bfloat16", lambda has=has: has)
        assert pick_dtype("auto", CPU) is expected
        assert pick_dtype("auto", CPU, torch.bfloat16) is expected
        assert pick_dtype("auto", CPU, torch.float32) is torch.float32
        assert pick_dtype("auto", CPU, torch.float16) is torch.float32
        assert pick_dtype("float16", CPU, torch.float32) is torch.float16
    with pytest.raises(SpecvizError, match="choose auto"):
        pick_dtype("int8", CPU)


def test_devices(monkeypatch):
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    monkeypatch.setattr(torch.backends.mps, "is_available", lambda: False)
    assert pick_device() == pick_device("cpu") == CPU
    synchronize(CPU)
    with pytest.raises(SpecvizError, match="no device"):
        pick_device("toaster")


def test_threads_follow_the_quota(monkeypatch):
    chosen = []
    monkeypatch.setattr(torch, "get_num_threads", lambda: 16)
    monkeypatch.setattr(torch, "set_num_threads", chosen.append)
    monkeypatch.setattr(runtime, "cpu_quota", lambda: 3)
    assert use_threads() == 3 and chosen == [3]
    assert use_threads(2) == 2 and chosen == [3, 2]
