/** Tests of the files that the JavaScript reads and writes: `node files.mjs`. */

import assert from "node:assert";
import { Flesh } from "./flesh.js";
import { Character } from "./glb.js";
import { readFlesh, restPoints, writeFlesh } from "./gltf_flesh.js";
import { JounceError } from "./jounce.js";

/** A GLB file of a description and numbers. */
function glb(json, numbers) {
  const text = new TextEncoder().encode(JSON.stringify(json));
  const [first, second] = [text.length, numbers.byteLength].map((length) => (length + 3) & ~3);
  const out = new Uint8Array(28 + first + second).fill(32);
  const head = new DataView(out.buffer);
  [0x46546c67, 2, out.length, first, 0x4e4f534a].forEach((word, at) => head.setUint32(4 * at, word, true));
  out.set(text, 20);
  head.setUint32(20 + first, second, true);
  head.setUint32(24 + first, 0x004e4942, true);
  out.set(new Uint8Array(numbers.buffer), 28 + first);
  return out;
}

/** A tetrahedron on two bones, the second one metre above the first, in centimetres below a scaled node. */
function tetrahedron() {
  const places = [0, 0, 0, 100, 0, 0, 0, 100, 0, 0, 0, 100];
  const binds = [1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, -100, 0, 1];
  const weights = [1, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0.5, 0.5, 0, 0];
  const turns = [0, 0, 0, 1, 0, 0, Math.SQRT1_2, Math.SQRT1_2];
  const numbers = Float32Array.from([...places, ...binds, ...weights, 0, 2, ...turns]);
  const bytes = new Uint8Array(numbers.byteLength + 28);
  bytes.set(new Uint8Array(numbers.buffer));
  bytes.set([0, 1, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0], numbers.byteLength);
  bytes.set([0, 2, 1, 0, 1, 3, 0, 3, 2, 1, 2, 3], numbers.byteLength + 16);
  const sizes = [48, 128, 64, 8, 32, 16, 12];
  const starts = sizes.map((_, at) => sizes.slice(0, at).reduce((sum, size) => sum + size, 0));
  const array = (bufferView, componentType, type, count) => ({ bufferView, componentType, type, count });
  const json = {
    asset: { version: "2.0" },
    buffers: [{ byteLength: bytes.length }],
    bufferViews: starts.map((byteOffset, at) => ({ buffer: 0, byteOffset, byteLength: sizes[at] })),
    accessors: [
      array(0, 5126, "VEC3", 4), array(1, 5126, "MAT4", 2), array(2, 5126, "VEC4", 4), array(3, 5126, "SCALAR", 2),
      array(4, 5126, "VEC4", 2), array(5, 5121, "VEC4", 4), array(6, 5121, "SCALAR", 12),
    ],
    nodes: [
      { name: "Armature", scale: [0.01, 0.01, 0.01], children: [1, 3] },
      { name: "Hips", children: [2] },
      { name: "Spine", translation: [0, 100, 0] },
      { name: "Skin", mesh: 0, skin: 0 },
    ],
    meshes: [{ primitives: [{ attributes: { POSITION: 0, JOINTS_0: 5, WEIGHTS_0: 2 }, indices: 6 }] }],
    skins: [{ joints: [1, 2], inverseBindMatrices: 1 }],
    animations: [{
      name: "Turn",
      channels: [{ sampler: 0, target: { node: 2, path: "rotation" } }],
      samplers: [{ input: 3, output: 4 }],
    }],
  };
  return [json, bytes];
}

const near = (a, b) => assert.ok(Math.abs(a - b) < 1e-6, `${a} is not ${b}`);

const [json, numbers] = tetrahedron();
const file = glb(json, numbers);
const character = new Character(file.buffer);
assert.deepEqual(character.bones.map(({ name, parent }) => [name, parent]), [["Hips", -1], ["Spine", 0]]);
assert.deepEqual(character.still(), [true, false]);
near(character.bounds()[1][1], 1);
const flesh = new Flesh(character);
assert.equal(flesh.points.length, 12);
const numbersOf = flesh.forBuilder();
assert.deepEqual([...numbersOf.weights], [1, 0, 1, 0, 0, 1, 0.5, 0.5]);
numbersOf.heads.forEach((x, at) => near(x, at === 4 ? 1 : 0));

// At rest every bone is at its place; halfway the second has turned by 45 degrees about its head.
character.pose(null, 0).forEach((x, at) => near(x, [1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0][at % 12]));
const turned = character.pose(character.animations[0], 1);
near(turned[12], Math.SQRT1_2);
near(turned[15], Math.SQRT1_2);
near(turned[19], 1 - Math.SQRT1_2);

// The shown places are the skinned ones plus the displacements of their points.
flesh.show(turned, Float32Array.from({ length: 12 }, (_, at) => at / 100));
near(flesh.shown[0][6], 0 + 0.06);
near(flesh.shown[0][7], 1 + 0.07);
flesh.normals[0].forEach((x) => assert.ok(Number.isFinite(x)));

// A file with flesh reads as it was written, and still is the character.
const model = Uint8Array.from({ length: 1001 }, (_, at) => at % 251);
const fleshed = writeFlesh(file, character, { model, stiffness: 12.5, gravity: [0, -1, 0] });
const again = new Character(fleshed.buffer);
const [body, ...others] = readFlesh(again);
assert.equal(others.length, 0);
assert.deepEqual([body.model, body.settings, body.nodes], [model, { stiffness: 12.5, gravity: [0, -1, 0] }, [3]]);
assert.deepEqual(again.parts[0].places, character.parts[0].places);
restPoints(again, body, flesh.points).forEach((x, at) => near(x, flesh.points[at]));
again.pose(again.animations[0], 1, new Float64Array(24), body.bones).forEach((x, at) => near(x, turned[at]));
assert.deepEqual(readFlesh(character), []);
const refuses = (settings, sentence) => {
  const wrong = writeFlesh(file, character, { model, ...settings });
  assert.throws(() => readFlesh(new Character(wrong.buffer)), sentence);
};
refuses({ stiffness: -1 }, /JOUNCE_flesh.stiffness is -1/);
refuses({ softness: 1 }, /JOUNCE_flesh.softness is 1/);
refuses({ gravity: [0, 1] }, /JOUNCE_flesh.gravity is 0,1/);
refuses({ joints: [99] }, /contradicts its file/);

// Damaged files are refused by a sentence, and none ends otherwise.
assert.throws(() => new Character(new ArrayBuffer(4)), /this is not a GLB file/);
let refused = 0;
for (let length = 0; length < fleshed.length; length += 7) {
  try {
    readFlesh(new Character(fleshed.slice(0, length).buffer));
  } catch (error) {
    assert.ok(error instanceof JounceError, `${length} bytes: ${error.stack}`);
    refused += 1;
  }
}
assert.ok(refused > 100);
for (const change of [
  (it) => delete it.skins,
  (it) => (it.skins[0].joints = [9]),
  (it) => (it.nodes[1].children = [1]),
  (it) => (it.nodes[1].children = [77]),
  (it) => (it.accessors[0].count = 1e9),
  (it) => (it.accessors[6].componentType = 7),
  (it) => (it.meshes[0].primitives[0].attributes.POSITION = 99),
  (it) => (it.bufferViews[0].byteOffset = 1e9),
  (it) => (it.nodes = "none"),
  (it) => (it.animations[0].samplers = []),
  (it) => (it.extensionsRequired = ["KHR_draco_mesh_compression"]),
]) {
  const changed = structuredClone(json);
  change(changed);
  try {
    new Flesh(new Character(glb(changed, numbers).buffer)).forBuilder();
    assert.fail(`${change} is not refused`);
  } catch (error) {
    assert.ok(error instanceof JounceError, `${change}: ${error.stack}`);
  }
}
console.log("the files are read and written as they should be");
