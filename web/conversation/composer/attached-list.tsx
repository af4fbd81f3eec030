import { proseText } from "../../markdown/prose-text.ts";
import { IconButton } from "../../ui/button.tsx";
import { Icon } from "../../ui/icon.tsx";
import type { Draft } from "./drafts.ts";

/** What goes along with the prompt: pictures small, paths by name; each can be taken away again. */
export function AttachedList({ draft }: { readonly draft: Draft }) {
  const images = draft.images.value;
  const paths = draft.attachments.value;
  if (images.length + paths.length === 0) return null;
  return (
    <ul class="attached" aria-label="Attached">
      {images.map((image) => (
        <li key={image.url} class="attached-image">
          <img src={image.url} alt={image.name} />
          <IconButton
            icon="close"
            label={`Remove ${image.name}`}
            onClick={() => {
              draft.images.value = draft.images.peek().filter((other) => other !== image);
              URL.revokeObjectURL(image.url);
            }}
          />
        </li>
      ))}
      {paths.map((path) => (
        <li key={path} class="attached-path">
          <Icon name="file" />
          <span>{proseText(path)}</span>
          <IconButton
            icon="close"
            label={`Remove ${path}`}
            onClick={() => {
              draft.attachments.value = draft.attachments.peek().filter((other) => other !== path);
            }}
          />
        </li>
      ))}
    </ul>
  );
}
