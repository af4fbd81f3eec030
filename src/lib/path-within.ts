import { sep } from "node:path";

/** True for the folder itself and all below it. Both absolute and without `..`; links are not looked at. */
export function isWithin(path: string, folder: string): boolean {
  return path === folder || path.startsWith(folder.endsWith(sep) ? folder : folder + sep);
}
