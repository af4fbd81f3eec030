import { useSignal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import { Dialog } from "../ui/dialog.tsx";
import { ErrorState } from "../ui/states.tsx";
import { cameraProblem, openCamera } from "./camera.ts";
import { readPairingCode } from "./pairing-code.ts";
import { createQrReader } from "./qr-reader.ts";
import "./code-scanner.css";

interface CodeScannerProps {
  /** A whole pairing code was seen. */
  readonly onCode: (code: string) => void;
  readonly onClose: () => void;
}

/** Between two looks at the picture. */
const lookEveryMs = 150;

/** The camera's picture until a pairing code is in it. The camera is off as soon as this is gone. */
export function CodeScanner({ onCode, onClose }: CodeScannerProps) {
  const video = useRef<HTMLVideoElement>(null);
  const problem = useSignal<string | null>(null);
  const hint = useSignal("Point the camera at the QR code that the daemon shows.");

  useEffect(() => {
    const ending = new AbortController();
    const watch = async (element: HTMLVideoElement): Promise<void> => {
      const stream = await openCamera();
      const stop = (): void => {
        for (const track of stream.getTracks()) track.stop();
      };
      if (ending.signal.aborted) return stop();
      ending.signal.addEventListener("abort", stop);
      element.srcObject = stream;
      await element.play();
      const read = await createQrReader();
      while (!ending.signal.aborted) {
        const text = await read(element);
        if (text !== null && !ending.signal.aborted) {
          const code = readPairingCode(text);
          if (code.ok) return onCode(code.code);
          hint.value = "This is a QR code, but not one for pairing.";
        }
        await new Promise((resolve) => setTimeout(resolve, lookEveryMs));
      }
    };
    if (video.current !== null)
      watch(video.current).catch((error: unknown) => {
        if (!ending.signal.aborted) problem.value = cameraProblem(error);
      });
    return () => ending.abort();
  }, [onCode, problem, hint]);

  return (
    <Dialog title="Scan the code" onClose={onClose}>
      {problem.value === null ? (
        <>
          <div class="scanner">
            {/* A camera's picture has no sound and no words. */}
            <video ref={video} muted playsInline aria-label="Picture of the camera" />
            <span class="scanner-frame" aria-hidden="true" />
          </div>
          <p role="status">{hint.value}</p>
        </>
      ) : (
        <ErrorState problem={problem.value} />
      )}
    </Dialog>
  );
}
