use super::*;

#[test]
fn percentiles_are_values_by_nearest_rank() {
    let spread = |values: &mut dyn Iterator<Item = u64>| {
        let mut sample = Sample::default();
        values.for_each(|value| sample.add(value, bytes));
        sample.end(bytes)
    };
    // 1 to 200, mixed: 77 and 201 have no common divisor.
    let found = spread(&mut (1..=200).map(|k| k * 77 % 201));
    assert_eq!(found.percentiles.values(), [2.0, 10.0, 100.0, 190.0, 198.0]);
    assert!((found.mean - 100.5).abs() < 1e-12);
    let one = spread(&mut [7].into_iter());
    assert_eq!((one.mean, one.percentiles.values()), (7.0, vec![7.0; 5]));
    assert!(spread(&mut std::iter::empty()).mean.is_nan());
}

#[test]
fn selected_values_are_those_of_the_ordered_list() {
    let scattered = |k: u64| k.wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(29);
    let kinds: [&dyn Fn(u64) -> u64; 5] = [
        &|k| scattered(k) % 90_000,
        &|k| scattered(k) % 7 * 1448,
        &|k| if k % 50 == 0 { scattered(k) } else { 1448 + scattered(k) % 3 },
        &|k| u64::MAX - scattered(k) % 4000,
        &|_| 5,
    ];
    for kind in kinds {
        for count in [1, 2, 3, 33, 1000, 20_000] {
            let values: Vec<u64> = (0..count).map(kind).collect();
            let mut ordered = values.clone();
            ordered.sort_unstable();
            let ranks = [0, count / 100, count / 20, count / 2, count * 99 / 100, count - 1];
            let ranks = ranks.map(|rank| rank as usize);
            assert_eq!(select(&values, &ranks), ranks.map(|rank| ordered[rank]));
        }
    }
}
