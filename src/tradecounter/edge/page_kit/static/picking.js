// What is ticked off a list to pick, kept in this browser until a line changes or a day has passed.
(() => {
  const boxes = [...document.querySelectorAll("[data-picked]")];
  const left = document.querySelector("[data-left]");
  if (!boxes.length) return;
  // Lines of an order with the same product and units are told apart by their number.
  const seen = {};
  for (const box of boxes) {
    const name = box.dataset.picked;
    seen[name] = (seen[name] ?? 0) + 1;
    box.dataset.picked = `${name}/${seen[name]}`;
  }
  const key = "picked";
  const day = 24 * 60 * 60 * 1000;

  const read = () => {
    try {
      const found = Object.entries(JSON.parse(localStorage.getItem(key)) ?? {});
      return Object.fromEntries(found.filter(([, at]) => Date.now() - at < day));
    } catch {
      return {}; // a browser that keeps nothing still ticks
    }
  };

  const show = () => {
    const open = boxes.filter((box) => !box.checked).length;
    left.hidden = false;
    left.textContent = open ? `${open} of ${boxes.length} lines to pick` : "All is picked.";
  };

  const kept = read();
  for (const box of boxes) box.checked = box.dataset.picked in kept;
  document.addEventListener("change", (event) => {
    const name = event.target.dataset?.picked;
    if (!name) return;
    const now = read();
    if (event.target.checked) now[name] = Date.now();
    else delete now[name];
    try {
      localStorage.setItem(key, JSON.stringify(now));
    } catch {}
    show();
  });
  show();
})();
