// Numbers as text.

export function ms(us: number | null | undefined): string {
  if (us === null || us === undefined) return "";
  const value = us / 1000;
  if (value >= 100) return value.toFixed(0);
  if (value >= 10) return value.toFixed(1);
  return value.toFixed(2);
}

export function quantity(value: number, unit: string): string {
  const steps: [number, string][] = [
    [1e12, "T"],
    [1e9, "G"],
    [1e6, "M"],
    [1e3, "k"],
    [1, ""],
    [1e-3, "m"],
    [1e-6, "u"],
    [1e-9, "n"],
  ];
  if (value === 0) return `0 ${unit}`;
  const [scale, prefix] = steps.find(([s]) => Math.abs(value) >= s) ?? [1e-9, "n"];
  return `${trim(value / scale)} ${prefix}${unit}`;
}

export function trim(value: number): string {
  if (!Number.isFinite(value)) return String(value);
  if (Number.isInteger(value) && Math.abs(value) < 1e9) return String(value);
  return String(Number(value.toPrecision(4)));
}

export function base(path: string): string {
  return path.slice(path.lastIndexOf("/") + 1);
}

export function text(value: unknown): string {
  if (value === null || value === undefined) return "";
  if (typeof value === "number") return trim(value);
  return typeof value === "object" ? JSON.stringify(value) : String(value);
}

/** A number in few characters, for a cell: 1234, 12.3, 1.23, .12, 3e-5. */
export function short(value: unknown): string {
  if (typeof value !== "number") return text(value);
  const size = Math.abs(value);
  if (Number.isInteger(value) && size < 1e5) return String(value);
  if (size >= 1e4 || size < 0.005) return value.toExponential(0).replace("e+", "e");
  const digits = size >= 100 ? 0 : size >= 10 ? 1 : 2;
  return value.toFixed(digits).replace(/^(-?)0\./, "$1.");
}
