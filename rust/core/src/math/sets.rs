//! Disjoint sets of numbers from 0.

/// Disjoint-set forest; the lowest member represents a set.
pub struct Sets(Vec<u32>);

impl Sets {
    /// Sets of one number each.
    pub fn new(count: usize) -> Self {
        Self((0..count as u32).collect())
    }

    /// Lowest member of a number's set.
    pub fn root(&mut self, mut member: u32) -> u32 {
        while self.0[member as usize] != member {
            self.0[member as usize] = self.0[self.0[member as usize] as usize];
            member = self.0[member as usize];
        }
        member
    }

    /// Unites the sets of two numbers.
    pub fn unite(&mut self, a: u32, b: u32) {
        let (a, b) = (self.root(a), self.root(b));
        self.0[a.max(b) as usize] = a.min(b);
    }
}
