// A list of any length that draws only the rows on the screen.
import type { ComponentChildren } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";

export interface ListProps<T> {
  label: string;
  items: T[];
  height: number;
  selected: number;
  onSelect: (index: number) => void;
  row: (item: T, index: number) => ComponentChildren;
  name: (item: T) => string;
  className?: string;
}

const OVERSCAN = 4;
let lists = 0;

export function List<T>(props: ListProps<T>) {
  const host = useRef<HTMLDivElement>(null);
  const [id] = useState(() => `list-${++lists}`);
  const [window_, setWindow] = useState<[number, number]>([0, 30]);
  const { items, height } = props;
  const measure = (): void => {
    const at = host.current;
    if (!at) return;
    const first = Math.max(0, Math.floor(at.scrollTop / height) - OVERSCAN);
    const count = Math.ceil(at.clientHeight / height) + 2 * OVERSCAN;
    setWindow((now) => (now[0] === first && now[1] === first + count ? now : [first, first + count]));
  };
  useEffect(() => {
    measure();
    const observer = new ResizeObserver(measure);
    observer.observe(host.current as HTMLDivElement);
    return () => observer.disconnect();
  }, [height]);
  useEffect(() => {
    const at = host.current;
    if (!at || props.selected < 0) return;
    const top = props.selected * height;
    if (top < at.scrollTop) at.scrollTop = top;
    else if (top + height > at.scrollTop + at.clientHeight) at.scrollTop = top + height - at.clientHeight;
  }, [props.selected, items.length]);
  const move = (to: number): void => props.onSelect(Math.max(0, Math.min(items.length - 1, to)));
  const onKeyDown = (event: KeyboardEvent): void => {
    const page = Math.max(1, Math.floor((host.current?.clientHeight ?? height) / height) - 1);
    const steps: Record<string, number> = {
      ArrowDown: props.selected + 1,
      ArrowUp: props.selected - 1,
      PageDown: props.selected + page,
      PageUp: props.selected - page,
      Home: 0,
      End: items.length - 1,
    };
    const to = steps[event.key];
    if (to === undefined || !items.length) return;
    event.preventDefault();
    move(to);
  };
  const [from, to] = window_;
  const shown = items.slice(from, to);
  const active = props.selected >= from && props.selected < to ? `${id}-${props.selected}` : undefined;
  return (
    <div
      class={`list ${props.className ?? ""}`}
      ref={host}
      role="listbox"
      aria-label={props.label}
      aria-activedescendant={active}
      tabIndex={0}
      onScroll={measure}
      onKeyDown={onKeyDown}
    >
      <div class="list-space" role="presentation" style={{ height: `${items.length * height}px` }}>
        {shown.map((item, offset) => {
          const index = from + offset;
          return (
            // biome-ignore lint/a11y/useKeyWithClickEvents: the list has the keys
            // biome-ignore lint/a11y/useFocusableInteractive: the list has the focus
            <div
              key={index}
              id={`${id}-${index}`}
              role="option"
              aria-selected={index === props.selected}
              aria-setsize={items.length}
              aria-posinset={index + 1}
              title={props.name(item)}
              class={index === props.selected ? "row selected" : "row"}
              style={{ top: `${index * height}px`, height: `${height}px` }}
              onClick={() => props.onSelect(index)}
            >
              {props.row(item, index)}
            </div>
          );
        })}
      </div>
    </div>
  );
}
