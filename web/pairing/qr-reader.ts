/** Finds the text of a QR code in what a camera shows; null: there is none in this picture. */
export type ReadQr = (video: HTMLVideoElement) => Promise<string | null>;

interface BarcodeDetectorLike {
  detect(source: HTMLVideoElement): Promise<readonly { readonly rawValue: string }[]>;
}
interface BarcodeDetectorClass {
  new (options: { readonly formats: readonly string[] }): BarcodeDetectorLike;
  getSupportedFormats(): Promise<readonly string[]>;
}

/** A larger picture costs time and finds nothing more. */
const maxWidthPx = 720;

/** The platform's reader where there is one, else one of our own, which is loaded now. */
export async function createQrReader(): Promise<ReadQr> {
  return (await platformReader()) ?? (await ownReader());
}

async function platformReader(): Promise<ReadQr | null> {
  const { BarcodeDetector } = globalThis as { readonly BarcodeDetector?: BarcodeDetectorClass };
  if (BarcodeDetector === undefined) return null;
  try {
    if (!(await BarcodeDetector.getSupportedFormats()).includes("qr_code")) return null;
    const detector = new BarcodeDetector({ formats: ["qr_code"] });
    return async (video) => (await detector.detect(video))[0]?.rawValue ?? null;
  } catch {
    return null; // Named but not there: some desktops.
  }
}

async function ownReader(): Promise<ReadQr> {
  const { default: jsQR } = await import("jsqr");
  const canvas = document.createElement("canvas");
  const context = canvas.getContext("2d", { willReadFrequently: true });
  return async (video) => {
    if (context === null || video.videoWidth === 0) return null;
    const scale = Math.min(1, maxWidthPx / video.videoWidth);
    canvas.width = Math.round(video.videoWidth * scale);
    canvas.height = Math.round(video.videoHeight * scale);
    context.drawImage(video, 0, 0, canvas.width, canvas.height);
    const picture = context.getImageData(0, 0, canvas.width, canvas.height);
    return (
      jsQR(picture.data, picture.width, picture.height, { inversionAttempts: "attemptBoth" })?.data ?? null
    );
  };
}
