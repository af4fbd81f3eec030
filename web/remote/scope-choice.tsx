import type { Scope } from "../../src/protocol/scopes.ts";
import { useSession } from "../state/session.ts";
import { Switch } from "../ui/field.tsx";
import { allScopes, isAsGoodAsTheUser, scopeWords } from "./scope-words.ts";

interface ScopeChoiceProps {
  readonly chosen: readonly Scope[];
  readonly onChosen: (scopes: readonly Scope[]) => void;
}

/** What a device may do, one switch each. Nobody gives what they do not hold. */
export function ScopeChoice({ chosen, onChosen }: ScopeChoiceProps) {
  const session = useSession();
  return (
    <fieldset class="scope-choice">
      <legend>It may</legend>
      {allScopes.map((scope) => (
        <Switch
          key={scope}
          label={scopeWords[scope].name}
          hint={scopeWords[scope].meaning}
          isOn={chosen.includes(scope)}
          disabled={!session.may(scope) && !chosen.includes(scope)}
          onChange={(isOn) =>
            onChosen(allScopes.filter((one) => (one === scope ? isOn : chosen.includes(one))))
          }
        />
      ))}
      <p class="field-hint" role="status">
        {isAsGoodAsTheUser(chosen)
          ? "With Prompt and Approve together it can run anything that you can."
          : "It cannot run anything without an answer of another device."}
      </p>
    </fieldset>
  );
}
