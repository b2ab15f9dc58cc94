// A digest of the sources of the page, which the built page carries: a test compares it, so that both change together.
import { createHash } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { join, relative, sep } from "node:path";

const FILES = ["index.html", "package-lock.json", "package.json", "sources.ts", "tsconfig.json", "vite.config.ts"];

function below(folder: string): string[] {
  const found = readdirSync(folder, { recursive: true, withFileTypes: true });
  return found.filter((one) => one.isFile()).map((one) => join(one.parentPath, one.name));
}

/** SHA-256 of the names and contents of all files, in the order of their names. */
export function digestOf(root: string): string {
  const names = [...FILES, ...below(join(root, "src")).map((path) => relative(root, path).split(sep).join("/"))];
  const digest = createHash("sha256");
  for (const name of names.sort()) {
    const content = readFileSync(join(root, name));
    digest.update(`${name}\0${content.length}\0`).update(content);
  }
  return digest.digest("hex").slice(0, 16);
}
