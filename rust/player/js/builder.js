/** Builds bodies from rigged characters, with the settings of the Blender extension. */

import { Wasm } from "./jounce.js";

/** Loads the builder. `onProgress` receives the fraction that is done. */
export function loadBuilder(source, onProgress = () => {}) {
  return Wasm.load(source, { jounce: { progress: onProgress } });
}

/**
 * Builds the body of a character: { points, triangles, weights, heads, parents, still, names, hinted }.
 * @returns {{ model: Uint8Array, stiffness: number }} bytes for a Player, and its setting "stiffness".
 */
export function buildBody(wasm, character) {
  const names = new TextEncoder().encode(character.names.map((name) => name.replaceAll("\n", " ")).join("\n"));
  const pointCount = character.points.length / 3;
  const rooms = [];
  const put = (array) => {
    const room = wasm.copy(array.length > 0 ? array : new array.constructor(1));
    rooms.push(room);
    return room.address;
  };
  try {
    const numbers = Uint32Array.of(
      put(Float64Array.from(character.points)), pointCount,
      put(Uint32Array.from(character.triangles)), character.triangles.length / 3,
      put(Float64Array.from(character.weights)),
      put(Float64Array.from(character.heads)), character.parents.length,
      put(Int32Array.from(character.parents)),
      put(Uint8Array.from(character.still)),
      put(names), names.length,
      put(Uint8Array.from(character.hinted)),
    );
    const built = wasm.call("jounce_build", put(numbers));
    const { exports } = wasm;
    const start = exports.jounce_built_model(built) >>> 0;
    const model = new Uint8Array(exports.memory.buffer, start, exports.jounce_built_length(built)).slice();
    return { model, stiffness: exports.jounce_built_stiffness(built) };
  } finally {
    rooms.forEach((room) => room.free());
  }
}

/** True for the name of a hard material, such as metal. */
export function isHardMaterial(wasm, name) {
  const room = wasm.copy(new TextEncoder().encode(`${name} `));
  try {
    return wasm.exports.jounce_is_hard_material(room.address, room.count) === 1;
  } finally {
    room.free();
  }
}
