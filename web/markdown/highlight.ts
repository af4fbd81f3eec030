import type { createLowlight } from "lowlight";
import { type Language, loadLanguage } from "./languages.ts";

/** A piece of code and the kinds of thing that it is part of: `hljs-keyword`. */
export interface CodePiece {
  readonly text: string;
  readonly classes: string;
}

/** More than this stays plain: the grammars are slow with some texts, and nobody reads so much. */
export const maxHighlightChars = 50_000;
const maxLineChars = 2_000;

type Lowlight = ReturnType<typeof createLowlight>;

/** Fetched when a text first has code in it, as its grammars are. */
let loadingLowlight: Promise<Lowlight> | null = null;
const loading = new Map<Language, Promise<Lowlight>>();

/** Code as pieces in order, which joined are the code again; null where it is too large or its grammar cannot be had. */
export async function highlightCode(code: string, language: Language): Promise<readonly CodePiece[] | null> {
  if (!isSmall(code)) return null;
  try {
    const lowlight = await lowlightWith(language);
    return piecesOf(lowlight.highlight(language, code));
  } catch {
    // Offline, or a grammar that fails on this text: it stays plain.
    loading.delete(language);
    return null;
  }
}

function lowlightWith(language: Language): Promise<Lowlight> {
  const known = loading.get(language);
  if (known !== undefined) return known;
  const ready = load(language);
  loading.set(language, ready);
  return ready;
}

async function load(language: Language): Promise<Lowlight> {
  loadingLowlight ??= import("lowlight").then((module) => module.createLowlight());
  try {
    const [lowlight, grammar] = await Promise.all([loadingLowlight, loadLanguage(language)]);
    lowlight.register(language, grammar.default);
    return lowlight;
  } catch (error) {
    loadingLowlight = null;
    throw error;
  }
}

function isSmall(code: string): boolean {
  if (code.length > maxHighlightChars) return false;
  return code.split("\n").every((line) => line.length <= maxLineChars);
}

interface HighlightNode {
  readonly type: string;
  readonly value?: unknown;
  readonly properties?: { readonly className?: unknown };
  readonly children?: readonly HighlightNode[];
}

function piecesOf(root: HighlightNode): readonly CodePiece[] {
  const pieces: CodePiece[] = [];
  const walk = (node: HighlightNode, classes: string): void => {
    if (node.type === "text" && typeof node.value === "string") pieces.push({ text: node.value, classes });
    const names = node.properties?.className;
    const own = Array.isArray(names)
      ? names.filter((name) => /^[a-z_-]{1,40}$/.test(String(name))).join(" ")
      : "";
    for (const child of node.children ?? []) walk(child, own === "" ? classes : own);
  };
  walk(root, "");
  return pieces;
}
