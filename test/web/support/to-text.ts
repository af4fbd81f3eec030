import { type ComponentChildren, Fragment, isValidElement, type VNode } from "preact";

/** A tree of nodes as text like HTML, for tests. Components are not drawn: they show as `<Name prop="…">`. */
export function toText(node: ComponentChildren): string {
  if (node === null || node === undefined || typeof node === "boolean") return "";
  if (Array.isArray(node)) return node.map(toText).join("");
  if (!isValidElement(node)) return String(node).replace(/[<>]/g, (mark) => (mark === "<" ? "&lt;" : "&gt;"));
  const { type, props } = node as VNode<Record<string, unknown>>;
  const children = toText(props.children as ComponentChildren);
  if (type === Fragment) return children;
  const name = typeof type === "function" ? type.name : String(type);
  const attributes = Object.entries(props)
    .filter(([key, value]) => key !== "children" && value !== undefined && value !== false)
    .map(([key, value]) => ` ${key}=${JSON.stringify(value)}`);
  return `<${name}${attributes.join("")}>${children}</${name}>`;
}

/** Every element of the tree with its properties, components too. */
export function* elementsOf(node: ComponentChildren): Generator<VNode<Record<string, unknown>>> {
  if (Array.isArray(node)) for (const each of node) yield* elementsOf(each);
  else if (isValidElement(node)) {
    const element = node as VNode<Record<string, unknown>>;
    yield element;
    yield* elementsOf(element.props.children as ComponentChildren);
  }
}
