"""Sweeps on this machine, and on a Ray cluster whose nodes die."""

import json
import os
import socket
import subprocess
import sys
import threading
import time
from pathlib import Path

import dslc
import pytest

SPEC = """
programs = "k.cu"
args = "{N}"
objective = "transactions"

[macros]
PAD = { from = 0, to = 3 }
TILE = [8, 16, 32]

[values]
N = { from = 1, to = 8 }

[measure]
transactions = "shared_load_transactions"
"""

PROGRAM = """
#include <stdlib.h>
#include "parts/kernel.h"
int main(int argc, char **argv) {
    int n = atoi(argv[1]);
    float *out;
    cudaMalloc(&out, TILE * TILE * sizeof(float));
    for (int i = 0; i < n; i++) column<<<1, dim3(TILE, TILE)>>>(out);
    cudaDeviceSynchronize();
    cudaFree(out);
    // One configuration fails.
    return TILE == 16 && PAD == 2 && n == 5 ? 3 : 0;
}
"""

KERNEL = """
__global__ void column(float *out) {
    __shared__ float s[TILE][TILE + PAD];
    s[threadIdx.y][threadIdx.x] = threadIdx.x;
    __syncthreads();
    out[threadIdx.y * TILE + threadIdx.x] = s[threadIdx.x][threadIdx.y];
}
"""


def write(folder: Path) -> Path:
    (folder / "parts").mkdir(parents=True)
    (folder / "parts/kernel.h").write_text(KERNEL)
    (folder / "k.cu").write_text(PROGRAM)
    (folder / "tile.toml").write_text(SPEC)
    return folder / "tile.toml"


def test_a_sweep_on_this_machine(tmp_path):
    spec = write(tmp_path / "one")
    done = dslc.sweep(spec)
    assert len(done) == 96
    rows = done.rows()
    assert [row["n"] for row in rows] == sorted(row["n"] for row in rows)
    bad = [row for row in rows if row["status"] != "ok"]
    assert [(row["TILE"], row["PAD"], row["N"], row["status"]) for row in bad] == [(16, 2, 5, "exit")]
    best = min((row for row in rows if row["TILE"] == 32 and row["N"] == 1), key=lambda row: row["transactions"])
    assert (best["PAD"], best["transactions"]) == (1, 32)
    assert "transactions" in done.table
    # Nothing runs again: the file's content is used, though it was changed.
    text = done.path.read_text()
    done.path.write_text(text.replace('"transactions":32', '"transactions":33'))
    assert {row.get("transactions") for row in dslc.sweep(spec).rows()} & {32, 33} == {33}
    with pytest.raises(dslc.DslcError, match="there is no specification"):
        dslc.sweep(tmp_path / "nothing.toml")
    with pytest.raises(dslc.DslcError, match="there is no engine `slurm`"):
        dslc.sweep(spec, engine="slurm")


def test_a_configuration_that_ends_dslc_is_a_row(tmp_path):
    spec = write(tmp_path / "whole")
    alone = dslc.sweep(spec).results
    # Like a system without memory: dslc dies when it gets to the 8th and 9th configuration.
    program = tmp_path / "dslc"
    program.write_text(
        f"""#!{sys.executable}
import json, os, signal, subprocess, sys
words = sys.argv[1:]
done = subprocess.run([{dslc.binary()!r}, *words])
path = words[words.index("--results") + 1]
if "--dry-run" not in words:
    lines = open(path).read().splitlines(keepends=True)
    for n in (7, 8):
        if not any('"internal"' in line for line in lines if json.loads(line)["n"] == n):
            open(path, "w").write("".join(lines[:n]) + '{{"n":')
            os.kill(os.getpid(), signal.SIGKILL)
sys.exit(done.returncode)
"""
    )
    program.chmod(0o755)
    from dslc import _ray

    environment = os.environ.get("DSLC")
    try:
        lines = _ray._part(_ray._pack(spec), spec.name, b"", 1, 1, dslc.__version__, str(program))
    finally:
        os.environ["DSLC"] = environment
    rows = [json.loads(line) for line in lines.splitlines()]
    assert [row["n"] for row in rows] == list(range(96))
    assert [row["n"] for row in rows if row["status"] == "internal"] == [7, 8]
    assert rows[7]["error"] == "dslc was ended by signal 9"
    others = [row for row in rows if row["n"] not in (7, 8)]
    assert others == [row for row in alone if row["n"] not in (7, 8)]


@pytest.fixture
def ray():
    """Ray, where nothing outside of this machine can reach it."""
    module = pytest.importorskip("ray")
    if {name for _, name in socket.if_nameindex()} != {"lo"}:
        pytest.skip("Ray listens on all addresses: this test runs in a network namespace, which python/test.sh makes with `unshare`")
    _raise_loopback()
    return module


def _raise_loopback():
    """A new network namespace has its loopback device down."""
    import fcntl
    import struct

    set_flags, up_and_running = 0x8914, 0x41
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as any_socket:
        fcntl.ioctl(any_socket, set_flags, struct.pack("16sh22x", b"lo", up_and_running))


def test_the_command_line_uses_the_cluster_of_the_machine(tmp_path, ray):
    from ray.cluster_utils import Cluster

    alone = dslc.sweep(write(tmp_path / "alone"))
    spec = write(tmp_path / "engine")
    environment = {**os.environ, "DSLC_PYTHON": sys.executable}
    words = [dslc.binary(), "sweep", spec, "--engine", "ray"]
    done = subprocess.run(words, capture_output=True, text=True, env=environment, check=False)
    assert done.returncode == 2
    assert "no Ray cluster runs on this machine. `ray start --head` starts one" in done.stderr
    cluster = Cluster(initialize_head=True, head_node_args={"num_cpus": 2, "include_dashboard": False})
    try:
        environment["RAY_ADDRESS"] = cluster.address
        done = subprocess.run(words, capture_output=True, text=True, env=environment, check=True)
    finally:
        cluster.shutdown()
    assert done.stdout == alone.table
    assert spec.with_name("tile.results.jsonl").read_bytes() == alone.path.read_bytes()


def test_ray_loses_nothing_when_nodes_die(tmp_path, ray):
    from ray.cluster_utils import Cluster

    alone = dslc.sweep(write(tmp_path / "alone"))
    spec = write(tmp_path / "cluster")
    cluster = Cluster(initialize_head=True, head_node_args={"num_cpus": 1, "include_dashboard": False})
    try:
        others = [cluster.add_node(num_cpus=1) for _ in range(3)]
        cluster.connect()
        cluster.wait_for_nodes()
        results = {}

        def work():
            results["sweep"] = dslc.sweep(spec, engine="ray", batches=48)

        worker = threading.Thread(target=work)
        worker.start()
        parts = spec.with_name("tile.results.jsonl.parts")
        killed = 0
        while worker.is_alive():
            there = len(list(parts.glob("*.jsonl"))) if parts.is_dir() else 0
            # In the middle of the sweep: with 8 and 20 of 48 parts done.
            if killed < 2 and there >= (8, 20)[killed]:
                cluster.remove_node(others[killed], allow_graceful=False)
                killed += 1
            time.sleep(0.01)
        worker.join()
        assert killed == 2, "the sweep was over before two nodes were killed"
        swept = results["sweep"]
        assert swept.path.read_bytes() == alone.path.read_bytes()
        assert swept.table == alone.table
        assert not parts.exists()
    finally:
        ray.shutdown()
        cluster.shutdown()
