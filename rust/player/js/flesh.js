/** The flesh of a rigged character: its vertices welded into one surface, and their place in every frame. */

import { boundsOf } from "./glb.js";

/** The deformed parts of a Character as one surface; vertices that files split at seams are one point. */
export class Flesh {
  constructor(character) {
    this.character = character;
    this.parts = character.parts;
    this.#weld();
    this.skinned = this.parts.map(({ places }) => new Float32Array(places.length));
    this.shown = this.parts.map(({ places }) => new Float32Array(places.length));
    this.normals = this.parts.map(({ places }) => new Float32Array(places.length));
    this.posed = new Float32Array(this.points.length);
    this.moved = new Float32Array(this.points.length);
    this.faces = [new Float32Array(this.points.length), new Float32Array(this.points.length)];
  }

  #weld() {
    const [known, points, firsts] = [new Map(), [], []];
    this.pointOf = this.parts.map((part, index) => {
      if (!part.isFlesh) {
        return null;
      }
      return Uint32Array.from({ length: part.places.length / 3 }, (_, vertex) => {
        const own = [part.places.subarray(3 * vertex, 3 * vertex + 3), part.bones.subarray(4 * vertex, 4 * vertex + 4)];
        const key = own.join("|");
        if (!known.has(key)) {
          known.set(key, firsts.length);
          firsts.push([index, vertex]);
          points.push(...own[0]);
        }
        return known.get(key);
      });
    });
    this.points = Float32Array.from(points);
    this.firstPart = Uint16Array.from(firsts, ([part]) => part);
    this.firstVertex = Uint32Array.from(firsts, ([, vertex]) => vertex);
    const corners = this.parts.flatMap(({ triangles }, index) =>
      this.pointOf[index] ? [triangles.map((vertex) => this.pointOf[index][vertex])] : []);
    const all = corners.flatMap((some) => Array.from(some));
    const kept = [];
    for (let at = 0; at < all.length; at += 3) {
      const [a, b, c] = [all[at], all[at + 1], all[at + 2]];
      if (a !== b && b !== c && c !== a) {
        kept.push(a, b, c);
      }
    }
    this.triangles = Uint32Array.from(kept);
  }

  /** The character for the builder. `isHard` tells hard materials by name. */
  forBuilder(isHard = () => false) {
    const { bones } = this.character;
    const weights = new Float64Array(this.firstPart.length * bones.length);
    const hinted = new Uint8Array(this.firstPart.length);
    this.firstPart.forEach((part, point) => {
      const vertex = this.firstVertex[point];
      for (let k = 4 * vertex; k < 4 * vertex + 4; k++) {
        weights[point * bones.length + this.parts[part].bones[k]] += this.parts[part].weights[k];
      }
      hinted[point] = isHard(this.parts[part].material) ? 1 : 0;
    });
    return {
      points: this.points,
      triangles: this.triangles,
      weights: evened(weights, bones.length),
      heads: bones.flatMap(({ rest }) => [rest[12], rest[13], rest[14]]),
      parents: bones.map(({ parent }) => parent),
      still: this.character.still(),
      names: bones.map(({ name }) => name),
      hinted,
    };
  }

  /** Lowest and highest places of the parts as they are shown. */
  bounds() {
    return boundsOf(this.shown);
  }

  /** Puts all parts into a pose, with displacements of the points or without, and finds their normals. */
  show(pose, displacements) {
    this.parts.forEach((part, index) => {
      skin(part.places, part, pose, 1, this.skinned[index]);
      if (part.normals) {
        skin(part.normals, part, pose, 0, this.normals[index]);
      } else {
        this.normals[index].fill(0);
      }
    });
    this.#movePoints(displacements);
    const [before, after] = this.faces;
    pointNormals(this.posed, this.triangles, before);
    pointNormals(this.moved, this.triangles, after);
    this.parts.forEach((part, index) => this.#showPart(part, index, displacements));
  }

  /** Places of the points as the bones put them, and with their displacements. */
  #movePoints(displacements) {
    const { posed, moved, firstPart, firstVertex } = this;
    for (let point = 0; point < firstPart.length; point++) {
      const from = this.skinned[firstPart[point]];
      for (let c = 0; c < 3; c++) {
        const at = 3 * point + c;
        posed[at] = from[3 * firstVertex[point] + c];
        moved[at] = posed[at] + (displacements ? displacements[at] : 0);
      }
    }
  }

  #showPart(part, index, displacements) {
    const points = this.pointOf[index];
    const shown = this.shown[index];
    const normals = this.normals[index];
    shown.set(this.skinned[index]);
    if (!points || !displacements) {
      return;
    }
    const [before, after] = this.faces;
    const known = part.normals ? 1 : 0;
    // The file's normals turn as those of the triangles around do.
    for (let vertex = 0; vertex < points.length; vertex++) {
      for (let c = 0; c < 3; c++) {
        const own = 3 * vertex + c;
        const at = 3 * points[vertex] + c;
        shown[own] += displacements[at];
        normals[own] += after[at] - known * before[at];
      }
    }
  }
}

/** Rows of weights of sum 1 up to the last digit. */
function evened(weights, width) {
  for (let row = 0; row < weights.length; row += width) {
    let sum = 0;
    for (let k = 0; k < width; k++) {
      sum += weights[row + k];
    }
    for (let k = 0; k < width; k++) {
      weights[row + k] /= sum;
    }
  }
  return weights;
}

/** Linear blend skinning of places (w = 1) or directions (w = 0). */
function skin(local, { bones, weights }, pose, w, out) {
  for (let vertex = 0; vertex < local.length / 3; vertex++) {
    const at = 3 * vertex;
    const x = local[at];
    const y = local[at + 1];
    const z = local[at + 2];
    let a = 0;
    let b = 0;
    let c = 0;
    for (let k = 4 * vertex; k < 4 * vertex + 4; k++) {
      const weight = weights[k];
      if (weight > 0) {
        const t = 12 * bones[k];
        a += weight * (pose[t] * x + pose[t + 1] * y + pose[t + 2] * z + w * pose[t + 3]);
        b += weight * (pose[t + 4] * x + pose[t + 5] * y + pose[t + 6] * z + w * pose[t + 7]);
        c += weight * (pose[t + 8] * x + pose[t + 9] * y + pose[t + 10] * z + w * pose[t + 11]);
      }
    }
    out[at] = a;
    out[at + 1] = b;
    out[at + 2] = c;
  }
}

/** Unit normals of points, from the triangles around weighted by their areas. */
function pointNormals(places, triangles, out) {
  out.fill(0);
  for (let at = 0; at < triangles.length; at += 3) {
    const i = 3 * triangles[at];
    const j = 3 * triangles[at + 1];
    const k = 3 * triangles[at + 2];
    const ax = places[j] - places[i];
    const ay = places[j + 1] - places[i + 1];
    const az = places[j + 2] - places[i + 2];
    const bx = places[k] - places[i];
    const by = places[k + 1] - places[i + 1];
    const bz = places[k + 2] - places[i + 2];
    const nx = ay * bz - az * by;
    const ny = az * bx - ax * bz;
    const nz = ax * by - ay * bx;
    for (let corner = at; corner < at + 3; corner++) {
      const to = 3 * triangles[corner];
      out[to] += nx;
      out[to + 1] += ny;
      out[to + 2] += nz;
    }
  }
  for (let at = 0; at < out.length; at += 3) {
    const x = out[at];
    const y = out[at + 1];
    const z = out[at + 2];
    const length = Math.sqrt(x * x + y * y + z * z) || 1;
    out[at] = x / length;
    out[at + 1] = y / length;
    out[at + 2] = z / length;
  }
}
