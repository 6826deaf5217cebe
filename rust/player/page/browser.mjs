/** The page in headless Chromium, for tests: Chromium on the PATH, or in CHROMIUM. */

import { execFileSync, spawn } from "node:child_process";
import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";

const CHROMIUM = process.env.CHROMIUM ?? "chromium";
/** Seconds until the page must have come to an end. */
const PATIENCE = 120;

/** True if there is Chromium. */
export function isThere() {
  try {
    execFileSync(CHROMIUM, ["--version"], { stdio: "ignore" });
    return true;
  } catch {
    return false;
  }
}

/** The page in headless Chromium, asked through its debugging pipe. */
export class Browser {
  constructor(page, query = "") {
    const address = `${pathToFileURL(resolve(page))}${query}`;
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

  /** Waits until the page plays. */
  async open() {
    await this.#attach();
    const state = await this.state(["ready", "failed"]);
    if (state !== "ready") {
      throw new Error(`the page says: ${await this.said()}`);
    }
  }

  async #attach() {
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

  /** Waits for one of some states of the page. */
  async state(wanted) {
    for (let tenth = 0; tenth < 10 * PATIENCE; tenth++) {
      await new Promise((done) => setTimeout(done, 100));
      const state = await this.value("document.body?.dataset.state");
      if (wanted.includes(state)) {
        return state;
      }
    }
    throw new Error(`the page comes to no end within ${PATIENCE} seconds`);
  }

  /** The sentence that the page shows. */
  said() {
    return this.value("document.getElementById('said').textContent");
  }

  /** Gives the page a file, as a person who chooses one. */
  async choose(file) {
    await this.value("document.body.dataset.state = 'waiting'");
    const { result } = await this.ask("Runtime.evaluate", { expression: "document.getElementById('file')" });
    await this.ask("DOM.setFileInputFiles", { files: [resolve(file)], objectId: result.objectId });
  }

  /** Writes a picture of the page. */
  async picture(path) {
    const { data } = await this.ask("Page.captureScreenshot");
    writeFileSync(path, Buffer.from(data, "base64"));
  }

  close() {
    this.process.kill();
  }
}
