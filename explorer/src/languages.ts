// Syntax of the texts of stages, as line-based tokenizers: operation names, values, types, attributes, comments.
import { python } from "@codemirror/lang-python";
import { StreamLanguage, type StringStream } from "@codemirror/language";
import type { Extension } from "@codemirror/state";

type Rule = [RegExp, string | null];

function language(rules: Rule[], comment: string): Extension {
  return StreamLanguage.define<Record<string, never>>({
    startState: () => ({}),
    languageData: { commentTokens: { line: comment } },
    token(stream: StringStream) {
      for (const [pattern, style] of rules) if (stream.match(pattern)) return style;
      stream.next();
      return null;
    },
  });
}

const STRING: Rule = [/^"(?:[^"\\]|\\.)*"?/, "string"];
const SPACE: Rule = [/^[\s,:(){}\][=>-]+/, null];

const MLIR = language(
  [
    [/^\s+/, null],
    [/^\/\/.*/, "comment"],
    STRING,
    [/^%[\w$.'-]+(?:#\d+)?/, "variableName"],
    [/^#[\w$.]+/, "attributeName"],
    [/^@[\w$.]+/, "labelName"],
    [/^\^\w+/, "labelName"],
    [/^![\w$.]+/, "typeName"],
    [/^(?:tensor|memref|vector)(?=<)/, "typeName"],
    [/^(?:[iuf]\d+|bf16|f8\w*|index|none)\b/, "typeName"],
    [/^(?:loc)\b/, "comment"],
    [/^(?:module|attributes|to|step|iter_args|else|do)\b/, "keyword"],
    [/^[a-z_]\w*(?:\.[\w-]+)+/, "keyword"],
    [/^[a-zA-Z_][\w.$-]*/, null],
    [/^-?(?:0x[\da-fA-F]+|\d+(?:\.\d*)?(?:[eE][+-]?\d+)?)/, "number"],
    SPACE,
  ],
  "//",
);

const LLVM = language(
  [
    [/^\s+/, null],
    [/^;.*/, "comment"],
    STRING,
    [/^%[\w$.-]+|^%"[^"]*"/, "variableName"],
    [/^[@!#][\w$.-]+/, "attributeName"],
    [/^[\w$.-]+:(?=\s|$)/, "labelName"],
    [/^(?:i\d+|float|double|half|bfloat|ptr|void|label|x)\b/, "typeName"],
    [
      /^(?:define|declare|ret|br|switch|phi|load|store|call|tail|getelementptr|inbounds|icmp|fcmp|select|extractvalue|insertvalue|extractelement|insertelement|shufflevector|bitcast|[sz]ext|trunc|fpext|fptrunc|addrspacecast|f?add|f?sub|f?mul|[usf]div|[usf]rem|and|or|xor|shl|[la]shr|fneg|atomicrmw|cmpxchg|fence|unreachable|asm|target|source_filename)\b/,
      "keyword",
    ],
    [/^[a-zA-Z_][\w.$]*/, null],
    [/^-?(?:0x[\da-fA-F]+|\d+(?:\.\d*)?(?:[eE][+-]?\d+)?)/, "number"],
    SPACE,
  ],
  ";",
);

const PTX = language(
  [
    [/^\s+/, null],
    [/^\/\/.*/, "comment"],
    STRING,
    [/^%[\w$.]+/, "variableName"],
    [/^\$?[\w$]+:/, "labelName"],
    [/^\.[\w.]+/, "typeName"],
    [/^@!?/, null],
    [/^[a-z][\w]*(?:\.[\w:]+)+/, "keyword"],
    [/^[a-zA-Z_$][\w$]*/, null],
    [/^-?(?:0[xfd][\da-fA-F]+|\d+)/, "number"],
    [/^[\s,;(){}\][=+|-]+/, null],
  ],
  "//",
);

const GCN = language(
  [
    [/^\s+/, null],
    [/^(?:;|\/\/).*/, "comment"],
    STRING,
    [/^\.?[\w$.]+:(?=\s|$)/, "labelName"],
    [/^\.[\w.]+/, "typeName"],
    [/^(?:s|v|ds|global|flat|buffer|scratch)_\w+/, "keyword"],
    [/^(?:[sva]\d+|[sva]\[\d+:\d+\]|vcc(?:_lo|_hi)?|exec(?:_lo|_hi)?|m0|scc)\b/, "variableName"],
    [/^[a-zA-Z_$][\w$.]*/, null],
    [/^-?(?:0x[\da-fA-F]+|\d+(?:\.\d+)?)/, "number"],
    [/^[\s,()[\]=+|-]+/, null],
  ],
  ";",
);

const SASS = language(
  [
    [/^\s+/, null],
    [/^(?:\/\/.*|\/\*[^*]*\*\/)/, "comment"],
    STRING,
    [/^\.[\w.$]+:?/, "labelName"],
    [/^@!?U?P\d+|^@!?U?PT/, "attributeName"],
    [/^(?:U?R(?:\d+|Z)|U?P(?:\d+|T)|SR_[\w.]+|SB\d)(?:\.\w+)*/, "variableName"],
    [/^[A-Z][A-Z0-9_]+(?:\.[A-Z0-9_x]+)*/, "keyword"],
    [/^[a-zA-Z_$][\w$]*/, null],
    [/^-?(?:0x[\da-fA-F]+|\d+(?:\.\d+)?)/, "number"],
    [/^[\s,;()[\]{}|+-]+/, null],
  ],
  "//",
);

const LANGUAGES: Record<string, Extension> = {
  mlir: MLIR,
  llir: LLVM,
  ptx: PTX,
  amdgcn: GCN,
  asm: GCN,
  sass: SASS,
  python: python(),
};

export function languageOf(name: string): Extension {
  return LANGUAGES[name] ?? [];
}
