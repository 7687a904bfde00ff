//! The natural logarithm by a table. It is written out here so that it is the same on every machine, and needs no call
//! per draw.

use std::f64::consts::LN_2;

/// The number of leading bits of the mantissa that choose the row.
const BITS: u32 = 7;
const ROWS: usize = 1 << BITS;
/// The number of bits in the mantissa of a double.
const MANTISSA: u32 = 52;
/// The bits of 1.0.
const ONE: u64 = 1023 << MANTISSA;

/// The negative reciprocal and the negative logarithm of each row's middle.
static TABLE: [(f64, f64); ROWS] = table();

const fn table() -> [(f64, f64); ROWS] {
    let mut table = [(0.0, 0.0); ROWS];
    let mut row = 0;
    while row < ROWS {
        let middle = 1.0 + (row as f64 + 0.5) / ROWS as f64;
        // ln x = 2 artanh z with z = (x - 1)/(x + 1), at most 1/3 here: 17 terms reach the last bit.
        let z = (middle - 1.0) / (middle + 1.0);
        let (mut sum, mut term) = (0.0, 35.0);
        while term > 0.0 {
            sum = sum * z * z + 1.0 / term;
            term -= 2.0;
        }
        table[row] = (-1.0 / middle, -2.0 * z * sum);
        row += 1;
    }
    table
}

/// Returns -ln `value` for a positive, normal number, to within 1e-15 or a few of its last bits, whichever is more.
#[inline]
pub(super) fn minus_ln(value: f64) -> f64 {
    let bits = value.to_bits();
    let halvings = 1023 - (bits >> MANTISSA) as i64;
    let (reciprocal, logarithm) = TABLE[(bits >> (MANTISSA - BITS)) as usize % ROWS];
    let mantissa = f64::from_bits((bits % (1 << MANTISSA)) | ONE);
    // The series is -ln (1 - x), where x is within 2^-8 of zero; the terms left out are below x^7.
    let x = 1.0 + mantissa * reciprocal;
    let [half, third, fourth, fifth, sixth] = [1.0 / 2.0, 1.0 / 3.0, 1.0 / 4.0, 1.0 / 5.0, 1.0 / 6.0];
    let series = x * (1.0 + x * (half + x * (third + x * (fourth + x * (fifth + x * sixth)))));
    halvings as f64 * LN_2 + (logarithm + series)
}

#[cfg(test)]
mod tests {
    use super::minus_ln;

    #[test]
    fn it_is_the_mathematics_librarys() {
        let mut value = 1.0 / (1u64 << 53) as f64;
        while value < 4.0 {
            for close in [value, value.next_up(), value.next_down()] {
                let (found, exact) = (-minus_ln(close), libm::log(close));
                assert!(
                    (found - exact).abs() <= 1e-15 + 4e-16 * exact.abs(),
                    "ln {close}: {found}, not {exact}"
                );
            }
            value *= 1.000_3;
        }
        assert!(minus_ln(1.0).abs() < 1e-15);
    }
}
