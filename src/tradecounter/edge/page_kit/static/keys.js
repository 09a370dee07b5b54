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
    const rows = [...document.querySelectorAll("main tbody tr")].map((row) => row.querySelector("th a")).filter(Boolean);
    const row = document.activeElement.closest("tr");
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
    n: () => press("main .heading a.main"),
    e: () => press("main a[data-key=e]"),
  };

  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing || areOff() || dialog.open) return;
    if (event.target.closest?.("input, textarea, select, [contenteditable]")) return;
    const goes = Date.now() - going < patience;
    going = 0;
    const subject = goes && document.querySelector(`nav.subjects [data-go="${CSS.escape(event.key)}"]`);
    if (subject) subject.click();
    else if (Object.hasOwn(steps, event.key)) steps[event.key]();
    else return;
    event.preventDefault();
  });

  if (opener) {
    opener.hidden = false;
    opener.addEventListener("click", explain);
  }
})();
