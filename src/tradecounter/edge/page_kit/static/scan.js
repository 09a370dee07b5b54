// The warehouse's forms. Serial numbers come from a scanner: each one ends with Enter. Counts, duplicates and the next
// line are told at once. The courier's label may be scanned before, between or after them: a label that is recognised,
// or said to be one, becomes the tracking number. After the last serial number, the focus is on the tracking number while
// it is empty, where the Enter of a label records the shipment, or else on the button that does.
(() => {
  const clean = (text) => text.trim().split(/[\s,;]+/)[0];
  const serials = (box) => box.value.split("\n").map(clean).filter(Boolean);
  const boxes = (form) => [...form.querySelectorAll("textarea[data-scan]")];
  const wanted = (box) => {
    const units = Number(document.getElementById(box.dataset.units)?.value || 0);
    return Number.isFinite(units) ? units * Number(box.dataset.each || 1) : 0;
  };

  // While there is no tracking number, a label is known by the shape of earlier ones. The first scan of a form can be said
  // to be one, and what was taken for one to be a serial number: others of its shape are no labels then.
  const tracking = (form) => form.querySelector("[name=tracking_number]");
  const shape = (text) => text.replace(/[0-9]/g, "9").replace(/[A-Za-z]/g, "A");
  const shapes = (form) => form.querySelector("[data-labels]").dataset;
  const isLabel = (form, text) => {
    const known = tracking(form).value.trim().toLowerCase();
    return known ? known === text.toLowerCase() : shapes(form).labels.split("\n").includes(shape(text));
  };
  const isOnly = (form) => tracking(form)?.value === "" && boxes(form).flatMap(serials).length === 1;
  const offer = (box, found) => {
    const choice = box.parentElement.querySelector("[data-is-label]")?.parentElement;
    if (choice) choice.hidden = !(found.length === 1 && box.value.endsWith("\n") && isOnly(box.form));
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
    offer(box, found);
    return !wrong && most > 0 && found.length === most;
  };

  // The code of a product, scanned from its box, leads to its line: it is no serial number.
  const isCode = (box, text) => box.dataset.codes.toLowerCase().split("\n").includes(text.toLowerCase());
  const lineOf = (form, text) => {
    const found = boxes(form).filter((box) => isCode(box, text));
    return found.find((box) => wanted(box) > serials(box).length) ?? found.at(-1);
  };

  const leaveOut = (box, row) => {
    box.value = box.value.split("\n").filter((each) => each !== row && each.trim()).map((each) => `${each}\n`).join("");
    return judge(box);
  };

  const taken = new WeakMap(); // the row that was taken for the label, and its box, by the field of the tracking number
  const offerBack = (label) => {
    const choice = label.form.querySelector("[data-is-serial]")?.parentElement;
    if (choice) choice.hidden = !taken.has(label) || taken.get(label).row.trim() !== label.value.trim();
  };

  const takeLabel = (box, row) => {
    const label = tracking(box.form);
    const isDone = leaveOut(box, row);
    label.value = row.trim();
    taken.set(label, { box, row });
    offerBack(label);
    document.getElementById(box.dataset.status).textContent = `${row.trim()} is the courier's label: it is the tracking number.`;
    return isDone;
  };

  // To the next line that wants serial numbers, or to what is left to do.
  const goOn = (box) => {
    const all = boxes(box.form);
    const next = all.slice(all.indexOf(box) + 1).find((each) => wanted(each) > serials(each).length);
    const label = tracking(box.form);
    (next ?? (label?.value ? null : label) ?? box.form.querySelector("button[type=submit]:not(.unseen)"))?.focus();
  };

  const ended = (box) => {
    const form = box.form;
    const rows = box.value.split("\n");
    if (!rows.at(-2).trim()) { // Enter alone: this line needs no more
      leaveOut(box, "");
      goOn(box);
      return;
    }
    const last = rows.at(-2);
    const other = lineOf(form, last.trim());
    if (other) {
      leaveOut(box, last);
      other.focus();
      other.setSelectionRange(other.value.length, other.value.length);
    } else if (tracking(form) && isLabel(form, last.trim()) ? takeLabel(box, last) : judge(box)) goOn(box);
  };

  const giveBack = (label) => {
    const { box, row } = taken.get(label);
    const of = shapes(label.form);
    of.labels = of.labels.split("\n").filter((each) => each !== shape(row.trim())).join("\n");
    label.value = "";
    offerBack(label);
    leaveOut(box, "");
    box.value += `${row}\n`;
    if (judge(box)) goOn(box);
    else box.focus();
  };

  document.addEventListener("click", (event) => {
    const label = event.target.closest?.("[data-is-serial]") && tracking(event.target.form);
    if (label) giveBack(label);
    const box = event.target.closest?.("[data-is-label]")?.closest(".field").querySelector("textarea");
    if (!box) return;
    takeLabel(box, box.value.split("\n").find((row) => row.trim()));
    box.focus();
  });

  // What is scanned as the label is no serial number: it leaves the box that it was scanned into before.
  document.addEventListener("change", (event) => {
    const label = event.target;
    if (label.name !== "tracking_number" || !label.value.trim()) return;
    for (const box of boxes(label.form)) {
      const row = box.value.split("\n").find((each) => each.trim().toLowerCase() === label.value.trim().toLowerCase());
      if (row) leaveOut(box, row);
    }
  });

  document.addEventListener("input", (event) => {
    const box = event.target;
    if (box.name === "tracking_number" && box.form) offerBack(box);
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
