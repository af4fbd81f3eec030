/** Fields of one provider as a request or the configuration has them: untrusted until its `plan` has read them. */
export type RawFields = Readonly<Record<string, unknown>>;

/** Where the door of a provider learns who is calling. */
export type TunnelAddressSource = "cf-connecting-ip" | "last-x-forwarded-for" | "none";

export interface PlanInput {
  /** What the request says beside `provider`. */
  readonly rawFields: RawFields;
  /** The provider's section of the configuration. */
  readonly settings: RawFields;
  /** Take addresses without TLS. */
  readonly insecureHttp: boolean;
}

/** What one line of a tool's output says. */
export type Finding =
  /** An address of the right kind; whether it leads here is for the probe to tell. `isReady`: as `ready`, in the same line. */
  | { readonly kind: "url"; readonly url: string; readonly isReady?: true }
  /** The tool is connected to its service: an address known before is worth probing now. */
  | { readonly kind: "ready" }
  /** The tool waits for a person. */
  | { readonly kind: "waiting"; readonly text: string; readonly link: string | null }
  /** Why it may not work; shown while it does not. */
  | ProblemFinding;

export interface ProblemFinding {
  readonly kind: "problem";
  readonly text: string;
  /** Trying again will not help. */
  readonly final: boolean;
  /** The text is ours and says the next step; else it is what the tool said. */
  readonly isKnown: boolean;
}

/** A program to run, without a shell. No secret is among the arguments. */
export interface LaunchCommand {
  /** A name to be looked up, or an absolute path. */
  readonly program: string;
  readonly args: readonly string[];
  /** Beside our own environment; may hold credentials. */
  readonly env: Readonly<Record<string, string>>;
}

/** A request that was found valid. */
export interface TunnelPlan {
  /** The public base, when it is known before: without a slash at its end. */
  readonly publicUrl: string | null;
  /** What must never be shown or logged, although the tool may print it. */
  readonly secrets: readonly string[];
  /** For the person who waits, e.g. what else must point at the door. */
  readonly hint: (port: number) => string | null;
  /** Whether the tool tells when it is connected; else the address is probed from the start. */
  readonly tellsReady: boolean;
  command(port: number): LaunchCommand;
  /** Reads the output of one run of the tool: line by line, without newline, at most `maxLineLength` long. */
  createReader(): (line: string) => Finding | null;
}

/** What a tool answered to a question. */
export interface ToolAnswer {
  /** Null when a signal ended it. */
  readonly code: number | null;
  /** Both its streams, trimmed. */
  readonly output: string;
}

export interface ToolQuestions {
  /** Runs the provider's program. Null when it did not answer in time, or said more than anybody wants to read. */
  readonly ask: (args: readonly string[]) => Promise<ToolAnswer | null>;
  /** A short text file, or null. */
  readonly readText: (path: string) => Promise<string | null>;
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** The provider's section of the configuration. */
  readonly settings: RawFields;
}

/** What stands in the way of a tunnel, with the next step. `text` of a good one: what was found, if anything. */
export type LoginVerdict =
  | { readonly ok: true; readonly text: string | null }
  | { readonly ok: false; readonly text: string; readonly next: string };

/** One kind of tunnel. Refuses wrong fields with `invalid_field` and the field's name. */
export interface Provider {
  readonly name: string;
  readonly addressSource: TunnelAddressSource;
  /** The next step for somebody who does not have the program. */
  readonly howToGet: string;
  /** Arguments that make the program tell its version; null when nothing is known of it. */
  readonly versionArgs: readonly string[] | null;
  /** Looks whether whoever the tunnel needs to know would let us in. Starts no tunnel. */
  checkLogin(questions: ToolQuestions): Promise<LoginVerdict>;
  plan(input: PlanInput): TunnelPlan;
}

/** Longer lines are cut before a provider sees them. */
export const maxLineLength = 2_048;
