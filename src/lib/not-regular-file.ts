/** What the file system would say if it knew: something else is where a file should be. */
export function notRegularFile(path: string): NodeJS.ErrnoException {
  return Object.assign(new Error(`${path} is not a regular file`), { code: "EINVAL", path });
}
