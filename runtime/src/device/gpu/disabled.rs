//! The GPU in a build without it: only a clear error.

use interp::{LaunchConfig, LaunchReport, Memory, Program, rules::BankWidth};
use ir::FuncId;

use super::{Compile, GpuError, GpuOptions};
use crate::device::{Device, DeviceError, DeviceInfo, LaunchError};

/// Has no values.
#[derive(Debug)]
pub enum Gpu {}

impl Gpu {
    /// Always an error.
    pub fn open(
        _ordinal: u32,
        _options: GpuOptions,
        _compile: Option<Compile>,
    ) -> Result<Gpu, GpuError> {
        Err(GpuError::NotBuilt)
    }
}

/// Always an error.
pub fn list() -> Result<Vec<DeviceInfo>, GpuError> {
    Err(GpuError::NotBuilt)
}

/// Always an error.
pub fn driver_version() -> Result<(u32, u32), GpuError> {
    Err(GpuError::NotBuilt)
}

impl Device for Gpu {
    fn info(&self) -> &DeviceInfo {
        match *self {}
    }

    fn malloc(&mut self, _: &mut Memory, _: u64, _: bool) -> Result<u64, DeviceError> {
        match *self {}
    }

    fn free(&mut self, _: &mut Memory, _: u64) -> Result<(), DeviceError> {
        match *self {}
    }

    fn copy(&mut self, _: &mut Memory, _: u64, _: u64, _: u64) -> Result<(), DeviceError> {
        match *self {}
    }

    fn fill(&mut self, _: &mut Memory, _: u64, _: u8, _: u64) -> Result<(), DeviceError> {
        match *self {}
    }

    fn read(&mut self, _: &Memory, _: u64, _: u64) -> Result<Vec<u8>, DeviceError> {
        match *self {}
    }

    fn write(&mut self, _: &mut Memory, _: u64, _: &[u8]) -> Result<(), DeviceError> {
        match *self {}
    }

    fn launch(
        &mut self,
        _: &Program,
        _: &mut Memory,
        _: FuncId,
        _: &LaunchConfig,
        _: &[u64],
        _: &mut dyn FnMut(&[u8]),
    ) -> Result<LaunchReport, LaunchError> {
        match *self {}
    }

    fn set_bank_width(&mut self, _: BankWidth) -> bool {
        match *self {}
    }

    fn bank_width(&self) -> BankWidth {
        match *self {}
    }

    fn bytes_in_use(&self, _: &Memory) -> u64 {
        match *self {}
    }
}
