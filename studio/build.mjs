// Builds the page into regard/inspection/viewer, and before it the types of the contract between page
// and service (src/contract.ts, of contract.json, which contract.py writes); --check compares
// instead of writing, --test runs the unit tests. The same sources give the same bytes: no date, no
// path, no map.
import { build } from "esbuild";
import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { written } from "./contract.mjs";

const here = dirname(fileURLToPath(import.meta.url));
const page = join(here, "..", "regard", "inspection", "viewer");

const shared = {
  absWorkingDir: here,
  bundle: true,
  charset: "utf8",
  format: "esm",
  jsx: "automatic",
  jsxImportSource: "preact",
  legalComments: "none",
  logLevel: "warning",
  target: "es2022",
  write: false,
};

const types = {
  place: join(here, "src", "contract.ts"),
  text: await written(JSON.parse(readFileSync(join(here, "contract.json"), "utf8"))),
};

async function made() {
  const { outputFiles } = await build({
    ...shared,
    entryPoints: { studio: "src/main.tsx" },
    minify: true,
    outdir: "out",
  });
  const files = new Map(
    outputFiles.map((file) => [file.path.slice(file.path.lastIndexOf("studio.")), file.contents]),
  );
  for (const name of ["index.html", "saved.html", "icon.svg"]) {
    files.set(name, readFileSync(join(here, "src", name)));
  }
  return files;
}

async function test() {
  const folder = mkdtempSync(join(tmpdir(), "studio-"));
  try {
    const entries = readdirSync(join(here, "tests")).filter((name) => name.endsWith(".test.ts"));
    const { outputFiles } = await build({
      ...shared,
      entryPoints: entries.map((name) => join("tests", name)),
      outdir: folder,
      platform: "node",
    });
    const paths = outputFiles.map((file) => {
      const path = file.path.replace(/\.js$/, ".mjs");
      writeFileSync(path, file.contents);
      return path;
    });
    execFileSync(process.execPath, ["--test", ...paths], { cwd: here, stdio: "inherit" });
  } finally {
    rmSync(folder, { recursive: true });
  }
}

const wish = process.argv[2];
if (wish === "--test") {
  await test().catch(() => process.exit(1));
} else if (wish === "--check") {
  if (readFileSync(types.place, "utf8") !== types.text) {
    console.error("src/contract.ts: not made of contract.json: run make studio");
    process.exit(1);
  }
  const stale = [...(await made())].filter(([name, contents]) => {
    try {
      return !readFileSync(join(page, name)).equals(contents);
    } catch {
      return true;
    }
  });
  if (stale.length > 0) {
    console.error(
      `${stale.map(([name]) => name).join(", ")}: not built from studio/: run make studio`,
    );
    process.exit(1);
  }
} else {
  writeFileSync(types.place, types.text);
  for (const [name, contents] of await made()) writeFileSync(join(page, name), contents);
}
