import type { Finding, TunnelPlan } from "../../../src/tunnel/provider.ts";
import { readRepoFile } from "../../meta/sources.ts";

/** All that a provider finds in the recorded output of its tool. */
export function findings(plan: TunnelPlan, fixture: string): readonly Finding[] {
  const read = plan.createReader();
  return readRepoFile(`test/fixtures/tunnel/${fixture}.txt`)
    .split("\n")
    .flatMap((line) => read(line) ?? []);
}
