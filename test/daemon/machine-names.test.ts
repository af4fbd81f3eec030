import { expect, it } from "vitest";
import { machineNames } from "../../src/daemon/machine-names.ts";

it.each([
  ["Box.Lan.Example.", ["box.lan.example", "box", "box.local"]],
  ["box", ["box", "box.local"]],
  ["localhost", []],
  ["localhost.localdomain", []],
  ["", []],
])("of a machine called %j are %j", (name, names) => {
  expect(machineNames(name)).toEqual(names);
});
