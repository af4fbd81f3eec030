/** Which workspace one connection has; it changes by `workspace_open` and `launch`, for this connection alone. */
export interface OpenWorkspace {
  readonly id: string;
  change(id: string): void;
  /** The connection is gone. */
  end(): void;
}

/** Which workspaces are open on any connection. */
export interface OpenWorkspaces {
  add(id: string): OpenWorkspace;
  isOpen(id: string): boolean;
}

export function createOpenWorkspaces(): OpenWorkspaces {
  const counts = new Map<string, number>();

  function count(id: string, by: 1 | -1): void {
    const left = (counts.get(id) ?? 0) + by;
    if (left > 0) counts.set(id, left);
    else counts.delete(id);
  }

  return {
    isOpen: (id) => counts.has(id),
    add(first) {
      let current = first;
      let ended = false;
      count(current, 1);
      return {
        get id() {
          return current;
        },
        change(id) {
          if (ended) return;
          count(current, -1);
          current = id;
          count(current, 1);
        },
        end() {
          if (ended) return;
          ended = true;
          count(current, -1);
        },
      };
    },
  };
}
