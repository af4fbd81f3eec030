import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createReplayRuntime } from "../../../src/engine/runtimes/replay.ts";
import { runtimeConformance } from "./conformance.ts";

const script = `
{"type":"thinking_delta","text":"hm, "}
{"type":"thinking_delta","text":"well"}
{"type":"text_delta","text":"I do "}
{"type":"text_delta","text":"what you say."}
{"type":"assistant_message"}
{"type":"turn_finished","error":"I cannot.","when":{"prompt":"fail"}}
{"type":"question_asked","id":"q","when":{"prompt":"ask"},"questions":[{"prompt":"Which store?","options":[{"label":"sqlite"}]},{"prompt":"Which tables?","options":[{"label":"users"},{"label":"jobs"}],"multiple":true}]}
{"type":"turn_finished","when":{"prompt":"ask"}}
{"type":"tool_started","call":"c","tool":"bash","input":{"command":"npm test"}}
{"type":"tool_output","call":"c","text":"one\\n"}
{"type":"hold","when":{"prompt":"hold"}}
{"type":"tool_output","call":"c","text":"two\\n","delay_ms":5}
{"type":"tool_finished","call":"c","output":"one\\ntwo\\n","exit_code":0}
{"type":"text_delta","text":"Done.","word_ms":1}
`;

runtimeConformance("replay", { ask: true, fail: true }, async () => {
  const folder = await mkdtemp(join(tmpdir(), "sallyport-conformance-"));
  const path = join(folder, "script.jsonl");
  await writeFile(path, script);
  return {
    runtime: "replay",
    model: "all",
    engine: { runtimes: [createReplayRuntime({ scripts: () => ({ all: path }), now: Date.now })] },
    prompts: { work: "work", hold: "hold", ask: "ask", fail: "fail" },
    dispose: () => rm(folder, { recursive: true, force: true }),
  };
});
