/** One piece of a prompt as a model gets it. Images come as bytes; how they are encoded is the runtime's business. */
export type PromptPart =
  | { readonly type: "text"; readonly text: string; readonly file?: AttachedFile }
  | { readonly type: "image"; readonly name: string; readonly mime: ImageMime; readonly bytes: Uint8Array };

/** The file that a text part stands for, for those who take files as such. */
export interface AttachedFile {
  /** Absolute, links resolved. */
  readonly path: string;
  readonly name: string;
  /** Its text; null for a file that is no text, or is cut: then the part's own text says so. */
  readonly text: string | null;
}

export type ImageMime = "image/png" | "image/jpeg" | "image/gif" | "image/webp";

/** What a transcript and the clients see of an attachment. */
export interface AttachmentLabel {
  readonly name: string;
  readonly kind: "text" | "image" | "folder" | "file";
}

export interface Attached {
  readonly label: AttachmentLabel;
  readonly part: PromptPart;
}
