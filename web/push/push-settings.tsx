import { useSignal } from "@preact/signals";
import { useCallback, useEffect } from "preact/hooks";
import type { PushKind } from "../../src/protocol/push.ts";
import { keyValue } from "../app/start.ts";
import { errorText } from "../state/error-text.ts";
import { useSession } from "../state/session.ts";
import { Switch } from "../ui/field.tsx";
import { ErrorState, Spinner } from "../ui/states.tsx";
import {
  browserFacts,
  obstacleOf,
  type PushObstacle,
  type PushView,
  readPush,
  switchOff,
  switchOn,
} from "./page-push.ts";

const obstacles: Readonly<Record<PushObstacle, string>> = {
  insecure:
    "Notifications need a page that came over https, or from this very machine. Open this daemon through a tunnel, or give it a certificate ([tls] in config.toml).",
  "not installed":
    "On an iPhone or iPad, first put this page on the Home Screen: Share, then Add to Home Screen. Open it from there, pair it with a new code, and come back here.",
  denied:
    "This browser was told to show no notifications of this page. Allow them in its settings for this site, then come back.",
  "no support": "This browser cannot show notifications of a page that is closed.",
};

/** The kinds with one more, or one less. */
function withKind(kinds: readonly PushKind[], kind: PushKind, isOn: boolean): readonly PushKind[] {
  const rest = kinds.filter((each) => each !== kind);
  return isOn ? [...rest, kind] : rest;
}

/** Notifications of this browser: off until they are switched on here, kind by kind. */
export function PushSettings() {
  const session = useSession();
  const view = useSignal<PushView | null>(null);
  const problem = useSignal<string | null>(null);
  /** What was just chosen, until the daemon knows it. */
  const wanted = useSignal<readonly PushKind[] | null>(null);
  const obstacle = obstacleOf(browserFacts());

  const load = useCallback(async (): Promise<void> => {
    try {
      view.value = await readPush(session.rest, keyValue);
    } catch (error) {
      problem.value = errorText(error);
    }
  }, [session, view, problem]);
  useEffect(() => void load(), [load]);

  /** From a touch only: a browser asks for permission at no other time. */
  async function change(kinds: readonly PushKind[]): Promise<void> {
    wanted.value = kinds;
    problem.value = null;
    try {
      if (kinds.length === 0) await switchOff(session.rest, keyValue);
      else await switchOn(session.rest, keyValue, kinds);
    } catch (error) {
      problem.value = errorText(error);
    }
    await load();
    wanted.value = null;
  }

  if (obstacle !== null) return <p>{obstacles[obstacle]}</p>;
  if (view.value === null)
    return problem.value === null ? (
      <Spinner />
    ) : (
      <ErrorState problem={problem.value} onRetry={() => void load()} />
    );
  const { state, own } = view.value;
  if (!state.available) return <p>{state.reason}</p>;
  const kinds = wanted.value ?? own?.kinds ?? [];
  return (
    <>
      <Switch
        label="Requests and questions"
        hint={`When nobody has answered for ${state.after_seconds} seconds.`}
        isOn={kinds.includes("requests")}
        disabled={wanted.value !== null}
        onChange={(isOn) => void change(withKind(kinds, "requests", isOn))}
      />
      <Switch
        label="Turns that ended"
        hint="When an agent is done or failed, and nobody went on with it."
        isOn={kinds.includes("turns")}
        disabled={wanted.value !== null}
        onChange={(isOn) => void change(withKind(kinds, "turns", isOn))}
      />
      {own && <p class="field-hint">Sent by way of {own.service}, which learns only that something waits.</p>}
      <p class="field-problem" role="alert">
        {problem.value ?? own?.problem}
      </p>
    </>
  );
}
