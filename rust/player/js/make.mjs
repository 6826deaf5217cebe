/**
 * Gives a character its flesh, on the command line:
 *
 *     node make.mjs jounce_builder.wasm hero.glb hero_flesh.glb
 */

import { readFileSync, writeFileSync } from "node:fs";
import { buildBody, isHardMaterial, loadBuilder } from "./builder.js";
import { Flesh } from "./flesh.js";
import { Character } from "./glb.js";
import { writeFlesh } from "./gltf_flesh.js";

const [wasm, source, target] = process.argv.slice(2);
const bytes = new Uint8Array(readFileSync(source));
const character = new Character(bytes.buffer);
const flesh = new Flesh(character);
const builder = await loadBuilder(readFileSync(wasm));
const started = performance.now();
const built = buildBody(builder, flesh.forBuilder((name) => isHardMaterial(builder, name)));
const seconds = ((performance.now() - started) / 1000).toFixed(1);
const made = writeFlesh(bytes, character, built);
writeFileSync(target, made);
console.log(`${target}: ${flesh.points.length / 3} points, ${made.length} bytes, built in ${seconds} s`);
