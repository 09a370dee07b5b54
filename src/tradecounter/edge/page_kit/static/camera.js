// The camera of a phone as a scanner, where the browser reads bar codes. What it sees stays in the browser.
(() => {
  if (!("BarcodeDetector" in window) || !navigator.mediaDevices?.getUserMedia) return;
  const printed = ["ean_13", "ean_8", "upc_a", "upc_e", "code_128", "code_39", "itf", "qr_code"];
  const every = 150; // milliseconds between two looks
  const gone = 1200; // milliseconds without a code, after which another one may be followed by it again
  let running = null; // the camera that starts or runs; another object for each start

  const parts = () => ["[data-camera]", "[data-view]", "[data-again]"].map((name) => document.querySelector(`[data-scan-bar] ${name}`));

  const end = (stream) => {
    for (const track of stream?.getTracks() ?? []) track.stop();
  };

  const stop = (said = "Use the camera") => {
    end(running?.stream);
    running = null;
    const [button, view] = parts();
    if (!button) return;
    view.hidden = true;
    view.srcObject = null;
    button.textContent = said;
  };

  const send = (code) => {
    navigator.vibrate?.(40);
    document.dispatchEvent(new CustomEvent("scanned", { detail: code, cancelable: true }));
  };

  // A code that was the last one is the same unit, however long it was out of sight: a hand shakes, a light reflects.
  const read = (own, code) => {
    const [, , again] = parts();
    const isNew = code !== again.value && Date.now() - (own.seen.get(code) ?? 0) > gone;
    own.seen.set(code, Date.now());
    if (!isNew) return;
    again.value = code;
    again.hidden = false;
    send(code);
  };

  const look = async (detector, view, own) => {
    while (running === own && view.isConnected) {
      const found = await detector.detect(view).catch(() => []);
      if (running !== own || !view.isConnected) break;
      for (const { rawValue } of found) read(own, rawValue.trim());
      await new Promise((done) => setTimeout(done, every));
    }
    if (running === own) stop(); // the form was shown anew
  };

  // While it waits, it may be stopped, and another one started.
  const start = async () => {
    const own = { stream: null, seen: new Map() };
    running = own;
    const [button, view] = parts();
    button.textContent = "Stop the camera";
    try {
      const known = await BarcodeDetector.getSupportedFormats();
      const formats = printed.filter((format) => known.includes(format));
      if (running !== own) return;
      if (!formats.length) {
        stop("This browser's camera reads no codes");
        return;
      }
      const stream = await navigator.mediaDevices.getUserMedia({ video: { facingMode: "environment" } });
      if (running !== own) {
        end(stream);
        return;
      }
      own.stream = stream;
      view.srcObject = stream;
      view.hidden = false;
      await view.play();
      await look(new BarcodeDetector({ formats }), view, own);
    } catch {
      if (running === own) stop("There is no camera, or this page may not use it");
    }
  };

  document.addEventListener("click", ({ target }) => {
    if (target.matches?.("[data-again]")) send(target.value);
    if (!target.matches?.("[data-camera]")) return;
    if (running) stop();
    else start();
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
