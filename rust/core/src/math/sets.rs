//! Disjoint sets of numbers from 0.

/// Disjoint sets; the lowest member stands for a set.
pub struct Sets(Vec<u32>);

impl Sets {
    /// Each number in a set of its own.
    pub fn new(count: usize) -> Self {
        Self((0..count as u32).collect())
    }

    /// The lowest member of a number's set.
    pub fn root(&mut self, mut member: u32) -> u32 {
        while self.0[member as usize] != member {
            self.0[member as usize] = self.0[self.0[member as usize] as usize];
            member = self.0[member as usize];
        }
        member
    }

    /// Makes one set of those of two numbers.
    pub fn unite(&mut self, a: u32, b: u32) {
        let (a, b) = (self.root(a), self.root(b));
        self.0[a.max(b) as usize] = a.min(b);
    }
}
