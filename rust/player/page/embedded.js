/** Files within the page itself, so that it works from a disk as from a server. */

/** Files packed with gzip, as base64 text in script elements. */
export async function bytesOf(name) {
  const text = document.querySelector(`script[data-file="${name}"]`).textContent;
  const packed = Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
  const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("gzip"));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}
