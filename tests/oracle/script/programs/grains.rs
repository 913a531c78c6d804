// SPDX-License-Identifier: Apache-2.0
// Names as Rust makes them: traits, generics, closures, collections of the standard library.
use std::collections::HashMap;
use std::fmt::Debug;

trait Grain {
    fn weigh(&self, rounds: u64) -> u64;
}

struct Sand(u64);
struct Rice<T>(T);

impl Grain for Sand {
    #[inline(never)]
    fn weigh(&self, rounds: u64) -> u64 {
        (0..rounds).fold(self.0, |sum, i| sum.wrapping_mul(31) ^ std::hint::black_box(i))
    }
}

impl<T: Copy + Into<u64> + Debug> Grain for Rice<T> {
    #[inline(never)]
    fn weigh(&self, rounds: u64) -> u64 {
        let text = format!("{:?}", self.0);
        (0..rounds).map(|i| std::hint::black_box(i) + self.0.into()).sum::<u64>() + text.len() as u64
    }
}

#[inline(never)]
fn apply<F: Fn(u64) -> u64>(change: F, rounds: u64) -> u64 {
    (0..rounds).map(|i| change(std::hint::black_box(i))).sum()
}

fn main() {
    let grains: Vec<Box<dyn Grain>> = vec![Box::new(Sand(3)), Box::new(Rice(7u32)), Box::new(Rice(9u8))];
    let mut sum = 0u64;
    for _ in 0..30 {
        for grain in &grains {
            sum = sum.wrapping_add(grain.weigh(300_000));
        }
        sum = sum.wrapping_add(apply(|value| value ^ 5, 300_000));
    }
    let mut counts: HashMap<String, u64> = HashMap::new();
    for i in 0..100_000u64 {
        *counts.entry((i % 997).to_string()).or_default() += i;
    }
    let mut sorted: Vec<_> = counts.into_iter().collect();
    sorted.sort();
    println!("{} {}", sum, sorted.len());
}
