//! Special registers: one row for each, which defines its text, type and variation.

use std::fmt;

use super::Type;

/// Which threads agree on a register's value.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Varies {
    /// It may differ between any two lanes of a warp.
    Lane,
    /// Lanes agree if a warp is in one row of its block.
    Row,
    /// The threads of a block agree.
    Block,
    /// All threads of a launch agree.
    Grid,
    /// Each read may give another value.
    Time,
    /// It depends on the place where it is read; lanes that read it there together agree.
    Place,
}

macro_rules! registers {
    ($($name:ident $text:literal $ty:ident $varies:ident $source:literal;)*) => {
        /// A special register: a value that a thread can read about itself.
        #[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
        pub enum SpecialReg { $(#[doc = concat!("`", $source, "`")] $name,)* }

        impl SpecialReg {
            /// All of them.
            pub const ALL: &[SpecialReg] = &[$(SpecialReg::$name,)*];
            /// The name in the IR's text.
            pub fn text(self) -> &'static str { match self { $(SpecialReg::$name => $text,)* } }
            /// The one with this name.
            pub fn from_text(text: &str) -> Option<SpecialReg> { match text { $($text => Some(SpecialReg::$name),)* _ => None } }
            /// The name in a program.
            pub fn source(self) -> &'static str { match self { $(SpecialReg::$name => $source,)* } }
            /// The type of its value.
            pub fn ty(self) -> Type { match self { $(SpecialReg::$name => Type::$ty,)* } }
            /// Which threads agree on it.
            pub fn varies(self) -> Varies { match self { $(SpecialReg::$name => Varies::$varies,)* } }
        }
    };
}

registers! {
    TidX "tid.x" I32 Lane "threadIdx.x";
    TidY "tid.y" I32 Row "threadIdx.y";
    TidZ "tid.z" I32 Row "threadIdx.z";
    CtaidX "ctaid.x" I32 Block "blockIdx.x";
    CtaidY "ctaid.y" I32 Block "blockIdx.y";
    CtaidZ "ctaid.z" I32 Block "blockIdx.z";
    NtidX "ntid.x" I32 Grid "blockDim.x";
    NtidY "ntid.y" I32 Grid "blockDim.y";
    NtidZ "ntid.z" I32 Grid "blockDim.z";
    NctaidX "nctaid.x" I32 Grid "gridDim.x";
    NctaidY "nctaid.y" I32 Grid "gridDim.y";
    NctaidZ "nctaid.z" I32 Grid "gridDim.z";
    // 1 in a cooperative launch, else 0.
    CooperativeGrid "cooperative_grid" I32 Grid "grid.is_valid()";
    LaneId "laneid" I32 Lane "laneid";
    // The simulator assigns blocks to multiprocessors round-robin, by their index.
    SmId "smid" I32 Block "smid";
    NSmId "nsmid" I32 Grid "nsmid";
    // The number of instructions that the warp has executed; it has no physical meaning in the simulator, nor have the two that follow.
    Clock "clock" I32 Time "clock()";
    Clock64 "clock64" I64 Time "clock64()";
    GlobalTimer "globaltimer" I64 Time "globaltimer";
    ActiveMask "activemask" I32 Place "__activemask()";
}

impl SpecialReg {
    /// Whether it depends on the time or place of the read: reads must not be merged or moved.
    pub fn changes(self) -> bool {
        matches!(self.varies(), Varies::Time | Varies::Place)
    }

    /// Whether it tells the time.
    pub fn is_time(self) -> bool {
        self.varies() == Varies::Time
    }
}

impl fmt::Display for SpecialReg {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.text())
    }
}
