// CodeMirror in components: one text, or two texts as a diff.
import { defaultKeymap, history, historyKeymap, indentWithTab } from "@codemirror/commands";
import { syntaxTree } from "@codemirror/language";
import { MergeView, unifiedMergeView } from "@codemirror/merge";
import { highlightSelectionMatches, search, searchKeymap } from "@codemirror/search";
import { EditorState, type Extension, type Range, StateEffect, StateField } from "@codemirror/state";
import {
  Decoration,
  type DecorationSet,
  drawSelection,
  EditorView,
  hoverTooltip,
  keymap,
  lineNumbers,
  ViewPlugin,
  type ViewUpdate,
} from "@codemirror/view";
import { highlightTree, tagHighlighter, tags } from "@lezer/highlight";
import { useEffect, useRef } from "preact/hooks";
import { languageOf } from "./languages.ts";

const HIGHLIGHTER = tagHighlighter([
  { tag: tags.keyword, class: "t-keyword" },
  { tag: tags.comment, class: "t-comment" },
  { tag: [tags.string, tags.special(tags.string)], class: "t-string" },
  { tag: tags.number, class: "t-number" },
  { tag: tags.variableName, class: "" },
  { tag: tags.standard(tags.variableName), class: "t-value" },
  { tag: tags.typeName, class: "t-type" },
  { tag: tags.attributeName, class: "t-attribute" },
  { tag: tags.labelName, class: "t-attribute" },
  { tag: [tags.function(tags.variableName), tags.function(tags.definition(tags.variableName))], class: "t-type" },
  { tag: [tags.bool, tags.null], class: "t-number" },
  { tag: tags.meta, class: "t-attribute" },
]);

const VALUE_HIGHLIGHTER = tagHighlighter([{ tag: tags.variableName, class: "t-value" }]);
const repaint = StateEffect.define<{ from: number; to: number }>();
const PAINT_MARGIN = 2;
const MAX_PAINTED = 2000;

/** Colour only the lines on the screen: an editor draws 1,000 pixels more on each side, too many nodes for long lines. */
function screenHighlight(values: boolean): Extension {
  const style = values ? [HIGHLIGHTER, VALUE_HIGHLIGHTER] : HIGHLIGHTER;
  return ViewPlugin.fromClass(
    class {
      decorations: DecorationSet = Decoration.none;
      from = 0;
      to = 0;
      frame = 0;
      readonly onScroll = (): void => {
        if (this.frame) return;
        this.frame = requestAnimationFrame(() => {
          this.frame = 0;
          const { view } = this;
          const box = this.scroller().getBoundingClientRect();
          const top = Math.max(0, box.top - view.contentDOM.getBoundingClientRect().top);
          const height = Math.min(box.height || 600, MAX_PAINTED);
          const margin = PAINT_MARGIN * view.defaultLineHeight;
          const from = view.lineBlockAtHeight(Math.max(0, top - margin)).from;
          const to = view.lineBlockAtHeight(top + height + margin).to;
          view.dispatch({ effects: repaint.of({ from, to }) });
        });
      };

      constructor(readonly view: EditorView) {
        // A view side by side is attached to its scroller after it was made: listen to all of them.
        document.addEventListener("scroll", this.onScroll, { passive: true, capture: true });
        this.onScroll();
      }

      scroller(): Element {
        return this.view.dom.closest(".cm-mergeView") ?? this.view.scrollDOM;
      }

      update(update: ViewUpdate): void {
        for (const one of update.transactions.flatMap((t) => t.effects)) {
          if (!one.is(repaint)) continue;
          this.from = one.value.from;
          this.to = one.value.to;
          this.paint();
          return;
        }
        if (update.docChanged) this.decorations = this.decorations.map(update.changes);
        const parsed = syntaxTree(update.startState) !== syntaxTree(update.state);
        if (update.docChanged || update.geometryChanged || parsed) this.onScroll();
      }

      paint(): void {
        const { view, from, to } = this;
        const marks: Range<Decoration>[] = [];
        const spans: [number, number, string][] = [];
        highlightTree(
          syntaxTree(view.state),
          style,
          (start, end, name) => {
            if (name.trim()) spans.push([Math.max(start, from), Math.min(end, to), name.trim()]);
          },
          from,
          to,
        );
        for (const [start, end, name] of spans) {
          if (end > start) marks.push(Decoration.mark({ class: name }).range(start, end));
        }
        this.decorations = Decoration.set(marks, true);
      }

      destroy(): void {
        document.removeEventListener("scroll", this.onScroll, { capture: true });
        cancelAnimationFrame(this.frame);
      }
    },
    { decorations: (plugin) => plugin.decorations },
  );
}

export type LineMarks = Record<string, number[]>;
const setMarks = StateEffect.define<LineMarks>();
const lineMarks = StateField.define<DecorationSet>({
  create: () => Decoration.none,
  update(now, transaction) {
    let next = now.map(transaction.changes);
    for (const one of transaction.effects) if (one.is(setMarks)) next = decorate(one.value, transaction.state);
    return next;
  },
  provide: (field) => EditorView.decorations.from(field),
});

function decorate(marks: LineMarks, state: EditorState): DecorationSet {
  const found: Range<Decoration>[] = [];
  for (const [name, lines] of Object.entries(marks)) {
    for (const line of new Set(lines)) {
      if (line >= 1 && line <= state.doc.lines) {
        found.push(Decoration.line({ class: name }).range(state.doc.line(line).from));
      }
    }
  }
  return Decoration.set(found, true);
}

export interface TextEvents {
  /** A click, or Enter at the cursor: the line, and the word there. */
  onPick?: ((line: number, word: string) => void) | undefined;
  /** Lines of text for a hint at a word, or null. */
  onHover?: ((line: number, word: string) => HTMLElement | null) | undefined;
}

const WORD = /[%@#]?[\w$.'#]+/g;

function wordAt(view: EditorView, pos: number): { line: number; word: string; from: number; to: number } {
  const line = view.state.doc.lineAt(pos);
  for (const match of line.text.matchAll(WORD)) {
    const from = line.from + match.index;
    if (from <= pos && pos <= from + match[0].length) {
      return { line: line.number, word: match[0], from, to: from + match[0].length };
    }
  }
  return { line: line.number, word: "", from: pos, to: pos };
}

function interaction(events: { current: TextEvents }): Extension {
  const pickAt = (view: EditorView, pos: number): void => {
    const { line, word } = wordAt(view, pos);
    events.current.onPick?.(line, word);
  };
  return [
    EditorView.domEventHandlers({
      click(event, view) {
        const pos = view.posAtCoords({ x: event.clientX, y: event.clientY });
        if (pos !== null && view.state.selection.main.empty) pickAt(view, pos);
        return false;
      },
    }),
    keymap.of([
      {
        key: "Enter",
        run(view) {
          if (!view.state.readOnly) return false;
          pickAt(view, view.state.selection.main.head);
          return true;
        },
      },
    ]),
    hoverTooltip(
      (view, pos) => {
        const { line, word, from, to } = wordAt(view, pos);
        const dom = word ? events.current.onHover?.(line, word) : null;
        return dom ? { pos: from, end: to, above: true, create: () => ({ dom }) } : null;
      },
      { hoverTime: 150 },
    ),
  ];
}

function common(
  language: string,
  label: string,
  editable: boolean,
  events: { current: TextEvents },
  values = language !== "python",
): Extension[] {
  return [
    lineNumbers(),
    drawSelection(),
    highlightSelectionMatches({ minSelectionLength: 2, maxMatches: 60 }),
    search({ top: true }),
    // The page compiles on this key: it inserts no line.
    keymap.of([
      { key: "Mod-Enter", run: () => true },
      ...(editable ? [indentWithTab] : []),
      ...searchKeymap,
      ...historyKeymap,
      ...defaultKeymap,
    ]),
    ...(editable ? [history()] : [EditorState.readOnly.of(true)]),
    EditorView.contentAttributes.of({
      "aria-label": label,
      tabindex: "0",
      "aria-readonly": String(!editable),
      spellcheck: "false",
    }),
    languageOf(language),
    screenHighlight(values),
    lineMarks,
    interaction(events),
  ];
}

export interface CodeProps extends TextEvents {
  text: string;
  language: string;
  label: string;
  marks?: LineMarks | undefined;
  /** The line to scroll to; a new `serial` scrolls again. */
  reveal?: { line: number; serial: number } | null | undefined;
  editable?: boolean | undefined;
  onChange?: ((text: string) => void) | undefined;
}

function scrollToLine(view: EditorView, line: number): void {
  const at = view.state.doc.line(Math.max(1, Math.min(line, view.state.doc.lines)));
  view.dispatch({ selection: { anchor: at.from }, effects: EditorView.scrollIntoView(at.from, { y: "center" }) });
}

function useEvents(events: TextEvents): { current: TextEvents } {
  const kept = useRef<TextEvents>(events);
  kept.current = events;
  return kept;
}

function useDecorations(view: { current: EditorView | null }, props: CodeProps, extra: unknown): void {
  const marks = JSON.stringify(props.marks ?? {});
  useEffect(() => {
    view.current?.dispatch({ effects: setMarks.of(JSON.parse(marks) as LineMarks) });
  }, [marks, props.text, extra]);
  useEffect(() => {
    if (view.current && props.reveal) scrollToLine(view.current, props.reveal.line);
  }, [props.reveal?.serial, props.reveal?.line, props.editable ? "" : props.text, extra]);
}

/** One text. */
export function Code(props: CodeProps) {
  const host = useRef<HTMLDivElement>(null);
  const view = useRef<EditorView | null>(null);
  const events = useEvents({ onPick: props.onPick, onHover: props.onHover });
  const onChange = useRef(props.onChange);
  onChange.current = props.onChange;
  const editable = props.editable === true;
  useEffect(() => {
    const listen = EditorView.updateListener.of((update) => {
      if (editable && update.docChanged) onChange.current?.(update.state.doc.toString());
    });
    const made = new EditorView({
      parent: host.current as HTMLDivElement,
      doc: props.text,
      extensions: [common(props.language, props.label, editable, events), listen],
    });
    view.current = made;
    return () => {
      made.destroy();
      view.current = null;
    };
  }, [props.language, props.label, editable]);
  useEffect(() => {
    const now = view.current;
    // What is edited is the editor's own: a text that the page draws may be older than the last key.
    if (now && !editable && now.state.doc.toString() !== props.text) {
      now.dispatch({ changes: { from: 0, to: now.state.doc.length, insert: props.text } });
      now.scrollDOM.scrollTop = 0;
    }
  }, [props.text]);
  useDecorations(view, props, editable);
  return <div class="code" ref={host} />;
}

export interface DiffProps extends CodeProps {
  before: string;
  split: boolean;
  collapse: boolean;
}

const DIFF = { scanLimit: 1000, timeout: 100 };

/** Two texts as a diff: `text` is the one after. */
export function Diff(props: DiffProps) {
  const host = useRef<HTMLDivElement>(null);
  const view = useRef<EditorView | null>(null);
  const events = useEvents({ onPick: props.onPick, onHover: props.onHover });
  const key = `${props.split}/${props.collapse}/${props.language}`;
  useEffect(() => {
    const parent = host.current as HTMLDivElement;
    const collapse = props.collapse ? { collapseUnchanged: { margin: 3, minSize: 6 } } : {};
    let end: () => void;
    if (props.split) {
      const silent = { current: {} as TextEvents };
      const merge = new MergeView({
        parent,
        a: { doc: props.before, extensions: common(props.language, `${props.label}, before`, false, silent, false) },
        b: { doc: props.text, extensions: common(props.language, props.label, false, events) },
        gutter: true,
        highlightChanges: true,
        diffConfig: DIFF,
        ...collapse,
      });
      view.current = merge.b;
      end = () => merge.destroy();
    } else {
      const made = new EditorView({
        parent,
        doc: props.text,
        extensions: [
          common(props.language, props.label, false, events),
          unifiedMergeView({
            original: props.before,
            mergeControls: false,
            gutter: true,
            highlightChanges: true,
            syntaxHighlightDeletions: false,
            diffConfig: DIFF,
            ...collapse,
          }),
        ],
      });
      view.current = made;
      end = () => made.destroy();
    }
    return () => {
      end();
      view.current = null;
    };
  }, [key, props.before, props.text]);
  useDecorations(view, props, key + props.before);
  return <div class={props.split ? "code split" : "code"} ref={host} />;
}
