//! What users ask for by a word: concepts, and the codes that belong to them.

use std::fmt::Write;

use dsl::diagnostic::Code;

use super::wrap;

/// A concept.
pub(super) struct Topic {
    /// What it may be called; the first is its name.
    names: &'static [&'static str],
    text: &'static str,
    codes: &'static [Code],
}

/// The columns of the text.
const COLUMNS: usize = 90;

const TOPICS: &[Topic] = &[
    Topic {
        names: &["race", "races", "data-race", "racecheck", "hazard"],
        text: "Two threads access the same bytes, at least one writes, and nothing orders them: no barrier between them, no atomic, no fence with a flag. What comes out depends on who is first. In shared memory the cure is mostly a `__syncthreads()` between the write and the read, and in a loop a second one before the next round writes again. Between blocks no barrier helps: end the kernel, or use atomics.",
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
        text: "`__syncthreads()` lets no thread of the block pass before all have come, and makes what they wrote to shared and global memory visible to each other. All threads of the block have to come to it: in a branch that only some take, or after some have returned, the others wait for ever, or the wrong ones meet.",
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
            "shared-memory",
            "padding",
            "swizzle",
        ],
        text: "Shared memory has 32 banks of 4 bytes; word n is in bank n % 32. A warp's request is served in one pass if its lanes want one word of each bank at most (lanes that want the same word share it). k different words of one bank take k passes: a k-way conflict. The column of a tile of 32 floats a row is all in one bank; rows of 33 put each element of it into another. `dslc banks 's[threadIdx.x * 32]'` draws it, `dslc fix FILE` finds and proves the pad.",
        codes: &[],
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
        text: "Global memory moves in sectors of 32 bytes (architectures before sm_50: in lines of 128 through the L1 cache). A warp whose 32 lanes read 32 neighbouring floats needs 4 sectors; lanes that are 128 bytes apart need 32. Let `threadIdx.x` count along the row that lies in memory, keep members that are read together in arrays of their own, begin at multiples of 32 bytes, and bring what has to be read across through shared memory.",
        codes: &[Code::Misaligned],
    },
    Topic {
        names: &["divergence", "divergent", "branch", "branches"],
        text: "The 32 lanes of a warp run one instruction. Where a branch sends some of them one way and some the other, the warp runs both ways, one after the other, with the other lanes idle. It costs nothing where whole warps go one way: decide by `threadIdx.x / 32`, or sort the work by the condition.",
        codes: &[],
    },
    Topic {
        names: &["atomic", "atomics", "serialisation", "serialization"],
        text: "Atomics of several lanes on one address are done one after the other. Reduce first: within the warp (`__shfl_down_sync`, `__reduce_add_sync`), then within the block in shared memory, and let one thread do the atomic on global memory. Histograms with few bins do better with a copy for each warp.",
        codes: &[],
    },
    Topic {
        names: &["constant", "constant-memory"],
        text: "The constant cache gives one word to all lanes at a time. A table that lanes index with different values is read word after word: keep it in global memory (`const T *__restrict__`) or in shared memory.",
        codes: &[Code::TooMuchConstant],
    },
    Topic {
        names: &["occupancy"],
        text: "How many warps a multiprocessor holds at a time, of those it could: limited by the threads and the shared memory of a block, by registers, and by how many blocks fit. More of them hide latency; beyond what hides it they help nothing. The report says for each launch what limits it and what one step more or less would change.",
        codes: &[],
    },
    Topic {
        names: &["uninitialized", "unset", "uninit", "initcheck"],
        text: "Memory begins with whatever was there: shared and local arrays, `cudaMalloc`, `malloc`. A value that nobody wrote is found where it matters: in a branch, an address, a result.",
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
        text: "An access outside of its array or allocation. The last block mostly has more threads than elements are left: test `if (i < n)`; of two dimensions test both. A `<=` where `<` belongs is one too far.",
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
        text: "Since sm_70 the lanes of a warp need not run in lockstep. Code that reads what another lane of the warp has just written needs `__syncwarp()` in between; `volatile` only keeps the compiler from holding the value in a register. Shuffles and votes name the lanes that take part in a mask.",
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
        text: "`__threadfence()` orders what a thread writes for all others of the device: first the data, then the fence, then the flag that says it is there; the reader looks at the flag, then has a fence, then reads the data. Without it a block may see the flag and old data.",
        codes: &[Code::DataRace, Code::ScheduleDependent],
    },
    Topic {
        names: &["leak", "leaks", "leakcheck"],
        text: "Memory that is allocated and never freed. A program that ends gives all of it back, which is why it is a note; one that runs for days does not.",
        codes: &[Code::MemoryLeak],
    },
];

/// The topic of that name.
pub(super) fn find(name: &str) -> Option<&'static Topic> {
    let wanted = name.to_lowercase().replace(['_', ' '], "-");
    let is_it = |known: &&str| *known == wanted || known.replace('_', "-") == wanted;
    TOPICS.iter().find(|topic| topic.names.iter().any(&is_it))
}

/// Their names.
pub(super) fn names() -> impl Iterator<Item = &'static str> {
    TOPICS.iter().map(|topic| topic.names[0])
}

impl Topic {
    /// The explanation.
    pub(super) fn text(&self) -> String {
        let mut text = format!("{}\n\n{}\n", self.names[0], wrap(self.text, COLUMNS));
        if !self.codes.is_empty() {
            text += "\nMessages of it, of which `dslc explain CODE` tells more:\n\n";
        }
        for code in self.codes {
            let _ = writeln!(text, "    {}  {}", code.number(), code.slug());
        }
        text
    }
}
