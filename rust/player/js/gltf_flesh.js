/** The glTF extension JOUNCE_flesh: bodies of a character, within the file of the character. */

import { inverse, multiply } from "./glb.js";
import { JounceError } from "./jounce.js";

const NAME = "JOUNCE_flesh";
const JSON_CHUNK = 0x4e4f534a;
const BINARY_CHUNK = 0x004e4942;
/** Settings beside the model, and the least value of each; gravity is a vector. */
const LEAST = {
  stiffness: Number.MIN_VALUE, damping: 0, amount: 0, stretch: 0, limit: 0, poseRest: 0, substep: Number.MIN_VALUE,
};

/**
 * The bodies of a Character: { model, settings, bones, nodes } each, with the nodes and inverse binds of the model's
 * bones for `Character.pose`, and the nodes of the meshes that hang in the body.
 */
export function readFlesh(character) {
  const { bodies = [] } = character.json.extensions?.[NAME] ?? {};
  if (!Array.isArray(bodies)) {
    throw new JounceError(`${NAME} has no list of bodies; export the file again`);
  }
  return bodies.map((body) => readBody(character, body ?? {}));
}

function readBody(character, { model, joints, inverseBindMatrices, nodes, extensions, extras, ...settings }) {
  const known = [joints, nodes].every((some) => some?.every?.((node) => character.nodes[node]));
  const binds = known && joints.length > 0 ? character.arrays.read(inverseBindMatrices) : [];
  if (!known || binds.length !== 16 * joints.length || !binds.every(Number.isFinite)) {
    throw new JounceError(`${NAME} contradicts its file, in its joints or nodes; export the file again`);
  }
  Object.entries(settings).forEach(([name, value]) => {
    const numbers = name === "gravity" ? value : [value];
    const fits = (x) => Number.isFinite(x) && (name === "gravity" || x >= LEAST[name]);
    if (numbers?.length !== (name === "gravity" ? 3 : 1) || !Array.from(numbers).every(fits)) {
      throw new JounceError(`${NAME}.${name} is ${value}, which is no value of it; export the file again`);
    }
  });
  const bones = joints.map((node, j) => ({ node, unposed: Float64Array.from(binds.subarray(16 * j, 16 * j + 16)) }));
  return { model: character.arrays.bytes(model), settings, bones, nodes };
}

/** Gives a Player the settings of a body. */
export function applySettings(player, { gravity = [0, 0, 0], ...settings }) {
  ["X", "Y", "Z"].forEach((axis, c) => player.set(`gravity${axis}`, gravity[c]));
  Object.entries(settings).forEach(([name, value]) => player.set(name, value));
}

/** Places of a Character at rest, in the rest space of a body: the points for its Player. */
export function restPoints(character, { bones }, places) {
  const shared = bones.find(({ node }) => character.boneOf.has(node));
  if (!shared) {
    throw new JounceError(`${NAME} hangs on no bone of the character; export the file again`);
  }
  const m = multiply(inverse(shared.unposed), character.bones[character.boneOf.get(shared.node)].unposed);
  return Float32Array.from(places, (_, at) => {
    const [row, first] = [at % 3, at - (at % 3)];
    return m[row] * places[first] + m[4 + row] * places[first + 1] + m[8 + row] * places[first + 2] + m[12 + row];
  });
}

/** The bytes of a GLB file with a body added, whose bones are those of its Character and rest where they do. */
export function writeFlesh(file, character, { model, ...settings }) {
  const view = new DataView(file.buffer, file.byteOffset, file.byteLength);
  const length = view.getUint32(12, true);
  const json = JSON.parse(new TextDecoder().decode(file.subarray(20, 20 + length)));
  const binary = file.subarray(28 + length, 28 + length + view.getUint32(20 + length, true));
  const binds = Float32Array.from(character.bones.flatMap(({ unposed }) => Array.from(unposed)));
  const start = padded(binary.length);
  const end = start + padded(model.length);
  json.bufferViews.push(
    { buffer: 0, byteOffset: start, byteLength: model.length },
    { buffer: 0, byteOffset: end, byteLength: binds.byteLength },
  );
  const views = json.bufferViews.length;
  json.accessors.push({ bufferView: views - 1, componentType: 5126, type: "MAT4", count: character.bones.length });
  json.buffers[0].byteLength = end + binds.byteLength;
  json.extensionsUsed = [...new Set([...(json.extensionsUsed ?? []), NAME])];
  const body = {
    model: views - 2,
    joints: character.bones.map(({ node }) => node),
    inverseBindMatrices: json.accessors.length - 1,
    nodes: [...new Set(character.parts.filter(({ isFlesh }) => isFlesh).map(({ node }) => node))],
    ...settings,
  };
  json.extensions = { ...json.extensions, [NAME]: { bodies: [body] } };
  const text = new TextEncoder().encode(JSON.stringify(json));
  const [first, second] = [padded(text.length), padded(end + binds.byteLength)];
  const out = new Uint8Array(28 + first + second);
  const head = new DataView(out.buffer);
  [0x46546c67, 2, out.length, first, JSON_CHUNK].forEach((word, at) => head.setUint32(4 * at, word, true));
  out.fill(32, 20, 20 + first);
  out.set(text, 20);
  head.setUint32(20 + first, second, true);
  head.setUint32(24 + first, BINARY_CHUNK, true);
  out.set(binary, 28 + first);
  out.set(model, 28 + first + start);
  out.set(new Uint8Array(binds.buffer), 28 + first + end);
  return out;
}

/** Length up to the next multiple of four. */
function padded(length) {
  return (length + 3) & ~3;
}
