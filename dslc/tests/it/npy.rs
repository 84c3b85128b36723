//! Buffers from NumPy's files and to them.

use dslc::{Arch, Device};

fn bits(values: &[f32]) -> Vec<u32> {
    values.iter().map(|value| value.to_bits()).collect()
}

#[test]
fn a_file_comes_back_as_it_was() -> dslc::Result<()> {
    let folder = std::env::temp_dir().join(format!("dslc-npy-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let file = folder.join("x.npy");
    let device = Device::simulator(Arch::SM_90)?;
    let values = [1.5f32, -2.0, f32::NAN, 0.25, 5.0, 6.0];
    let x = device.buffer(&values)?;
    x.save_npy(&file, &[2, 3])?;
    // As `numpy.save` writes it.
    let bytes = std::fs::read(&file).unwrap();
    let text = b"{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3,), }";
    assert_eq!(&bytes[10..10 + text.len()], text);
    assert_eq!(bytes.len(), 128 + 24);
    let back = device.buffer_from_npy::<f32>(&file)?.read()?;
    assert_eq!(bits(&back), bits(&values));

    let ends = |error: dslc::Error, end: &str| {
        assert!(error.to_string().ends_with(end), "{error}");
    };
    let wrong = device.buffer_from_npy::<i32>(&file).unwrap_err();
    ends(wrong, "its elements are <f4, the buffer's <i4");
    std::fs::write(&file, &bytes[..140]).unwrap();
    let short = device.buffer_from_npy::<f32>(&file).unwrap_err();
    ends(short, "it is shorter than its header says");
    let shape = x.save_npy(&file, &[4]).unwrap_err();
    ends(shape, "6 elements are not an array of the shape [4]");
    std::fs::remove_dir_all(&folder).unwrap();
    Ok(())
}
