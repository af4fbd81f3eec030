import { PairForm } from "../pairing/pair-form.tsx";
import { announced } from "../state/announcer.ts";
import { SessionContext } from "../state/session.ts";
import { Spinner } from "../ui/states.tsx";
import { Front } from "./front.tsx";
import { phase } from "./phase.ts";
import { Shell } from "./shell.tsx";
import { askForCode, begin, pairWithCode } from "./start.ts";
import { TroubleView } from "./trouble-view.tsx";

/** The page as a whole. */
export function App() {
  return (
    <>
      <View />
      <div class="unseen" aria-live="polite">
        {announced.value.polite}
      </div>
      <div class="unseen" aria-live="assertive">
        {announced.value.assertive}
      </div>
    </>
  );
}

function View() {
  const shown = phase.value;
  switch (shown.kind) {
    case "paired":
      return (
        <SessionContext.Provider value={shown.session}>
          <Shell />
        </SessionContext.Provider>
      );
    case "starting":
      return (
        <Front title="Sallyport">
          <Spinner label="Looking for the daemon…" />
        </Front>
      );
    case "redeeming":
      return (
        <Front title="Pairing…">
          <p role="status">
            {shown.code === null
              ? "Asking the daemon for a token of this browser's own."
              : `Redeeming ${shown.code}.`}
          </p>
        </Front>
      );
    case "pairing":
      return (
        <Front title="Pair this browser">
          <PairForm
            key={shown.problem}
            code={shown.code}
            name={shown.name}
            problem={shown.problem}
            onPair={pairWithCode}
          />
        </Front>
      );
    case "trouble":
      return (
        <TroubleView
          trouble={shown.trouble}
          onRetry={() => void begin(shown.entry)}
          onPair={() => askForCode("", null)}
        />
      );
  }
}
