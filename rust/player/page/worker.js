/** Builds bodies beside the page: a worker, so that the page goes on moving. */

import { buildBody, isHardMaterial, loadBuilder } from "../js/builder.js";
import { Character } from "../js/glb.js";
import { Flesh } from "../js/flesh.js";

self.onmessage = async ({ data: { wasm, file } }) => {
  try {
    const flesh = new Flesh(new Character(file));
    let told = 0;
    const builder = await loadBuilder(wasm, (fraction) => {
      if (performance.now() - told > 50) {
        told = performance.now();
        self.postMessage({ fraction });
      }
    });
    const started = performance.now();
    const { model, stiffness } = buildBody(builder, flesh.forBuilder((name) => isHardMaterial(builder, name)));
    self.postMessage({ model, settings: { stiffness }, seconds: (performance.now() - started) / 1000 });
  } catch (error) {
    self.postMessage({ sentence: error.message });
  }
};
