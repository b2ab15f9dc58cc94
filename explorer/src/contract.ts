// The data model of the explorer, as the server and an exported file send it.

export interface Place {
  file: string;
  line: number;
  column: number;
}

export interface Problem {
  severity: "error" | "warning";
  message: string;
  detail: string;
  place: Place | null;
}

export interface DocumentSummary {
  id: string;
  kernel: string;
  target: string;
  state: "done" | "running" | "failed" | "cached";
  label: string;
  us: number | null;
  summary: string;
  first: string;
  parent: string | null;
  started: string;
  passes: number;
  changed: number;
}

export interface Session {
  version: number;
  title: string;
  tritium: string;
  exported: boolean;
  capabilities: Record<string, boolean>;
  input: { kind: string; path: string; arguments: string[] };
  run: { state: string; message: string; output: string };
  problems: Problem[];
  documents: DocumentSummary[];
  tunings: string[];
  targets: string[];
  sequence: number;
}

export interface Pass {
  index: number;
  name: string;
  options: string;
  on: string;
  skipped: boolean;
  at: number | null;
  us: number | null;
  before: string | null;
  after: string | null;
  changed: boolean;
  operations: number | null;
  operations_before: number | null;
  counts: Record<string, number>;
  rewrites: number;
  reason: string;
  error: string | null;
}

export interface Stage {
  name: string;
  language: string;
  at: number | null;
  us: number | null;
  before: string | null;
  after: string | null;
  replaced: boolean;
  editable: boolean;
  bytes: number | null;
  facts: Record<string, unknown>;
  passes: Pass[];
}

export interface Span {
  name: string;
  kind: string;
  at: number;
  us: number;
  depth: number;
  stage: string | null;
  pass: number | null;
}

export interface CompileError {
  stage: string;
  pass: string | null;
  type: string;
  message: string;
  place: Place | null;
}

export interface Listing {
  name: string;
  text: string;
  available: boolean;
  reason: string;
}

export interface Launch {
  grid: number[];
  count: number;
  arguments: { name: string; value: string }[];
}

export interface Document {
  id: string;
  kernel: string;
  target: string;
  state: string;
  first: string;
  parent: string | null;
  signature: Record<string, string>;
  constants: Record<string, string>;
  options: Record<string, unknown>;
  settings: Record<string, unknown>;
  place: Place | null;
  request: { file?: string; kernel?: string; signature?: string; options?: Record<string, unknown> } | null;
  sources: { file: string; text: string; changed: boolean }[];
  stages: Stage[];
  listings: Listing[];
  spans: Span[];
  resources: Record<string, unknown>;
  summary: string;
  cache: { state: string; reason: string };
  launch: Launch | null;
  errors: CompileError[];
}

export interface Op {
  line: number;
  name: string;
  results: number[];
  operands: number[];
  place: [number, number, number] | null;
  note: string;
}

export interface Value {
  name: string;
  type: string;
  layout: string | null;
  line: number;
  uses: number[];
  shape: number[] | null;
  argument: boolean;
}

export interface Text {
  id: string;
  language: string;
  text: string;
  files: string[];
  ops: Op[];
  values: Value[];
  problem: string;
}

export interface Provenance {
  files: string[];
  steps: { stage: string; pass: number | null; text: string; label: string }[];
  lines: { file: number; line: number; column: number; at: number[][] }[];
}

export interface Rewrite {
  index: number;
  rule: string;
  equation: string;
  before: string | null;
  after: string | null;
  place: Place | null;
  line_before: number | null;
  line_after: number | null;
}

export interface Rewrites {
  before: string;
  after: string;
  steppable: boolean;
  rewrites: Rewrite[];
}

export interface Layout {
  layout: string;
  shape: number[];
  bits: number;
  kind: "registers" | "shared";
  summary: string;
  axes: string[];
  sizes: number[];
  places: number[][][];
  banks: number[] | null;
  addresses?: number[] | null;
  broken: string;
}

export interface LayoutUse {
  layout: string;
  shape: number[];
  bits: number;
  count: number;
  stage: string;
  values: string[];
}

export interface SharedAccess {
  instruction: string;
  instructions: number;
  wavefronts: number;
  ideal: number;
  conflicts: number;
  accesses: {
    lanes: { lane: number; address: number; bytes: number; banks: number[]; elements: number[] }[];
    wavefronts: number;
  }[];
}

export interface Conversion {
  shape: number[];
  method: string;
  why: string;
  bytes: number;
  source: Layout;
  result: Layout;
  moves: Record<string, number>;
}

export interface Finding {
  kind: string;
  message: string;
  hint?: string;
  source?: string;
  text?: string;
  place?: Place | null;
  lines: Record<string, number[]>;
}

export interface OrderStep {
  kind: string;
  text: string;
  line: number;
  depth: number;
  stage: string;
  place: Place | null;
}

export interface Roofline {
  seconds: number;
  limit: string;
  parts: Record<string, number>;
  work: { bytes: number; requested?: number | null; dots?: Record<string, number>; flops?: Record<string, number> };
  intensity: number | null;
  rates: { name: string; bandwidth: number; peaks: Record<string, number> };
  assumptions: string[];
}

export interface Performance {
  available: boolean;
  reason: string;
  target: string;
  cards: { name: string; value: string; detail: string; level: string }[];
  occupancy?: {
    warps: number;
    max_warps: number;
    ctas: number;
    limit: string;
    limits: Record<string, number>;
  } | null;
  registers?: Record<string, number> | null;
  buffers?: Record<string, unknown>[];
  accesses?: Record<string, unknown>[];
  memory?: Record<string, unknown>[];
  instructions?: Record<string, number>;
  mix?: Record<string, number>;
  partitions?: Record<string, unknown>[];
  findings?: Finding[];
  remarks?: Finding[];
  roofline?: Roofline | null;
  roofline_reason?: string;
  order?: { note: string; text?: string; groups: { name: string; warps: number; steps: OrderStep[] }[] } | null;
}

export interface Tuning {
  id: string;
  kernel: string;
  key: string;
  state: string;
  parameters: string[];
  unit: string;
  rows: { config: Record<string, string>; ms: number | null; state: string; message: string; best: boolean }[];
}

export interface Comparison {
  given: { name: string; a: string; b: string }[];
  first_difference: { message: string; stage: string; pass: number | null; a: string; b: string } | null;
  times: { name: string; a: number | null; b: number | null }[];
  resources: { name: string; a: unknown; b: unknown }[];
  stages: { name: string; a: string | null; b: string | null; same: boolean }[];
  results: {
    available: boolean;
    message: string;
    arguments?: { name: string; different: number; elements: number; first: number | null; largest: number }[];
  } | null;
}

export interface ValueSummary {
  id: number;
  line: number;
  name: string;
  op: string;
  type: string;
  shape: number[];
  iterations: number;
  min: number | null;
  max: number | null;
  nan: number;
  inf: number;
  out_of_bounds: number;
  masked: number;
}

export interface ValuesRun {
  id: string;
  document: string;
  text: string;
  program: number[];
  grid: number[];
  inputs: string;
  values: ValueSummary[];
  errors: { line: number; message: string; elements: number[]; place: Place | null }[];
  truncated: boolean;
}

export interface Tensor {
  id: number;
  iteration: number;
  iterations: number;
  shape: number[];
  type: string;
  numbers: (number | string | null)[];
  marks: { out_of_bounds?: number[]; masked?: number[] };
  truncated: boolean;
}

export interface Check {
  id: string;
  document: string;
  state: string;
  message: string;
  verdicts: { step: string; stage: string; pass: number | null; verdict: string; detail: string }[];
  finding: {
    step: string;
    stage: string;
    pass: number | null;
    argument: string;
    element: number[];
    got: unknown;
    expected: unknown;
    different: number;
    elements: number;
    message: string;
    rewrite: { rule: string; equation: string; index: number; operation: string } | null;
    operation: { before: string; after: string; message: string } | null;
    texts: { before: string; after: string } | null;
    line_before: number | null;
    line_after: number | null;
    place: Place | null;
  } | null;
}

export interface Job {
  id: string;
  kind: string;
  state: "running" | "done" | "failed" | "stopped";
  message: string;
  document: string | null;
  result: string | null;
  ms: number | null;
  place: Place | null;
}
