/**
 * Opens the page from disk in headless Chromium and compares its motion with the player's in Node:
 *
 *     node rehearse.mjs out/page/index.html
 *
 * It needs Chromium on the PATH, or in CHROMIUM, and says so where there is none. A picture goes beside the page.
 */

import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { gunzipSync } from "node:zlib";
import { loadBuilder } from "../js/builder.js";
import { Flesh } from "../js/flesh.js";
import { Character } from "../js/glb.js";
import { applySettings, readFlesh, restPoints } from "../js/gltf_flesh.js";
import { Player } from "../js/jounce.js";
import { Browser, isThere } from "./browser.mjs";

const FRAMES = 300;
const [page] = process.argv.slice(2);

/** Largest displacements of all frames in Node, with the files of the page. */
async function inNode() {
  const text = readFileSync(page, "utf8");
  const file = (name) => {
    const [, packed] = text.match(new RegExp(`data-file="${name}">([^<]*)<`));
    return new Uint8Array(gunzipSync(Buffer.from(packed, "base64")));
  };
  const character = new Character(file("creature.glb").slice().buffer);
  const [body] = readFlesh(character);
  const player = new Player(await loadBuilder(file("builder.wasm")), body.model);
  player.attach(restPoints(character, body, new Flesh(character).points));
  applySettings(player, body.settings);
  const [animation] = character.animations;
  const pose = (seconds) => character.pose(animation, seconds, new Float64Array(12 * player.bones), body.bones);
  player.step(pose(0), 0);
  let clock = 0;
  return Array.from({ length: FRAMES }, () => {
    clock = (clock + 1 / 60) % animation.seconds;
    player.step(pose(clock), 1 / 60);
    return player.displacements().reduce((most, u) => Math.max(most, Math.abs(u)), 0);
  });
}

async function inChromium() {
  const browser = new Browser(page, `?rehearse=${FRAMES}`);
  try {
    await browser.open();
    await browser.picture(join(dirname(page), "page.png"));
    return JSON.parse(await browser.value("document.getElementById('rehearsed').textContent"));
  } finally {
    browser.close();
  }
}

if (!isThere()) {
  console.log("there is no Chromium here, so the page was made and not opened; set CHROMIUM to its path");
  process.exit(0);
}
const [own, theirs] = [await inNode(), await inChromium()];
const apart = own.reduce((most, u, frame) => Math.max(most, Math.abs(u - theirs[frame])), 0);
console.log(`the page moved for ${theirs.length} frames, up to ${Math.max(...theirs).toFixed(4)} m, ${apart} m from Node`);
if (theirs.length !== FRAMES || !(apart <= 1e-6) || !(Math.max(...theirs) > 0)) {
  throw new Error("the page moves otherwise than the player in Node");
}
