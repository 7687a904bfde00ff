//! Random numbers of the system, for keys. Reproducible numbers of a run come from a seed (`units/src/random.rs`).

use crate::error::HostError;
use rustix::io::Errno;
use rustix::rand::{GetRandomFlags, getrandom};

/// Fills `bytes` with numbers that cannot be guessed.
///
/// # Errors
/// [`HostError::System`] if the system cannot provide any.
pub fn fill_random(mut bytes: &mut [u8]) -> Result<(), HostError> {
    while !bytes.is_empty() {
        match getrandom(&mut *bytes, GetRandomFlags::empty()) {
            Ok(filled) => bytes = &mut bytes[filled..],
            Err(Errno::INTR) => {}
            Err(error) => return Err(HostError::system("get random numbers from the system")(error)),
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_two_draws_are_equal() {
        let mut draws = [[0; 300]; 2];
        draws.iter_mut().for_each(|draw| fill_random(draw).unwrap());
        assert_ne!(draws[0], draws[1]);
        assert_ne!(draws[0][284..], [0; 16], "filled to the end");
    }
}
