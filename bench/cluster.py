"""A sweep on a local Ray cluster of four nodes, two of which are killed in the middle: python bench/cluster.py [ROUNDS]

It needs the module `dslc` (python/build.sh), `ray` and Linux. bench/sweep's 10,080 configurations are made ROUNDS times as many (default 6) by more
values of SHIFT. The results have to be those of one process, byte for byte, with no row twice. Of the whole machine's processors it says how busy
they were while the sweep ran: a node is one core, and with two nodes dead the other two remain.
"""

import os
import shutil
import sys
import tempfile
import threading
import time
from pathlib import Path

import dslc
import ray
from ray.cluster_utils import Cluster

ROUNDS = int(sys.argv[1]) if len(sys.argv) > 1 else 6
SWEEP = Path(__file__).with_name("sweep")
BATCHES = 96


def specification(folder: Path) -> Path:
    shutil.copytree(SWEEP, folder)
    spec = folder / "tiles.toml"
    text = spec.read_text(encoding="utf-8")
    few, many = "SHIFT = { from = 0, to = 6 }", f"SHIFT = {{ from = 0, to = {7 * ROUNDS - 1} }}"
    assert few in text
    spec.write_text(text.replace(few, many), encoding="utf-8")
    return spec


def busy_seconds() -> float:
    """Of all processors, since the system's start."""
    user, nice, system = map(int, Path("/proc/stat").read_text(encoding="ascii").split()[1:4])
    return (user + nice + system) / os.sysconf("SC_CLK_TCK")


def timed(name, work):
    wall, busy = time.monotonic(), busy_seconds()
    result = work()
    wall, busy = time.monotonic() - wall, busy_seconds() - busy
    print(f"{name}: {wall:.1f} s, processors {100 * busy / wall / os.cpu_count():.0f} % busy", flush=True)
    return result


def kill_two(cluster, nodes, parts: Path, is_over) -> int:
    """When a fifth and when two fifths of the parts are done."""
    killed = 0
    while not is_over.is_set():
        done = len(list(parts.glob("*.jsonl"))) if parts.is_dir() else 0
        if killed < 2 and done >= BATCHES * (killed + 1) // 5:
            cluster.remove_node(nodes[killed], allow_graceful=False)
            killed += 1
            print(f"node {killed} of 2 is killed, {done} of {BATCHES} parts are done", flush=True)
        time.sleep(0.05)
    return killed


with tempfile.TemporaryDirectory() as folder:
    alone = timed("one process", lambda: dslc.sweep(specification(Path(folder, "alone"))))
    spec = specification(Path(folder, "cluster"))
    cluster = Cluster(initialize_head=True, head_node_args={"num_cpus": 1, "include_dashboard": False})
    nodes = [cluster.add_node(num_cpus=1) for _ in range(3)]
    cluster.connect()
    cluster.wait_for_nodes()
    is_over, killed = threading.Event(), []
    parts = spec.with_name("tiles.results.jsonl.parts")
    killer = threading.Thread(target=lambda: killed.append(kill_two(cluster, nodes, parts, is_over)))
    killer.start()
    try:
        swept = timed("four nodes", lambda: dslc.sweep(spec, engine="ray", batches=BATCHES))
    finally:
        is_over.set()
        killer.join()
        ray.shutdown()
        cluster.shutdown()
    assert killed == [2], "the sweep was over before two nodes were killed"
    lines = swept.path.read_bytes().splitlines()
    assert len(lines) == len(set(lines)), "a row is there twice"
    assert swept.path.read_bytes() == alone.path.read_bytes(), "the results differ"
    print(f"{len(lines)} configurations, the same bytes")
