// Where answers come from: a server, or the element of an exported file. Both have the same paths.
import { type Signal, signal } from "@preact/signals";

export interface DataSource {
  get(path: string): Promise<unknown>;
  post(path: string, body: unknown): Promise<unknown>;
  readonly exported: boolean;
}

export class AnswerError extends Error {
  constructor(
    message: string,
    readonly kind: string,
  ) {
    super(message);
  }
}

/** Set while the server does not answer. */
export const serverLost = signal(false);

class HttpSource implements DataSource {
  readonly exported = false;

  async get(path: string): Promise<unknown> {
    return this.ask(path, {});
  }

  async post(path: string, body: unknown): Promise<unknown> {
    return this.ask(path, {
      method: "POST",
      headers: { "Content-Type": "application/json" },
      body: JSON.stringify(body),
    });
  }

  private async ask(path: string, init: RequestInit): Promise<unknown> {
    let answer: Response;
    try {
      answer = await fetch(path, init);
    } catch {
      serverLost.value = true;
      throw new AnswerError("the server does not answer", "lost");
    }
    const text = await answer.text();
    let json: unknown;
    try {
      json = JSON.parse(text);
    } catch {
      throw new AnswerError(`the server sent no JSON (status ${answer.status}) for ${path}`, "malformed");
    }
    if (!answer.ok) {
      const said = json as { error?: string; kind?: string };
      throw new AnswerError(said.error ?? `status ${answer.status}`, said.kind ?? "failed");
    }
    return json;
  }
}

class EmbeddedSource implements DataSource {
  readonly exported = true;
  private answers: Promise<Record<string, unknown>> | null = null;

  constructor(private readonly element: HTMLElement) {}

  async get(path: string): Promise<unknown> {
    this.answers ??= this.decode();
    const answer = (await this.answers)[path];
    if (answer === undefined) throw new AnswerError("Not available in an exported file.", "exported");
    return answer;
  }

  async post(): Promise<unknown> {
    throw new AnswerError("Not available in an exported file.", "exported");
  }

  private async decode(): Promise<Record<string, unknown>> {
    const raw = atob((this.element.textContent ?? "").trim());
    const bytes = Uint8Array.from(raw, (c) => c.charCodeAt(0));
    const plain = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
    return (JSON.parse(await new Response(plain).text()) as { answers: Record<string, unknown> }).answers;
  }
}

function makeSource(): DataSource {
  const element = document.getElementById("tritium-export");
  return element ? new EmbeddedSource(element) : new HttpSource();
}

export const source: DataSource = makeSource();

export type Loaded<T> = { state: "loading" } | { state: "ready"; data: T } | { state: "error"; message: string };

const LOADING = { state: "loading" } as const;
const MAX_KEPT = 400;
const kept = new Map<string, Signal<Loaded<unknown>>>();

async function read(path: string, into: Signal<Loaded<unknown>>): Promise<void> {
  try {
    into.value = { state: "ready", data: await source.get(path) };
  } catch (error) {
    if (into.value.state !== "ready") {
      into.value = { state: "error", message: error instanceof Error ? error.message : String(error) };
    }
  }
}

/** The answer to `path` as a signal, requested when first asked for. */
export function resource<T>(path: string): Signal<Loaded<T>> {
  let found = kept.get(path);
  if (!found) {
    found = signal<Loaded<unknown>>(LOADING);
    kept.set(path, found);
    void read(path, found);
    for (const old of kept.keys()) {
      if (kept.size <= MAX_KEPT) break;
      if (old.startsWith("api/text/") && old !== path) kept.delete(old);
      else break;
    }
  }
  return found as Signal<Loaded<T>>;
}

/** Request `path` again; what is shown stays until the answer is there. */
export async function refresh(path: string): Promise<void> {
  const found = kept.get(path);
  if (found) await read(path, found);
  else resource(path);
}

/** Read again, or forget, the answers whose paths begin like this: what they are about has changed. */
export function renew(prefix: string, shown: boolean): void {
  for (const [path, found] of [...kept]) {
    if (!path.startsWith(prefix)) continue;
    if (shown) void read(path, found);
    else kept.delete(path);
  }
}

/** Wait for an answer; an error is thrown. */
export async function wait<T>(path: string): Promise<T> {
  const found = resource<T>(path);
  return new Promise((resolve, reject) => {
    const end = found.subscribe((now) => {
      if (now.state === "ready") resolve(now.data);
      else if (now.state === "error") reject(new Error(now.message));
      if (now.state !== "loading") queueMicrotask(() => end());
    });
  });
}
