/** Settings, with their numbers in the C interface. */
export declare const SETTINGS: {
  /** Factor on the motion that the flesh feels: 0 none, 1 as in nature. */
  readonly amount: 0;
  /** Factor on the model's stiffness, above 0. */
  readonly stiffness: 1;
  /** Damping ratio of every mode. */
  readonly damping: 2;
  /** Largest change of a length, as a share; 0 for no limit. */
  readonly stretch: 3;
  /** Largest displacement, as a share of the body's diagonal; 0 for no limit. */
  readonly limit: 4;
  readonly gravityX: 5;
  readonly gravityY: 6;
  readonly gravityZ: 7;
  /** Level of detail: all modes, 8 or 0, whichever is at most this. */
  readonly modes: 8;
  /** 1 to stop while nothing moves. */
  readonly sleep: 9;
  /** Elastic rest shape: 0 at the bind shape, 1 at the posed shape. */
  readonly poseRest: 10;
  /** Longest substep in seconds, above 0; a frame has at most eight. */
  readonly substep: 11;
};

export type Setting = keyof typeof SETTINGS;

/** An error whose message is one sentence for the user. */
export declare class JounceError extends Error {}

/** The loaded WebAssembly, for any number of players. */
export declare class Wasm {
  static load(
    source: BufferSource | WebAssembly.Module | Response,
    imports?: WebAssembly.Imports,
  ): Promise<Wasm>;
}

/** A collider: all behind a plane, or all within a radius of a segment; metres. */
export type Collider = (
  | { point: ArrayLike<number>; normal: ArrayLike<number> }
  | { start: ArrayLike<number>; end: ArrayLike<number>; radius: number }
) & {
  /** Coulomb's coefficient, 0.5 by default. */
  friction?: number;
  /** Bone that carries it, with places at rest; without one it stands in the world. */
  bone?: number;
};

/** Skinning of the attached points, as in a glTF mesh. */
export interface Skin {
  /** Four bones of each point. */
  bones: ArrayLike<number>;
  /** Their weights. */
  weights: ArrayLike<number>;
  /** Three points of each triangle; without any, the points alone are in contact. */
  triangles?: ArrayLike<number>;
}

/** Plays one body. */
export declare class Player {
  /** Loads the player itself: the bytes of jounce_player.wasm, a module, or the response of a fetch. */
  static load(source: BufferSource | WebAssembly.Module | Response): Promise<Wasm>;

  /** @param model bytes of a model file, as `Model.save` of the Python module writes it. */
  constructor(wasm: Wasm, model: ArrayBuffer | Uint8Array);

  /** Number of bones of a pose. */
  readonly bones: number;
  /** Number of modes of the model. */
  readonly modes: number;
  /** Number of points with displacements. */
  readonly points: number;
  /** True while nothing moves; a step costs nothing then. */
  readonly asleep: boolean;

  /** Chooses the points with displacements: places at rest, x y z each, metres. */
  attach(places: ArrayLike<number>): void;
  /** Keeps the points out of colliders, in place of any before; none ends contact. */
  collide(colliders: readonly Collider[], skin?: Skin): void;
  /** Moves a collider without a bone, by a row-major 3x4 transform from where it was given. */
  move(collider: number, transform: ArrayLike<number>): void;
  set(name: Setting, value: number): void;
  /** Advances by some seconds to a pose: a row-major 3x4 transform for each bone, from rest to the world. */
  step(pose: ArrayLike<number>, seconds: number): void;
  /** Puts the body into a pose without a kick, after a cut or a leap. */
  teleport(pose: ArrayLike<number>): void;
  /**
   * Displacements of the points from where the bones put them, x y z each; valid until the next call. A skin of
   * triangles is dented by colliders.
   */
  displacements(): Float32Array;
  /** Weights of the modes at the points, points x modes, for a vertex shader. */
  weights(): Float32Array;
  /** Row-major 3x4 transforms of the modes: `u = sum of weight[k] * (transform[k] * (X, 1))`. */
  transforms(): Float32Array;
  /** Pulls a point to a displacement from where the bones put it, until `release`. */
  grab(point: number, displacement: ArrayLike<number>): void;
  release(): void;
  free(): void;
}
