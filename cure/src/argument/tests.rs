//! Tests of the arguments on small programs: which edits they prove, and which they must not.

use ir::{
    Module,
    source::{NoFiles, SourceFile, SourceMap},
};

use super::{atomic, chosen, layout, order};

fn module(text: &str) -> Module {
    let mut map = SourceMap::new();
    let file = map.add(SourceFile::new("t.cu", text));
    let compiled = dsl::compile(&mut map, file, &dsl::Options::default(), &NoFiles);
    let messages: Vec<String> = compiled
        .diagnostics
        .iter()
        .map(|one| one.message.clone())
        .collect();
    compiled
        .module
        .unwrap_or_else(|| panic!("{messages:?}\n{text}"))
}

/// Whether an argument proves that a text may be replaced everywhere in a kernel's body.
fn proves(
    argument: impl Fn(&Module, &Module) -> Option<String>,
    body: &str,
    edits: &[(&str, &str)],
) -> bool {
    let kernel = |body: &str| {
        module(&format!(
            "__constant__ float table[64];\n__global__ void k(float *out, const float *in, const int *idx, unsigned *count, unsigned long long *sum, int n)\n{{\n{body}\n}}\n"
        ))
    };
    let mut edited = body.to_string();
    for (old, new) in edits {
        assert!(edited.contains(old), "no {old} in {edited}");
        edited = edited.replace(old, new);
    }
    argument(&kernel(body), &kernel(&edited)).is_some()
}

const TILE: &str = "__shared__ float tile[32][32];\n tile[threadIdx.y][threadIdx.x] = in[threadIdx.x];\n __syncthreads();\n \
    out[threadIdx.x] = tile[threadIdx.x][threadIdx.y + 1 - 1] + tile[0][threadIdx.x] + tile[3][4];";

#[test]
fn wider_rows_keep_elements_apart() {
    let wider = [("[32][32]", "[32][33]")];
    assert!(proves(layout::shared, TILE, &wider));
    // Not only the place changes, but also the value.
    assert!(!proves(
        layout::shared,
        TILE,
        &[wider[0], ("tile[3][4]", "tile[3][5]")]
    ));
    // Another path accesses the rows as one line, through a kept pointer, or with a wider type.
    for flat in [
        "out[n] = (&tile[0][0])[n];",
        "float *p = &tile[1][0]; for (int i = 0; i < n; i++) { out[i] = *p; p++; }",
        "out[n] = ((float4 *)&tile[threadIdx.y][0])[0].x;",
        "out[n] = (float)(size_t)&tile[0][n];",
    ] {
        let body = format!("{TILE}\n{flat}");
        assert!(!proves(layout::shared, &body, &wider), "{flat}");
    }
    // Too large for a launch, or the launch's own addition is unknown.
    let large = TILE.replace("[32][32]", "[32][384]");
    assert!(!proves(
        layout::shared,
        &large,
        &[("[32][384]", "[32][385]")]
    ));
    let dynamic = format!("extern __shared__ float more[];\n{TILE}\n more[0] = 1;");
    assert!(!proves(layout::shared, &dynamic, &wider));
}

#[test]
fn permuted_columns_are_one_map() {
    let swizzled = [
        (
            "tile[threadIdx.y][threadIdx.x]",
            "tile[threadIdx.y][threadIdx.x ^ threadIdx.y]",
        ),
        (
            "tile[threadIdx.x][threadIdx.y + 1 - 1]",
            "tile[threadIdx.x][(threadIdx.y + 1 - 1) ^ threadIdx.x]",
        ),
        ("tile[0][threadIdx.x]", "tile[0][threadIdx.x ^ 0]"),
        ("tile[3][4]", "tile[3][4 ^ 3]"),
    ];
    assert!(proves(layout::shared, TILE, &swizzled));
    // One access was not rewritten.
    assert!(!proves(layout::shared, TILE, &swizzled[..3]));
    let of_48 = TILE.replace("[32][32]", "[32][48]");
    assert!(!proves(layout::shared, &of_48, &swizzled));
}

const LINE: &str = "__shared__ float s[1024];\n int t = threadIdx.x;\n s[t] = in[t];\n __syncthreads();\n out[t] = s[t * 32 % 1024] + s[5];";

#[test]
fn lines_are_spread_with_room() {
    let spread = [
        ("s[t]", "s[t + t / 32]"),
        (
            "s[t * 32 % 1024]",
            "s[(t * 32 % 1024) + (t * 32 % 1024) / 32]",
        ),
        ("s[5]", "s[5 + 5 / 32]"),
    ];
    let with_room = [&spread[..], &[("s[1024]", "s[1056]")]].concat();
    assert!(proves(layout::shared, LINE, &with_room));
    assert!(!proves(layout::shared, LINE, &spread));
    let permuted = [
        ("s[t]", "s[t ^ t / 32 % 32]"),
        (
            "s[t * 32 % 1024]",
            "s[(t * 32 % 1024) ^ (t * 32 % 1024) / 32 % 32]",
        ),
        ("s[5]", "s[5 ^ 5 / 32 % 32]"),
    ];
    assert!(proves(layout::shared, LINE, &permuted));
    let odd = LINE.replace("s[1024]", "s[1000]");
    assert!(!proves(layout::shared, &odd, &permuted));
}

#[test]
fn a_table_may_lie_elsewhere() {
    let old = "__constant__ float t[8];\n__global__ void k(float *out) { out[threadIdx.x] = t[threadIdx.x % 8]; }";
    let new = old.replace("__constant__", "__device__");
    assert!(layout::table(&module(old), &module(&new)).is_some());
    let other = new.replace("% 8", "% 4");
    assert!(layout::table(&module(old), &module(&other)).is_none());
}

fn needless(old: &Module, new: &Module) -> Option<String> {
    order::needless(old, new, &[])
}

#[test]
fn barriers_between_own_elements_go() {
    let without = [("__syncthreads();", "")];
    for body in [
        "__shared__ float s[64]; int t = threadIdx.x; s[t] = in[t]; __syncthreads(); out[t] = s[t];",
        "__shared__ float s[1024]; for (int i = threadIdx.x; i < n; i += blockDim.x) s[i] = in[i]; __syncthreads(); for (int i = threadIdx.x; i < n; i += blockDim.x) out[i] = s[i];",
        "__shared__ float s[8][32]; s[threadIdx.y][threadIdx.x] = 1; __syncthreads(); s[threadIdx.y][threadIdx.x] *= 2;",
        "__shared__ float s[1024]; int t = threadIdx.y * blockDim.x + threadIdx.x; s[t] = in[t]; __syncthreads(); out[t] = s[t];",
        "int i = blockIdx.x * blockDim.x + threadIdx.x; out[i] = in[i]; __syncthreads(); out[i] += 1;",
        "__shared__ float s[64]; s[threadIdx.x] = in[threadIdx.x]; __syncthreads(); if (threadIdx.x == 0) out[0] = s[0];",
        "out[threadIdx.x] = in[threadIdx.x]; __syncthreads();",
    ] {
        assert!(proves(needless, body, &without), "{body}");
    }
}

#[test]
fn barriers_that_others_may_need_stay() {
    let without = [("__syncthreads();", "")];
    for body in [
        // Another element: the next one, or one chosen by data, by an argument, by transposition, or by a second dimension.
        "__shared__ float s[65]; int t = threadIdx.x; s[t] = in[t]; __syncthreads(); out[t] = s[t + 1];",
        "__shared__ float s[64]; int t = threadIdx.x; s[t] = in[t]; __syncthreads(); out[t] = s[idx[t]];",
        "__shared__ float s[64]; int t = threadIdx.x; s[t] = in[t]; __syncthreads(); out[t] = s[t + n];",
        "__shared__ float s[32][32]; s[threadIdx.y][threadIdx.x] = 1; __syncthreads(); out[0] = s[threadIdx.x][threadIdx.y];",
        "__shared__ float s[32]; s[threadIdx.x] = threadIdx.y; __syncthreads(); out[threadIdx.x] = s[threadIdx.x];",
        // One thread reads the elements of all.
        "__shared__ float s[64]; s[threadIdx.x] = in[threadIdx.x]; __syncthreads(); if (threadIdx.x == 0) out[0] = s[1];",
        // A conflict with a later round.
        "__shared__ float s[64]; for (int i = 0; i < n; i++) { out[i] = s[threadIdx.x ^ 1]; __syncthreads(); s[threadIdx.x] = i; }",
        // Global memory, atomics, volatile, exchanges, fences.
        "int t = threadIdx.x; out[t] = in[t]; __syncthreads(); out[t + 64] = out[t + 1];",
        "atomicAdd(&count[threadIdx.x], 1u); __syncthreads(); out[threadIdx.x] = count[threadIdx.x];",
        "volatile float *v = out; v[threadIdx.x] = 1; __syncthreads(); v[threadIdx.x] += 1;",
        "out[threadIdx.x] = in[threadIdx.x]; __threadfence(); __syncthreads(); out[threadIdx.x] += 1;",
        "__shared__ float s[64]; s[threadIdx.x] = 1; __syncthreads(); out[threadIdx.x] = __shfl_sync(~0u, s[threadIdx.x], 0);",
        // Pointers that may lead anywhere.
        "__shared__ float s[64]; float *p = n > 0 ? s : out; p[threadIdx.x] = 1; __syncthreads(); out[threadIdx.x] = p[threadIdx.x];",
    ] {
        assert!(!proves(needless, body, &without), "{body}");
    }
}

fn placed(old: &Module, new: &Module) -> Option<String> {
    order::placed(old, new, &[])
}

#[test]
fn barriers_that_leave_no_race_are_proved() {
    let reverse =
        "__shared__ float s[64]; int t = threadIdx.x; s[t] = in[t];\n/**/ out[t] = s[63 - t];";
    assert!(proves(placed, reverse, &[("/**/", "__syncthreads();")]));
    let product = "__shared__ float a[16][16], b[16][16]; int x = threadIdx.x, y = threadIdx.y; float all = 0;\n \
        for (int m = 0; m < n / 16; ++m) { a[y][x] = in[y * n + m * 16 + x]; b[y][x] = in[(m * 16 + y) * n + x]; __syncthreads();\n \
        for (int e = 0; e < 16; ++e) all += a[y][e] * b[e][x];\n/**/ }\n out[y * n + x] = all;";
    assert!(proves(placed, product, &[("/**/", "__syncthreads();")]));
}

#[test]
fn barriers_that_some_miss_or_that_are_too_few_are_not_proved() {
    let in_branch = "__shared__ float s[64]; int t = threadIdx.x; if (t < n) { s[t] = in[t];\n/**/ out[t] = s[63 - t]; }";
    assert!(!proves(placed, in_branch, &[("/**/", "__syncthreads();")]));
    let left = "__shared__ float s[64]; int t = threadIdx.x; if (t >= n) return; s[t] = in[t];\n/**/ out[t] = s[63 - t];";
    assert!(!proves(placed, left, &[("/**/", "__syncthreads();")]));
    let more = "__shared__ float s[65]; int t = threadIdx.x; s[t] = in[t];\n/**/ s[t] += s[t + 1];";
    assert!(!proves(placed, more, &[("/**/", "__syncthreads();")]));
    let rounds = "__shared__ float s[65]; int t = threadIdx.x; for (int i = 0; i < idx[t]; i++) { s[t] = i;\n/**/ out[t] = s[t ^ 1]; }";
    assert!(!proves(placed, rounds, &[("/**/", "__syncthreads();")]));
}

#[test]
fn a_warp_adds_up_what_it_may() {
    let lane = "threadIdx.x % 32 == __ffs(active) - 1";
    let count = format!(
        "{{ unsigned active = __activemask(); if ({lane}) atomicAdd(count, __popc(active)); }}"
    );
    assert!(proves(
        atomic::in_warp,
        "atomicAdd(count, 1u);",
        &[("atomicAdd(count, 1u);", &count)]
    ));
    assert!(!proves(
        atomic::in_warp,
        "atomicAdd(count, 2u);",
        &[("atomicAdd(count, 2u);", &count)]
    ));
    // The number of a lane leaves out a dimension that the kernel reads elsewhere.
    let old = "out[threadIdx.y] = 1; atomicAdd(count, 1u);";
    assert!(!proves(
        atomic::in_warp,
        old,
        &[("atomicAdd(count, 1u);", &count)]
    ));
    // A word for each thread; a used old value.
    let each = count.replace("count,", "&count[threadIdx.x],");
    let old = "atomicAdd(&count[threadIdx.x], 1u);";
    assert!(!proves(atomic::in_warp, old, &[(old, &each)]));
    let sum = |name: &str, reduce: &str, to: &str, value: &str| {
        let old = format!("{name}({to}, {value});");
        let new = format!(
            "{{ unsigned active = __activemask(); auto all = {reduce}(active, {value}); if ({lane}) {name}({to}, all); }}"
        );
        proves(atomic::in_warp, &old, &[(&old, &new)])
    };
    assert!(sum(
        "atomicAdd",
        "__reduce_add_sync",
        "count",
        "(unsigned)idx[threadIdx.x]"
    ));
    assert!(sum(
        "atomicMax",
        "__reduce_max_sync",
        "count",
        "(unsigned)idx[threadIdx.x]"
    ));
    // Signed extremes for an unsigned word; 32 bits for 64.
    assert!(!sum(
        "atomicMax",
        "__reduce_max_sync",
        "count",
        "idx[threadIdx.x]"
    ));
    assert!(!sum(
        "atomicAdd",
        "__reduce_add_sync",
        "sum",
        "(unsigned)idx[threadIdx.x]"
    ));
}

#[test]
fn a_choice_is_proved_where_no_type_changes() {
    let branch = "if (n > 3) out[0] = in[0] ; else out[0] = 2.0f;";
    // A read inside a branch does not always happen.
    assert!(!proves(
        chosen,
        branch,
        &[(branch, "out[0] = n > 3 ? 1.0f : 2.0f;")]
    ));
    let branch = "float a = in[0], b = in[1]; if (n > 3) out[0] = a; else out[0] = b;";
    assert!(proves(
        chosen,
        branch,
        &[(
            "if (n > 3) out[0] = a; else out[0] = b;",
            "out[0] = n > 3 ? a : b;"
        )]
    ));
    let branch = "int a = idx[0]; float b = in[1]; if (n > 3) sum[0] = a; else sum[0] = b;";
    assert!(!proves(
        chosen,
        branch,
        &[(
            "if (n > 3) sum[0] = a; else sum[0] = b;",
            "sum[0] = n > 3 ? a : b;"
        )]
    ));
}
