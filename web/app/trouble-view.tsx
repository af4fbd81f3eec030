import { Button } from "../ui/button.tsx";
import { Front } from "./front.tsx";
import type { Trouble } from "./phase.ts";

interface TroubleViewProps {
  readonly trouble: Trouble;
  readonly onRetry: () => void;
  readonly onPair: () => void;
}

const texts: Readonly<
  Record<Trouble["kind"], { readonly title: string; readonly text: string; readonly command: string | null }>
> = {
  offline: {
    title: "The daemon does not answer",
    text: "It may be stopped or restarting, or this device has no connection. The page tries again by itself.",
    command: "sallyport daemon status",
  },
  remote_off: {
    title: "Remote access is off",
    text: "The daemon runs, but takes requests from its own machine only.",
    command: "sallyport remote on",
  },
  revoked: {
    title: "This browser is no longer paired",
    text: "The daemon does not know its token any more: it was revoked or has expired. The token was forgotten here too.",
    command: "sallyport pair",
  },
  refused: { title: "The daemon refused this page", text: "", command: null },
};

/** Why the page cannot go on, in plain words, with what to do next. */
export function TroubleView({ trouble, onRetry, onPair }: TroubleViewProps) {
  const { title, text, command } = texts[trouble.kind];
  return (
    <Front title={title}>
      <p>{trouble.kind === "refused" ? trouble.message : text}</p>
      {command !== null && (
        <p class="card">
          On the daemon's machine run <code>{command}</code>
          <br />
          <small>
            In a clone of Sallyport write <code>npx</code> before it.
          </small>
        </p>
      )}
      {trouble.kind === "revoked" ? (
        <Button kind="primary" isWide onClick={onPair}>
          Pair again
        </Button>
      ) : (
        <Button kind="primary" isWide onClick={onRetry}>
          Try again
        </Button>
      )}
    </Front>
  );
}
