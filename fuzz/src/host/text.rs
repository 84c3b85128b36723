//! A host program in C, made from a table of statements.

use crate::choices::Choices;

const HEAD: &str = "
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
struct pair_t { int key; double value; };
__device__ int dev[16];
__constant__ float con[16];
__managed__ int man[16];
int glob[16];
__global__ void k(int *p, int n) { int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) p[i] += n; }
__global__ void g(char *p, long n) { p[threadIdx.x] = p[(threadIdx.x + n) % 32]; dev[threadIdx.x & 15] = n; }
int ascending(const void *a, const void *b) { return *(const int *)a - *(const int *)b; }
void called(void *data) { ++*(int *)data; }
int main(int argc, char **argv) {
    void *p[6] = {0, 0, 0, 0, 0, 0};
    char text[64] = \"some text, 12 34.5 words\", room[64] = \"\";
    int number[16] = {5, 3, 9, 1};
    long big = 0;
    float ms = 0;
    size_t size = 0;
    char *end = text;
    cudaStream_t s[3] = {0, 0, 0};
    cudaEvent_t e[3] = {0, 0, 0};
    cudaDeviceProp prop;
    memset(&prop, 0, sizeof prop);
";

/// `{p}`: a pointer; `{n}`: a size; `{i}`: a small number; `{k}`: a kind of copy; `{s}`, `{e}`: a stream, an event; `{h}`: where to put a
/// pointer; `{t}`: a string; `{l}`: a launch's numbers.
const STATEMENTS: &[&str] = &[
    "cudaMalloc(&{h}, {n});",
    "cudaMallocManaged(&{h}, {n});",
    "cudaMallocHost(&{h}, {n});",
    "cudaHostAlloc(&{h}, {n}, cudaHostAllocMapped);",
    "{h} = malloc({n});",
    "{h} = calloc({n}, {i});",
    "{h} = realloc({p}, {n});",
    "free({p});",
    "cudaFree({p});",
    "cudaFreeHost({p});",
    "cudaMemcpy({p}, {p}, {n}, {k});",
    "cudaMemcpyAsync({p}, {p}, {n}, {k}, {s});",
    "cudaMemset({p}, {i}, {n});",
    "cudaMemsetAsync({p}, {i}, {n}, {s});",
    "cudaMemcpy2D({p}, {n}, {p}, {n}, {n}, {i}, {k});",
    "cudaMemset2D({p}, {n}, {i}, {n}, {i});",
    "cudaMallocPitch(&{h}, &size, {n}, {i});",
    "{ cudaPitchedPtr q; cudaExtent x = make_cudaExtent({n}, {i}, {i}); cudaMalloc3D(&q, x); cudaMemset3D(q, {i}, x); {h} = q.ptr; }",
    "cudaMemcpyToSymbol(dev, {p}, {n});",
    "cudaMemcpyToSymbol(con, {p}, {n}, {n});",
    "cudaMemcpyFromSymbol({p}, dev, {n}, {n});",
    "cudaGetSymbolAddress(&{h}, dev);",
    "cudaGetSymbolSize(&size, con);",
    "k<<<{l}>>>((int *){p}, {i});",
    "g<<<{l}>>>((char *){p}, {n});",
    "{ void *q = {p}; int n = {i}; void *args[] = {&q, &n}; cudaLaunchKernel((void *)k, dim3({j}), dim3({i}), args, 0, {s}); }",
    "cudaDeviceSynchronize();",
    "printf(\"%s\\n\", cudaGetErrorString(cudaGetLastError()));",
    "printf(\"%s\\n\", cudaGetErrorName((cudaError_t){i}));",
    "cudaPeekAtLastError();",
    "cudaDeviceReset();",
    "cudaGetDeviceProperties(&prop, {i}); printf(\"%s %d\\n\", prop.name, prop.major);",
    "cudaSetDevice({i});",
    "cudaGetDevice((int *){p});",
    "cudaGetDeviceCount((int *){p});",
    "cudaMemGetInfo(&size, (size_t *){p});",
    "cudaStreamCreate(&s[{j}]);",
    "cudaStreamCreateWithFlags(&s[{j}], {i});",
    "cudaStreamDestroy({s});",
    "cudaStreamSynchronize({s});",
    "cudaStreamQuery({s});",
    "cudaStreamWaitEvent({s}, {e}, 0);",
    "cudaLaunchHostFunc({s}, called, {p});",
    "cudaEventCreate(&e[{j}]);",
    "cudaEventRecord({e}, {s});",
    "cudaEventSynchronize({e});",
    "cudaEventQuery({e});",
    "cudaEventElapsedTime(&ms, {e}, {e}); printf(\"%f\\n\", ms);",
    "cudaEventDestroy({e});",
    "cudaFuncSetAttribute(k, (cudaFuncAttribute){i}, {i});",
    "{ cudaFuncAttributes a; cudaFuncGetAttributes(&a, g); printf(\"%d\\n\", a.maxThreadsPerBlock); }",
    "cudaDeviceSetSharedMemConfig((cudaSharedMemConfig){i});",
    "cudaOccupancyMaxActiveBlocksPerMultiprocessor(number, k, {i}, {n});",
    "cudaMemPrefetchAsync({p}, {n}, {i}, {s});",
    "cudaHostGetDevicePointer(&{h}, {p}, 0);",
    "memcpy({p}, {p}, {n});",
    "memmove({p}, {p}, {n});",
    "memset({p}, {i}, {n});",
    "big += memcmp({p}, {p}, {n});",
    "strcpy((char *){p}, {t});",
    "strncpy(room, {t}, {n});",
    "strcat(room, {t});",
    "big += strlen({t});",
    "big += strcmp({t}, {t}) + strncmp({t}, {t}, {n});",
    "if (strchr({t}, {i})) end = strchr({t}, {i});",
    "if (strstr({t}, {t})) puts(strstr({t}, {t}));",
    "end = strtok(room, {t}); if (end) puts(end);",
    "big += strtol({t}, &end, {i}) + atoi({t}) + (long)atof({t});",
    "printf(\"%g\\n\", strtod({t}, &end));",
    "sprintf(room, {t}, {i}, {t});",
    "snprintf(room, {n}, \"%d %s %f %c\", {i}, {t}, 1.5, {i});",
    "printf({t}, {i}, {t});",
    "printf(\"%*d %.*f %5s %-5d|%+d %#x %lld %p\\n\", {i}, {i}, {i}, 2.5, {t}, {i}, {i}, {i}, (long long)big, {p});",
    "fprintf(stderr, \"%s\\n\", {t});",
    "big += sscanf({t}, \"%d %f %s\", number, &ms, room);",
    "big += sscanf({t}, {t}, number);",
    "qsort({p}, {n}, {i}, ascending);",
    "qsort(number, {j}, 4, ascending);",
    "big += bsearch(number, number, {j}, 4, ascending) != NULL;",
    "srand({i}); number[{j}] = rand();",
    "puts({t});",
    "putchar({i});",
    "number[{j}] = ((int *){p})[{i}];",
    "((int *){p})[{i}] = {i};",
    "man[{i}] = {i};",
    "glob[{i}] = number[{i}];",
    "number[{j}] = {i} / number[{j}];",
    "number[{j}] = {i} << number[{j}];",
    "if (argc > {i}) puts(argv[{i}]);",
    "for (int i = 0; i < {i}; i++) number[i] = i;",
    "while (big < {i}) big++;",
    "int *q{u} = new int[{n}]; q{u}[{i}] = 1; delete[] q{u};",
    "pair_t *r{u} = new pair_t; {h} = r{u}; r{u}->key = {i};",
    "delete (pair_t *){p};",
];

/// The same for C++'s library, which takes longer to compile.
const CPP_HEAD: &str = "#include <vector>\n#include <algorithm>\n#include <string>\n#include <map>\n#include <iostream>\n";
const CPP_VARIABLES: &str =
    "    std::vector<int> v(4, 7);\n    std::string str = \"abc\";\n    std::map<int, int> m;\n";
const CPP_STATEMENTS: &[&str] = &[
    "v.push_back({i});",
    "v.resize({n});",
    "v[{i}] = {i};",
    "number[0] = v.at({i});",
    "v.pop_back();",
    "v.erase(v.begin() + {i});",
    "v.insert(v.begin() + {i}, {i});",
    "std::sort(v.begin(), v.end());",
    "std::vector<int> w{u}(v); v = w{u};",
    "str += {t};",
    "str = str.substr({i}, {n});",
    "big += str.find({t});",
    "std::cout << str << {i} << std::endl;",
    "str[{i}] = 'x';",
    "m[{i}] = {i};",
    "big += m.count({i}) + m.size();",
];

/// Statements that end a program are rarer.
const ENDS: &[&str] = &["exit({i});", "abort();", "if (big == {i}) exit({i});"];

/// The program.
pub(super) fn program(choices: &mut Choices<'_>) -> String {
    let with_cpp = choices.one_in(6);
    let mut text = String::new();
    if with_cpp {
        text += CPP_HEAD;
    }
    text += HEAD;
    if with_cpp {
        text += CPP_VARIABLES;
    }
    for number in 0..48 {
        if choices.is_empty() {
            break;
        }
        let statement = if choices.one_in(64) {
            choices.pick(ENDS)
        } else if with_cpp && choices.one_in(2) {
            choices.pick(CPP_STATEMENTS)
        } else {
            choices.pick(STATEMENTS)
        };
        text += "    ";
        fill(&mut text, statement, number, choices);
        text.push('\n');
    }
    text += "    printf(\"%ld %s %s\\n\", big, text, room);\n    return 0;\n}\n";
    text
}

fn fill(text: &mut String, statement: &str, number: usize, choices: &mut Choices<'_>) {
    let mut rest = statement;
    while let Some(at) = rest.find('{') {
        text.push_str(&rest[..at]);
        let hole = rest.as_bytes().get(at + 1..at + 3);
        rest = &rest[at + 1..];
        match hole {
            Some([kind, b'}']) => {
                rest = &rest[2..];
                hole_of(*kind, text, number, choices);
            }
            _ => text.push('{'),
        }
    }
    text.push_str(rest);
}

/// Fills a placeholder with a choice of its kind. This is a table: one arm per kind.
fn hole_of(kind: u8, text: &mut String, number: usize, choices: &mut Choices<'_>) {
    match kind {
        b'p' => {
            let pointers = [
                "p[0]",
                "p[1]",
                "p[2]",
                "p[3]",
                "p[4]",
                "p[5]",
                "number",
                "room",
                "man",
                "glob",
                "&p[1]",
                "NULL",
                "&number[12]",
                "(void *)0x7f0000001000",
                "&big",
            ];
            match choices.below(8) {
                7 => {
                    *text += &format!(
                        "(void *)((char *)p[{}] + {})",
                        choices.below(6),
                        choices.pick(&["1", "4", "100", "-1"])
                    )
                }
                _ => *text += choices.pick(&pointers),
            }
        }
        b'h' => *text += &format!("p[{}]", choices.below(6)),
        b'n' => {
            *text += choices.pick(&[
                "64",
                "4",
                "0",
                "1",
                "16",
                "100",
                "256",
                "4096",
                "65536",
                "1 << 20",
                "(size_t)1 << 37",
                "(size_t)-1",
                "(size_t)1 << 63",
                "sizeof number",
                "size",
            ]);
        }
        b'i' => {
            *text += choices.pick(&[
                "1",
                "0",
                "2",
                "3",
                "5",
                "7",
                "15",
                "16",
                "31",
                "32",
                "33",
                "100",
                "-1",
                "-2147483647",
                "2147483647",
                "number[1]",
                "argc",
            ])
        }
        b'j' => *text += choices.pick(&["0", "1", "2"]),
        b'k' => {
            *text += choices.pick(&[
                "cudaMemcpyHostToDevice",
                "cudaMemcpyDeviceToHost",
                "cudaMemcpyDeviceToDevice",
                "cudaMemcpyHostToHost",
                "cudaMemcpyDefault",
                "(cudaMemcpyKind)9",
            ])
        }
        b's' => *text += choices.pick(&["s[0]", "s[1]", "s[2]", "0", "(cudaStream_t)77"]),
        b'e' => *text += choices.pick(&["e[0]", "e[1]", "e[2]", "(cudaEvent_t)77"]),
        b't' => {
            *text += choices.pick(&[
                "text",
                "room",
                "\"12 7.5 x\"",
                "\"\"",
                "\"%d %s\\n\"",
                "\"%s\"",
                "\", \"",
                "(char *)p[1]",
                "end",
                "\"-99999999999999999999\"",
                "\"0x1fp3\"",
            ])
        }
        b'l' => {
            *text += choices.pick(&[
                "1, 32",
                "2, 16",
                "1, 1",
                "number[5], 32",
                "number[0], number[5]",
                "1, 1025",
                "dim3(2, 2), dim3(4, 4)",
                "70000, 1",
                "1, 32, 100",
                "1, 32, 1 << 20",
                "1, 32, 0, s[1]",
                "1, 16, 0, s[2]",
            ])
        }
        b'u' => *text += &number.to_string(),
        _ => {}
    }
}
