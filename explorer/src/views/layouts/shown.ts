// What the views of layouts show: the kind of picture, and what was chosen for it.
import { signal } from "@preact/signals";
import type { Text } from "../../contract.ts";

export type Mode = "layout" | "access" | "conversion";

export interface Access {
  registers: string;
  shared: string;
  shape: string;
  bits: number;
  store: boolean;
}

export interface Move {
  source: string;
  result: string;
  shape: string;
  bits: number;
}

export const mode = signal<Mode>("layout");
export const layout = signal("");
export const shape = signal("");
export const bits = signal(32);
export const element = signal(0);
export const access = signal<Access | null>(null);
export const move = signal<Move | null>(null);

/** Show a layout for a shape, from another view. */
export function chooseLayout(attribute: string, of: number[], width = 32): void {
  mode.value = "layout";
  layout.value = attribute;
  if (of.length) shape.value = of.join("x");
  bits.value = width;
  element.value = 0;
}

/** Bits of an element of a type such as tensor<8x16xf32, …>. */
export function bitsOf(type: string): number {
  if (/x!tt\.ptr|^!tt\.ptr/.test(type.split(",")[0] ?? "")) return 64;
  const found = /[x<]([a-zA-Z]+)(\d+)[A-Z\d]*[,>]/.exec(type) ?? /([a-z]+)(\d+)/.exec(type);
  return Math.max(8, Number(found?.[2] ?? 32));
}

export interface Found<T> {
  of: T;
  line: number;
  name: string;
}

/** The conversions between layouts of a text, each pair once. */
export function conversionsOf(text: Text): Found<Move>[] {
  const found = new Map<string, Found<Move>>();
  for (const op of text.ops) {
    if (op.name !== "ttg.convert_layout") continue;
    const from = text.values[op.operands[0] ?? -1];
    const to = text.values[op.results[0] ?? -1];
    if (!from?.layout || !to?.layout || !to.shape) continue;
    const of = { source: from.layout, result: to.layout, shape: to.shape.join("x"), bits: bitsOf(to.type) };
    const key = JSON.stringify(of);
    if (!found.has(key)) found.set(key, { of, line: op.line, name: to.name });
  }
  return [...found.values()];
}

const STORES = /^ttg\.(local_store|local_alloc|async_copy_global_to_local)$/;

/** The accesses to buffers of shared memory of a text, each pair of layouts once. */
export function accessesOf(text: Text): Found<Access>[] {
  const found = new Map<string, Found<Access>>();
  for (const op of text.ops) {
    const store = STORES.test(op.name);
    if (!store && op.name !== "ttg.local_load") continue;
    const values = [...op.results, ...op.operands].map((index) => text.values[index]);
    const shared = values.find((v) => v?.layout && v.type.startsWith("!ttg.memdesc"));
    const registers = values.find((v) => v?.layout && v.type.startsWith("tensor"));
    if (!shared?.layout || !registers?.layout || !registers.shape) continue;
    const width = bitsOf(shared.type);
    const of = {
      registers: registers.layout,
      shared: shared.layout,
      shape: registers.shape.join("x"),
      bits: width,
      store,
    };
    const key = JSON.stringify(of);
    if (!found.has(key)) found.set(key, { of, line: op.line, name: `${op.name.slice(4)} ${registers.name}` });
  }
  return [...found.values()];
}

export function layoutPath(attribute: string, sizes: string, width: number): string {
  return `api/layout?layout=${encodeURIComponent(attribute)}&shape=${encodeURIComponent(sizes)}&bits=${width}`;
}

export function accessPath(of: Access): string {
  const parts = [
    `registers=${encodeURIComponent(of.registers)}`,
    `shared=${encodeURIComponent(of.shared)}`,
    `shape=${encodeURIComponent(of.shape)}`,
    `bits=${of.bits}`,
    `store=${of.store ? 1 : 0}`,
  ];
  return `api/shared-access?${parts.join("&")}`;
}

export function conversionPath(of: Move): string {
  const parts = [
    `source=${encodeURIComponent(of.source)}`,
    `result=${encodeURIComponent(of.result)}`,
    `shape=${encodeURIComponent(of.shape)}`,
    `bits=${of.bits}`,
  ];
  return `api/conversion?${parts.join("&")}`;
}

/** The kind of a layout, such as nvidia_mma. */
export function kindOf(attribute: string): string {
  return /^#?(?:ttg\.)?(\w+)/.exec(attribute)?.[1] ?? attribute.slice(0, 20);
}
