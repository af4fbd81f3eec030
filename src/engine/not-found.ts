import { SallyportError } from "../errors.ts";

/** For a field `workspace` that names none. */
export function noWorkspace(): SallyportError {
  return new SallyportError("not_found", "There is no such workspace; it may have been deleted.", {
    field: "workspace",
  });
}

/** For a field `tab` that names none, or one that is being closed. */
export function noTab(): SallyportError {
  return new SallyportError("not_found", "There is no such tab; it may have been closed.", { field: "tab" });
}

/** For a field `agent` that names none on any tab, or one that is being closed. */
export function noAgent(): SallyportError {
  return new SallyportError("not_found", "There is no such agent; it may have been closed.", {
    field: "agent",
  });
}

/** For a field `job` that names none, and for what is no job id at all. */
export function noJob(): SallyportError {
  return new SallyportError("not_found", "There is no such job. See the list: sallyport jobs", {
    field: "job",
  });
}

/** @param field as the caller's request calls it; none where it is part of the path */
export function noSession(field?: "agent" | "session"): SallyportError {
  return new SallyportError("not_found", "There is no such session. See the list: sallyport sessions", {
    ...(field === undefined ? {} : { field }),
  });
}
