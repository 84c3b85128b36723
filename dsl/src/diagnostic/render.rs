//! Diagnostics as text: the only user of ariadne.
