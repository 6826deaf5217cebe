//! Order of few items.

/// Sorts few items in place, in little code; `precedes` is a strict order. Equal items keep their order.
pub(crate) fn sort_few<T>(items: &mut [T], precedes: impl Fn(&T, &T) -> bool) {
    for end in 1..items.len() {
        let place = items[..end].iter().rposition(|item| !precedes(&items[end], item)).map_or(0, |i| i + 1);
        items[place..=end].rotate_right(1);
    }
}

#[cfg(test)]
mod tests {
    use super::sort_few;

    #[test]
    fn few_items_are_sorted_and_equal_ones_stay_in_order() {
        for count in [0, 1, 2, 17, 100] {
            let mut items: Vec<(usize, usize)> = (0..count).map(|i| (i * i * 7 % 13, i)).collect();
            let mut expected = items.clone();
            expected.sort();
            sort_few(&mut items, |a, b| a.0 < b.0);
            assert_eq!(items, expected);
        }
    }
}
