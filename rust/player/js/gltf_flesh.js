/** The glTF extension JOUNCE_flesh: the model file of a skin, within the file of the character. */

import { JounceError } from "./jounce.js";

const NAME = "JOUNCE_flesh";
const JSON_CHUNK = 0x4e4f534a;
const BINARY_CHUNK = 0x004e4942;
/** Settings beside the model, and the least value of each. */
const LEAST = { stiffness: Number.MIN_VALUE, damping: 0, amount: 0 };

/** The flesh of a Character: { model, settings }; null without one. */
export function readFlesh(character) {
  const [skin, ...others] = (character.json.skins ?? []).filter(({ extensions }) => extensions?.[NAME]);
  if (!skin) {
    return null;
  }
  if (others.length > 0 || character.json.skins.length > 1) {
    throw new JounceError(`${NAME} is read of files with a single skin; export the character alone`);
  }
  const { model, ...settings } = skin.extensions[NAME];
  for (const [name, value] of Object.entries(settings)) {
    if (name in LEAST && !(Number.isFinite(value) && value >= LEAST[name])) {
      throw new JounceError(`${NAME}.${name} is ${value}; write a number above ${LEAST[name] > 0 ? 0 : "or equal to 0"}`);
    }
  }
  const known = Object.entries(settings).filter(([name]) => name in LEAST);
  return { model: character.arrays.bytes(model), settings: Object.fromEntries(known) };
}

/** The bytes of a GLB file with the flesh of its first skin added. */
export function writeFlesh(file, { model, ...settings }) {
  const view = new DataView(file.buffer, file.byteOffset, file.byteLength);
  const length = view.getUint32(12, true);
  const json = JSON.parse(new TextDecoder().decode(file.subarray(20, 20 + length)));
  const binary = file.subarray(28 + length, 28 + length + view.getUint32(20 + length, true));
  const start = padded(binary.length);
  json.bufferViews.push({ buffer: 0, byteOffset: start, byteLength: model.length });
  json.buffers[0].byteLength = start + model.length;
  json.extensionsUsed = [...new Set([...(json.extensionsUsed ?? []), NAME])];
  json.skins[0].extensions = { ...json.skins[0].extensions, [NAME]: { model: json.bufferViews.length - 1, ...settings } };
  const text = new TextEncoder().encode(JSON.stringify(json));
  const [first, second] = [padded(text.length), padded(start + model.length)];
  const out = new Uint8Array(28 + first + second);
  const head = new DataView(out.buffer);
  [0x46546c67, 2, out.length, first, JSON_CHUNK].forEach((word, at) => head.setUint32(4 * at, word, true));
  out.fill(32, 20, 20 + first);
  out.set(text, 20);
  head.setUint32(20 + first, second, true);
  head.setUint32(24 + first, BINARY_CHUNK, true);
  out.set(binary, 28 + first);
  out.set(model, 28 + first + start);
  return out;
}

/** Length up to the next multiple of four. */
function padded(length) {
  return (length + 3) & ~3;
}
