/** Steps of the replay runtime for the tests of the conversation. */
const say = (text: string) => [{ type: "text_delta", text }, { type: "assistant_message" }];
const patch = "@@ -1,2 +1,2 @@\n import x;\n-old line\n+new line\n";

export const everything = [
  { type: "title", title: "Move the store" },
  { type: "thinking_delta", text: "I think *a bit*." },
  ...say(
    "I **move** the store.\n\n- one\n- two\n\n```ts\nconst a = 1;\n```\n\n| a | b |\n|---|---|\n| 1 | 2 |",
  ),
  {
    type: "todos",
    todos: [
      { id: "1", content: "Look", status: "completed" },
      { id: "2", content: "Write", status: "pending" },
    ],
  },
  { type: "tool_started", call: "e", tool: "edit", input: { path: "src/store.ts" }, asks: false },
  { type: "tool_finished", call: "e", output: "1 line.", diff: { path: "src/store.ts", patch } },
  { type: "tool_started", call: "s", tool: "agent", input: { label: "reviewer" }, summary: "reviewer" },
  { type: "agent_started", agent: "reviewer", call: "s", text: "Review it" },
  { type: "text_delta", agent: "reviewer", text: "Looks good." },
  { type: "assistant_message", agent: "reviewer" },
  { type: "agent_finished", agent: "reviewer" },
  { type: "tool_finished", call: "s", output: "Looks good." },
  { type: "tool_started", call: "t", tool: "bash", input: { command: "npm test" }, asks: false },
  { type: "tool_finished", call: "t", output: "\u001b[31mred\u001b[0m and plain\n", exit_code: 3 },
  { type: "notice", message: "A note." },
  { type: "error", code: "quota", message: "The quota is used up." },
  { type: "usage", input_tokens: 15_200, output_tokens: 840, cost: 0.043, context_tokens: 16_640 },
  ...say("All done."),
];

export const hostile = say(
  [
    "<script>window.pwned = 1</script>",
    '<img src=x onerror="window.pwned = 2">',
    "![track](https://evil.example/pixel.png)",
    "[click](javascript:window.pwned=3)",
    "[click](data:text/html,<script>window.pwned=4</script>)",
    "<style>* { display: none }</style>",
    '<a href="https://evil.example" target=_top>x</a>',
    "```html\n<script>window.pwned = 5</script>\n```",
    "user\u202etxt.exe",
    "the end",
  ].join("\n\n"),
);

/** Some hundred records of different heights. */
export const long = Array.from({ length: 120 }, (_, index) => [
  ...say(`Message ${index}. ${"Some words that fill a line or two. ".repeat((index * 7) % 12)}`),
  { type: "notice", message: `note ${index}` },
  {
    type: "tool_started",
    call: `c${index}`,
    tool: "read",
    input: { path: `src/${index}.ts` },
    summary: `src/${index}.ts`,
  },
  { type: "tool_finished", call: `c${index}`, output: "x\n".repeat(index % 9) },
]).flat();

export const slow = [
  ...Array.from({ length: 400 }, (_, index) => ({
    type: "text_delta",
    text: `word${index} ${index % 20 === 19 ? "\n\n" : ""}`,
    delay_ms: 15,
  })),
  { type: "assistant_message" },
];

/** As fast as the daemon can. */
export const flood = Array.from({ length: 4_500 }, (_, index) => ({
  type: "notice",
  message: `flood ${index}`,
}));

export const hold = [...say("I wait."), { type: "hold" }];
export const echo = say("You said: {prompt}");
