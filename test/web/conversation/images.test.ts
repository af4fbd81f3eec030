import { expect, it } from "vitest";
import { fitted } from "../../../web/conversation/composer/images.ts";

it.each([
  [4_032, 3_024, { width: 2_048, height: 1_536 }],
  [3_024, 4_032, { width: 1_536, height: 2_048 }],
  [800, 600, { width: 800, height: 600 }],
  [20_000, 10, { width: 2_048, height: 1 }],
  [0, 0, { width: 1, height: 1 }],
])("a picture of %i by %i is drawn as %j", (width, height, expected) => {
  expect(fitted(width, height)).toEqual(expected);
});
