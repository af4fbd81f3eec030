import { describe, expect, it } from "vitest";
import type { ProcessRow } from "../../../src/engine/jobs/process-table.ts";
import { selectTree, type TreeTarget } from "../../../src/engine/jobs/select-tree.ts";

const target: TreeTarget = { id: "0000000a", leader: { pid: 100, start: 50 }, groupHeld: false };
const row = (pid: number, more: Partial<ProcessRow> = {}): ProcessRow => ({
  pid,
  ppid: 1,
  pgrp: pid,
  start: 60,
  ended: false,
  job: null,
  ...more,
});
const leader = row(100, { start: 50, job: "0000000a" });

interface Case {
  readonly name: string;
  readonly rows: readonly ProcessRow[];
  readonly target?: Partial<TreeTarget>;
  readonly known?: readonly string[];
  readonly members: readonly number[];
  readonly groupSafe: boolean;
}
const cases: Case[] = [
  {
    name: "the leader and its group",
    rows: [leader, row(101, { pgrp: 100 })],
    members: [100, 101],
    groupSafe: true,
  },
  {
    name: "a process that left the group but carries the mark",
    rows: [leader, row(102, { job: "0000000a" })],
    members: [100, 102],
    groupSafe: true,
  },
  {
    name: "a descendant that left the group and lost the mark",
    rows: [leader, row(103, { ppid: 101 }), row(101, { pgrp: 100, ppid: 100 })],
    members: [100, 101, 103],
    groupSafe: true,
  },
  {
    name: "not a process of another job, even as a descendant",
    rows: [leader, row(104, { ppid: 100, job: "0000000b" }), row(105, { ppid: 104, job: "0000000b" })],
    members: [100],
    groupSafe: true,
  },
  {
    name: "nobody when the pid belongs to a stranger now",
    rows: [row(100, { start: 51 }), row(106, { pgrp: 100 })],
    target: { groupHeld: true },
    members: [],
    groupSafe: false,
  },
  {
    name: "the marked ones beside a stranger that has the pid now",
    rows: [row(100, { start: 51 }), row(107, { job: "0000000a" })],
    members: [107],
    groupSafe: false,
  },
  {
    name: "not an orphaned group of that number that was not seen without a break",
    rows: [row(108, { pgrp: 100 })],
    members: [],
    groupSafe: false,
  },
  {
    name: "the orphaned group while it was seen without a break",
    rows: [row(108, { pgrp: 100 })],
    target: { groupHeld: true },
    members: [108],
    groupSafe: false,
  },
  {
    name: "no zombie, though one keeps the group's number",
    rows: [{ ...leader, ended: true }],
    members: [],
    groupSafe: true,
  },
  {
    name: "one that was found before",
    rows: [row(109)],
    known: ["109:60"],
    members: [109],
    groupSafe: false,
  },
  {
    name: "not a stranger with the pid of one found before",
    rows: [row(109, { start: 61 })],
    known: ["109:60"],
    members: [],
    groupSafe: false,
  },
  {
    name: "never the daemon itself, which a job may have started, nor its whole group",
    rows: [leader, row(7, { ppid: 100, pgrp: 100, job: "0000000a" }), row(8, { ppid: 7 })],
    members: [100],
    groupSafe: false,
  },
  {
    name: "marked processes when the leader is not known",
    rows: [row(110, { job: "0000000a" })],
    target: { leader: null },
    members: [110],
    groupSafe: false,
  },
];

describe("selectTree", () => {
  it.each(cases)("finds $name", ({ rows, target: more, known, members, groupSafe }) => {
    const tree = selectTree(rows, { ...target, ...more }, new Set(known), 7);
    expect(tree.members.map((found) => found.pid).sort()).toEqual(members);
    expect(tree.groupSafe).toBe(groupSafe);
  });
});
