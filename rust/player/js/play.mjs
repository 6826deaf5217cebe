/**
 * Plays the clip of a GLB file with flesh, writes the displacements of all vertices of its body in all frames, and
 * prints the microseconds of a step and of the displacements:
 *
 *     node play.mjs jounce_player.wasm hero.glb FRAMES SECONDS_A_FRAME displacements.bin
 */

import { readFileSync, writeFileSync } from "node:fs";
import { Character } from "./glb.js";
import { applySettings, readFlesh, restPoints } from "./gltf_flesh.js";
import { Player } from "./jounce.js";

const [module, file, count, length, target] = process.argv.slice(2);
const bytes = readFileSync(file);
const character = new Character(bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.byteLength));
const [body] = readFlesh(character);
const parts = body.nodes.flatMap((node) => character.parts.filter((part) => part.node === node));
const player = new Player(await Player.load(readFileSync(module)), body.model);
player.attach(parts.flatMap(({ places }) => Array.from(restPoints(character, body, places))));
applySettings(player, body.settings);

const [frames, seconds] = [Number(count), Number(length)];
const out = new Float32Array(3 * player.points * frames);
const pose = new Float64Array(12 * player.bones);
const [stepped, displaced] = [[], []];
for (let frame = 0; frame < frames; frame++) {
  character.pose(character.animations[0], frame * seconds, pose, body.bones);
  const start = performance.now();
  player.step(pose, seconds);
  const middle = performance.now();
  const displacements = player.displacements();
  displaced.push(performance.now() - middle);
  stepped.push(middle - start);
  out.set(displacements, 3 * player.points * frame);
}
writeFileSync(target, new Uint8Array(out.buffer));
const micros = (times) => (1000 * times.sort((a, b) => a - b)[frames >> 1]).toFixed(1);
console.log(`${micros(stepped)} ${micros(displaced)}`);
