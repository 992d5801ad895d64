// Pixels as a PNG file that is not compressed: it is only shown, never sent.

const MOST = 0xffff; // bytes of a block that is stored as it is

/** CRC-32, as PNG ends each of its parts with. */
function crc32(bytes: Uint8Array): number {
  let crc = -1;
  for (const byte of bytes) {
    crc ^= byte;
    for (let bit = 0; bit < 8; bit += 1) crc = (crc >>> 1) ^ (crc & 1 ? 0xedb88320 : 0);
  }
  return ~crc >>> 0;
}

/** Adler-32, as zlib ends its data with. */
function adler32(bytes: Uint8Array): number {
  let [a, b] = [1, 0];
  for (const byte of bytes) {
    a = (a + byte) % 65521;
    b = (b + a) % 65521;
  }
  return ((b << 16) | a) >>> 0;
}

const word = (value: number): number[] => [24, 16, 8, 0].map((shift) => (value >>> shift) & 0xff);

function joined(parts: readonly ArrayLike<number>[]): Uint8Array {
  const whole = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0));
  let at = 0;
  for (const part of parts) {
    whole.set(part, at);
    at += part.length;
  }
  return whole;
}

function part(name: string, content: Uint8Array): Uint8Array {
  const named = joined([[...name].map((letter) => letter.charCodeAt(0)), content]);
  return joined([word(content.length), named, word(crc32(named))]);
}

/** The data of zlib in blocks that are stored as they are. */
function stored(bytes: Uint8Array): Uint8Array {
  const blocks: ArrayLike<number>[] = [[0x78, 0x01]];
  for (let from = 0; from === 0 || from < bytes.length; from += MOST) {
    const block = bytes.subarray(from, from + MOST);
    const [low, high] = [block.length & 0xff, block.length >>> 8];
    blocks.push([from + MOST >= bytes.length ? 1 : 0, low, high, 255 - low, 255 - high], block);
  }
  return joined([...blocks, word(adler32(bytes))]);
}

/** Rows of red, green and blue bytes as a PNG file in base64. */
export function pngOf(pixels: Uint8Array, width: number, height: number): string {
  const row = 3 * width;
  const lines = joined(
    Array.from({ length: height }, (_, i) => [[0], pixels.subarray(i * row, (i + 1) * row)]).flat(),
  );
  const file = joined([
    [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a],
    part("IHDR", new Uint8Array([...word(width), ...word(height), 8, 2, 0, 0, 0])),
    part("IDAT", stored(lines)),
    part("IEND", new Uint8Array()),
  ]);
  return btoa(Array.from(file, (byte) => String.fromCharCode(byte)).join(""));
}
