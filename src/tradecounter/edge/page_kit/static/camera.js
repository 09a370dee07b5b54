// The camera of a phone as a scanner, where the browser reads bar codes. What it sees stays in the browser.
(() => {
  if (!("BarcodeDetector" in window) || !navigator.mediaDevices?.getUserMedia) return;
  const printed = ["ean_13", "ean_8", "upc_a", "upc_e", "code_128", "code_39", "itf", "qr_code"];
  const every = 150; // milliseconds between two looks
  const gone = 1200; // milliseconds without a code, after which it is another unit
  let stream = null;
  let last = "";
  let seenAt = 0;

  const parts = () => ["[data-camera]", "[data-view]"].map((name) => document.querySelector(`[data-scan-bar] ${name}`));

  const stop = () => {
    for (const track of stream?.getTracks() ?? []) track.stop();
    stream = null;
    const [button, view] = parts();
    if (!button) return;
    view.hidden = true;
    view.srcObject = null;
    button.textContent = "Use the camera";
  };

  const read = (code) => {
    const isNew = code !== last || Date.now() - seenAt > gone;
    last = code;
    seenAt = Date.now();
    if (!isNew) return;
    navigator.vibrate?.(40);
    document.dispatchEvent(new CustomEvent("scanned", { detail: code, cancelable: true }));
  };

  const look = async (detector, view, own) => {
    while (stream === own && view.isConnected) {
      const [found] = await detector.detect(view).catch(() => []);
      if (found) read(found.rawValue.trim());
      await new Promise((done) => setTimeout(done, every));
    }
    if (stream === own) stop(); // the form was shown anew
  };

  const start = async () => {
    const [button, view] = parts();
    try {
      stream = await navigator.mediaDevices.getUserMedia({ video: { facingMode: "environment" } });
    } catch {
      button.textContent = "There is no camera, or this page may not use it";
      return;
    }
    view.srcObject = stream;
    view.hidden = false;
    button.textContent = "Stop the camera";
    await view.play();
    const formats = await BarcodeDetector.getSupportedFormats();
    look(new BarcodeDetector({ formats: printed.filter((format) => formats.includes(format)) }), view, stream);
  };

  document.addEventListener("click", ({ target }) => {
    if (target.matches?.("[data-camera]")) (stream ? stop : start)();
  });
  document.addEventListener("visibilitychange", () => {
    if (document.hidden) stop();
  });
  const offer = () => {
    const [button] = parts();
    if (button) button.hidden = false;
  };
  document.addEventListener("htmx:after:swap", offer);
  offer();
})();
