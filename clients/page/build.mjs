// Build the page into the service's package, or with --tests its unit tests into build/.
import { createHash } from "node:crypto";
import { copyFileSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

const here = dirname(fileURLToPath(import.meta.url));
const flag = process.argv.indexOf("--into");
const into = flag < 0 ? join(here, "../../service/gradwire_service/page") : process.argv[flag + 1];

const common = { absWorkingDir: here, bundle: true, target: "es2022", logLevel: "warning", charset: "utf8" };

/** The licences of the packages that files are from, which ask to be passed on. */
function licenses(files) {
  const names = files.flatMap((file) => /node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(file)?.[1] ?? []);
  return [...new Set(names)].sort().map((name) => {
    const folder = join(here, "node_modules", name);
    const file = readdirSync(folder).find((one) => /^licen[cs]e/i.test(one));
    if (file === undefined) throw new Error(`${name} has no licence`);
    return `${name}\n\n${readFileSync(join(folder, file), "utf8").trim()}\n`;
  }).join("\n----\n\n");
}

if (process.argv.includes("--tests")) {
  const tests = readdirSync(join(here, "tests")).filter((name) => name.endsWith(".test.ts"));
  await build({
    ...common,
    entryPoints: tests.map((name) => `tests/${name}`),
    format: "esm",
    platform: "node",
    outdir: "build",
    outExtension: { ".js": ".mjs" },
  });
} else {
  mkdirSync(into, { recursive: true });
  const { metafile } = await build({
    ...common,
    entryPoints: [{ in: "src/main.tsx", out: "page" }, { in: "src/style.css", out: "page" }],
    format: "esm",
    minify: true,
    metafile: true,
    outdir: into,
  });
  writeFileSync(join(into, "licenses.txt"), licenses(Object.keys(metafile.inputs)));
  copyFileSync(join(here, "src/icon.svg"), join(into, "icon.svg"));
  // The index names the digests of its files, so that browsers may keep them forever.
  const digest = (name) => createHash("sha256").update(readFileSync(join(into, name))).digest("hex").slice(0, 16);
  const index = readFileSync(join(here, "src/index.html"), "utf8");
  const named = index.replace(/(page\/)([\w.]+)(?=")/g, (_, folder, name) => `${folder}${name}?v=${digest(name)}`);
  writeFileSync(join(into, "index.html"), named);
}
