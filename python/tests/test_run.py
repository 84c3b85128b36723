"""Whole programs, and reports."""

import json
from pathlib import Path

import dslc
import pytest

ROOT = Path(__file__).resolve().parents[2]
TRANSPOSE = ROOT / "examples/transpose.k"


def test_a_program_runs_with_its_arguments(tmp_path):
    program = tmp_path / "args.cu"
    program.write_text(
        """
#include <stdio.h>
__global__ void k(int *x) { x[threadIdx.x] = N; }
int main(int argc, char **argv) {
    int *x;
    cudaMalloc(&x, 32 * sizeof(int));
    k<<<1, 32>>>(x);
    cudaDeviceSynchronize();
    for (int i = 1; i < argc; i++) printf("%s\\n", argv[i]);
    cudaFree(x);
    return N;
}"""
    )
    report = dslc.run(program, args=["a b", 3, "--format"], defines={"N": True})
    assert report.stdout == "a b\n3\n--format\n"
    assert report.exit_code == 1
    assert report.is_clean
    assert report.site("x[threadIdx.x]").sectors == 4


def test_an_access_of_one_kernel_and_of_all():
    report = dslc.run(TRANSPOSE)
    text = "tile[threadIdx.x][threadIdx.y]"
    assert report.site(text, kernel="transpose_tile").max_degree == 32
    assert report.site(text, kernel="transpose_tile_padded").max_degree == 1
    both = report.site(" tile[threadIdx.x] [threadIdx.y]", "load")
    assert (both.requests, both.transactions, both.ideal, both.bank_conflicts) == (256, 4224, 256, 3968)
    assert both.sectors is None
    assert report.metric("shared_load_bank_conflicts") == 3968
    assert report.metric("shared_load_bank_conflicts", kernel="transpose_tile_padded") == 0
    with pytest.raises(dslc.NotFoundError, match="line   48  shared load  tile"):
        report.site("tile[0]")
    with pytest.raises(dslc.NotFoundError, match="near it: gst_efficiency"):
        report.metric("gst_eficiency")
    with pytest.raises(dslc.NotFoundError, match="the report's own are barriers, branches"):
        report.metric("x")
    with pytest.raises(dslc.NotFoundError, match="no launch of `transpos`"):
        report.metric("branches", kernel="transpos")


def test_the_profilers_metrics_of_a_program():
    report = dslc.run(TRANSPOSE)
    assert report.metric("gst_efficiency", kernel="transpose_tile") == 1.0
    # Two launches: 512 sectors of 4,096 and 512 of 2,048.
    assert report.metric("gst_efficiency", kernel="transpose_direct") == pytest.approx(1024 / 6144)
    # All stores of the program together: requested bytes, and bytes of the sectors that they touched.
    stores = [site for launch in report.launches for site in launch.sites if (site.space, site.op) == ("global", "store")]
    wanted, moved = sum(site.bytes for site in stores), sum(32 * site.sectors for site in stores)
    assert report.metric("gst_efficiency") == pytest.approx(wanted / moved)
    conflicts = "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_ld.sum"
    assert report.metric(conflicts, kernel="transpose_tile") == report.metric("shared_load_bank_conflicts") == 3968


def test_a_report_shows_itself():
    report = dslc.run(TRANSPOSE)
    assert repr(report) == "<dslc report for sm_90: 5 launches, clean>"
    assert "48  shared load  tile[threadIdx.x][threadIdx.y]" in str(report)
    table = report._repr_html_()
    assert table.count("<tr") == 13
    assert "<code>tile[threadIdx.x][threadIdx.y]</code>" in table
    page = report.to_html()
    assert page.startswith("<!DOCTYPE html>") or "<html" in page[:200]
    assert json.loads(report.to_json())["schema"] == "dslc-report/1"
    assert report.suggestions[0]["verified"]


def test_rows_are_a_data_frame():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(dslc.run(TRANSPOSE).rows())
    assert len(frame) == 14
    assert frame.requests.sum() == 14 * 128
    worst = frame.sort_values("bank_conflicts", ascending=False).iloc[0]
    assert (worst.kernel, worst.line) == ("transpose_tile", 48)


def test_findings_have_their_messages(tmp_path):
    program = ROOT / "tests/findings/sound/lock_within_a_warp.k"
    report = dslc.run(program, arch="sm_35")
    assert not report.is_clean
    with pytest.raises(dslc.NotCleanError, match="deadlock"):
        report.assert_clean()


def test_what_cannot_be_run(tmp_path):
    with pytest.raises(dslc.DslcError, match="there is no such file"):
        dslc.run("nothing.cu")
    wrong = tmp_path / "wrong.cu"
    wrong.write_text("int main() { return x; }")
    with pytest.raises(dslc.CompileError, match="there is no variable `x`"):
        dslc.run(wrong)
    with pytest.raises(dslc.DslcError, match="sm_1"):
        dslc.run(TRANSPOSE, arch="sm_1")


def test_an_endless_program_ends(tmp_path):
    program = tmp_path / "endless.cu"
    program.write_text("int main() { for (;;) {} }")
    report = dslc.run(program, timeout=0.3)
    assert not report.is_clean or report.exit_code != 0


def test_a_program_without_main_is_a_matter_of_kernel(tmp_path):
    path = tmp_path / "k.cu"
    path.write_text("__global__ void k(int *x) { x[0] = 1; }\n")
    with pytest.raises(dslc.DslcError, match=r"the program has no main\(\): launch its kernels one by one with `dslc.kernel\('.*k.cu', name\)\(grid, block, …\)`"):
        dslc.run(path)


@pytest.mark.parametrize(
    "kernel, kind",
    [
        ("__shared__ int s[64]; s[threadIdx.x] = in[threadIdx.x]; out[threadIdx.x] = s[63 - threadIdx.x];", "race"),
        ("out[threadIdx.x] = in[threadIdx.x + 1];", "out_of_bounds"),
        ("__shared__ int s[65]; s[threadIdx.x] = in[threadIdx.x]; __syncthreads(); out[threadIdx.x] = s[threadIdx.x + 1];", "uninitialized"),
        ("if (threadIdx.x < 32) __syncthreads(); out[threadIdx.x] = in[threadIdx.x];", "barrier_divergence"),
        ("out[threadIdx.x] = in[threadIdx.x];", None),
    ],
)
def test_a_kernel_and_a_program_find_the_same(tmp_path, kernel, kind):
    import numpy as np

    text = f"__global__ void k(int *out, const int *in) {{ {kernel} }}\n"
    main = """int main() {
    int *out, *in;
    cudaMalloc(&out, 256); cudaMalloc(&in, 256); cudaMemset(in, 0, 256);
    k<<<1, 64>>>(out, in);
    cudaDeviceSynchronize();
    cudaFree(out); cudaFree(in);
}
"""
    path = tmp_path / "whole.cu"
    path.write_text(text + main)
    wanted = [kind] if kind else []
    assert [one.kind for one in dslc.run(path).findings if one.severity != "note"] == wanted
    try:
        report = dslc.kernel(text)(1, 64, np.zeros(64, np.int32), np.zeros(64, np.int32))
    except dslc.LaunchError as error:
        report = error.report
    assert [one.kind for one in report.findings if one.severity != "note"] == wanted
