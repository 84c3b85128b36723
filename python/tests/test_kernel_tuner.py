"""Kernel Tuner's files, and dslc as its filter.

The tuner's own test data are read from the package's sources where DSLC_KERNEL_TUNER names them; without, from files written here in its formats.
"""

import itertools
import json
import os
from pathlib import Path

import dslc
import numpy as np
import pytest
from dslc.kernel_tuner import Cache, Filter, Problem, Results

VECTOR_ADD = """
__global__ void vector_add(float *c, const float *a, const float *b, int n) {
    int i = blockIdx.x * block_size_x + threadIdx.x;
    if (i < n) c[i] = a[i] + b[i];
}"""

PRODUCT = """
#define WIDTH 64
__global__ void product(float *c, const float *a, const float *b) {
    __shared__ float sa[block_size_y * tile_y][block_size_x], sb[block_size_x][block_size_x * tile_x];
    int tx = threadIdx.x, ty = threadIdx.y;
    int x = blockIdx.x * block_size_x * tile_x + tx, y = blockIdx.y * block_size_y * tile_y + ty;
    float sum[tile_y][tile_x] = {};
    for (int k = 0; k < WIDTH; k += block_size_x) {
        __syncthreads();
        for (int i = 0; i < tile_y; i++) sa[ty + block_size_y * i][tx] = a[(y + block_size_y * i) * WIDTH + k + tx];
        for (int i = ty; i < block_size_x; i += block_size_y)
            for (int j = 0; j < tile_x; j++) sb[i][tx + j * block_size_x] = b[(k + i) * WIDTH + x + j * block_size_x];
#if barrier
        __syncthreads();
#endif
        for (int kb = 0; kb < block_size_x; kb++)
            for (int i = 0; i < tile_y; i++)
                for (int j = 0; j < tile_x; j++) sum[i][j] += sa[ty + block_size_y * i][kb] * sb[kb][tx + j * block_size_x];
    }
    for (int i = 0; i < tile_y; i++)
        for (int j = 0; j < tile_x; j++) c[(y + block_size_y * i) * WIDTH + x + j * block_size_x] = sum[i][j];
}"""


def vector_add(**options):
    n = 1000
    a, b = np.arange(n, dtype=np.float32), np.ones(n, np.float32)
    return Filter("vector_add", VECTOR_ADD, n, [np.zeros(n, np.float32), a, b, np.int32(n)], **options)


def product(**options):
    a = np.random.default_rng(1).random((64, 64), dtype=np.float32)
    return Filter(
        "product", PRODUCT, (64, 64), [np.zeros_like(a), a, a], blocks=None,
        grid_div_x=["block_size_x", "tile_x"], grid_div_y=["block_size_y", "tile_y"], **options,
    )  # fmt: skip


def test_only_what_cuda_launches_is_left():
    first = vector_add()
    assert [size for size in (32, 128, 1024, 1088, 2048) if first({"block_size_x": size})] == [32, 128, 1024]
    verdict = first.verdict({"block_size_x": 2048})
    assert (verdict.invalidity, verdict.is_correct) == ("runtime", False)
    assert "block dimension x is 2048" in verdict.reason
    assert first.grid({"block_size_x": 128}) == (8, 1, 1)
    assert first(block_size_x=64)


def test_a_source_that_does_not_compile():
    verdict = vector_add().verdict({"size": 32})
    assert verdict.invalidity == "compile"
    assert "block_size_x" in verdict.reason


def test_races_are_dropped_and_costs_measured():
    first = product()
    shape = {"block_size_x": 16, "block_size_y": 8, "tile_x": 1, "tile_y": 2}
    good, race = first.verdict({**shape, "barrier": 1}), first.verdict({**shape, "barrier": 0})
    assert good.invalidity == "correct"
    assert race.invalidity == "correctness"
    assert {finding.kind for finding in race.report.findings} <= {"race", "warp_synchronous", "uninitialized"}
    wide = first.verdict({**shape, "tile_x": 4, "barrier": 1})
    assert wide.measurements["global_sectors"] < good.measurements["global_sectors"]
    # Requirements on the configuration.
    total = good.report.metric("shared_load_transactions")
    for limit, invalidity in ((total, "correct"), (total - 1, "constraints")):
        cheap = product(require=lambda report: report.metric("shared_load_transactions") <= limit)
        assert cheap.verdict({**shape, "barrier": 1}).invalidity == invalidity
    # More shared memory than a block can have.
    large = first.verdict({"block_size_x": 64, "block_size_y": 4, "tile_x": 4, "tile_y": 1, "barrier": 1})
    assert large.invalidity in ("compile", "runtime"), large


def test_the_tuner_takes_the_filter():
    searchspace = pytest.importorskip("kernel_tuner.searchspace")
    parameters = {"block_size_x": [32, 100, 1024, 1500, 2048]}
    # The configurations that the tuner would allow.
    space = searchspace.Searchspace(parameters, vector_add().restriction(parameters), 4096)
    assert sorted(space.list) == [(32,), (100,), (1024,)]
    parameters = {"block_size_x": [8, 16], "block_size_y": [8], "tile_x": [1, 2], "tile_y": [1, 2], "barrier": [0, 1]}
    space = searchspace.Searchspace(parameters, product().restriction(parameters), 4096)
    assert sorted(space.list) == [(x, 8, tx, ty, 1) for x in (8, 16) for tx in (1, 2) for ty in (1, 2) if x == 8 * ty or ty == 2 or x == 16]


def t1(folder: Path) -> Path:
    (folder / "add.cu").write_text(VECTOR_ADD)
    problem = {
        "General": {"BenchmarkName": "vector_add", "OutputFormat": "JSON"},
        "ConfigurationSpace": {
            "TuningParameters": [
                {"Name": "block_size_x", "Type": "int", "Values": "[32 * i for i in range(1, 41)]", "Default": 32},
                {"Name": "use", "Type": "int", "Values": "[0, 1]", "Default": 0},
            ],
            "Conditions": [{"Expression": "block_size_x >= 512 or use == 1", "Parameters": ["block_size_x", "use"]}],
        },
        "KernelSpecification": {
            "Language": "CUDA",
            "KernelName": "vector_add",
            "KernelFile": "add.cu",
            "GlobalSizeType": "CUDA",
            "LocalSize": {"X": "block_size_x", "Y": "1", "Z": "1"},
            "GlobalSize": {"X": "(4096 + block_size_x - 1) // block_size_x"},
            "Arguments": [
                {"Name": "c", "Type": "float", "MemoryType": "Vector", "AccessType": "WriteOnly", "FillType": "Constant", "Size": 4096, "FillValue": 0},
                {"Name": "a", "Type": "float", "MemoryType": "Vector", "AccessType": "ReadOnly", "FillType": "Random", "Size": "2 * 2048", "FillValue": 1.0},
                {"Name": "b", "Type": "float", "MemoryType": "Vector", "AccessType": "ReadOnly", "FillType": "Random", "Size": 4096, "FillValue": 1.0},
                {"Name": "n", "Type": "int32", "MemoryType": "Scalar", "FillType": "Constant", "FillValue": 4096},
            ],
        },
    }
    path = folder / "problem.json"
    path.write_text(json.dumps(problem, indent=4))
    return path


def test_a_problem_becomes_results(tmp_path):
    problem = Problem.read(t1(tmp_path))
    problem.write(tmp_path / "again.json")
    assert (tmp_path / "again.json").read_text() == (tmp_path / "problem.json").read_text()
    assert len(list(problem.configurations())) == 40 + 25
    results = problem.run()
    assert len(results) == 65
    correct = results.correct()
    assert {one["block_size_x"] for one in correct} == {32 * i for i in range(1, 33)}
    results.write(tmp_path / "t4.json")
    again = Results.read(tmp_path / "t4.json")
    assert again.data == results.data
    one = results.data["results"][0]
    assert {"configuration", "times", "invalidity", "correctness"} <= one.keys()
    assert one["invalidity"] == "correct"


@pytest.mark.parametrize(
    "text, message",
    [
        ("__import__('os').system('true')", "has more than numbers"),
        ("().__class__", "has more than numbers"),
        ("9 ** 9 ** 9", "a power is too large"),
        ("1 +", "is no expression"),
        ("nothing + 1", "has no value"),
    ],
)
def test_expressions_reach_nothing_else(text, message):
    data = {"ConfigurationSpace": {"TuningParameters": [{"Name": "a", "Type": "int", "Values": text}]}}
    with pytest.raises(dslc.DslcError, match=message):
        list(Problem(data).configurations())


CLOSED = """{
"schema_version": "1.1.0",
"device_name": "Testing",
"kernel_name": "vector_add",
"problem_size": [
4096,
1
],
"tune_params_keys": [
"block_size_x"
],
"tune_params": {
"block_size_x": [
32,
2048
]
},
"objective": "time",
"cache": {
"32": {"block_size_x": 32, "time": 1.5, "times": [1.5, 1.5], "compile_time": 1.25, "verification_time": 0, "benchmark_time": 2.5, "GFLOP/s": 7.0, "strategy_time": 0, "framework_time": 1.0, "timestamp": "2026-11-25 09:54:05.502007+00:00"}
}
}"""


def test_a_cache_stays_as_it_is(tmp_path):
    path = tmp_path / "cache.json"
    path.write_text(CLOSED)
    Cache.read(path).write(tmp_path / "again.json")
    assert (tmp_path / "again.json").read_text() == CLOSED
    # As an interrupted run leaves it.
    for end in (",", ""):
        path.write_text(CLOSED.removesuffix("\n}\n}") + end)
        assert Cache.read(path).text() == CLOSED
    path.write_text("no cache")
    with pytest.raises(dslc.DslcError, match="is no cache of Kernel Tuner"):
        Cache.read(path)


def test_what_fails_is_marked_in_the_cache(tmp_path):
    path = tmp_path / "cache.json"
    path.write_text(CLOSED)
    first = vector_add()
    marked = Cache.read(path).drop([first.verdict({"block_size_x": size}) for size in (32, 2048)])
    assert marked.data["cache"]["2048"]["time"] == "RuntimeFailedConfig"
    assert marked.data["cache"]["32"]["time"] == 1.5


@pytest.mark.skipif("DSLC_KERNEL_TUNER" not in os.environ, reason="DSLC_KERNEL_TUNER does not name Kernel Tuner's folder of tests")
def test_the_tuners_own_files(tmp_path):
    folder = Path(os.environ["DSLC_KERNEL_TUNER"])
    problem = Problem.read(folder / "test_T1_input.json")
    problem.write(tmp_path / "t1.json")
    assert json.loads((tmp_path / "t1.json").read_text()) == json.loads((folder / "test_T1_input.json").read_text())
    first = list(itertools.islice(problem.configurations(), 100))
    assert len(first) == 100 and first[0].keys() == problem.parameters.keys()
    caches = [*folder.glob("test_cache_file*.json"), *folder.glob("test_cache_files/*.json"), *folder.glob("synthetic*.json")]
    assert caches
    for path in caches:
        data = Cache.read(path).data
        if "cache" in data and "tune_params_keys" in data:
            Cache(data).write(tmp_path / "cache.json")
            assert Cache.read(tmp_path / "cache.json").data == data
