//! Training of limit samples on a shot, as for elastic forces.

use faer::Mat;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;

use super::ReducedModel;
use super::limits::{Bounds, LimitSamples};
use super::training::{DIRECTIONS, Draw, Frame, Shot};
use crate::inputs::settings::SimulationParams;
use crate::math::dense::{dot, inner, product};
use crate::operators::gradients;
use crate::parallel::*;
use crate::potentials::displacement_limit::Limit;
use crate::potentials::elastic::samples::{SampleScratch, Samples, place};
use crate::sampling::cubature::{Cubature, Works, fit};
use crate::{Progress, Result};

/// Largest number of candidate tets, or vertices: those with the largest limit forces.
const CANDIDATES: usize = 1000;
/// Extrapolation of states beyond the shot: scale factor, and share of a random state.
const BEYOND: (f64, f64) = (1.1, 0.25);
/// States processed together.
const TOGETHER: usize = 16;

impl ReducedModel {
    /// Trains tets and vertices, at most `counts`, to represent the limit forces of a shot.
    ///
    /// As [`train`](Self::train), with forces relative to all forces of a state, and with states beyond the
    /// shot, since limits keep the shot itself within bounds. Candidates are the elements with the largest
    /// forces. The result is empty if no limit is active.
    ///
    /// # Errors
    /// As [`train`](Self::train); [`Error::Range`](crate::Error::Range) for bounds that are not positive.
    pub fn train_limits(
        &self,
        shot: &Shot<'_>,
        Bounds { limit, stretch }: Bounds,
        (counts, seed): ([usize; 2], u64),
        progress: &Progress,
    ) -> Result<LimitSamples> {
        let params = SimulationParams { limit, stretch, ..SimulationParams::default() };
        params.check()?;
        self.check_whole()?;
        let frames = self.frames(shot)?;
        let beyond = |y: &[f64], mixed: Vec<f64>| -> Vec<f64> {
            y.iter().zip(mixed).map(|(y, mixed)| BEYOND.0 * y + BEYOND.1 * mixed).collect()
        };
        let draws = self.draws(&frames, &mut ChaCha8Rng::seed_from_u64(seed), beyond);
        let whole = Whole::new(self, &params);
        let (mut tets, mut vertices) = (Felt::default(), Felt::default());
        for (part, some) in draws.chunks(TOGETHER).enumerate() {
            progress.report(0.7 * (TOGETHER * part) as f32 / draws.len() as f32)?;
            whole.look(&frames, some, &mut tets, &mut vertices);
        }
        let hats = gradients(&self.data.mesh);
        let fields = &whole.fields;
        let found = tets.fit(&draws, counts[0], |tet, entry, k| {
            let corners = self.data.mesh.tets()[tet].iter().zip(&hats[tet]);
            corners.map(|(&v, hat)| hat[entry % 3] * fields[(3 * v as usize + entry / 3, k)]).sum()
        });
        let (tets, weights) = found.into_iter().unzip();
        progress.report(0.9)?;
        let found = vertices.fit(&draws, counts[1], |vertex, entry, k| fields[(3 * vertex + entry, k)]);
        let (vertices, vertex_weights) = found.into_iter().unzip();
        progress.report(1.0)?;
        Ok(LimitSamples { tets: Cubature { tets, weights }, vertices, weights: vertex_weights })
    }
}

/// Limits of a body at all tets and vertices.
struct Whole<'a> {
    model: &'a ReducedModel,
    fields: Mat<f64>,
    hats: Vec<[[f64; 3]; 4]>,
    tets: Samples,
    stretch: Option<f64>,
    limit: Option<Limit>,
}

/// Limit forces in some states: E numbers for each active item, forces on the coordinates, and elastic
/// forces.
struct Felt<const E: usize> {
    items: Vec<Vec<(u32, [f64; E])>>,
    forces: Vec<Vec<f64>>,
    elastic: Vec<Vec<f64>>,
}

impl<const E: usize> Default for Felt<E> {
    fn default() -> Self {
        Self { items: Vec::new(), forces: Vec::new(), elastic: Vec::new() }
    }
}

impl<'a> Whole<'a> {
    fn new(model: &'a ReducedModel, params: &SimulationParams) -> Self {
        let data = &model.data;
        let count = data.mesh.tets().len();
        let all = Cubature { tets: (0..count as u32).collect(), weights: vec![1.0; count] };
        Self {
            model,
            fields: data.fields(),
            hats: gradients(&data.mesh),
            tets: data.limit_elements(&all, &Mat::new()),
            stretch: params.stretch,
            limit: model.displacement_limit(params),
        }
    }

    /// Adds the limit forces on tets and vertices in some states.
    fn look(&self, frames: &[Frame], draws: &[Draw], tets: &mut Felt<9>, vertices: &mut Felt<3>) {
        let rank = self.fields.ncols();
        let y = Mat::from_fn(rank, draws.len(), |k, d| draws[d].y[k]);
        let u = product(self.fields.as_ref(), y.as_ref());
        let scratch = || (self.tets.scratch(), self.model.samples.scratch());
        let found: Vec<_> = draws
            .par_iter()
            .enumerate()
            .map_init(scratch, |(limits, elastic), (d, draw)| {
                let pose = &frames[draw.frame].pose;
                let (u, _) = u.col_as_slice(d).as_chunks::<3>();
                let mut force = vec![0.0; rank];
                self.model.samples.set_pose(elastic, pose, (1.0, f64::INFINITY));
                self.model.samples.evaluate(elastic, &draw.y, &mut force);
                (self.stretched(limits, pose, u), self.moved(u), force)
            })
            .collect();
        let n = self.model.data.mass.len();
        let (mut of_tets, mut of_vertices) = (Mat::zeros(3 * n, draws.len()), Mat::zeros(3 * n, draws.len()));
        for (d, (stretched, moved, elastic)) in found.into_iter().enumerate() {
            for (tet, stress) in &stretched {
                let corners =
                    self.model.data.mesh.tets()[*tet as usize].iter().zip(&self.hats[*tet as usize]);
                for (&v, hat) in corners {
                    for (entry, stress) in stress.iter().enumerate() {
                        of_tets[(3 * v as usize + entry / 3, d)] += stress * hat[entry % 3];
                    }
                }
            }
            for (vertex, pull) in &moved {
                (0..3).for_each(|c| of_vertices[(3 * *vertex as usize + c, d)] = pull[c]);
            }
            tets.items.push(stretched);
            vertices.items.push(moved);
            tets.elastic.push(elastic.clone());
            vertices.elastic.push(elastic);
        }
        for (felt, forces) in [(&mut tets.forces, of_tets), (&mut vertices.forces, of_vertices)] {
            let reduced = inner(self.fields.as_ref(), forces.as_ref());
            felt.extend((0..draws.len()).map(|d| reduced.col_as_slice(d).to_vec()));
        }
    }

    /// Tets with active stretch limits at vertex displacements u, and their forces on the deformation
    /// gradients.
    fn stretched(
        &self,
        scratch: &mut SampleScratch,
        pose: &[[f64; 3]],
        u: &[[f64; 3]],
    ) -> Vec<(u32, [f64; 9])> {
        let Some(limit) = self.stretch else { return Vec::new() };
        self.tets.set_pose(scratch, pose, (1.0, limit));
        for (tet, (corners, hats)) in self.model.data.mesh.tets().iter().zip(&self.hats).enumerate() {
            for entry in 0..9 {
                let part = |(&v, hat): (&u32, &[f64; 3])| u[v as usize][entry / 3] * hat[entry % 3];
                scratch.change[place(tet, entry)] = corners.iter().zip(hats).map(part).sum();
            }
        }
        self.tets.strained(scratch);
        let stress = |tet: usize| std::array::from_fn(|entry| scratch.stress[place(tet, entry)]);
        let felt = (0..self.tets.count()).filter(|&tet| scratch.is_stressed(tet));
        felt.map(|tet| (tet as u32, stress(tet))).collect()
    }

    /// Vertices with active displacement limits, and their forces.
    fn moved(&self, u: &[[f64; 3]]) -> Vec<(u32, [f64; 3])> {
        let Some(limit) = &self.limit else { return Vec::new() };
        let mut pulls = vec![[0.0; 3]; u.len()];
        limit.evaluate(&self.model.data.mass, u, &mut pulls);
        let felt = pulls.into_iter().enumerate().filter(|(_, pull)| *pull != [0.0; 3]);
        felt.map(|(vertex, pull)| (vertex as u32, pull)).collect()
    }
}

impl<const E: usize> Felt<E> {
    /// Items with weights, at most `most`, fitted to the forces of all; `moves(item, entry, k)` is the
    /// derivative by a coordinate.
    fn fit(
        &self,
        draws: &[Draw],
        most: usize,
        moves: impl Fn(usize, usize, usize) -> f64,
    ) -> Vec<(u32, f64)> {
        let works = |force: &[f64], draw: &Draw| -> Vec<f64> {
            (0..DIRECTIONS).map(|d| dot(force, draw.directions.col_as_slice(d))).collect()
        };
        let squares = |works: &[f64]| works.iter().map(|work| work * work).sum::<f64>();
        let felt: Vec<usize> = (0..draws.len()).filter(|&state| !self.items[state].is_empty()).collect();
        let (mut targets, mut scales) = (Vec::new(), Vec::new());
        for &state in &felt {
            let (own, other) =
                (works(&self.forces[state], &draws[state]), works(&self.elastic[state], &draws[state]));
            let scale = 1.0 / (squares(&own) + squares(&other)).sqrt();
            targets.push(own.iter().map(|work| scale * work).collect::<Vec<f64>>());
            scales.push(scale);
        }
        let candidates = self.candidates(&felt, &scales);
        let Some(rank) = draws.first().map(|draw| draw.y.len()).filter(|_| !candidates.is_empty()) else {
            return Vec::new();
        };
        let moves =
            Mat::from_fn(E * candidates.len(), rank, |i, k| moves(candidates[i / E] as usize, i % E, k));
        let works_of = |((&state, scale), target): ((&usize, &f64), Vec<f64>)| -> Works {
            let moved = product(moves.as_ref(), draws[state].directions.as_ref());
            let mut works = Mat::<f64>::zeros(DIRECTIONS, candidates.len());
            for (item, force) in &self.items[state] {
                let Ok(column) = candidates.binary_search(item) else { continue };
                for d in 0..DIRECTIONS {
                    let part = |e: usize| force[e] * moved[(E * column + e, d)];
                    works[(d, column)] = scale * (0..E).map(part).sum::<f64>();
                }
            }
            (works, target)
        };
        let states: Vec<Works> = felt.par_iter().zip(&scales).zip(targets).map(works_of).collect();
        fit(&states, most).into_iter().map(|(place, weight)| (candidates[place], weight)).collect()
    }

    /// The items with the largest forces, in ascending order.
    fn candidates(&self, felt: &[usize], scales: &[f64]) -> Vec<u32> {
        let mut most: Vec<(u32, f64)> = Vec::new();
        let mut all: Vec<(u32, f64)> = Vec::new();
        for (&state, scale) in felt.iter().zip(scales) {
            let own = |(item, force): &(u32, [f64; E])| {
                (*item, scale * scale * force.iter().map(|x| x * x).sum::<f64>())
            };
            all.extend(self.items[state].iter().map(own));
        }
        all.sort_by_key(|(item, _)| *item);
        for (item, square) in all {
            match most.last_mut() {
                Some((last, sum)) if *last == item => *sum += square,
                _ => most.push((item, square)),
            }
        }
        most.sort_by(|a, b| b.1.total_cmp(&a.1));
        most.truncate(CANDIDATES);
        let mut found: Vec<u32> = most.into_iter().map(|(item, _)| item).collect();
        found.sort_unstable();
        found
    }
}
