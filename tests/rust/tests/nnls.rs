//! Non-negative least squares against the optimality conditions.

use faer::Mat;
use jounce::math::nonnegative_least_squares;

/// Numbers without a pattern.
fn number(i: usize, j: usize) -> f64 {
    ((i * 37 + j * 101 + i * j) as f64 * 0.7 + 0.3).sin()
}

fn unknowns(found: &[(usize, f64)], count: usize) -> Vec<f64> {
    let mut x = vec![0.0; count];
    found.iter().for_each(|&(place, value)| x[place] = value);
    x
}

/// `A'(b - A x)`.
fn gain(a: &Mat<f64>, b: &[f64], x: &[f64]) -> Vec<f64> {
    let rest: Vec<f64> =
        (0..a.nrows()).map(|i| b[i] - (0..a.ncols()).map(|j| a[(i, j)] * x[j]).sum::<f64>()).collect();
    (0..a.ncols()).map(|j| (0..a.nrows()).map(|i| a[(i, j)] * rest[i]).sum()).collect()
}

#[test]
fn the_minimum_meets_its_conditions() {
    for (rows, count) in [(12, 5), (40, 20), (20, 60)] {
        let a = Mat::from_fn(rows, count, number);
        let b: Vec<f64> = (0..rows).map(|i| number(i, count + 3) + 0.2).collect();
        let x = unknowns(&nonnegative_least_squares(a.as_ref(), &b, count), count);
        assert!(x.iter().any(|&x| x > 0.0) && x.iter().all(|&x| x >= 0.0));
        for (x, gain) in x.iter().zip(gain(&a, &b, &x)) {
            // No descent step keeps all unknowns non-negative.
            assert!(if *x > 0.0 { gain.abs() < 1e-8 } else { gain < 1e-8 }, "{rows} x {count}: {x} {gain}");
        }
    }
}

#[test]
fn what_few_columns_make_is_found_again() {
    let a = Mat::from_fn(120, 60, number);
    let planted = [(3, 0.5), (27, 2.0), (42, 1e-3), (59, 4.0)];
    let b: Vec<f64> = (0..120).map(|i| planted.iter().map(|&(j, x)| x * a[(i, j)]).sum()).collect();
    let x = unknowns(&nonnegative_least_squares(a.as_ref(), &b, 60), 60);
    let rest = gain(&a, &b, &x).into_iter().fold(0.0, |worst: f64, g| worst.max(g.abs()));
    assert!(rest < 1e-9, "{rest:e}");
    for (place, value) in planted {
        assert!((x[place] - value).abs() < 1e-7, "{place}: {}", x[place]);
    }
}

#[test]
fn no_more_than_asked_for_and_none_that_cannot_help() {
    let a = Mat::from_fn(30, 80, |i, j| if j % 5 == 0 { 0.0 } else { number(i, j % 40) });
    let b: Vec<f64> = (0..30).map(|i| number(i, 1) + number(i, 2) + 0.3 * number(i, 9)).collect();
    for most in [1, 2, 7] {
        let found = nonnegative_least_squares(a.as_ref(), &b, most);
        assert!(found.len() <= most && found.iter().all(|&(place, value)| place % 5 != 0 && value > 0.0));
    }
    assert!(nonnegative_least_squares(a.as_ref(), &[0.0; 30], 5).is_empty());
    let away: Vec<f64> = (0..30).map(|i| -a[(i, 1)]).collect();
    assert!(nonnegative_least_squares(a.subcols(1, 1), &away, 5).is_empty());
}
