//! The shape of a launch: how many blocks, and how many threads per block.

/// Up to three extents, as CUDA's `dim3`: from a number, or from an array of one to three.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Dim(pub(crate) [u32; 3]);

impl From<u32> for Dim {
    fn from(x: u32) -> Dim {
        Dim([x, 1, 1])
    }
}

impl From<[u32; 1]> for Dim {
    fn from([x]: [u32; 1]) -> Dim {
        Dim([x, 1, 1])
    }
}

impl From<[u32; 2]> for Dim {
    fn from([x, y]: [u32; 2]) -> Dim {
        Dim([x, y, 1])
    }
}

impl From<[u32; 3]> for Dim {
    fn from(extents: [u32; 3]) -> Dim {
        Dim(extents)
    }
}

/// The number of elements in each direction: from a number, or from an array of one to three.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Extent([usize; 3]);

impl From<usize> for Extent {
    fn from(x: usize) -> Extent {
        Extent([x, 1, 1])
    }
}

impl From<[usize; 1]> for Extent {
    fn from([x]: [usize; 1]) -> Extent {
        Extent([x, 1, 1])
    }
}

impl From<[usize; 2]> for Extent {
    fn from([x, y]: [usize; 2]) -> Extent {
        Extent([x, y, 1])
    }
}

impl From<[usize; 3]> for Extent {
    fn from(extents: [usize; 3]) -> Extent {
        Extent(extents)
    }
}

/// The shape of a launch: the arguments between `<<<` and `>>>`.
///
/// ```
/// use dslc::Grid;
/// let grid = Grid::new([2, 2], [32, 8]).shared(1024);
/// assert_eq!((grid.blocks(), grid.threads()), ([2, 2, 1], [32, 8, 1]));
/// assert_eq!(Grid::cover(1000, 256).blocks(), [4, 1, 1]);
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Grid {
    pub(crate) blocks: [u32; 3],
    pub(crate) threads: [u32; 3],
    /// Bytes of dynamic shared memory, if they were given.
    pub(crate) shared_bytes: Option<u64>,
    pub(crate) cooperative: bool,
}

impl Grid {
    /// This many blocks with this many threads each.
    pub fn new(blocks: impl Into<Dim>, threads: impl Into<Dim>) -> Grid {
        Grid {
            blocks: blocks.into().0,
            threads: threads.into().0,
            shared_bytes: None,
            cooperative: false,
        }
    }

    /// As many blocks of that size as needed to have a thread for each element. Zero elements still take one block, since CUDA rejects an
    /// empty grid. More blocks than fit in a `u32` are rejected when the kernel is launched.
    pub fn cover(elements: impl Into<Extent>, threads: impl Into<Dim>) -> Grid {
        let (Extent(elements), Dim(threads)) = (elements.into(), threads.into());
        let blocks = std::array::from_fn(|axis| {
            let blocks = elements[axis].div_ceil((threads[axis] as usize).max(1));
            u32::try_from(blocks.max(1)).unwrap_or(u32::MAX)
        });
        Grid {
            blocks,
            threads,
            shared_bytes: None,
            cooperative: false,
        }
    }

    /// Adds this many bytes of dynamic shared memory for each block, for `extern __shared__` arrays.
    #[must_use]
    pub fn shared(self, bytes: usize) -> Grid {
        Grid {
            shared_bytes: Some(bytes as u64),
            ..self
        }
    }

    /// A cooperative launch, as by `cudaLaunchCooperativeKernel`: all blocks are resident at once. Kernels that call `grid.sync()` are
    /// always launched cooperatively.
    #[must_use]
    pub fn cooperative(self) -> Grid {
        Grid {
            cooperative: true,
            ..self
        }
    }

    /// Blocks in x, y and z.
    pub fn blocks(&self) -> [u32; 3] {
        self.blocks
    }

    /// Threads of a block in x, y and z.
    pub fn threads(&self) -> [u32; 3] {
        self.threads
    }
}
