// A picture on its way to a service: as it is, or smaller where it is too large to be sent.
const MOST_BYTES = 600_000;
const MOST_PIXELS = 640; // along a side; models read fewer

/** A file in base64. */
export async function pictureText(file: File): Promise<string> {
  const bytes = new Uint8Array(await (await fitting(file)).arrayBuffer());
  const parts: string[] = [];
  for (let i = 0; i < bytes.length; i += 8192) {
    parts.push(String.fromCharCode(...bytes.subarray(i, i + 8192)));
  }
  return btoa(parts.join(""));
}

async function fitting(file: File): Promise<Blob> {
  if (file.size <= MOST_BYTES) return file;
  const image = await createImageBitmap(file).catch(() => null);
  if (image === null) return file; // the service says what is wrong with it
  const scale = Math.min(1, MOST_PIXELS / Math.max(image.width, image.height));
  const canvas = document.createElement("canvas");
  [canvas.width, canvas.height] = [image.width, image.height].map((side) =>
    Math.max(1, Math.round(scale * side)),
  ) as [number, number];
  canvas.getContext("2d")?.drawImage(image, 0, 0, canvas.width, canvas.height);
  const made = await new Promise<Blob | null>((give) => canvas.toBlob(give, "image/jpeg", 0.92));
  return made ?? file;
}
