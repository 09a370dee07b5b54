// The warehouse's forms. Serial numbers come from a scanner: each one ends with Enter. Counts, duplicates and the next
// line are told at once. After the last one, the courier's label is scanned, whose Enter records the shipment.
(() => {
  const clean = (text) => text.trim().split(/[\s,;]+/)[0];
  const serials = (box) => box.value.split("\n").map(clean).filter(Boolean);
  const boxes = (form) => [...form.querySelectorAll("textarea[data-scan]")];
  const wanted = (box) => {
    const units = Number(document.getElementById(box.dataset.units)?.value || 0);
    return Number.isFinite(units) ? units * Number(box.dataset.each || 1) : 0;
  };

  const judge = (box) => {
    const status = document.getElementById(box.dataset.status);
    const found = serials(box);
    const twice = found.find((serial, at) => found.indexOf(serial) !== at);
    const most = wanted(box);
    const wrong = twice !== undefined || found.length > most;
    status.classList.toggle("error", wrong);
    status.classList.toggle("done", !wrong && most > 0 && found.length === most);
    if (twice !== undefined) status.textContent = `${twice} was scanned twice: take one out.`;
    else if (found.length > most) status.textContent = `${found.length} serial numbers for ${most} units: take ${found.length - most} out.`;
    else status.textContent = `${found.length} of ${most} scanned`;
    return !wrong && most > 0 && found.length === most;
  };

  // The code of a product, scanned from its box, leads to its line: it is no serial number.
  const isCode = (box, text) => box.dataset.codes.toLowerCase().split("\n").includes(text.toLowerCase());
  const lineOf = (form, text) => {
    const found = boxes(form).filter((box) => isCode(box, text));
    return found.find((box) => wanted(box) > serials(box).length) ?? found.at(-1);
  };

  const ended = (box) => {
    const form = box.form;
    const rows = box.value.split("\n");
    const last = rows.findLast((row) => row.trim()) ?? "";
    const other = lineOf(form, last.trim());
    if (other) {
      box.value = rows.filter((row) => row !== last && row.trim()).map((row) => `${row}\n`).join("");
      judge(box);
      other.focus();
      other.setSelectionRange(other.value.length, other.value.length);
      return;
    }
    if (!judge(box)) return;
    const all = boxes(form);
    const next = all.slice(all.indexOf(box) + 1).find((each) => wanted(each) > serials(each).length);
    (next ?? form.querySelector("[name=tracking_number]") ?? form.querySelector("button[type=submit]:not(.unseen)"))?.focus();
  };

  document.addEventListener("input", (event) => {
    const box = event.target;
    if (box.matches?.("textarea[data-scan]")) {
      if (box.value.endsWith("\n")) ended(box);
      else judge(box);
      return;
    }
    for (const each of document.querySelectorAll("textarea[data-scan]")) if (each.dataset.units === box.id) judge(each);
  });

  // Units that are scrapped are not restocked: the first field of a pair has what the second leaves of the whole.
  document.addEventListener("input", (event) => {
    const pair = event.target.closest?.("[data-share]");
    const [first, second] = pair?.querySelectorAll("input:not([type=hidden])") ?? [];
    const rest = Number(pair?.dataset.share) - Number(second?.value);
    if (event.target === second && rest >= 0) first.value = String(rest);
  });

  const begin = () => {
    for (const box of document.querySelectorAll("textarea[data-scan]")) judge(box);
  };
  document.addEventListener("htmx:after:swap", begin);
  document.addEventListener("DOMContentLoaded", begin);
})();
