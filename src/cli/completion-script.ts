import type { CommandSpec } from "./command.ts";

export const shells = ["bash", "zsh", "fish"] as const;
export type Shell = (typeof shells)[number];

/** What may follow the words of one path: `/jobs` -> `list`, `output`, `kill`, `--json`, … */
interface Place {
  readonly path: string;
  readonly next: readonly { readonly word: string; readonly about: string }[];
  readonly options: readonly { readonly word: string; readonly about: string }[];
}

/** The script that a shell reads once. It holds every command and option, so that completing starts no program. */
export function completionScript(shell: Shell, commands: readonly CommandSpec[]): string {
  const places = [rootPlace(commands), ...commands.flatMap((command) => placesBelow(command, ""))];
  switch (shell) {
    case "bash":
      return bashScript(places);
    case "zsh":
      return zshScript(places);
    case "fish":
      return fishScript(places);
  }
}

const everywhere = [
  { word: "--home", about: "the folder that holds everything" },
  { word: "--help", about: "print help" },
];

function rootPlace(commands: readonly CommandSpec[]): Place {
  return {
    path: "",
    next: commands.map(entryOf),
    options: [
      ...everywhere,
      { word: "--version", about: "print the version" },
      { word: "-C", about: "a paired daemon elsewhere" },
    ],
  };
}

function placesBelow(command: CommandSpec, above: string): readonly Place[] {
  const path = `${above}/${nameOf(command)}`;
  const children = command.children ?? [];
  const own = (command.options ?? []).map(({ flags, about }) => ({ word: flags.split(" ")[0] ?? "", about }));
  const json = command.json === true ? [{ word: "--json", about: "print JSON" }] : [];
  return [
    { path, next: children.map(entryOf), options: [...own, ...json, ...everywhere] },
    ...children.flatMap((child) => placesBelow(child, path)),
  ];
}

function nameOf(command: CommandSpec): string {
  return command.usage.split(" ")[0] ?? "";
}

function entryOf(command: CommandSpec): { word: string; about: string } {
  return { word: nameOf(command), about: command.about.split(/[.:] ?/)[0] ?? "" };
}

function wordsOf({ next, options }: Place): string {
  return [...next, ...options].map(({ word }) => word).join(" ");
}

/** The part that bash and zsh share: walks the words typed so far down to `$path`, then sets `$words`. */
function walk(places: readonly Place[]): string {
  const steps = places.filter(({ path }) => path !== "").map(({ path }) => `"${path}"`);
  return [
    `    case "$path/$word" in ${steps.join("|")}) path="$path/$word" ;; esac`,
    "  done",
    '  case "$path" in',
    ...places.map((place) => `    "${place.path}") words="${wordsOf(place)}" ;;`),
    "  esac",
  ].join("\n");
}

function bashScript(places: readonly Place[]): string {
  return `# sallyport completion for bash: source <(sallyport completion bash)
_sallyport() {
  local cur="\${COMP_WORDS[COMP_CWORD]}" path="" word words="" i
  for ((i = 1; i < COMP_CWORD; i++)); do
    word="\${COMP_WORDS[i]}"
    [ "$word" = "--" ] && return
${walk(places)}
  COMPREPLY=($(compgen -W "$words" -- "$cur"))
}
complete -o default -F _sallyport sallyport
`;
}

function zshScript(places: readonly Place[]): string {
  return `#compdef sallyport
# sallyport completion for zsh: source <(sallyport completion zsh)
_sallyport() {
  local at="" word list="" i
  for ((i = 2; i < CURRENT; i++)); do
    word="\${words[i]}"
    [ "$word" = "--" ] && { _files; return }
${walk(places).replaceAll("$path", "$at").replaceAll('path="', 'at="').replaceAll('words="', 'list="')}
  compadd -- \${=list}
  _files
}
compdef _sallyport sallyport
`;
}

function fishScript(places: readonly Place[]): string {
  const lines = places.flatMap((place) => {
    const names = place.path.split("/").slice(1);
    const children = place.next.map(({ word }) => word).join(" ");
    const seen = names.map((name) => `__fish_seen_subcommand_from ${name}`);
    const condition =
      names.length === 0
        ? "__fish_use_subcommand"
        : [...seen, ...(children === "" ? [] : [`not __fish_seen_subcommand_from ${children}`])].join(
            "; and ",
          );
    return [
      ...place.next.map(
        ({ word, about }) => `complete -c sallyport -f -n '${condition}' -a ${word} -d '${quoted(about)}'`,
      ),
      ...place.options.map(({ word, about }) => {
        const flag = word.startsWith("--") ? `-l ${word.slice(2)}` : `-s ${word.slice(1)}`;
        return `complete -c sallyport -n '${condition}' ${flag} -d '${quoted(about)}'`;
      }),
    ];
  });
  return `# sallyport completion for fish: sallyport completion fish | source\n${lines.join("\n")}\n`;
}

/** Inside single quotes fish knows two escapes. */
function quoted(text: string): string {
  return text.replaceAll("\\", "\\\\").replaceAll("'", "\\'");
}
