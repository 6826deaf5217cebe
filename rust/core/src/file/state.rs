//! Serialisation of simulation states.

use super::STATE;
use super::bytes::{Reader, Writer};
use crate::Result;
use crate::potentials::contact::{Anchor, ContactState};
use crate::solve::CurvaturePairs;
use crate::stepping::state::State;

type Rows = Vec<[f64; 3]>;

/// Bytes of a state, from which [`decode_state`] restores it bit for bit.
pub fn encode_state(state: &State) -> Vec<u8> {
    STATE.seal(|out| write_state(out, state))
}

/// Decodes a state. Its consistency with a model is checked when it is restored.
///
/// # Errors
/// [`Error::File`](crate::Error::File) for anything other than the output of [`encode_state`] in this
/// version.
pub fn decode_state(bytes: &[u8]) -> Result<State> {
    STATE.open(bytes, read_state)
}

fn write_state(out: &mut Writer, state: &State) {
    let State { started, time, spacing, frames, path, reduced, offset_frames, offset_path, learnt, contact } =
        state;
    out.count(usize::from(*started));
    [time, spacing].into_iter().for_each(|seconds| out.0.extend(seconds.to_le_bytes()));
    for rows in frames.iter().chain(path).chain(reduced).chain(offset_frames).chain(offset_path) {
        write_rows(out, rows);
    }
    learnt.metric.iter().for_each(|part| out.0.extend(part.to_le_bytes()));
    out.count(learnt.pairs.len());
    learnt.pairs.as_flattened().iter().for_each(|rows| write_rows(out, rows));
    write_contact(out, contact);
}

fn write_contact(out: &mut Writer, ContactState { frames, last, anchors }: &ContactState) {
    frames.iter().chain([last]).for_each(|rows| write_rows(out, rows));
    out.count(anchors.len());
    for Anchor { point, collider, place, side } in anchors {
        [point, collider].into_iter().for_each(|index| out.0.extend(index.to_le_bytes()));
        place.iter().chain(side).for_each(|x| out.0.extend(x.to_le_bytes()));
    }
}

fn read_flag(input: &mut Reader<'_>) -> Result<bool> {
    match u64::from_le_bytes(input.take()?) {
        0 => Ok(false),
        1 => Ok(true),
        _ => Err(input.too_short()),
    }
}

fn read_state(input: &mut Reader<'_>) -> Result<State> {
    Ok(State {
        started: read_flag(input)?,
        time: f64::from_le_bytes(input.take()?),
        spacing: f64::from_le_bytes(input.take()?),
        frames: read_history(input)?,
        path: read_history(input)?,
        reduced: read_history(input)?,
        offset_frames: read_history(input)?,
        offset_path: read_history(input)?,
        learnt: read_pairs(input)?,
        contact: read_contact(input)?,
    })
}

fn read_contact(input: &mut Reader<'_>) -> Result<ContactState> {
    let (frames, [last]) = (read_history(input)?, read_history(input)?);
    let mut anchors = Vec::new();
    // Each anchor takes bytes, so the count cannot exceed the input's length.
    for _ in 0..u64::from_le_bytes(input.take()?) {
        let (point, collider) = (u32::from_le_bytes(input.take()?), u32::from_le_bytes(input.take()?));
        let [mut place, mut side] = [[0.0; 3]; 2];
        for x in place.iter_mut().chain(&mut side) {
            *x = f64::from_le_bytes(input.take()?);
        }
        anchors.push(Anchor { point, collider, place, side });
    }
    Ok(ContactState { frames, last, anchors })
}

fn read_pairs(input: &mut Reader<'_>) -> Result<CurvaturePairs> {
    let metric = [f64::from_le_bytes(input.take()?), f64::from_le_bytes(input.take()?)];
    let mut pairs = Vec::new();
    // Each pair takes bytes, so the count cannot exceed the input's length.
    for _ in 0..u64::from_le_bytes(input.take()?) {
        pairs.push(read_history(input)?);
    }
    Ok(CurvaturePairs { metric, pairs })
}

fn read_history<const N: usize>(input: &mut Reader<'_>) -> Result<[Rows; N]> {
    let mut history = std::array::from_fn(|_| Rows::new());
    for rows in &mut history {
        *rows = read_rows(input)?;
    }
    Ok(history)
}

fn write_rows(out: &mut Writer, rows: &Rows) {
    out.array(rows.as_flattened(), f64::to_le_bytes);
}

fn read_rows(input: &mut Reader<'_>) -> Result<Rows> {
    let numbers = input.array(f64::from_le_bytes)?;
    let (rows, rest) = numbers.as_chunks::<3>();
    if rest.is_empty() { Ok(rows.to_vec()) } else { Err(input.too_short()) }
}
