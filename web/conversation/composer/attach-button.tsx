import { useRef } from "preact/hooks";
import { Menu } from "../../ui/menu.tsx";

interface AttachButtonProps {
  readonly onFiles: (files: readonly File[]) => void;
  /** A file of the project: begins its path in the text. */
  readonly onPath: () => void;
}

/** Pictures of this device, the camera, and files of the project. */
export function AttachButton({ onFiles, onPath }: AttachButtonProps) {
  const pictures = useRef<HTMLInputElement>(null);
  const camera = useRef<HTMLInputElement>(null);
  const take = (event: Event): void => {
    const element = event.currentTarget as HTMLInputElement;
    onFiles([...(element.files ?? [])]);
    // The same file can be chosen again.
    element.value = "";
  };
  return (
    <div class="attach">
      <Menu
        label="Attach"
        icon="attach"
        items={[
          { label: "File of the project", icon: "file", run: onPath },
          { label: "Picture of this device", icon: "download", run: () => pictures.current?.click() },
          { label: "Take a picture", icon: "camera", run: () => camera.current?.click() },
        ]}
      />
      <input
        ref={pictures}
        type="file"
        accept="image/*"
        multiple
        hidden
        aria-label="Pictures"
        onChange={take}
      />
      <input
        ref={camera}
        type="file"
        accept="image/*"
        capture="environment"
        hidden
        aria-label="Camera"
        onChange={take}
      />
    </div>
  );
}
