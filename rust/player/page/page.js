/** The page: a creature that dances, its flesh to grab, and a place to drop characters of one's own. */

import { JounceError, Player } from "../js/jounce.js";
import { loadBuilder } from "../js/builder.js";
import { Character } from "../js/glb.js";
import { Flesh } from "../js/flesh.js";
import { applySettings, readFlesh, restPoints } from "../js/gltf_flesh.js";
import { View } from "./view.js";
import { bytesOf } from "./embedded.js";

const element = (id) => document.getElementById(id);
const say = (text, isError = false) => {
  element("said").textContent = text;
  element("said").className = isError ? "error" : "";
};

/** What plays: a character with its flesh, and its body if there is one. */
class Scene {
  constructor(file) {
    this.character = new Character(file);
    this.body = this.#ownBody();
    this.flesh = new Flesh(this.character);
    this.animation = this.character.animations[0] ?? null;
    this.pose = this.character.pose(null, 0);
    this.clock = 0;
    this.player = null;
  }

  /** The body that the file brings along; null without one. */
  #ownBody() {
    const [body, ...others] = readFlesh(this.character);
    if (others.length > 0) {
      throw new JounceError("the file has several bodies, and this page plays one; export the characters apart");
    }
    if (body) {
      this.character.parts.forEach((part) => (part.isFlesh = body.nodes.includes(part.node)));
    }
    return body ?? null;
  }

  /** Takes a body: one that the file brings along, or one built of the character. */
  embody(wasm, { model, settings, bones = this.character.bones }) {
    this.player = new Player(wasm, model);
    this.player.attach(restPoints(this.character, { bones }, this.flesh.points));
    applySettings(this.player, settings);
    this.bones = bones;
    this.bodyPose = new Float64Array(12 * bones.length);
    this.settings = { stiffness: 1, amount: 1, ...settings };
  }

  /** Poses the bones of the body. */
  #poseBody() {
    this.character.pose(this.animation, this.clock, this.bodyPose, this.bones);
    if (!(this.animation?.seconds > 0)) {
      sway(this.character, this.clock, this.bodyPose);
    }
  }

  /** Goes on with another animation, as after a cut. */
  choose(index) {
    this.animation = this.character.animations[index];
    this.clock = 0;
    this.leapt = true;
  }

  /** Moves by some seconds; returns the milliseconds of the body's step. */
  move(seconds) {
    const before = this.clock;
    this.clock += seconds;
    if (this.animation?.seconds > 0) {
      this.clock %= this.animation.seconds;
      this.character.pose(this.animation, this.clock, this.pose);
    } else {
      this.character.pose(null, 0, this.pose);
      sway(this.character, this.clock, this.pose);
    }
    const started = performance.now();
    // An animation that ends elsewhere than it begins leaps.
    const leaps = this.leapt || (this.animation && this.clock < before && !this.animation.loops());
    this.leapt = false;
    if (this.player) {
      this.#poseBody();
      this.player[leaps ? "teleport" : "step"](this.bodyPose, seconds);
    }
    const displacements = this.player?.displacements();
    const spent = performance.now() - started;
    this.flesh.show(this.pose, displacements);
    return spent;
  }
}

/** A sway for characters without animation: up and down, and around. */
function sway(character, seconds, out) {
  const [low, high] = character.bounds();
  const height = high[1] - low[1];
  const [turn, lift] = [0.35 * Math.sin(3.1 * seconds), 0.05 * height * Math.sin(9.3 * seconds)];
  const [c, s] = [Math.cos(turn), Math.sin(turn)];
  for (let at = 0; at < out.length; at += 12) {
    const rows = Array.from(out.subarray(at, at + 12));
    for (let k = 0; k < 4; k++) {
      out[at + k] = c * rows[k] + s * rows[8 + k];
      out[at + 8 + k] = c * rows[8 + k] - s * rows[k];
    }
    out[at + 7] += lift;
  }
}

const page = { scene: null, wasm: null, view: null, ms: [], frames: 0, grabbed: null, started: 0 };
window.jounce = page;

function feel() {
  const { player, settings } = page.scene;
  if (!player) {
    return;
  }
  player.set("amount", settings.amount * Number(element("amount").value));
  player.set("stiffness", settings.stiffness / 2 ** Number(element("softness").value));
  player.set("modes", Number(element("detail").value));
  element("amount-shown").textContent = Number(element("amount").value).toFixed(2);
  element("softness-shown").textContent = (2 ** Number(element("softness").value)).toFixed(2);
}

/** Shows a scene from now on. */
async function play(scene) {
  release();
  page.scene?.player?.free();
  page.scene = scene;
  scene.move(0);
  await page.view.show(scene.flesh);
  const { animations } = scene.character;
  element("clip").replaceChildren(...animations.map(({ name }, index) => new Option(name || `clip ${index + 1}`, index)));
  element("clip-label").hidden = animations.length < 2;
  feel();
}

/** Builds the body of a character in a worker. */
async function build(file) {
  const [text, wasm] = [await bytesOf("worker.js"), await bytesOf("builder.wasm")];
  return new Promise((resolve, reject) => {
    const script = new Blob([text], { type: "text/javascript" });
    const worker = new Worker(URL.createObjectURL(script));
    const end = (act, value) => {
      worker.terminate();
      element("progress").hidden = true;
      act(value);
    };
    worker.onerror = (event) => end(reject, new Error(event.message));
    worker.onmessage = ({ data }) => {
      if (data.fraction !== undefined) {
        element("progress").hidden = false;
        element("progress").value = data.fraction;
      } else if (data.sentence) {
        end(reject, new Error(data.sentence));
      } else {
        end(resolve, data);
      }
    };
    worker.postMessage({ wasm, file });
  });
}

async function take(file, name) {
  try {
    const scene = new Scene(file);
    await play(scene);
    const own = scene.body;
    say(own ? `${name} brings its flesh along` : `${name} is on its way: it gets its flesh here, in this tab`);
    const built = own ?? (await build(file));
    scene.embody(page.wasm, built);
    feel();
    if (!own) {
      say(`${name}: built in ${built.seconds.toFixed(1)} s; it never left this computer`);
    }
    document.body.dataset.state = "built";
  } catch (error) {
    say(error.message, true);
    document.body.dataset.state = "refused";
  }
}

/** Nearest point of the flesh under a place of the canvas, with its depth; null beside it. */
function pick(x, y) {
  const [[ox, oy, oz], [dx, dy, dz]] = page.view.ray(x, y);
  const { moved, triangles } = page.scene.flesh;
  let best = null;
  for (let at = 0; at < triangles.length; at += 3) {
    const [a, b, c] = [3 * triangles[at], 3 * triangles[at + 1], 3 * triangles[at + 2]];
    const [e1x, e1y, e1z] = [moved[b] - moved[a], moved[b + 1] - moved[a + 1], moved[b + 2] - moved[a + 2]];
    const [e2x, e2y, e2z] = [moved[c] - moved[a], moved[c + 1] - moved[a + 1], moved[c + 2] - moved[a + 2]];
    const [px, py, pz] = [dy * e2z - dz * e2y, dz * e2x - dx * e2z, dx * e2y - dy * e2x];
    const det = e1x * px + e1y * py + e1z * pz;
    const [tx, ty, tz] = [ox - moved[a], oy - moved[a + 1], oz - moved[a + 2]];
    const u = (tx * px + ty * py + tz * pz) / det;
    const [qx, qy, qz] = [ty * e1z - tz * e1y, tz * e1x - tx * e1z, tx * e1y - ty * e1x];
    const v = (dx * qx + dy * qy + dz * qz) / det;
    const depth = (e2x * qx + e2y * qy + e2z * qz) / det;
    if (u >= 0 && v >= 0 && u + v <= 1 && depth > 0 && (best === null || depth < best.depth)) {
      best = { point: triangles[at + (u > 0.5 ? 1 : v > 0.5 ? 2 : 0)], depth };
    }
  }
  return best;
}

function hold(x, y) {
  const { point, depth } = page.grabbed;
  const [eye, along] = page.view.ray(x, y);
  const { posed } = page.scene.flesh;
  // The hand stays in the plane through the point, across the view.
  const back = page.view.axes[2];
  const facing = -along.reduce((sum, d, c) => sum + d * back[c], 0);
  const far = depth / facing;
  const reach = 0.35 * page.view.size;
  const wanted = eye.map((e, c) => e + far * along[c] - posed[3 * point + c]);
  const length = Math.hypot(...wanted);
  page.scene.player.grab(point, wanted.map((w) => w * Math.min(1, reach / (length || 1))));
}

function release() {
  if (page.grabbed?.point !== undefined) {
    page.scene?.player?.release();
  }
  page.grabbed = null;
}

function listen(canvas) {
  const at = (event) => {
    const { left, top } = canvas.getBoundingClientRect();
    return [event.clientX - left, event.clientY - top];
  };
  canvas.addEventListener("pointerdown", (event) => {
    canvas.setPointerCapture(event.pointerId);
    const [x, y] = at(event);
    const found = page.scene?.player ? pick(x, y) : null;
    if (found) {
      const [, along] = page.view.ray(x, y);
      const facing = -along.reduce((sum, d, c) => sum + d * page.view.axes[2][c], 0);
      page.grabbed = { point: found.point, depth: found.depth * facing, x, y };
      hold(x, y);
    } else {
      page.grabbed = { x, y };
    }
  });
  canvas.addEventListener("pointermove", (event) => {
    if (!page.grabbed) {
      return;
    }
    const [x, y] = at(event);
    if (page.grabbed.point === undefined) {
      page.view.turn -= 0.008 * (x - page.grabbed.x);
      page.view.tilt = Math.min(1.3, Math.max(-0.1, page.view.tilt + 0.008 * (y - page.grabbed.y)));
    }
    Object.assign(page.grabbed, { x, y });
  });
  ["pointerup", "pointercancel"].forEach((name) => canvas.addEventListener(name, release));
  canvas.addEventListener("wheel", (event) => {
    event.preventDefault();
    page.view.distance *= Math.exp(0.001 * event.deltaY);
  }, { passive: false });
}

function accept() {
  document.addEventListener("dragover", (event) => event.preventDefault());
  document.addEventListener("drop", async (event) => {
    event.preventDefault();
    const [file] = event.dataTransfer.files;
    if (file) {
      await take(await file.arrayBuffer(), file.name);
    }
  });
  element("file").addEventListener("change", async ({ target }) => {
    await take(await target.files[0].arrayBuffer(), target.files[0].name);
  });
}

function frame(now) {
  // A frame may bear the time of an earlier one.
  const seconds = Math.min(Math.max((now - page.started) / 1000, 0), 0.25);
  page.started = now;
  requestAnimationFrame(frame);
  try {
    if (page.grabbed?.point !== undefined) {
      hold(page.grabbed.x, page.grabbed.y);
    }
    page.ms.push(page.scene.move(seconds));
    page.view.draw();
    page.frames += 1;
  } catch (error) {
    say(error.message, true);
    return;
  }
  if (page.ms.length === 30) {
    const mean = page.ms.reduce((sum, ms) => sum + ms, 0) / page.ms.length;
    const { player, flesh } = page.scene;
    element("numbers").textContent = player
      ? `${flesh.points.length / 3} vertices, ${player.bones} bones, ${mean.toFixed(2)} ms a frame for the flesh`
      : "";
    page.ms = [];
  }
}

/** Largest displacement after each of some frames of a sixtieth of a second, for a test. */
function rehearse(count) {
  const scene = page.scene;
  scene.clock = 0;
  return Array.from({ length: count }, () => {
    scene.move(1 / 60);
    return scene.player.displacements().reduce((most, u) => Math.max(most, Math.abs(u)), 0);
  });
}
page.rehearse = rehearse;

async function start() {
  try {
    page.view = new View(element("canvas"));
    page.wasm = await loadBuilder(await bytesOf("builder.wasm"));
    const scene = new Scene((await bytesOf("creature.glb")).buffer);
    scene.embody(page.wasm, scene.body);
    await play(scene);
    ["amount", "softness", "detail"].forEach((id) => element(id).addEventListener("input", feel));
    element("clip").addEventListener("input", () => page.scene.choose(Number(element("clip").value)));
    listen(element("canvas"));
    accept();
    const count = Number(new URLSearchParams(location.search).get("rehearse"));
    if (count > 0) {
      element("rehearsed").textContent = JSON.stringify(rehearse(count));
    }
    document.body.dataset.state = "ready";
    page.started = performance.now();
    requestAnimationFrame(frame);
  } catch (error) {
    say(error.message, true);
    document.body.dataset.state = "failed";
  }
}

start();
