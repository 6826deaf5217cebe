/** A picture of a character in WebGL 2: light from the sky and a lamp, a floor, and a camera that turns. */

const VERTEX = `#version 300 es
in vec3 place; in vec3 normal; in vec3 color; in vec2 uv;
uniform mat4 camera;
out vec3 toNormal; out vec3 tint; out vec3 world; out vec2 at;
void main() {
  toNormal = normal; tint = color; world = place; at = uv;
  gl_Position = camera * vec4(place, 1.0);
}`;
const FRAGMENT = `#version 300 es
precision highp float;
in vec3 toNormal; in vec3 tint; in vec3 world; in vec2 at;
uniform vec3 eye; uniform float textured; uniform sampler2D image; uniform float floorSize;
out vec4 shown;
void main() {
  vec3 n = normalize(toNormal), view = normalize(eye - world);
  if (floorSize > 0.0) {
    float far = length(world.xz) / floorSize;
    float ring = smoothstep(0.985, 1.0, abs(fract(far * 8.0) - 0.5) * 2.0);
    vec3 ground = mix(vec3(0.085, 0.095, 0.115), vec3(0.13, 0.14, 0.17), ring);
    float contact = 1.0 - 0.55 * exp(-far * far * 90.0);
    shown = vec4(mix(ground * contact, vec3(0.055, 0.062, 0.078), smoothstep(0.25, 1.0, far)), 1.0);
    shown.rgb = pow(shown.rgb, vec3(0.8));
    return;
  }
  if (dot(n, view) < 0.0) n = -n;
  vec3 base = tint;
  if (textured > 0.5) base *= pow(texture(image, at).rgb, vec3(2.2));
  vec3 lamp = normalize(vec3(0.45, 0.8, 0.6));
  float sky = 0.5 + 0.5 * n.y;
  vec3 light = mix(vec3(0.17, 0.14, 0.13), vec3(0.42, 0.48, 0.58), sky);
  float facing = max((dot(n, lamp) + 0.25) / 1.25, 0.0);
  light += vec3(1.15, 1.05, 0.92) * facing * facing;
  float rim = pow(1.0 - max(dot(n, view), 0.0), 3.0) * (0.25 + 0.75 * sky);
  float gloss = pow(max(dot(n, normalize(lamp + view)), 0.0), 40.0);
  vec3 color = base * light + rim * vec3(0.22, 0.27, 0.36) + gloss * 0.10;
  shown = vec4(pow(color / (1.0 + 0.25 * color), vec3(1.0 / 2.2)), 1.0);
}`;

/** Width of the panel, and of a picture that has it below, in pixels. */
const PANEL = 290;
const NARROW = 640;

/** Product of two matrices by columns. */
const product = (a, b) => Float32Array.from({ length: 16 }, (_, at) =>
  [0, 1, 2, 3].reduce((sum, k) => sum + a[4 * k + (at % 4)] * b[4 * Math.floor(at / 4) + k], 0));
const minus = (a, b) => a.map((x, c) => x - b[c]);
const dot = (a, b) => a.reduce((sum, x, c) => sum + x * b[c], 0);
const cross = ([a, b, c], [x, y, z]) => [b * z - c * y, c * x - a * z, a * y - b * x];
const unit = (a) => a.map((x) => x / (Math.hypot(...a) || 1));

export class View {
  constructor(canvas) {
    this.canvas = canvas;
    this.gl = canvas.getContext("webgl2", { antialias: true, preserveDrawingBuffer: true });
    if (!this.gl) {
      throw new Error("this browser shows no WebGL 2; open the page in a newer one");
    }
    this.program = this.#program();
    this.uniforms = Object.fromEntries(["camera", "eye", "textured", "image", "floorSize"].map((name) =>
      [name, this.gl.getUniformLocation(this.program, name)]));
    this.parts = [];
    [this.turn, this.tilt, this.distance, this.target] = [0.45, 0.12, 3, [0, 0.6, 0]];
  }

  #program() {
    const { gl } = this;
    const program = gl.createProgram();
    for (const [kind, text] of [[gl.VERTEX_SHADER, VERTEX], [gl.FRAGMENT_SHADER, FRAGMENT]]) {
      const shader = gl.createShader(kind);
      gl.shaderSource(shader, text);
      gl.compileShader(shader);
      gl.attachShader(program, shader);
    }
    ["place", "normal", "color", "uv"].forEach((name, index) => gl.bindAttribLocation(program, index, name));
    gl.linkProgram(program);
    if (!gl.getProgramParameter(program, gl.LINK_STATUS)) {
      throw new Error(`the shaders do not compile: ${gl.getProgramInfoLog(program)}`);
    }
    return program;
  }

  /** Shows the parts of a flesh from now on, seen as a whole. */
  async show(flesh) {
    this.parts.forEach((part) => part.free());
    this.parts = [];
    const [low, high] = flesh.bounds();
    this.size = Math.hypot(...minus(high, low));
    this.target = low.map((x, c) => 0.5 * (x + high[c]));
    this.distance = 1.55 * this.size;
    this.floor = this.#part(floor(3 * this.size, low[1], this.target), null);
    for (const [index, part] of flesh.parts.entries()) {
      const image = part.image
        ? await createImageBitmap(new Blob([part.image.bytes], { type: part.image.type })).catch(() => null)
        : null;
      this.parts.push(this.#part({ ...part, shown: flesh.shown[index], tilts: flesh.normals[index] }, image));
    }
  }

  #part({ places, shown, tilts, color, uv, triangles }, image) {
    const { gl } = this;
    const array = gl.createVertexArray();
    gl.bindVertexArray(array);
    const buffers = [shown, tilts, color, uv].map((numbers, index) => {
      const buffer = gl.createBuffer();
      gl.bindBuffer(gl.ARRAY_BUFFER, buffer);
      const width = index === 3 ? 2 : 3;
      if (numbers) {
        gl.bufferData(gl.ARRAY_BUFFER, numbers, index < 2 ? gl.DYNAMIC_DRAW : gl.STATIC_DRAW);
        gl.enableVertexAttribArray(index);
        gl.vertexAttribPointer(index, width, gl.FLOAT, false, 0, 0);
      }
      return buffer;
    });
    const indices = gl.createBuffer();
    gl.bindBuffer(gl.ELEMENT_ARRAY_BUFFER, indices);
    gl.bufferData(gl.ELEMENT_ARRAY_BUFFER, triangles, gl.STATIC_DRAW);
    const texture = image && uv ? this.#texture(image) : null;
    const free = () => [...buffers, indices].forEach((buffer) => gl.deleteBuffer(buffer));
    return { array, buffers, texture, numbers: [shown, tilts], count: triangles.length, places, free };
  }

  #texture(image) {
    const { gl } = this;
    const texture = gl.createTexture();
    gl.bindTexture(gl.TEXTURE_2D, texture);
    gl.texImage2D(gl.TEXTURE_2D, 0, gl.RGBA, gl.RGBA, gl.UNSIGNED_BYTE, image);
    gl.generateMipmap(gl.TEXTURE_2D);
    return texture;
  }

  /** Place of the camera. */
  get eye() {
    const [turn, tilt] = [this.turn, this.tilt];
    const away = [Math.sin(turn) * Math.cos(tilt), Math.sin(tilt), Math.cos(turn) * Math.cos(tilt)];
    return this.target.map((x, c) => x + this.distance * away[c]);
  }

  /** Axes of the picture: right, up, and towards the eye. */
  get axes() {
    const back = unit(minus(this.eye, this.target));
    const right = unit(cross([0, 1, 0], back));
    return [right, cross(back, right), back];
  }

  /** Shift of the picture to the right, beside the panel: of a half width. */
  get shift() {
    const { clientWidth } = this.canvas;
    return clientWidth > NARROW ? PANEL / clientWidth : 0;
  }

  /** Ray through a point of the canvas: its start and its direction. */
  ray(x, y) {
    const { width, height } = this.canvas.getBoundingClientRect();
    const [right, up, back] = this.axes;
    const slope = Math.tan(0.3);
    const [across, along] = [((2 * x) / width - 1 - this.shift) * slope * (width / height), (1 - (2 * y) / height) * slope];
    return [this.eye, unit(right.map((r, c) => r * across + up[c] * along - back[c]))];
  }

  #camera() {
    const { width, height } = this.canvas;
    const [near, far, f] = [0.02 * this.size, 20 * this.size, 1 / Math.tan(0.3)];
    const [right, up, back] = this.axes;
    const eye = this.eye;
    const see = [
      right[0], up[0], back[0], 0, right[1], up[1], back[1], 0, right[2], up[2], back[2], 0,
      -dot(right, eye), -dot(up, eye), -dot(back, eye), 1,
    ];
    const lens = [
      (f * height) / width, 0, 0, 0, 0, f, 0, 0, -this.shift, 0, (far + near) / (near - far), -1,
      0, 0, (2 * far * near) / (near - far), 0,
    ];
    return product(lens, see);
  }

  draw() {
    const { gl, canvas } = this;
    const scale = Math.min(devicePixelRatio || 1, 2);
    const [width, height] = [canvas.clientWidth * scale, canvas.clientHeight * scale].map(Math.round);
    if (canvas.width !== width || canvas.height !== height) {
      [canvas.width, canvas.height] = [width, height];
    }
    gl.viewport(0, 0, width, height);
    gl.clearColor(0.098, 0.108, 0.13, 1);
    gl.enable(gl.DEPTH_TEST);
    gl.clear(gl.COLOR_BUFFER_BIT | gl.DEPTH_BUFFER_BIT);
    if (!this.floor) {
      return;
    }
    gl.useProgram(this.program);
    gl.uniformMatrix4fv(this.uniforms.camera, false, this.#camera());
    gl.uniform3fv(this.uniforms.eye, this.eye);
    for (const part of [this.floor, ...this.parts]) {
      this.#drawPart(part, part === this.floor ? 3 * this.size : 0);
    }
  }

  #drawPart({ array, buffers, numbers, texture, count }, floorSize) {
    const { gl } = this;
    gl.bindVertexArray(array);
    numbers.forEach((some, index) => {
      gl.bindBuffer(gl.ARRAY_BUFFER, buffers[index]);
      gl.bufferSubData(gl.ARRAY_BUFFER, 0, some);
    });
    gl.uniform1f(this.uniforms.floorSize, floorSize);
    gl.uniform1f(this.uniforms.textured, texture ? 1 : 0);
    gl.bindTexture(gl.TEXTURE_2D, texture);
    gl.drawElements(gl.TRIANGLES, count, gl.UNSIGNED_INT, 0);
  }
}

/** A round floor. */
function floor(radius, height, [x, , z]) {
  const count = 48;
  const shown = [x, height, z];
  for (let k = 0; k < count; k++) {
    const angle = (2 * Math.PI * k) / count;
    shown.push(x + radius * Math.sin(angle), height, z + radius * Math.cos(angle));
  }
  const triangles = Uint32Array.from({ length: 3 * count }, (_, at) =>
    at % 3 === 0 ? 0 : 1 + ((Math.floor(at / 3) + (at % 3) - 1) % count));
  const all = Float32Array.from(shown);
  return {
    places: all, shown: all, triangles, uv: null, color: new Float32Array(all.length),
    tilts: Float32Array.from(all, (_, at) => (at % 3 === 1 ? 1 : 0)),
  };
}
