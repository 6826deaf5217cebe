/** Reads rigged characters from GLB files: meshes, skeleton, animations, and poses of the skeleton. */

import { JounceError } from "./jounce.js";

const KINDS = {
  5120: Int8Array, 5121: Uint8Array, 5122: Int16Array, 5123: Uint16Array, 5125: Uint32Array, 5126: Float32Array,
};
const WIDTHS = { SCALAR: 1, VEC2: 2, VEC3: 3, VEC4: 4, MAT4: 16 };
/** Most numbers of an array. */
const MOST_NUMBERS = 1 << 26;
/** Most influences of a vertex. */
const INFLUENCES = 4;
/** Largest difference of a track between the ends of an animation that goes round. */
const LOOPS = 0.05;
const IDENTITY = [1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1];

/** Product of two 4x4 matrices, by columns. */
export function multiply(a, b) {
  const out = new Float64Array(16);
  for (let at = 0; at < 16; at++) {
    const row = at & 3;
    const column = at & 12;
    out[at] = a[row] * b[column] + a[4 + row] * b[column + 1] + a[8 + row] * b[column + 2] + a[12 + row] * b[column + 3];
  }
  return out;
}

/** Inverse of an affine 4x4 matrix. */
export function inverse(m) {
  const [a, b, c, , d, e, f, , g, h, i] = m;
  const [A, B, C] = [e * i - f * h, c * h - b * i, b * f - c * e];
  const determinant = a * A + d * B + g * C;
  if (!Number.isFinite(1 / determinant)) {
    throw new JounceError("a bone is scaled to nothing at rest; give it a size");
  }
  const linear = [
    A, B, C, f * g - d * i, a * i - c * g, c * d - a * f, d * h - e * g, b * g - a * h, a * e - b * d,
  ].map((x) => x / determinant);
  const out = new Float64Array(16);
  for (let column = 0; column < 3; column++) {
    for (let row = 0; row < 3; row++) {
      out[4 * column + row] = linear[3 * column + row];
    }
  }
  for (let row = 0; row < 3; row++) {
    out[12 + row] = -(out[row] * m[12] + out[4 + row] * m[13] + out[8 + row] * m[14]);
  }
  out[15] = 1;
  return out;
}

/** Matrix of a translation, a rotation and a scale. */
function composed([x, y, z], [qx, qy, qz, qw], [sx, sy, sz]) {
  return Float64Array.of(
    (1 - 2 * (qy * qy + qz * qz)) * sx, 2 * (qx * qy + qz * qw) * sx, 2 * (qx * qz - qy * qw) * sx, 0,
    2 * (qx * qy - qz * qw) * sy, (1 - 2 * (qx * qx + qz * qz)) * sy, 2 * (qy * qz + qx * qw) * sy, 0,
    2 * (qx * qz + qy * qw) * sz, 2 * (qy * qz - qx * qw) * sz, (1 - 2 * (qx * qx + qy * qy)) * sz, 0,
    x, y, z, 1,
  );
}

/** The JSON and the binary part of a GLB file. */
function chunks(buffer) {
  const view = new DataView(buffer);
  if (buffer.byteLength < 20 || view.getUint32(0, true) !== 0x46546c67) {
    throw new JounceError("this is not a GLB file; export the character as glTF Binary (.glb)");
  }
  const parts = {};
  for (let at = 12; at + 8 <= buffer.byteLength; ) {
    const [length, kind] = [view.getUint32(at, true), view.getUint32(at + 4, true)];
    if (at + 8 + length > buffer.byteLength) {
      throw new JounceError("the GLB file is incomplete; export it again");
    }
    parts[kind] ??= new Uint8Array(buffer, at + 8, length);
    at += 8 + length;
  }
  try {
    return [JSON.parse(new TextDecoder().decode(parts[0x4e4f534a])), parts[0x004e4942]];
  } catch {
    throw new JounceError("the GLB file has no readable description; export it again");
  }
}

/** Arrays of a file. */
class Arrays {
  constructor(json, bin) {
    this.json = json;
    this.bin = bin;
  }

  /** Numbers of an accessor; of integers that stand for shares, these shares. */
  read(index) {
    const accessor = this.json.accessors?.[index];
    const Kind = KINDS[accessor?.componentType];
    if (!Kind || !(accessor.type in WIDTHS)) {
      throw new JounceError(`the GLB file refers to array ${index}, which it does not have; export it again`);
    }
    const width = WIDTHS[accessor.type];
    if (!(accessor.count * width <= MOST_NUMBERS)) {
      throw new JounceError(`array ${index} of the GLB file has ${accessor.count} entries; export a smaller character`);
    }
    const out = new Kind(accessor.count * width);
    if (accessor.bufferView !== undefined) {
      this.#copy(accessor.bufferView, accessor.byteOffset ?? 0, width, out);
    }
    if (accessor.sparse) {
      const { count, indices, values } = accessor.sparse;
      const places = new KINDS[indices.componentType](count);
      const rows = new Kind(count * width);
      this.#copy(indices.bufferView, indices.byteOffset ?? 0, 1, places);
      this.#copy(values.bufferView, values.byteOffset ?? 0, width, rows);
      places.forEach((place, row) => out.set(rows.subarray(row * width, (row + 1) * width), place * width));
    }
    const most = { 5120: 127, 5121: 255, 5122: 32767, 5123: 65535 }[accessor.componentType];
    return accessor.normalized && most ? Float32Array.from(out, (x) => Math.max(x / most, -1)) : out;
  }

  #copy(view, offset, width, out) {
    const { byteOffset = 0, byteStride, byteLength } = this.json.bufferViews?.[view] ?? {};
    const size = out.BYTES_PER_ELEMENT;
    const stride = byteStride ?? width * size;
    const rows = out.length / width;
    if (!this.bin || rows * stride - (stride - width * size) + offset > byteLength
      || byteOffset + byteLength > this.bin.byteLength) {
      throw new JounceError("the GLB file is incomplete; export it again, as a single file without compression");
    }
    const bytes = new Uint8Array(out.buffer);
    for (let row = 0; row < rows; row++) {
      const start = byteOffset + offset + row * stride;
      bytes.set(this.bin.subarray(start, start + width * size), row * width * size);
    }
  }

  /** Bytes of a buffer view. */
  bytes(index) {
    const { byteOffset = 0, byteLength } = this.json.bufferViews?.[index] ?? {};
    if (!this.bin || !(byteOffset + byteLength <= this.bin.length)) {
      throw new JounceError("the GLB file is incomplete; export it again, as a single file without compression");
    }
    return this.bin.subarray(byteOffset, byteOffset + byteLength);
  }

  /** Bytes and type of an image; null for none in the file. */
  image(index) {
    const { bufferView, mimeType } = this.json.images?.[index] ?? {};
    return bufferView === undefined ? null : { bytes: this.bytes(bufferView), type: mimeType };
  }
}

/** Unpacks the weights of a primitive: the four largest influences of each vertex, of sum 1. */
function influences(arrays, attributes, count, boneOf) {
  const [bones, weights] = [new Uint16Array(INFLUENCES * count), new Float32Array(INFLUENCES * count)];
  const sets = [];
  for (let set = 0; attributes[`JOINTS_${set}`] !== undefined; set++) {
    sets.push([arrays.read(attributes[`JOINTS_${set}`]), arrays.read(attributes[`WEIGHTS_${set}`])]);
  }
  for (let vertex = 0; vertex < count; vertex++) {
    const all = sets.flatMap(([joints, shares]) =>
      [0, 1, 2, 3].map((k) => [boneOf(joints[4 * vertex + k]), shares[4 * vertex + k]]));
    const largest = all.filter(([, weight]) => weight > 0).sort((a, b) => b[1] - a[1]).slice(0, INFLUENCES);
    const sum = largest.reduce((total, [, weight]) => total + weight, 0);
    largest.forEach(([bone, weight], k) => {
      bones[INFLUENCES * vertex + k] = bone;
      weights[INFLUENCES * vertex + k] = weight / sum;
    });
    if (largest.length === 0) {
      weights[INFLUENCES * vertex] = 1;
    }
  }
  return { bones, weights };
}

/** A rigged character: its parts at rest in the world, its bones, and its animations. */
export class Character {
  /** @param buffer the bytes of a GLB file. */
  constructor(buffer) {
    try {
      this.#read(buffer);
    } catch (error) {
      throw error instanceof JounceError
        ? error
        : new JounceError(`the GLB file contradicts itself (${error.message}); export it again`);
    }
  }

  #read(buffer) {
    const [json, bin] = chunks(buffer);
    const needed = (json.extensionsRequired ?? []).filter((name) => /draco|meshopt|basisu/i.test(name));
    if (needed.length > 0) {
      throw new JounceError(`the file needs ${needed[0]}, which is not read here; export it without compression`);
    }
    this.json = json;
    this.arrays = new Arrays(json, bin);
    this.nodes = (json.nodes ?? []).map((node) => ({ ...node, parent: -1 }));
    this.nodes.forEach((node, index) => node.children?.forEach((child) => (this.nodes[child].parent = index)));
    this.order = this.#parentsFirst();
    if (this.order.length !== this.nodes.length) {
      throw new JounceError("the nodes of the GLB file hang on each other in a circle; export it again");
    }
    this.#readSkeleton();
    this.animations = (json.animations ?? []).map((animation) => this.#readAnimation(animation));
    this.parts = this.nodes.flatMap((node, index) => this.#readParts(node, index));
    if (!this.parts.some((part) => part.isFlesh)) {
      throw new JounceError("no mesh of the file is deformed by bones; export it with its armature");
    }
  }

  #parentsFirst() {
    const order = [];
    const visit = (index) => {
      order.push(index);
      (this.nodes[index].children ?? []).forEach(visit);
    };
    this.nodes.forEach((node, index) => node.parent < 0 && visit(index));
    return order;
  }

  /** Bones are the joints of all skins; `rest` is each one's transform at rest in the world. */
  #readSkeleton() {
    const worlds = this.worlds();
    this.bones = [];
    this.boneOf = new Map();
    this.skins = (this.json.skins ?? []).map(({ joints, inverseBindMatrices }) => {
      const numbers = inverseBindMatrices === undefined ? null : this.arrays.read(inverseBindMatrices);
      const binds = joints.map((_, j) => numbers ? Float64Array.from(numbers.subarray(16 * j, 16 * j + 16)) : IDENTITY);
      const first = this.order.find((node) => joints.includes(node));
      const bind = multiply(worlds[first], binds[joints.indexOf(first)]);
      joints.forEach((node, j) => {
        if (!this.boneOf.has(node)) {
          this.boneOf.set(node, this.bones.length);
          this.bones.push({ node, name: this.nodes[node].name ?? "", rest: multiply(bind, inverse(binds[j])) });
        }
      });
      return { bind, bones: joints.map((node) => this.boneOf.get(node)) };
    });
    if (this.bones.length === 0) {
      throw new JounceError("the file has no skeleton; export the character with its armature");
    }
    this.bones.forEach((bone) => {
      bone.parent = this.#boneAbove(this.nodes[bone.node].parent);
      bone.unposed = inverse(bone.rest);
    });
  }

  #boneAbove(node) {
    for (let above = node; above >= 0; above = this.nodes[above].parent) {
      if (this.boneOf.has(above)) {
        return this.boneOf.get(above);
      }
    }
    return -1;
  }

  #readParts(node, index) {
    const skin = node.skin === undefined ? null : this.skins[node.skin];
    const held = this.#boneAbove(index);
    const primitives = this.json.meshes?.[node.mesh]?.primitives ?? [];
    if (!skin && held < 0) {
      return [];
    }
    const place = skin ? skin.bind : this.#heldBy(held, index);
    return primitives
      .filter((primitive) => (primitive.mode ?? 4) === 4 && primitive.attributes.POSITION !== undefined)
      .map((primitive) => ({ node: index, ...this.#readPart(primitive, place, skin, held) }));
  }

  /** Place in the world, with a bone at rest, of a node that hangs on it. */
  #heldBy(bone, index) {
    const worlds = this.worlds();
    const { node, rest } = this.bones[bone];
    return multiply(multiply(rest, inverse(worlds[node])), worlds[index]);
  }

  #readPart({ attributes, indices, material }, place, skin, held) {
    const local = this.arrays.read(attributes.POSITION);
    const count = local.length / 3;
    const bound = skin && attributes.JOINTS_0 !== undefined;
    const { bones, weights } = bound
      ? influences(this.arrays, attributes, count, (joint) => skin.bones[joint] ?? 0)
      : influences(this.arrays, {}, count);
    if (!bound) {
      bones.forEach((_, at) => (bones[at] = Math.max(held, 0)));
    }
    const triangles = indices === undefined
      ? Uint32Array.from({ length: count - (count % 3) }, (_, at) => at)
      : Uint32Array.from(this.arrays.read(indices));
    if (triangles.some((vertex) => vertex >= count)) {
      throw new JounceError("a triangle of the GLB file has a vertex that is not there; export it again");
    }
    const { baseColorFactor = [1, 1, 1, 1], baseColorTexture } =
      this.json.materials?.[material]?.pbrMetallicRoughness ?? {};
    const color = attributes.COLOR_0 === undefined ? null : this.arrays.read(attributes.COLOR_0);
    return {
      isFlesh: Boolean(bound),
      material: this.json.materials?.[material]?.name ?? "",
      places: transformed(local, place, 1),
      normals: attributes.NORMAL === undefined ? null : transformed(this.arrays.read(attributes.NORMAL), place, 0),
      triangles,
      bones,
      weights,
      color: Float32Array.from({ length: 3 * count }, (_, at) => {
        const width = color ? color.length / count : 0;
        return baseColorFactor[at % 3] * (color ? color[Math.floor(at / 3) * width + (at % 3)] : 1);
      }),
      uv: baseColorTexture && attributes[`TEXCOORD_${baseColorTexture.texCoord ?? 0}`] !== undefined
        ? Float32Array.from(this.arrays.read(attributes[`TEXCOORD_${baseColorTexture.texCoord ?? 0}`]))
        : null,
      image: baseColorTexture ? this.arrays.image(this.json.textures?.[baseColorTexture.index]?.source) : null,
    };
  }

  #readAnimation({ name, channels, samplers }) {
    const tracks = channels
      .filter(({ target }) => ["translation", "rotation", "scale"].includes(target.path) && target.node !== undefined)
      .map(({ sampler, target }) => {
        const { input, output, interpolation } = samplers[sampler];
        return { ...target, interpolation, times: this.arrays.read(input), values: this.arrays.read(output) };
      });
    const end = tracks.reduce((most, { times }) => Math.max(most, times[times.length - 1] ?? 0), 0);
    const start = tracks.reduce((least, { times }) => Math.min(least, times[0] ?? 0), end);
    const ends = ({ times, values, path, interpolation }) => {
      const track = { times, values, path, interpolation };
      const [first, last] = [sampled(track, start), sampled(track, end)];
      return first.every((x, at) => Math.abs(x - last[at]) < LOOPS * Math.max(1, Math.abs(x)));
    };
    return { name: name ?? "", start, seconds: end - start, tracks, loops: () => tracks.every(ends) };
  }

  /** Lowest and highest places of the parts at rest. */
  bounds() {
    return boundsOf(this.parts.map(({ places }) => places));
  }

  /** World matrices of all nodes, at a time of an animation or at rest. */
  worlds(animation = null, seconds = 0) {
    const locals = this.nodes.map(({ translation, rotation, scale, matrix }) => ({
      translation: translation ?? [0, 0, 0], rotation: rotation ?? [0, 0, 0, 1], scale: scale ?? [1, 1, 1], matrix,
    }));
    animation?.tracks.forEach((track) => {
      locals[track.node][track.path] = sampled(track, animation.start + seconds);
      locals[track.node].matrix = undefined;
    });
    const worlds = [];
    for (const index of this.order) {
      const { translation, rotation, scale, matrix } = locals[index];
      const local = matrix ?? composed(translation, rotation, scale);
      const { parent } = this.nodes[index];
      worlds[index] = parent < 0 ? Float64Array.from(local) : multiply(worlds[parent], local);
    }
    return worlds;
  }

  /**
   * Writes a pose: a row-major 3x4 transform for each bone, from rest to the world.
   * @param bones the character's own, or those of a body.
   */
  pose(animation, seconds, out = new Float64Array(12 * this.bones.length), bones = this.bones) {
    const worlds = this.worlds(animation, seconds);
    bones.forEach(({ node, unposed }, bone) => {
      const moved = multiply(worlds[node], unposed);
      for (let row = 0; row < 3; row++) {
        for (let column = 0; column < 4; column++) {
          out[12 * bone + 4 * row + column] = moved[4 * column + row];
        }
      }
    });
    return out;
  }

  /** Bones without animation of their own. */
  still() {
    const moved = new Set(this.animations.flatMap(({ tracks }) =>
      tracks.filter(({ path, values }) => {
        const width = path === "rotation" ? 4 : 3;
        return values.some((value, at) => Math.abs(value - values[at % width]) > 1e-5);
      }).map(({ node }) => node)));
    return this.bones.map(({ node }) => moved.size > 0 && !moved.has(node));
  }
}

/** Lowest and highest of some lists of places. */
export function boundsOf(lists) {
  const [low, high] = [[Infinity, Infinity, Infinity], [-Infinity, -Infinity, -Infinity]];
  lists.forEach((places) => places.forEach((x, at) => {
    low[at % 3] = Math.min(low[at % 3], x);
    high[at % 3] = Math.max(high[at % 3], x);
  }));
  return [low, high];
}

/** Places (w = 1) or unit normals (w = 0) in the world. */
function transformed(local, m, w) {
  const out = new Float32Array(local.length);
  for (let at = 0; at < local.length; at += 3) {
    const [x, y, z] = [local[at], local[at + 1], local[at + 2]];
    const moved = [0, 1, 2].map((row) => m[row] * x + m[4 + row] * y + m[8 + row] * z + w * m[12 + row]);
    const length = w ? 1 : Math.hypot(...moved) || 1;
    moved.forEach((value, row) => (out[at + row] = value / length));
  }
  return out;
}

/** Value of a track at a time. */
function sampled({ times, values, path, interpolation }, seconds) {
  const width = path === "rotation" ? 4 : 3;
  const spline = interpolation === "CUBICSPLINE";
  const value = (key) => {
    const start = spline ? (3 * key + 1) * width : key * width;
    return values.subarray(start, start + width);
  };
  let [low, high] = [0, times.length - 1];
  if (seconds <= times[0] || high <= 0) {
    return value(0);
  }
  if (seconds >= times[high]) {
    return value(high);
  }
  while (high - low > 1) {
    const middle = (low + high) >> 1;
    [low, high] = times[middle] <= seconds ? [middle, high] : [low, middle];
  }
  const [a, b] = [value(low), value(high)];
  const share = interpolation === "STEP" ? 0 : (seconds - times[low]) / (times[high] - times[low]);
  const flip = width === 4 && a.reduce((sum, x, k) => sum + x * b[k], 0) < 0 ? -1 : 1;
  const mixed = Array.from(a, (x, k) => (1 - share) * x + share * flip * b[k]);
  const length = width === 4 ? Math.hypot(...mixed) || 1 : 1;
  return mixed.map((x) => x / length);
}
