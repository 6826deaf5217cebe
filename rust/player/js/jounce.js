/** Plays the flesh of rigged characters: poses of bones in, displacements of vertices out. */

/** Settings, with their numbers in the C interface. */
export const SETTINGS = {
  amount: 0, stiffness: 1, damping: 2, stretch: 3, limit: 4, gravityX: 5, gravityY: 6, gravityZ: 7, modes: 8, sleep: 9,
  poseRest: 10, substep: 11,
};

/** Numbers of a player, as the C interface knows them. */
const COUNTS = { bones: 0, modes: 1, points: 2 };
/** Bytes of a collider. */
const COLLIDER_BYTES = 72;

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
    this.bones = wasm.exports.jounce_count(this.address, COUNTS.bones);
    this.modes = wasm.exports.jounce_count(this.address, COUNTS.modes);
    this.pose = wasm.room(Float64Array, Math.max(12 * this.bones, 1));
    this.wanted = wasm.room(Float64Array, 3);
    this.transform = wasm.room(Float64Array, 12);
    this.#count();
  }

  #count() {
    this.out?.free();
    this.points = this.wasm.exports.jounce_count(this.address, COUNTS.points);
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

  /**
   * Keeps the points out of colliders, in place of any before; none ends contact.
   * @param colliders planes { point, normal } and capsules { start, end, radius }, each with friction and bone.
   * @param skin { bones, weights, triangles }: four bones and weights of each point, triangles for small colliders.
   */
  collide(colliders, skin = { bones: [], weights: [] }) {
    const hasSkin = this.bones > 0 && colliders.length > 0;
    const rooms = [];
    const put = (array) => {
      rooms.push(this.wasm.copy(array));
      return rooms.at(-1).address;
    };
    try {
      const given = put(colliderBytes(colliders));
      const described = hasSkin ? put(Uint32Array.from(this.#skin(skin, put))) : 0;
      this.wasm.call("jounce_collide", this.address, given, colliders.length, described);
    } finally {
      rooms.forEach((room) => room.free());
    }
  }

  /** A skin as the C interface lays it out: three addresses and the number of triangles. */
  #skin({ bones, weights, triangles = [] }, put) {
    for (const [name, { length }] of Object.entries({ bones, weights })) {
      if (length !== 4 * this.points) {
        throw new JounceError(`${name}: expected ${4 * this.points} numbers, four of each point, got ${length}`);
      }
    }
    if (triangles.length % 3 !== 0) {
      throw new JounceError(`triangles: expected three points of each, got ${triangles.length} numbers`);
    }
    const arrays = [Uint32Array.from(bones), Float32Array.from(weights), Uint32Array.from(triangles)];
    return [...arrays.map(put), triangles.length / 3];
  }

  /** Moves a collider without a bone, by a row-major 3x4 transform from where it was given. */
  move(collider, transform) {
    if (transform.length !== 12) {
      throw new JounceError(`transform: expected 12 numbers, got ${transform.length}`);
    }
    this.transform.view().set(transform);
    this.wasm.call("jounce_move", this.address, collider, this.transform.address);
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

  /**
   * Displacements of the points from where the bones put them, x y z each; valid until the next call. A skin of
   * triangles is dented by colliders.
   */
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
    [this.pose, this.wanted, this.transform, this.out].forEach((room) => room.free());
  }
}

/** Colliders as the C interface lays them out. */
function colliderBytes(colliders) {
  const view = new DataView(new ArrayBuffer(COLLIDER_BYTES * colliders.length));
  colliders.forEach(({ point, normal, start, end, radius = 0, friction = 0.5, bone = -1 }, index) => {
    const at = COLLIDER_BYTES * index;
    const [from, to] = normal ? [point, normal] : [start, end];
    if (from?.length !== 3 || to?.length !== 3) {
      throw new JounceError(`collider ${index}: give a plane { point, normal } or a capsule { start, end, radius }`);
    }
    view.setUint32(at, normal ? 0 : 1, true);
    view.setInt32(at + 4, bone, true);
    const numbers = [...from, ...to, radius, friction];
    numbers.forEach((number, place) => view.setFloat64(at + 8 + 8 * place, number, true));
  });
  return new Uint8Array(view.buffer);
}
