/**
 * Plays the first clip of a GLB file with spring bones in three.js and three-vrm, and writes the places of all
 * tails in all steps, (steps, springs, 3) doubles:
 *
 *     node spring_bones.mjs FOLDER hero.glb STEPS SECONDS_A_STEP tails.bin
 *
 * FOLDER: where `npm install three @pixiv/three-vrm-springbone` was run.
 */

import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

const [folder, file, count, length, target] = process.argv.slice(2);
const modules = join(folder, "node_modules");
const load = (path) => import(pathToFileURL(join(modules, path)));
const { AnimationMixer, Vector3 } = await load("three/build/three.module.js");
const { GLTFLoader } = await load("three/examples/jsm/loaders/GLTFLoader.js");
const { VRMSpringBoneLoaderPlugin } = await load(
  "@pixiv/three-vrm-springbone/lib/three-vrm-springbone.module.js",
);

/** The same file without pictures, which Node has no decoder for. */
function withoutPictures(bytes) {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const size = view.getUint32(12, true);
  const json = JSON.parse(new TextDecoder().decode(bytes.subarray(20, 20 + size)));
  for (const name of ["images", "textures", "samplers", "materials"]) delete json[name];
  for (const mesh of json.meshes) for (const primitive of mesh.primitives) delete primitive.material;
  let text = JSON.stringify(json);
  text += " ".repeat((4 - (new TextEncoder().encode(text).length % 4)) % 4);
  const head = new TextEncoder().encode(text);
  const rest = bytes.subarray(20 + size);
  const made = new Uint8Array(20 + head.length + rest.length);
  made.set(bytes.subarray(0, 20));
  made.set(head, 20);
  made.set(rest, 20 + head.length);
  const out = new DataView(made.buffer);
  out.setUint32(8, made.length, true);
  out.setUint32(12, head.length, true);
  return made.buffer;
}

const loader = new GLTFLoader().register((parser) => new VRMSpringBoneLoaderPlugin(parser));
const gltf = await loader.parseAsync(withoutPictures(readFileSync(file)), "");
const manager = gltf.userData.vrmSpringBoneManager;
const chains = gltf.parser.json.extensions.VRMC_springBone.springs;
const tails = await Promise.all(chains.map(({ joints }) => gltf.parser.getDependency("node", joints[1].node)));
const mixer = new AnimationMixer(gltf.scene);
mixer.clipAction(gltf.animations[0]).play();

const [steps, seconds, place] = [Number(count), Number(length), new Vector3()];
const out = new Float64Array(3 * steps * tails.length);
const start = Math.min(...gltf.animations[0].tracks.map(({ times }) => times[0]));
mixer.setTime(start);
gltf.scene.updateMatrixWorld(true);
manager.reset();
for (let step = 0; step < steps; step++) {
  mixer.setTime(start + step * seconds);
  gltf.scene.updateMatrixWorld(true);
  manager.update(seconds);
  gltf.scene.updateMatrixWorld(true);
  tails.forEach((tail, index) => tail.getWorldPosition(place).toArray(out, 3 * (step * tails.length + index)));
}
writeFileSync(target, new Uint8Array(out.buffer));
