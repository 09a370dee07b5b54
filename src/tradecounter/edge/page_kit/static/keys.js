// Keys of single letters: to search, to go to a subject, through the rows of a list, and to the steps of a page.
(() => {
  const dialog = document.getElementById("dialog");
  const help = document.getElementById("keys-help");
  const opener = document.querySelector("[data-keys]");
  const patience = 1500; // milliseconds between g and a letter
  let going = 0;

  const areOff = () => localStorage.getItem("keys") === "off";
  const press = (selector) => document.querySelector(selector)?.click();

  const search = () => {
    const box = document.querySelector("[data-find]");
    box?.focus();
    box?.select();
  };

  const move = (step) => {
    const rows = [...document.querySelectorAll("main :is(tbody tr, .offer)")].map((row) => row.querySelector("th a, h2 a") ?? row.querySelector("a")).filter(Boolean);
    const row = document.activeElement.closest("tr, .offer");
    const here = rows.findIndex((link) => row?.contains(link));
    rows[Math.min(Math.max(here + step, 0), rows.length - 1)]?.focus();
  };

  const explain = () => {
    dialog.firstElementChild.replaceChildren(help.content.cloneNode(true));
    const use = dialog.querySelector("input");
    use.checked = !areOff();
    use.addEventListener("change", () => localStorage.setItem("keys", use.checked ? "on" : "off"));
    dialog.showModal();
  };

  const steps = {
    "/": search,
    "?": explain,
    g: () => { going = Date.now(); },
    j: () => move(1),
    k: () => move(-1),
    x: () => document.activeElement.closest("main tbody tr")?.querySelector("th input[type=checkbox]")?.click(),
    n: () => press("main .heading a.main"),
    // What changes the row of a list, the ticked rows or what the page shows; without such a step, the first field of the page's form.
    e: () => {
      const row = document.activeElement.closest("main tbody tr");
      const step = (row ?? document).querySelector("[data-key=e]") ?? document.querySelector(".many [data-key=e]:enabled");
      if (step) step.click();
      else document.querySelector("main form.form :is(input:not([type=hidden]), select, textarea)")?.focus();
    },
  };

  const act = (key) => {
    const goes = Date.now() - going < patience;
    going = 0;
    const subject = goes && document.querySelector(`nav.subjects [data-go="${CSS.escape(key)}"]`);
    if (subject) subject.click();
    else if (Object.hasOwn(steps, key)) steps[key]();
  };

  // A scanner types faster than a person, and ends with Enter. What it types outside of a field is looked for: a letter
  // of it must not press a button.
  const pause = 60; // milliseconds
  const shortest = 4; // letters and digits of a scan
  let typed = "";
  let timer = 0;

  const settle = () => {
    const keys = typed;
    typed = "";
    if (keys.length < 3 && !areOff() && !dialog.open) [...keys].forEach(act);
  };

  // With Ctrl, Enter presses the main button of the form with the focus, else of the dialog or the page.
  document.addEventListener("keydown", (event) => {
    if (event.key !== "Enter" || !(event.ctrlKey || event.metaKey)) return;
    const form = event.target.closest?.("form") ?? document.querySelector("dialog[open] form") ?? document.querySelector("main form.form");
    const button = [...(form?.querySelectorAll("button.main:enabled") ?? [])].find((each) => each.checkVisibility());
    if (!button) return;
    event.preventDefault();
    button.click();
  });

  // Down leads from the search of a list to the first row of what it finds: after an edit, once the new rows are there.
  let waits = false;
  document.addEventListener("htmx:after:swap", () => {
    if (waits) move(1);
    waits = false;
  });
  document.addEventListener("keydown", (event) => {
    if (event.key !== "ArrowDown" || event.ctrlKey || event.metaKey || event.altKey || event.isComposing) return;
    if (!event.target.matches?.("#filters input[type=search]")) return;
    event.preventDefault();
    event.target.addEventListener("change", () => { waits = true; }, { once: true });
    event.target.blur(); // an edit changes the filters then, which asks for the new rows
    if (!waits) move(1);
  });

  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing || dialog.open) return;
    if (event.target.closest?.("input, textarea, select, [contenteditable]")) return;
    if (event.key === "Enter" && typed.length >= shortest) {
      const form = document.querySelector("form.find");
      const isOpen = document.dispatchEvent(new CustomEvent("scanned", { detail: typed, cancelable: true }));
      event.preventDefault();
      clearTimeout(timer);
      if (form && isOpen) location.assign(`${form.action}?q=${encodeURIComponent(typed)}`);
      typed = "";
      return;
    }
    if (event.key.length !== 1) return;
    if (!areOff() && (Object.hasOwn(steps, event.key) || going)) event.preventDefault();
    if (!areOff() && !typed && (event.key === "/" || event.repeat)) {
      act(event.key);
      return;
    }
    typed += event.key;
    clearTimeout(timer);
    timer = setTimeout(settle, pause);
  });

  if (opener) {
    opener.hidden = false;
    opener.addEventListener("click", explain);
  }
})();
