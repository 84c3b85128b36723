//! CUDA's error codes with CUDA's own names and sentences, as `cudaGetErrorName` and `cudaGetErrorString` give them.
//!
//! Source: the CUDA Runtime API reference, "cudaError" enumeration; the sentences are those of the runtime.

use std::fmt;

macro_rules! errors {
    ($($(#[doc = $doc:literal])* $name:ident = $code:literal, $c_name:literal, $text:literal;)*) => {
        /// What a runtime call returns.
        #[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord)]
        pub enum CudaError { $($(#[doc = $doc])* $name,)* }

        impl CudaError {
            /// All errors, by number.
            pub const ALL: &[CudaError] = &[$(CudaError::$name,)*];
            /// The number: `700`.
            pub fn code(self) -> i32 { match self { $(CudaError::$name => $code,)* } }
            /// `cudaErrorIllegalAddress`.
            pub fn name(self) -> &'static str { match self { $(CudaError::$name => $c_name,)* } }
            /// `an illegal memory access was encountered`.
            pub fn text(self) -> &'static str { match self { $(CudaError::$name => $text,)* } }
            /// The error with that number.
            pub fn from_code(code: i32) -> Option<CudaError> { match code { $($code => Some(CudaError::$name),)* _ => None } }
        }
    };
}

errors! {
    /// No error.
    Success = 0, "cudaSuccess", "no error";
    /// A parameter is out of its range.
    InvalidValue = 1, "cudaErrorInvalidValue", "invalid argument";
    /// Not enough memory.
    MemoryAllocation = 2, "cudaErrorMemoryAllocation", "out of memory";
    /// The driver could not start.
    InitializationError = 3, "cudaErrorInitializationError", "initialization error";
    /// The driver is shutting down.
    CudartUnloading = 4, "cudaErrorCudartUnloading", "driver shutting down";
    /// A launch asks for more than the device can give.
    InvalidConfiguration = 9, "cudaErrorInvalidConfiguration", "invalid configuration argument";
    /// A pitch is out of its range.
    InvalidPitchValue = 12, "cudaErrorInvalidPitchValue", "invalid pitch argument";
    /// A symbol is not a device variable.
    InvalidSymbol = 13, "cudaErrorInvalidSymbol", "invalid device symbol";
    /// A host pointer was expected.
    InvalidHostPointer = 16, "cudaErrorInvalidHostPointer", "invalid host pointer";
    /// A device pointer was expected.
    InvalidDevicePointer = 17, "cudaErrorInvalidDevicePointer", "invalid device pointer";
    /// The kind of copy does not exist.
    InvalidMemcpyDirection = 21, "cudaErrorInvalidMemcpyDirection", "invalid copy direction for memcpy";
    /// The driver is older than the runtime.
    InsufficientDriver = 35, "cudaErrorInsufficientDriver", "CUDA driver version is insufficient for CUDA runtime version";
    /// Launches from kernels are nested too deep.
    LaunchMaxDepthExceeded = 65, "cudaErrorLaunchMaxDepthExceeded", "launch would exceed maximum depth of nested launches";
    /// The function is not a kernel.
    InvalidDeviceFunction = 98, "cudaErrorInvalidDeviceFunction", "invalid device function";
    /// There is no device.
    NoDevice = 100, "cudaErrorNoDevice", "no CUDA-capable device is detected";
    /// There is no such device.
    InvalidDevice = 101, "cudaErrorInvalidDevice", "invalid device ordinal";
    /// The kernel image does not fit the device.
    InvalidKernelImage = 200, "cudaErrorInvalidKernelImage", "device kernel image is invalid";
    /// There is no image for this device.
    NoKernelImageForDevice = 209, "cudaErrorNoKernelImageForDevice", "no kernel image is available for execution on the device";
    /// The PTX does not compile.
    InvalidPtx = 218, "cudaErrorInvalidPtx", "a PTX JIT compilation failed";
    /// A handle names nothing.
    InvalidResourceHandle = 400, "cudaErrorInvalidResourceHandle", "invalid resource handle";
    /// A name was not found.
    SymbolNotFound = 500, "cudaErrorSymbolNotFound", "named symbol not found";
    /// Not finished yet.
    NotReady = 600, "cudaErrorNotReady", "device not ready";
    /// A kernel touched memory that is not its own. Sticky.
    IllegalAddress = 700, "cudaErrorIllegalAddress", "an illegal memory access was encountered";
    /// A launch needs more resources than there are.
    LaunchOutOfResources = 701, "cudaErrorLaunchOutOfResources", "too many resources requested for launch";
    /// A kernel ran too long. Sticky.
    LaunchTimeout = 702, "cudaErrorLaunchTimeout", "the launch timed out and was terminated";
    /// An assertion failed in a kernel. Sticky.
    Assert = 710, "cudaErrorAssert", "device-side assert triggered";
    /// An illegal instruction, `__trap()` among them. Sticky.
    IllegalInstruction = 715, "cudaErrorIllegalInstruction", "an illegal instruction was encountered";
    /// A kernel touched memory at an address that is not a multiple of the access's width. Sticky.
    MisalignedAddress = 716, "cudaErrorMisalignedAddress", "misaligned address";
    /// An operation met an address of a space it does not work on. Sticky.
    InvalidAddressSpace = 717, "cudaErrorInvalidAddressSpace", "operation not supported on global/shared address space";
    /// Something else went wrong in a kernel. Sticky.
    LaunchFailure = 719, "cudaErrorLaunchFailure", "unspecified launch failure";
    /// A cooperative launch of more blocks than the device holds at once.
    CooperativeLaunchTooLarge = 720, "cudaErrorCooperativeLaunchTooLarge", "too many blocks in cooperative launch";
    /// Not on this device.
    NotSupported = 801, "cudaErrorNotSupported", "operation not supported";
    /// A captured stream waits for the host, or the host for it.
    StreamCaptureUnsupported = 900, "cudaErrorStreamCaptureUnsupported", "operation not permitted when stream is capturing";
    /// A graph of another shape than the executable one.
    GraphExecUpdateFailure = 910, "cudaErrorGraphExecUpdateFailure", "the graph update was not performed because it included changes which violated constraints specific to instantiated graph update";
    /// Something else.
    Unknown = 999, "cudaErrorUnknown", "unknown error";
}

impl CudaError {
    /// Whether every later call returns it too, because the context is lost.
    pub fn is_sticky(self) -> bool {
        matches!(
            self,
            CudaError::IllegalAddress
                | CudaError::LaunchTimeout
                | CudaError::Assert
                | CudaError::IllegalInstruction
                | CudaError::MisalignedAddress
                | CudaError::InvalidAddressSpace
                | CudaError::LaunchFailure
        )
    }
}

impl fmt::Display for CudaError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ({})", self.name(), self.text())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_distinct_and_found_again() {
        for &error in CudaError::ALL {
            assert_eq!(CudaError::from_code(error.code()), Some(error));
        }
        assert_eq!(CudaError::from_code(-1), None);
    }

    #[test]
    fn only_faults_of_kernels_are_sticky() {
        let sticky: Vec<i32> = CudaError::ALL
            .iter()
            .filter(|error| error.is_sticky())
            .map(|error| error.code())
            .collect();
        assert_eq!(sticky, [700, 702, 710, 715, 716, 717, 719]);
    }
}
