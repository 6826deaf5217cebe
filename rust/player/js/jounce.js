/** Plays the flesh of rigged characters: poses of bones in, displacements of vertices out. */

/** Settings, with their numbers in the C interface. */
export const SETTINGS = {
  amount: 0, stiffness: 1, damping: 2, stretch: 3, limit: 4, gravityX: 5, gravityY: 6, gravityZ: 7, modes: 8, sleep: 9,
  poseRest: 10, substep: 11,
};

/** An error whose message is one sentence for the user. */
export class JounceError extends Error {}

/** Memory of a WebAssembly instance, and calls that turn its errors into sentences. */
export class Wasm {
  /** @param source bytes, a module, or the response of a fetch. imports: functions that the module calls. */
  static async load(source, imports = {}) {
    const bytes = source instanceof Response ? await source.arrayBuffer() : source;
    const made = await WebAssembly.instantiate(bytes, imports);
    return new Wasm((made.instance ?? made).exports);
  }

  constructor(exports) {
    this.exports = exports;
  }

  /** Calls a function; throws its sentence if it returns 0. */
  call(name, ...args) {
    let value;
    try {
      value = this.exports[name](...args);
    } catch (fault) {
      throw new JounceError(`the player met a fault of its own (${fault.message}); load it again`);
    }
    if (value === 0) {
      throw new JounceError(this.error());
    }
    return value;
  }

  /** The sentence of the last error. */
  error() {
    const bytes = new Uint8Array(this.exports.memory.buffer, this.exports.jounce_error());
    return new TextDecoder().decode(bytes.subarray(0, bytes.indexOf(0)));
  }

  /** Room for numbers of a kind, such as Float64Array. */
  room(Kind, count) {
    return new Room(this, Kind, count);
  }

  /** A copy of an array in the memory. */
  copy(array) {
    const room = this.room(array.constructor, array.length);
    room.view().set(array);
    return room;
  }
}

/** Room in the memory of an instance. */
export class Room {
  constructor(wasm, Kind, count) {
    this.wasm = wasm;
    this.Kind = Kind;
    this.count = count;
    this.bytes = count * Kind.BYTES_PER_ELEMENT;
    this.address = wasm.exports.jounce_allocate(this.bytes) >>> 0;
    if (this.address === 0) {
      throw new JounceError(`there is no memory for ${this.bytes} bytes; load a smaller character`);
    }
  }

  /** The numbers, until the memory grows. */
  view() {
    const { buffer } = this.wasm.exports.memory;
    if (this.numbers?.buffer !== buffer) {
      this.numbers = new this.Kind(buffer, this.address, this.count);
    }
    return this.numbers;
  }

  free() {
    this.wasm.exports.jounce_give_back(this.address, this.bytes);
  }
}

/** Plays one body. */
export class Player {
  /**
   * Loads the player itself.
   * @param source the bytes of jounce_player.wasm, a module, or the response of a fetch.
   */
  static load(source) {
    return Wasm.load(source);
  }

  /** @param model bytes of a model file, as `Model.save` of the Python module writes it. */
  constructor(wasm, model) {
    this.wasm = wasm;
    const bytes = wasm.copy(new Uint8Array(model));
    try {
      this.address = wasm.call("jounce_load", bytes.address, bytes.count);
    } finally {
      bytes.free();
    }
    this.bones = wasm.exports.jounce_bones(this.address);
    this.modes = wasm.exports.jounce_modes(this.address);
    this.pose = wasm.room(Float64Array, Math.max(12 * this.bones, 1));
    this.wanted = wasm.room(Float64Array, 3);
    this.#count();
  }

  #count() {
    this.out?.free();
    this.points = this.wasm.exports.jounce_points(this.address);
    this.out = this.wasm.room(Float32Array, 3 * this.points);
  }

  /** Chooses the points with displacements: places at rest, x y z each, metres. */
  attach(places) {
    const room = this.wasm.copy(Float32Array.from(places));
    try {
      this.wasm.call("jounce_attach", this.address, room.address, room.count / 3);
    } finally {
      room.free();
    }
    this.#count();
  }

  /** Changes a setting by its name in SETTINGS. */
  set(name, value) {
    if (!(name in SETTINGS)) {
      throw new JounceError(`there is no setting ${name}; the settings are ${Object.keys(SETTINGS).join(", ")}`);
    }
    this.wasm.call("jounce_set", this.address, SETTINGS[name], value);
  }

  /** Advances by some seconds to a pose: a row-major 3x4 transform for each bone, from rest to the world. */
  step(pose, seconds) {
    this.wasm.call("jounce_step", this.address, this.#enter(pose), pose.length / 12, seconds);
  }

  /** Puts the body into a pose without a kick, after a cut or a leap. */
  teleport(pose) {
    this.wasm.call("jounce_teleport", this.address, this.#enter(pose), pose.length / 12);
  }

  #enter(pose) {
    if (pose.length !== 12 * this.bones) {
      throw new JounceError(`pose: expected ${12 * this.bones} numbers, got ${pose.length}`);
    }
    this.pose.view().set(pose);
    return this.pose.address;
  }

  /** Displacements of the points from where the bones put them, x y z each; valid until the next call. */
  displacements() {
    this.wasm.call("jounce_displacements", this.address, this.out.address, this.out.count);
    return this.out.view();
  }

  /** Weights of the modes at the points, points x modes, for a vertex shader. */
  weights() {
    return this.#numbers("jounce_weights", this.points * this.modes);
  }

  /** Row-major 3x4 transforms of the modes: `u = sum of weight[k] * (transform[k] * (X, 1))`. */
  transforms() {
    return this.#numbers("jounce_transforms", 12 * this.modes);
  }

  #numbers(name, count) {
    const room = this.wasm.room(Float32Array, count);
    try {
      this.wasm.call(name, this.address, room.address, count);
      return room.view().slice();
    } finally {
      room.free();
    }
  }

  /** Pulls a point to a displacement from where the bones put it, until `release`. */
  grab(point, displacement) {
    this.wanted.view().set(displacement);
    this.wasm.call("jounce_grab", this.address, point, this.wanted.address);
  }

  /** Lets a grabbed point go. */
  release() {
    this.wasm.call("jounce_grab", this.address, -1, 0);
  }

  /** True while nothing moves; a step costs nothing then. */
  get asleep() {
    return this.wasm.exports.jounce_is_asleep(this.address) === 1;
  }

  free() {
    this.wasm.exports.jounce_free(this.address);
    [this.pose, this.wanted, this.out].forEach((room) => room.free());
  }
}
