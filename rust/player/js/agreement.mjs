/**
 * Plays what a test wrote into a folder, and writes the displacements there:
 *
 *     node agreement.mjs jounce_player.wasm FOLDER [levels | contact]
 *
 * With `levels` the level of detail changes on the way; with `contact` the body meets the floor and a capsule.
 */

import assert from "node:assert";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { JounceError, Player } from "./jounce.js";

const [module, folder, what] = process.argv.slice(2);
const read = (name) => {
  const bytes = readFileSync(join(folder, name));
  return bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.byteLength);
};
const wasm = await Player.load(readFileSync(module));
assert.throws(() => new Player(wasm, new Uint8Array(40)), new JounceError("file: this is not a Jounce model"));

const player = new Player(wasm, read("model"));
player.attach(new Float32Array(read("points")));
assert.throws(() => player.set("softness", 1), /there is no setting softness/);
assert.throws(() => player.set("stiffness", -1), new JounceError("stiffness: expected a positive number, got -1"));
assert.throws(() => player.step(new Float64Array(3), 0.01), /pose: expected [0-9]+ numbers, got 3/);

if (what === "contact") {
  const skin = { bones: new Uint32Array(read("bones")), weights: new Float32Array(read("weights")) };
  const floor = { point: [0, -0.3, 0], normal: [0, 1, 0] };
  const capsule = { start: [1.6, 0.9, -1], end: [1.6, 0.9, 1.5], radius: 0.2, bone: 0 };
  assert.throws(() => player.collide([floor], { bones: [], weights: [] }), /bones: expected [0-9]+ numbers/);
  assert.throws(() => player.collide([{ ...capsule, radius: -1 }], skin), /radius: expected/);
  assert.throws(() => player.collide([{ start: [0, 0, 0] }], skin), /collider 0: give a plane/);
  assert.throws(() => player.collide([floor], { ...skin, triangles: [0, 1] }), /triangles: expected three points/);
  player.collide([floor, capsule], skin);
  player.move(0, [1, 0, 0, 0, 0, 1, 0, 0.05, 0, 0, 1, 0]);
  assert.throws(() => player.move(1, new Float64Array(12)), /its bone carries it/);
  assert.throws(() => player.move(0, [1, 0, 0]), /transform: expected 12 numbers, got 3/);
}

const poses = new Float64Array(read("poses"));
const width = 12 * player.bones;
const frames = poses.length / width;
const out = new Float32Array(frames * 3 * player.points);
const [stepped, displaced] = [[], []];
for (let frame = 0; frame < frames; frame++) {
  if (what === "levels" && frame % 100 === 0) {
    player.set("modes", [24, 8, 24][frame / 100]);
  }
  const start = performance.now();
  player.step(poses.subarray(frame * width, (frame + 1) * width), 1 / 60);
  const middle = performance.now();
  const displacements = player.displacements();
  stepped.push(middle - start);
  displaced.push(performance.now() - middle);
  out.set(displacements, frame * 3 * player.points);
}
const micros = (times) => (1000 * times.sort((a, b) => a - b)[frames >> 1]).toFixed(1);
console.log(`${micros(stepped)} us a step, ${micros(displaced)} us the displacements`);
writeFileSync(join(folder, "displacements"), new Uint8Array(out.buffer));

// The shader's sum is the displacement.
const [weights, transforms, shown] = [player.weights(), player.transforms(), player.displacements().slice()];
const places = new Float32Array(read("points"));
for (let point = 0; point < player.points; point += 17) {
  for (let c = 0; c < 3; c++) {
    let sum = 0;
    for (let k = 0; k < player.modes; k++) {
      const at = 12 * k + 4 * c;
      const [x, y, z] = places.subarray(3 * point, 3 * point + 3);
      sum += weights[point * player.modes + k]
        * (transforms[at] * x + transforms[at + 1] * y + transforms[at + 2] * z + transforms[at + 3]);
    }
    assert.ok(Math.abs(sum - shown[3 * point + c]) < 1e-5);
  }
}
player.free();
