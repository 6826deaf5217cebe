/**
 * Opens the page from disk in headless Chromium and compares its motion with the player's in Node:
 *
 *     node rehearse.mjs out/page/index.html
 *
 * It needs Chromium on the PATH, or in CHROMIUM, and says so where there is none. A picture goes beside the page.
 */

import { execFileSync, spawn } from "node:child_process";
import { mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { gunzipSync } from "node:zlib";
import { loadBuilder } from "../js/builder.js";
import { Flesh } from "../js/flesh.js";
import { Character } from "../js/glb.js";
import { applySettings, readFlesh, restPoints } from "../js/gltf_flesh.js";
import { Player } from "../js/jounce.js";

const FRAMES = 300;
/** Seconds in which the page must have moved. */
const PATIENCE = 120;
const CHROMIUM = process.env.CHROMIUM ?? "chromium";
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

/** The page in headless Chromium, asked through its debugging pipe. */
class Browser {
  constructor(address) {
    const options = [
      "--headless", "--no-sandbox", "--use-gl=angle", "--use-angle=swiftshader", "--enable-unsafe-swiftshader",
      "--remote-debugging-pipe", `--user-data-dir=${mkdtempSync(join(tmpdir(), "jounce-page-"))}`, address,
    ];
    this.process = spawn(CHROMIUM, options, { stdio: ["ignore", "ignore", "ignore", "pipe", "pipe"] });
    this.waiting = new Map();
    this.text = "";
    this.process.stdio[4].setEncoding("utf8").on("data", (text) => this.#hear(text));
  }

  #hear(text) {
    const messages = (this.text + text).split("\0");
    this.text = messages.pop();
    messages.map((message) => JSON.parse(message)).forEach(({ id, result, error }) => {
      this.waiting.get(id)?.(result ?? { error });
      this.waiting.delete(id);
    });
  }

  ask(method, params = {}) {
    const id = (this.asked = (this.asked ?? 0) + 1);
    const message = { id, method, params, sessionId: this.session };
    this.process.stdio[3].write(`${JSON.stringify(message)}\0`);
    return new Promise((resolve) => this.waiting.set(id, resolve));
  }

  /** Attaches to the page. */
  async attach() {
    const { targetInfos } = await this.ask("Target.getTargets");
    const { targetId } = targetInfos.find(({ type }) => type === "page");
    const { sessionId } = await this.ask("Target.attachToTarget", { targetId, flatten: true });
    this.session = sessionId;
  }

  /** Value of an expression on the page. */
  async value(expression) {
    const { result } = await this.ask("Runtime.evaluate", { expression, returnByValue: true });
    return result?.value;
  }

  close() {
    this.process.kill();
  }
}

async function inChromium() {
  const browser = new Browser(`${pathToFileURL(resolve(page))}?rehearse=${FRAMES}`);
  try {
    await browser.attach();
    for (let second = 0; second < PATIENCE; second++) {
      await new Promise((done) => setTimeout(done, 1000));
      const state = await browser.value("document.body?.dataset.state");
      if (state === "failed") {
        throw new Error(`the page says: ${await browser.value("document.getElementById('said').textContent")}`);
      }
      if (state === "ready") {
        const { data } = await browser.ask("Page.captureScreenshot");
        writeFileSync(join(dirname(page), "page.png"), Buffer.from(data, "base64"));
        return JSON.parse(await browser.value("document.getElementById('rehearsed').textContent"));
      }
    }
    throw new Error(`the page shows no motion within ${PATIENCE} seconds`);
  } finally {
    browser.close();
  }
}

try {
  execFileSync(CHROMIUM, ["--version"], { stdio: "ignore" });
} catch {
  console.log("there is no Chromium here, so the page was made and not opened; set CHROMIUM to its path");
  process.exit(0);
}
const [own, theirs] = [await inNode(), await inChromium()];
const apart = own.reduce((most, u, frame) => Math.max(most, Math.abs(u - theirs[frame])), 0);
console.log(`the page moved for ${theirs.length} frames, up to ${Math.max(...theirs).toFixed(4)} m, ${apart} m from Node`);
if (theirs.length !== FRAMES || !(apart <= 1e-6) || !(Math.max(...theirs) > 0)) {
  throw new Error("the page moves otherwise than the player in Node");
}
