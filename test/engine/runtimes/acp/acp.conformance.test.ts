import { runtimeConformance } from "../conformance.ts";
import { scriptedParts } from "./support.ts";

runtimeConformance("an ACP agent", { ask: true, fail: true }, async () => {
  const parts = await scriptedParts();
  return {
    runtime: "scripted",
    model: "one",
    engine: { jobs: parts.jobs, runtimesFor: (home) => [parts.runtime(home)] },
    prompts: { work: "work", hold: "hold", ask: "ask", fail: "fail" },
    dispose: parts.dispose,
  };
});
