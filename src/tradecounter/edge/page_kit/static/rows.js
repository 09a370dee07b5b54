// Rows of a form, which grow as they are filled unless they are fixed. Enter goes on to the next field, as a scanner's does.
(() => {
  // Narrow windows cut the addresses in a list, so the chosen one is shown in full below it.
  const showChosen = () => {
    for (const place of document.querySelectorAll("[data-chosen]")) {
      const list = document.getElementById(place.dataset.chosen);
      place.textContent = /^\d+$/.test(list.value) ? list.selectedOptions[0].text : "";
    }
  };
  for (const name of ["DOMContentLoaded", "htmx:after:swap", "change"]) document.addEventListener(name, showChosen);

  const fields = (row) => [...row.querySelectorAll("input:not([type=hidden])")];

  const renumber = (text, from, to) => text.replace(`-${from}`, `-${to}`);

  // A copy of the last row with the next number; the server knows rows only by their numbers.
  const grow = (body) => {
    const last = body.lastElementChild;
    const from = Number(last.querySelector("input").name.match(/-(\d+)-/)[1]);
    const made = last.cloneNode(true);
    for (const element of made.querySelectorAll("[id], [name], [for]")) {
      for (const name of ["id", "name", "for"]) {
        const value = element.getAttribute(name);
        if (value) element.setAttribute(name, renumber(value, from, from + 1));
      }
    }
    for (const label of made.querySelectorAll("label")) {
      label.textContent = label.textContent.replace(String(from + 1), String(from + 2));
    }
    for (const field of fields(made)) field.value = "";
    for (const cell of made.querySelectorAll(".live")) cell.replaceChildren();
    body.append(made);
  };

  document.addEventListener("input", (event) => {
    const body = event.target.closest?.("[data-rows]:not([data-rows=fixed]) tbody");
    if (body && event.target.closest("tr") === body.lastElementChild) grow(body);
  });

  // What the words of a row have found: the arrows lead through it and back to the field, Enter takes the first of it.
  const hits = (row) => [...row.querySelectorAll(".found-products button")];
  document.addEventListener("keydown", (event) => {
    const row = event.target.closest?.("[data-rows] tr");
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    const stops = row && hits(row).length ? [fields(row)[0], ...hits(row)] : [];
    const here = stops.indexOf(document.activeElement);
    if (here < 0) return;
    if (step) stops[(here + step + stops.length) % stops.length].focus();
    else if (event.key === "Escape") stops[0].focus();
    else if (event.key === "Enter" && here === 0) stops[1].click();
    else return;
    event.preventDefault();
    event.stopImmediatePropagation();
  });

  // From the units of a line, Enter leads to the rows for the next products, where they are in sight.
  document.addEventListener("keydown", (event) => {
    const next = event.key === "Enter" && event.target.matches?.(".basket-lines .stepper input") && document.querySelector("[data-rows] input");
    if (!next || !next.checkVisibility()) return;
    event.preventDefault();
    next.focus();
  });

  document.addEventListener("keydown", (event) => {
    if (event.key !== "Enter" || !event.target.matches?.("[data-rows] input")) return;
    event.preventDefault();
    const table = event.target.closest("[data-rows]");
    const all = fields(table);
    // The reference of another row, scanned from its paper, leads to that row.
    const key = event.target.value.trim().toLowerCase();
    const row = key && [...table.querySelectorAll("tr[data-key]")].find((each) => each.dataset.key.toLowerCase() === key);
    const target = row && fields(row)[0];
    if (target) {
      event.target.value = "";
      target.focus();
      return;
    }
    const next = all[all.indexOf(event.target) + 1];
    const fixed = table.dataset.rows === "fixed";
    // Behind the last field of rows that do not grow, Enter presses the button, as in any form.
    if (next || !fixed) next?.focus();
    else table.closest("form")?.querySelector("button[type=submit]:not([disabled])")?.click();
  });
})();
