import type { Project } from "../../protocol/objects.ts";
import { engineLimits } from "../engine-limits.ts";
import type { CommandFile } from "./command-file.ts";
import { findRepository } from "./find-repository.ts";
import type { ProjectBounds } from "./project-bounds.ts";
import { findCommand } from "./project-commands.ts";
import { commandFoldersOf, readProject } from "./read-project.ts";

const freshMs = 2_000;

export interface TabFolder {
  readonly id: string;
  /** Real path. */
  readonly cwd: string;
}

/** What is known of the projects of loaded tabs. Read when a tab is loaded and again when it is used, never watched. */
export interface Projects {
  /** As it was read last; null for a tab that was not loaded yet. */
  get(tab: string): Project | null;
  /**
   * Reads the project of a tab, unless that was just done. Resolves when it is known, or after two seconds if the disk is
   * slow; `onChange` then tells of it. Never rejects.
   */
  load(tab: TabFolder): Promise<void>;
  forget(tab: string): void;
  /** The file of a slash command; null where there is none, or the folder is not trusted. */
  command(cwd: string, name: string): Promise<CommandFile | null>;
}

export interface ProjectsOptions {
  readonly bounds: () => ProjectBounds;
  readonly isTrusted: (cwd: string) => boolean;
  /** Told when a project that was read late, or again, is another one than before. */
  readonly onChange: (tab: string) => void;
  readonly now: () => number;
  readonly report: (problem: string) => void;
}

interface Known {
  project: Project | null;
  text: string;
  readMs: number;
  /** Whether the folder was trusted when it was read: its commands depend on it. */
  trusted: boolean;
  reading: Promise<void> | null;
}

const fresh = (): Known => ({ project: null, text: "", readMs: -Infinity, trusted: false, reading: null });

/** What was read counts as fresh for two seconds, by `now`. */
export function createProjects(options: ProjectsOptions): Projects {
  const tabs = new Map<string, Known>();

  async function read(tab: TabFolder, known: Known): Promise<void> {
    try {
      known.trusted = options.isTrusted(tab.cwd);
      const project = await readProject(tab.cwd, known.trusted, options.bounds());
      known.readMs = options.now();
      const text = JSON.stringify(project);
      const changed = text !== known.text;
      known.text = text;
      known.project = project;
      if (changed && tabs.get(tab.id) === known) options.onChange(tab.id);
    } catch (error) {
      options.report(`the project of a tab could not be read: ${(error as Error).message}`);
    } finally {
      known.reading = null;
    }
  }

  return {
    get: (tab) => tabs.get(tab)?.project ?? null,
    async load(tab) {
      const known = tabs.get(tab.id) ?? fresh();
      tabs.set(tab.id, known);
      const isSame = known.project !== null && known.trusted === options.isTrusted(tab.cwd);
      if (isSame && options.now() - known.readMs < freshMs) return;
      known.reading ??= read(tab, known);
      let timer: NodeJS.Timeout | undefined;
      const timeout = new Promise<void>((resolve) => {
        timer = setTimeout(resolve, engineLimits.projectReadMs);
      });
      await Promise.race([known.reading, timeout]);
      clearTimeout(timer);
    },
    forget(tab) {
      tabs.delete(tab);
    },
    async command(cwd, name) {
      if (!options.isTrusted(cwd)) return null;
      const bounds = options.bounds();
      const root = await findRepository(cwd, bounds);
      return findCommand(commandFoldersOf(cwd, root), name, bounds);
    },
  };
}
