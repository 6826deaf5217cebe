/**
 * Gives the page characters, one after the other, and prints a table of what becomes of them:
 *
 *     node drop.mjs out/page/index.html FILE...
 *
 * Pictures go beside the page. A character that neither plays nor is refused by a sentence is an error.
 */

import { basename, dirname, join } from "node:path";
import { Browser, isThere } from "./browser.mjs";

const [page, ...files] = process.argv.slice(2);
/** Frames of a sixtieth of a second in which the flesh is watched. */
const FRAMES = 120;
/** Points that a hand pulls, one after the other. */
const GRABS = 12;
/** Least displacement by the clip or under a hand, and largest of a clip: shares of the size. */
const MOTION = [1e-4, 0.6];

/** Median of some numbers. */
const median = (numbers) => numbers.sort((a, b) => a - b)[numbers.length >> 1];

/** Plays a character in the page: milliseconds of the flesh a frame, and largest displacements as shares of the size. */
const PLAY = `(() => {
  const { scene } = window.jounce;
  const [low, high] = scene.character.bounds();
  const size = Math.hypot(...high.map((x, c) => x - low[c]));
  [scene.clock, scene.leapt] = [0, true];
  const ms = [];
  const moved = Array.from({ length: ${FRAMES} }, () => {
    ms.push(scene.move(1 / 60));
    return scene.player.displacements().reduce((most, u) => Math.max(most, Math.abs(u)), 0) / size;
  });
  // A clip may hardly move, and hard points under a hand do not; flesh does one of both.
  const grabbed = Array.from({ length: ${GRABS} }, (_, k) => {
    const at = Math.floor((k * scene.player.points) / ${GRABS});
    const before = scene.player.displacements()[3 * at];
    scene.player.grab(at, [0.05 * size, 0, 0]);
    for (let frame = 0; frame < 20; frame++) {
      scene.move(1 / 60);
    }
    return Math.abs(scene.player.displacements()[3 * at] - before) / size;
  });
  scene.player.release();
  return { ms, moved, grabbed: Math.max(...grabbed), points: scene.player.points, bones: scene.player.bones };
})()`;

async function row(file) {
  const name = basename(file, ".glb");
  // Each has a page of its own, as it has for a visitor.
  const browser = new Browser(page);
  try {
    await browser.open();
    await browser.choose(file);
    const state = await browser.state(["built", "refused"]);
    const said = await browser.said();
    if (state === "refused") {
      return { name, fine: /^\S.* .*\S$/.test(said) && !/undefined|NaN|TypeError/.test(said), said };
    }
    const { ms, moved, grabbed, points, bones } = await browser.value(PLAY);
    await browser.picture(join(dirname(page), `${name}.png`));
    const most = Math.max(...moved);
    const seconds = Number(said.match(/built in ([0-9.]+) s/)?.[1]);
    const fine = moved.every(Number.isFinite) && most <= MOTION[1] && Math.max(most, grabbed) >= MOTION[0];
    return { name, fine, points, bones, seconds, ms: median(ms), most, grabbed, said: fine ? "" : "does not move as flesh" };
  } finally {
    browser.close();
  }
}

if (!isThere()) {
  console.log("there is no Chromium here, so no character was dropped; set CHROMIUM to its path");
  process.exit(0);
}
console.log("| character | vertices | bones | built, s | flesh, ms a frame | clip moves it | grab moves it | says |");
console.log("| --- | --- | --- | --- | --- | --- | --- | --- |");
let wrong = 0;
for (const file of files) {
  const { name, fine, points = "", bones = "", seconds, ms, most, grabbed, said } = await row(file);
  wrong += fine ? 0 : 1;
  const share = (x) => x === undefined ? "" : `${(100 * x).toFixed(1)} %`;
  const numbers = [points, bones, seconds?.toFixed(1) ?? "", ms?.toFixed(2) ?? "", share(most), share(grabbed)];
  console.log(`| ${[name, ...numbers, said].join(" | ")} |`);
}
if (wrong > 0) {
  throw new Error(`${wrong} of ${files.length} characters neither play nor are refused by a sentence`);
}
