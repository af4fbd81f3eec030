export interface BundlePageOptions {
  readonly root: string;
  readonly version: string;
  readonly minify?: boolean;
}
export function bundlePage(options: BundlePageOptions): Promise<Map<string, Uint8Array>>;
export function compressPage(files: ReadonlyMap<string, Uint8Array>): Promise<Map<string, Uint8Array>>;
export function removeOldFiles(
  folder: string,
  files: ReadonlyMap<string, Uint8Array>,
  now: boolean,
): Promise<void>;
