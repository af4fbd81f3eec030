import type { Change } from "../src/protocol/changes.ts";
import type { Agent, Job } from "../src/protocol/objects.ts";
import { el, show } from "./dom.ts";
import type { Live } from "./live.ts";
import type { Model } from "./model.ts";
import { createOutput } from "./output-view.ts";
import { randomHex } from "./pair.ts";
import { type AnswerRequest, createPendingView } from "./pending-view.ts";
import { visible } from "./visible.ts";

export interface HomeOptions {
  readonly lasting: boolean;
  readonly live: () => Live;
  readonly answer: AnswerRequest;
  readonly forget: () => void;
}

export interface HomeView {
  update(model: Model, change: Change | null): void;
  setName(name: string): void;
}

/** The paired page: requests first, then a prompt with its output, then what runs. */
export function showHome(options: HomeOptions): HomeView {
  const pending = createPendingView(options.answer);
  const output = createOutput();
  const jobs = el("ul", { class: "rows" });
  const agents = el("ul", { class: "rows" });
  const about = el("p", { class: "quiet" });
  const named = el("p", { class: "lead" });
  const tabs = el("select", { id: "tab", name: "tab" });
  const text = el("textarea", {
    id: "prompt",
    name: "prompt",
    rows: "3",
    spellcheck: "false",
    autocapitalize: "off",
    placeholder: "A command for the machine, or a task for its agent",
  });
  const problem = el("p", { class: "problem", role: "alert" });
  const send = el("button", { type: "submit", class: "primary" }, "Send");
  let latest: Model | null = null;
  /** The same text sent again after a lost reply is the same prompt. */
  let unsent: { readonly text: string; readonly requestId: string } | null = null;

  const submit = async (event: Event): Promise<void> => {
    event.preventDefault();
    const prompt = text.value.trim();
    if (prompt === "" || send.disabled) return;
    problem.textContent = "";
    send.disabled = true;
    unsent = unsent?.text === prompt ? unsent : { text: prompt, requestId: randomHex(16) };
    const target = targetOf(latest, tabs.value, output.agent());
    const reply = await options
      .live()
      .send({ type: "prompt", ...target, text: prompt, request_id: unsent.requestId, queue: true });
    send.disabled = false;
    if (!reply) {
      problem.textContent =
        "No reply. When the page is connected again, send it once more: it runs once only.";
      return;
    }
    if (reply.type === "error") problem.textContent = reply.message ?? "The daemon refused this.";
    else {
      text.value = "";
      if (typeof reply.agent === "string") output.follow(reply.agent);
    }
    unsent = null;
  };
  text.addEventListener("keydown", (event) => {
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) void submit(event);
  });

  const promptForm = el(
    "form",
    { class: "card", onsubmit: (event) => void submit(event) },
    el("label", { for: "tab" }, "Folder"),
    tabs,
    el("label", { for: "prompt" }, "Prompt"),
    text,
    problem,
    send,
  );
  show(
    "Your machine",
    named,
    pending.element,
    el(
      "section",
      { "aria-labelledby": "prompt-title" },
      el("h2", { id: "prompt-title" }, "Ask for something"),
      promptForm,
      output.element,
    ),
    el("section", { "aria-labelledby": "jobs-title" }, el("h2", { id: "jobs-title" }, "Running jobs"), jobs),
    el("section", { "aria-labelledby": "agents-title" }, el("h2", { id: "agents-title" }, "Agents"), agents),
    el(
      "footer",
      { class: "about" },
      about,
      options.lasting
        ? null
        : el(
            "p",
            { class: "note" },
            "This browser stores nothing, so this page must be paired again when it is closed.",
          ),
      el("button", { type: "button", class: "plain", onclick: options.forget }, "Forget this device"),
    ),
  );

  return {
    setName(name) {
      named.textContent = `Paired as ${visible(name)}.`;
    },
    update(model, change) {
      latest = model;
      pending.update(model);
      if (change?.type === "event") output.event(change.event);
      if (change?.type === "event" && change.event.type !== "agent_started") return;
      updateTabs(tabs, model);
      promptForm.hidden = !model.scopes.includes("drive");
      rows(jobs, model.jobs.filter((job) => job.state === "running").map(jobRow), "No job is running.");
      rows(agents, model.agents.filter((agent) => agent.state !== "closed").map(agentRow), "No agent yet.");
      about.textContent = `Sallyport ${visible(model.version)}, running since ${clock(model.started)}. Rights of this device: ${model.scopes.join(", ")}.`;
    },
  };
}

/** The agent whose output is shown, if it lives in the chosen folder; otherwise a new one there. */
function targetOf(model: Model | null, tab: string, agent: string | null): { agent?: string; tab?: string } {
  const known = model?.agents.find(({ id }) => id === agent);
  if (known && known.tab === tab && known.state !== "closed") return { agent: known.id };
  return tab === "" ? {} : { tab };
}

function updateTabs(select: HTMLSelectElement, model: Model): void {
  const key = model.tabs.map((tab) => `${tab.id} ${tab.name} ${tab.cwd}`).join("\n");
  if (select.dataset.key === key) return;
  const chosen = select.value || model.activeTab;
  select.dataset.key = key;
  select.replaceChildren(
    ...model.tabs.map((tab) =>
      el(
        "option",
        { value: tab.id, selected: tab.id === chosen },
        `${visible(tab.name)} · ${visible(tab.cwd)}`,
      ),
    ),
  );
}

function rows(list: HTMLElement, items: readonly HTMLElement[], empty: string): void {
  list.replaceChildren(...(items.length > 0 ? items : [el("li", { class: "quiet" }, empty)]));
}

function jobRow(job: Job): HTMLElement {
  return el(
    "li",
    {},
    el("code", {}, visible(job.command)),
    el("span", { class: "quiet" }, `${job.id} · since ${clock(job.started)} · ${visible(job.cwd)}`),
  );
}

function agentRow(agent: Agent): HTMLElement {
  return el(
    "li",
    {},
    el("span", {}, visible(agent.label ?? agent.title ?? agent.runtime)),
    el("span", { class: `state ${agent.state}` }, agent.state),
  );
}

function clock(time: string): string {
  const date = new Date(time);
  return Number.isNaN(date.getTime())
    ? "?"
    : date.toLocaleString([], { day: "numeric", month: "short", hour: "2-digit", minute: "2-digit" });
}
