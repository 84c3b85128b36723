#!/usr/bin/env python3
"""Kernels with random address expressions, for `dslc verify`: the simulator's counts against a GPU's.

    generate.py [COUNT] [SEED] > generated.k        default: 320 kernels, seed 1

Every kernel fills its shared array, stores, reads back in a loop and writes out, each access with its own random address expression,
width and mask. A stored value is a function of where it goes, so that lanes and warps which meet on one address agree and the
program's output is defined; the loads and stores are kept apart by barriers. The result of each launch is summed and printed.
"""
import random
import sys

BLOCKS, THREADS = 3, (32, 64, 96, 128, 256)

# Name, bytes, components, how a component is made from an int, the type for sums of components.
TYPES = [
    ("char", 1, 1), ("unsigned char", 1, 1), ("short", 2, 1), ("int", 4, 1), ("unsigned", 4, 1), ("float", 4, 1),
    ("long long", 8, 1), ("double", 8, 1), ("int2", 8, 2), ("float2", 8, 2), ("int4", 16, 4), ("float4", 16, 4), ("double2", 16, 2),
]
SHARED_BYTES = 8192


class Kernel:
    def __init__(self, rng, number):
        self.rng, self.number = rng, number
        self.threads = rng.choice(THREADS)
        self.type, self.width, self.components = rng.choice(TYPES)
        self.elements = SHARED_BYTES // self.width
        self.volatile = self.components == 1 and rng.random() < 0.4
        self.rounds = rng.choice((1, 2, 3, 5))

    def term(self, loop):
        """An int expression of the thread (and of the loop's `i`), of any size."""
        r = self.rng
        t = r.choice(("t", "t", "t", "(t & 31)", "(t ^ %d)" % r.randrange(32), "(31 - (t & 31))", "(t / 4 + t % 4)"))
        kind = r.randrange(7)
        if kind == 0:
            text = "%s * %d + %d" % (t, r.choice((1, 1, 2, 3, 4, 5, 7, 8, 16, 17, 32, 33, 64)), r.randrange(64))
        elif kind == 1:
            s = r.randrange(1, 5)
            text = "(%s >> %d) * %d + (%s & %d) * %d" % (t, s, r.choice((1, 32, 33, 31, 64)), t, (1 << s) - 1, r.choice((1, 2, 32, 16, 8)))
        elif kind == 2:
            w = r.choice((2, 4, 8, 16, 32))
            text = "%s %% %d * %d + %s / %d" % (t, w, r.choice((16, 17, 32, 33, 34)), t, w)
        elif kind == 3:
            text = "%s * %s" % (t, t)
        elif kind == 4:
            text = "(%s * %d ^ %s >> %d)" % (t, r.choice((1, 3, 5, 9)), t, r.randrange(1, 5))
        elif kind == 5:
            text = "table[%s & 31] * %d" % (t, r.choice((1, 2, 4, 8, 32)))
        else:
            text = "%d" % r.randrange(256)
        if loop:
            text += " + i * %d" % r.choice((1, 2, 5, 32, 33, 128))
        return text

    def index(self, loop=False):
        return "(%s) & %d" % (self.term(loop), self.elements - 1)

    def mask(self):
        r = self.rng
        kind = r.randrange(6)
        if kind == 0:
            return "if (t < %d) " % r.randrange(1, self.threads + 1)
        if kind == 1:
            m = r.choice((2, 3, 4, 8))
            return "if (t %% %d == %d) " % (m, r.randrange(m))
        if kind == 2:
            return "if (0x%08xu >> (t & 31) & 1) " % (r.getrandbits(32) | 1)
        return ""

    def value(self, k):
        if self.components == 1:
            return "(%s)(%s %% 113)" % (self.type, k)
        parts = ", ".join("%s * %d %% 113" % (k, 2 * c + 1) for c in range(self.components))
        return "make_%s(%s)" % (self.type, parts)

    def add(self, text):
        """Statements that add what `text` loads to `sum`."""
        if self.components == 1:
            return "sum += (int)%s;" % text
        parts = " + ".join("%d * (int)v.%s" % (i + 1, "xyzw"[i]) for i in range(self.components))
        return "{ %s v = %s; sum += %s; }" % (self.type, text, parts)

    def text(self):
        r = self.rng
        lines = []
        out = lines.append
        qualifier = "volatile " if self.volatile else ""
        out("__global__ void g%d(const %s *in, %s *out, int *sums, int rounds)" % (self.number, self.type, self.type))
        out("{")
        out("    __shared__ %s%s s[%d];" % (qualifier, self.type, self.elements))
        out("    int t = threadIdx.x, sum = 0;")
        out("    for (int k = t; k < %d; k += blockDim.x) s[k] = %s;" % (self.elements, self.value("k")))
        out("    __syncthreads();")
        for _ in range(r.randrange(1, 3)):
            out("    %s{" % self.mask())
            out("        int k = %s;" % self.index())
            out("        s[k] = %s;" % self.value("(k + 7)"))
            out("    }")
            out("    __syncthreads();")
        out("    for (int i = 0; i < rounds; i++) {")
        for _ in range(r.randrange(1, 3)):
            out("        %s%s" % (self.mask(), self.add("s[%s]" % self.index(loop=True))))
        out("        %s%s" % (self.mask(), self.add("in[%s]" % self.index(loop=True))))
        out("    }")
        if self.width == 4 and self.type in ("int", "unsigned") and not self.volatile and r.random() < 0.6:
            op = r.choice(("Add", "Max", "Xor"))
            out("    __syncthreads();")
            out("    %satomic%s(&s[%s], (%s)(t * 5 + 1));" % (self.mask(), op, self.index(), self.type))
            out("    __syncthreads();")
            out("    sum += (int)s[t];")
        out("    %s{" % self.mask())
        out("        int k = %s;" % self.index())
        out("        out[k] = %s;" % self.value("(k + 3)"))
        out("    }")
        out("    sums[blockIdx.x * blockDim.x + t] = sum;")
        out("}")
        return "\n".join(lines)

    def launch(self):
        return "    RUN(g%d, %s, %d, %d);" % (self.number, self.type, self.threads, self.rounds)


def main():
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 320
    seed = int(sys.argv[2]) if len(sys.argv) > 2 else 1
    rng = random.Random(seed)
    kernels = [Kernel(rng, number) for number in range(count)]
    print("// Made by bench/gpu/generate.py %d %d." % (count, seed))
    print("#include <stdio.h>\n#include <stdlib.h>\n")
    table = list(range(32))
    rng.shuffle(table)
    print("__constant__ int table[32] = {%s};\n" % ", ".join(map(str, table)))
    for kernel in kernels:
        print(kernel.text() + "\n")
    print("""\
#define RUN(name, type, threads, rounds)                                            \\
    do {                                                                            \\
        cudaMemset(out, 0, BYTES);                                                  \\
        name<<<BLOCKS, threads>>>((const type *)in, (type *)out, sums, rounds);     \\
        cudaMemcpy(host_out, out, BYTES, cudaMemcpyDeviceToHost);                   \\
        cudaMemcpy(host_sums, sums, BLOCKS * threads * 4, cudaMemcpyDeviceToHost);  \\
        unsigned bits = 0;                                                          \\
        for (int i = 0; i < BYTES; i++) bits = bits * 31 + host_out[i];             \\
        for (int i = 0; i < BLOCKS * threads; i++) bits = bits * 31 + host_sums[i]; \\
        printf("%s %08x %s\\n", #name, bits, cudaGetErrorString(cudaGetLastError())); \\
    } while (0)
#define BLOCKS """ + str(BLOCKS) + """
#define BYTES """ + str(SHARED_BYTES) + """

int main()
{
    unsigned char *in, *out, *host_out = (unsigned char *)malloc(BYTES);
    int *sums, *host_sums = (int *)malloc(BLOCKS * 256 * 4);
    cudaMalloc(&in, BYTES);
    cudaMalloc(&out, BYTES);
    cudaMalloc(&sums, BLOCKS * 256 * 4);
    // Small whole numbers in every type: floats and doubles of 2.0, 2.5, ... have such bytes.
    for (int i = 0; i < BYTES; i++) host_out[i] = i % 4 == 3 ? 0x40 : 0;
    cudaMemcpy(in, host_out, BYTES, cudaMemcpyHostToDevice);""")
    for kernel in kernels:
        print(kernel.launch())
    print("    cudaFree(in);\n    cudaFree(out);\n    cudaFree(sums);\n    free(host_out);\n    free(host_sums);\n    return 0;\n}")


main()
