//! A split launch: a run stops after a range of its blocks, or after its parts are put together.

use std::ops::Range;

use interp::{
    InvalidLaunch, LaunchConfig, LaunchFailure, LaunchReport, MachineConfig, Memory, Program,
    part::{self, Compared, Part, PartError},
};
use ir::FuncId;

/// Which launch of a run is split, and how.
#[derive(Clone, Debug)]
pub struct Split {
    /// Its index among the run's launches, from 0.
    pub launch: usize,
    /// What is done.
    pub work: SplitWork,
}

/// What to do with a split launch.
#[derive(Clone, Debug)]
pub enum SplitWork {
    /// Runs these blocks.
    Part(Range<u64>),
    /// Puts its parts together.
    Merge(Vec<Part>),
}

/// The result.
#[derive(Clone, Debug, PartialEq)]
pub enum SplitResult {
    /// The blocks ran.
    Part(Box<Part>),
    /// The parts were put together.
    Merged(Compared),
    /// The launch cannot be split like this.
    Failed(PartError),
}

/// The state of a run with a launch to split.
#[derive(Debug)]
pub(super) struct Splitting {
    wanted: Split,
    /// The number of launches so far.
    launches: usize,
    result: Option<SplitResult>,
}

impl Splitting {
    pub(super) fn new(wanted: Split) -> Splitting {
        Splitting {
            wanted,
            launches: 0,
            result: None,
        }
    }

    /// Whether the next launch is the one to split; counts the launch.
    pub(super) fn is_next(&mut self) -> bool {
        self.launches += 1;
        self.launches == self.wanted.launch + 1
    }

    pub(super) fn is_over(&self) -> bool {
        self.launches > self.wanted.launch
    }

    pub(super) fn take(&mut self) -> Option<SplitResult> {
        self.result.take()
    }

    /// Runs the launch.
    pub(super) fn launch(
        &mut self,
        program: &Program,
        launch: (FuncId, &LaunchConfig, &[u64]),
        memory: &mut Memory,
        machine: &MachineConfig,
        out: &mut dyn FnMut(&[u8]),
    ) -> Result<LaunchReport, LaunchFailure> {
        let result = match &self.wanted.work {
            SplitWork::Part(blocks) => {
                part::launch_part(program, launch, memory, machine, blocks.clone(), out)
                    .map(|(report, part)| (report, SplitResult::Part(Box::new(part))))
            }
            SplitWork::Merge(parts) => part::merge(program, launch, memory, machine, parts, out)
                .map(|(report, compared)| (report, SplitResult::Merged(compared))),
        };
        match result {
            Ok((report, result)) => {
                self.result = Some(result);
                Ok(report)
            }
            Err(error) => {
                self.result = Some(SplitResult::Failed(error.clone()));
                Err(match error {
                    PartError::Failed(failure) => failure,
                    PartError::Waits(failure) => *failure,
                    other => LaunchFailure::Invalid(InvalidLaunch::Device(other.to_string())),
                })
            }
        }
    }
}
