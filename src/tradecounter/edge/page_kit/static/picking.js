// What is picked off a list, kept in this browser until a line changes or a day has passed.
(() => {
  const boxes = [...document.querySelectorAll("[data-picked]")];
  const left = document.querySelector("[data-left]");
  if (!boxes.length) return;
  const key = "picked";
  const day = 24 * 60 * 60 * 1000;
  const lineOf = (box) => box.closest("[data-units]");
  const wanted = (box) => Number(lineOf(box).dataset.units);
  const picked = (box) => Number(lineOf(box).dataset.now ?? 0);

  // By line: when it was last changed, and how many units are picked.
  const read = () => {
    try {
      const found = Object.entries(JSON.parse(localStorage.getItem(key)) ?? {});
      return Object.fromEntries(found.filter(([, kept]) => Array.isArray(kept) && Date.now() - kept[0] < day));
    } catch {
      return {}; // a browser that keeps nothing still counts
    }
  };

  const show = () => {
    const open = boxes.filter((box) => !box.checked);
    const units = boxes.reduce((sum, box) => sum + picked(box), 0);
    const all = boxes.reduce((sum, box) => sum + wanted(box), 0);
    left.hidden = false;
    left.querySelector("[role=status]").textContent = open.length ? `${open.length} of ${boxes.length} lines to pick` : "All is picked.";
    left.querySelector("progress").max = all;
    left.querySelector("progress").value = units;
    for (const box of boxes) lineOf(box).classList.toggle("next", box === open[0]);
  };

  const put = (box, units) => {
    const line = lineOf(box);
    line.dataset.now = String(units);
    box.checked = units >= wanted(box);
    line.querySelector("[data-count]").textContent = units && !box.checked ? `${units} of ${wanted(box)}` : "";
  };

  const keep = (box, units) => {
    put(box, units);
    const now = read();
    if (units) now[box.dataset.picked] = [Date.now(), units];
    else delete now[box.dataset.picked];
    try {
      localStorage.setItem(key, JSON.stringify(now));
    } catch {}
    show();
  };

  const kept = read();
  for (const box of boxes) put(box, kept[box.dataset.picked]?.[1] ?? 0);
  document.addEventListener("change", ({ target }) => {
    if (boxes.includes(target)) keep(target, target.checked ? wanted(target) : 0);
  });
  document.addEventListener("pick", ({ target, detail }) => {
    keep(target.querySelector("[data-picked]"), detail);
    const next = boxes.find((box) => !box.checked);
    (next ? lineOf(next) : document.querySelector("[data-then]"))?.scrollIntoView({ block: "nearest" });
    if (!next) document.querySelector("[data-then]")?.focus();
  });
  show();
})();
