import { createFieldReader } from "../fields.ts";
import { jsonFields } from "../json-line.ts";
import { explained, type KnownProblem, knownProblem } from "../problem-lines.ts";
import type { Finding, LoginVerdict, Provider, ToolQuestions } from "../provider.ts";
import { isBelow, readPublicUrl } from "../public-url.ts";

const domains = ["ngrok-free.app", "ngrok-free.dev", "ngrok.app", "ngrok.dev", "ngrok.io", "ngrok.pro"];

const problems: readonly KnownProblem[] = [
  {
    pattern: /ERR_NGROK_(105|106|107|4018)\b/,
    text: "ngrok refuses the authtoken. Copy it again from https://dashboard.ngrok.com/get-started/your-authtoken",
    final: true,
  },
  {
    pattern: /ERR_NGROK_(120|121)\b/,
    text: "This ngrok is too old for the service. Update it: ngrok update",
    final: true,
  },
  {
    pattern: /ERR_NGROK_108\b/,
    text: "Another ngrok of this account runs already, and the account allows one. End that one.",
    final: false,
  },
  {
    pattern: /ERR_NGROK_334\b/,
    text: "This address is in use by another ngrok of this account. End that one.",
    final: false,
  },
];

/** The agent of ngrok, as a program: nothing of it is a dependency. `authtoken` goes by NGROK_AUTHTOKEN. */
export const ngrok: Provider = {
  name: "ngrok",
  addressSource: "last-x-forwarded-for",
  howToGet: "Get it from https://ngrok.com/download",
  versionArgs: ["version"],
  checkLogin,
  plan(input) {
    const fields = createFieldReader("ngrok", input);
    const tokenSecret = fields.secret("authtoken");
    const publicUrl = fields.url("url");
    const region = fields.text("region", /^[a-z]{2,16}$/, "a region of ngrok, as in: eu");
    fields.end();
    return {
      publicUrl,
      secrets: tokenSecret === null ? [] : [tokenSecret],
      tellsReady: true,
      hint: () => null,
      command: (port) => ({
        program: "ngrok",
        // Its inspector would show every request, tokens included, to each program of this machine.
        args: [
          "http",
          `127.0.0.1:${port}`,
          "--inspect=false",
          "--log=stdout",
          "--log-format=logfmt",
          "--log-level=info",
          ...(publicUrl === null ? [] : [`--url=${publicUrl}`]),
          ...(region === null ? [] : [`--region=${region}`]),
        ],
        env: tokenSecret === null ? {} : { NGROK_AUTHTOKEN: tokenSecret },
      }),
      createReader: () => createReader(publicUrl, input.insecureHttp),
    };
  },
};

/** An authtoken of ours, of the environment, or in the agent's own file, which `config check` names. */
async function checkLogin({ ask, readText, environment, settings }: ToolQuestions): Promise<LoginVerdict> {
  if (typeof settings.authtoken === "string") return { ok: true, text: "has an authtoken in config.toml" };
  if (environment.NGROK_AUTHTOKEN) return { ok: true, text: "has an authtoken in NGROK_AUTHTOKEN" };
  const answer = await ask(["config", "check"]);
  const path = /configuration file at (.+)$/im.exec(answer?.output ?? "")?.[1]?.trim();
  const text = path === undefined ? null : await readText(path);
  const hasToken = text === null || /^\s*authtoken:\s*\S/m.test(text);
  return answer?.code === 0 && !/^ERROR/im.test(answer.output) && hasToken
    ? { ok: true, text: "logged in" }
    : {
        ok: false,
        text: "it has no authtoken",
        next: "ngrok config add-authtoken TOKEN, or authtoken in [tunnel.ngrok] of config.toml",
      };
}

function createReader(publicUrl: string | null, insecureHttp: boolean): (line: string) => Finding | null {
  /** A complaint of several lines that each begin with ERROR, as far as it has come. */
  let complaint = "";
  return (line) => {
    const problem = knownProblem(line, problems);
    if (problem !== null) return problem;
    const fields = jsonFields(line) ?? logfmt(line);
    const address =
      fields.get("msg") === "started tunnel" ? (fields.get("url") ?? "") : forwardedAddress(line);
    if (address !== null) return started(address, publicUrl, insecureHttp);
    const level = fields.get("lvl");
    const isWhole = level === "eror" || level === "crit";
    if (!isWhole && !line.startsWith("ERROR:")) return null;
    const text = (fields.get("err") ?? fields.get("msg") ?? line.slice("ERROR:".length)).replace(
      /\\[rn]/g,
      " ",
    );
    const words = text.replace(/\s+/g, " ").trim();
    if (words === "" || words === "<nil>") return null;
    complaint = isWhole || complaint === "" ? words : `${complaint} ${words}`;
    return { kind: "problem", text: complaint.slice(0, 300), final: false, isKnown: false };
  };
}

function started(address: string, publicUrl: string | null, insecureHttp: boolean): Finding {
  const read = readPublicUrl(address, insecureHttp);
  if (read.ok && (read.url === publicUrl || isBelow(read.host, domains)))
    return publicUrl === null ? { kind: "url", url: read.url, isReady: true } : { kind: "ready" };
  return explained(
    "ngrok names an address that is none of its own domains. Say which one is expected: url, as in https://sally.example",
  );
}

/** How its screen tells the address, where an older agent draws one all the same. */
function forwardedAddress(line: string): string | null {
  return /^Forwarding\s+(https?:\/\/\S+)\s+->/.exec(line)?.[1] ?? null;
}

/** `key=value key="value with \"spaces\""` */
function logfmt(line: string): ReadonlyMap<string, string> {
  const fields = new Map<string, string>();
  for (const [, key = "", quoted, bare] of line.matchAll(/([a-z_]+)=(?:"((?:[^"\\]|\\.)*)"|(\S*))/g))
    if (!fields.has(key)) fields.set(key, quoted?.replace(/\\"/g, '"') ?? bare ?? "");
  return fields;
}
