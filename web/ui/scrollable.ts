/**
 * For what scrolls by itself, is no control, and has nothing in it to focus: the keyboard has to reach it, or its hidden
 * part is for nobody without a pointer (WCAG 2.1.1). Such an element needs a name: its own, or that of the figure round it.
 */
export const scrollable = { tabIndex: 0 } as const;
