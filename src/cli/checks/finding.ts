/** What `doctor` found out about one thing. `next` is the next step; null when nothing is to be done. */
export interface Finding {
  readonly check: string;
  readonly state: "ok" | "warn" | "fail";
  readonly message: string;
  readonly next: string | null;
}

export function ok(check: string, message: string): Finding {
  return { check, state: "ok", message, next: null };
}

/** Works, but not as it should. */
export function warn(check: string, message: string, next: string | null): Finding {
  return { check, state: "warn", message, next };
}

/** Does not work, or is not safe. */
export function fail(check: string, message: string, next: string | null): Finding {
  return { check, state: "fail", message, next };
}
