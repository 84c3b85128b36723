//! The words that users may ask about: concepts, and the codes that belong to them.

use std::fmt::Write;

use ir::diagnostic::Code;

use super::wrap;

/// A concept.
pub(super) struct Topic {
    /// Its names, the main one first.
    names: &'static [&'static str],
    text: &'static str,
    codes: &'static [Code],
}

const TOPICS: &[Topic] = &[
    Topic {
        names: &["race", "races", "data-race", "racecheck", "hazard"],
        text: "Two threads access the same bytes, at least one writes, and nothing orders them: no barrier, no atomic, no fence with a flag. The result depends on which comes first. In shared memory, put `__syncthreads()` between the write and the read; in a loop, put a second one before the next iteration writes. Between blocks no barrier helps: end the kernel, or use atomics.",
        codes: &[
            Code::DataRace,
            Code::SameValueRace,
            Code::WarpSynchronousCode,
            Code::ScheduleDependent,
        ],
    },
    Topic {
        names: &[
            "barrier",
            "barriers",
            "syncthreads",
            "__syncthreads",
            "synccheck",
        ],
        text: "At `__syncthreads()` every thread waits until all threads of the block have arrived. After it, they see each other's writes to shared and global memory. All threads of the block must reach it. In a branch that only some threads take, the others wait forever, or threads meet at different barriers.",
        codes: &[
            Code::DivergentBarrier,
            Code::Deadlock,
            Code::BarrierUnderCondition,
            Code::BarrierInUnevenLoop,
            Code::BarrierAfterReturn,
        ],
    },
    Topic {
        names: &[
            "bank-conflict",
            "bank-conflicts",
            "bank",
            "banks",
            "conflict",
            "padding",
            "swizzle",
        ],
        text: "Shared memory has 32 banks of 4 bytes; word n is in bank n % 32. A warp's request takes one pass if its lanes want at most one word of each bank (lanes that want the same word share it). k different words of one bank take k passes: a k-way conflict. In a tile with rows of 32 floats, a column is in one bank; with rows of 33, each of its elements is in another. `dslc banks 's[threadIdx.x * 32]'` draws it; `dslc fix FILE` finds the padding and proves it.",
        codes: &[],
    },
    Topic {
        names: &[
            "transaction",
            "transactions",
            "wavefront",
            "wavefronts",
            "request",
            "requests",
            "pass",
        ],
        text: "A request is an instruction of a warp that accesses memory: one load of 32 lanes is one request. A transaction (ncu says wavefront) is a pass that shared memory needs to serve it. One request takes one transaction if no two lanes want different words of one bank, and up to 32 if all do; wide accesses take two or four, since 32 lanes move at most 128 bytes in a pass. In global memory a request moves sectors of 32 bytes.",
        codes: &[],
    },
    Topic {
        names: &["shared", "shared-memory", "__shared__", "smem", "tile"],
        text: "`__shared__` memory belongs to a block: its threads exchange data through it, and it is gone when the block ends. It is divided into 32 banks (`dslc explain bank`). A block may have 48 KB, and more where the program asks for it: `cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes)` with `extern __shared__` and the launch's third argument. A write and a read of two threads need `__syncthreads()` between them.",
        codes: &[Code::DataRace, Code::OutOfBounds, Code::UninitializedRead],
    },
    Topic {
        names: &[
            "coalescing",
            "coalesced",
            "uncoalesced",
            "sector",
            "sectors",
            "global-memory",
            "stride",
        ],
        text: "Global memory moves in sectors of 32 bytes (architectures before sm_50: in lines of 128 through the L1 cache). A warp whose 32 lanes read 32 neighbouring floats needs 4 sectors; lanes that are 128 bytes apart need 32. Let `threadIdx.x` count along a row, in the order of memory. Keep each member of a struct in a separate array. Begin at multiples of 32 bytes. To read columns, load a tile into shared memory first.",
        codes: &[Code::Misaligned],
    },
    Topic {
        names: &["divergence", "divergent", "branch", "branches"],
        text: "The 32 lanes of a warp run one instruction. If a branch sends some lanes one way and some the other, the warp runs both sides, one after the other, while the other lanes are idle. It costs nothing if whole warps take one side: decide by `threadIdx.x / 32`, or sort the work by the condition.",
        codes: &[],
    },
    Topic {
        names: &["atomic", "atomics", "serialisation", "serialization"],
        text: "Atomics of several lanes on one address run one after the other. Reduce first: within the warp (`__shfl_down_sync`, `__reduce_add_sync`), then within the block in shared memory, and let one thread do the atomic on global memory. Histograms with few bins do better with a copy for each warp.",
        codes: &[],
    },
    Topic {
        names: &["constant", "constant-memory"],
        text: "The constant cache serves one word to all lanes at a time. If lanes index a table with different values, it serves word after word: keep the table in global memory (`const T *__restrict__`) or in shared memory.",
        codes: &[Code::TooMuchConstant],
    },
    Topic {
        names: &["occupancy"],
        text: "The share of a multiprocessor's warps that are resident at a time. The threads and the shared memory of a block, registers, and the number of blocks that fit limit it. More warps hide latency, up to the point where it is hidden. The report says for each launch what limits it and what one step more or less would change.",
        codes: &[],
    },
    Topic {
        names: &["uninitialized", "unset", "uninit", "initcheck"],
        text: "Shared and local arrays, `cudaMalloc` and `malloc` are not initialised. dslc reports an unwritten value where it matters: in a branch, an address, a result.",
        codes: &[Code::UninitializedRead],
    },
    Topic {
        names: &[
            "bounds",
            "out-of-range",
            "memcheck",
            "segfault",
            "illegal-address",
        ],
        text: "An access outside its array or allocation. The last block often has more threads than elements are left: test `if (i < n)`, and both indices in two dimensions. Another common cause is `<=` instead of `<`.",
        codes: &[
            Code::OutOfBounds,
            Code::RowOverflow,
            Code::NullPointer,
            Code::UseAfterFree,
            Code::InvalidPointer,
            Code::WrongSidePointer,
            Code::Misaligned,
        ],
    },
    Topic {
        names: &[
            "warp",
            "lockstep",
            "warp-synchronous-code",
            "syncwarp",
            "__syncwarp",
            "volatile",
        ],
        text: "Since sm_70 the lanes of a warp need not run in lockstep. Code that reads what another lane of the warp has just written needs `__syncwarp()` in between; `volatile` only keeps the compiler from holding the value in a register. The mask of a shuffle or vote says which lanes take part.",
        codes: &[
            Code::WarpSynchronousCode,
            Code::InvalidMask,
            Code::AbsentLane,
        ],
    },
    Topic {
        names: &[
            "fence",
            "threadfence",
            "__threadfence",
            "memory-model",
            "flag",
        ],
        text: "`__threadfence()` orders what a thread writes for all others of the device: write the data, then the fence, then the flag. The reader reads the flag, then needs a fence, then reads the data. Without the fence a block may see the flag and old data.",
        codes: &[Code::DataRace, Code::ScheduleDependent],
    },
    Topic {
        names: &["leak", "leaks", "leakcheck"],
        text: "Memory that is allocated and never freed. The driver frees it when the program ends, so the finding is a note; a program that runs for days runs out of memory.",
        codes: &[Code::MemoryLeak],
    },
];

/// The topic of that name.
pub(super) fn find(name: &str) -> Option<&'static Topic> {
    let wanted = name.to_lowercase().replace(['_', ' '], "-");
    let is_it = |known: &&str| *known == wanted || known.replace('_', "-") == wanted;
    TOPICS.iter().find(|topic| topic.names.iter().any(&is_it))
}

/// The codes that belong to a word; empty for an unknown word.
pub(super) fn codes(name: &str) -> &'static [Code] {
    find(name).map_or(&[], |topic| topic.codes)
}

/// Their names.
pub(super) fn names() -> impl Iterator<Item = &'static str> {
    TOPICS.iter().map(|topic| topic.names[0])
}

impl Topic {
    /// The explanation.
    pub(super) fn text(&self) -> String {
        let mut text = format!("{}\n\n{}\n", self.names[0], wrap(self.text));
        if !self.codes.is_empty() {
            text += "\nRelated messages (`dslc explain CODE` says more):\n\n";
        }
        for code in self.codes {
            let _ = writeln!(text, "    {}  {}", code.number(), code.slug());
        }
        text
    }
}
