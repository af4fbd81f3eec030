/** Whether the end of a list stays in view while rows are added to it. */
export interface Stickiness {
  readonly isStuck: boolean;
  /** Rows have come that the reader, who is further up, has not seen. */
  readonly hasUnseen: boolean;
}

export const stuck: Stickiness = { isStuck: true, hasUnseen: false };

/** So near to the end counts as there. */
const nearEndPx = 48;

/**
 * After the reader scrolled. Only they leave the end: a list that grew below a still viewport has not been left. They are
 * back as soon as they come near it.
 *
 * @param movedUp the scroll position became smaller by the reader's doing
 */
export function afterScroll(before: Stickiness, distanceToEnd: number, movedUp: boolean): Stickiness {
  if (distanceToEnd <= 1 || (distanceToEnd <= nearEndPx && !movedUp)) return stuck;
  if (before.isStuck && movedUp) return { isStuck: false, hasUnseen: false };
  return before;
}

/** After rows were added at the end, or grew there. */
export function afterGrowth(before: Stickiness): Stickiness {
  return before.isStuck || before.hasUnseen ? before : { isStuck: false, hasUnseen: true };
}
