// Dialogs, search and focus. Pages work without it.
(() => {
  const dialog = document.getElementById("dialog");

  // A form that htmx has put into the dialog opens it. After errors, the focus goes to what is wrong.
  document.addEventListener("htmx:after:swap", (event) => {
    // A part of a page that is loaded, such as a list's saved views, does not rename the tab. A new address does.
    const { ctx } = event.detail;
    if (!ctx.push && ctx.target !== document.body) ctx.title = null;

    const title = dialog.querySelector("#dialog-title"); // a form of the page behind has a title too
    if (title) title.id = "title-in-dialog";
    if (dialog.querySelector("form") && !dialog.open) {
      dialog.showModal();
      // A browser would focus the form's first button, also one that is not seen.
      const fields = [...dialog.querySelectorAll("input:not([type=hidden]), select, textarea")];
      if (!dialog.querySelector("[autofocus]")) fields.find((field) => field.checkVisibility())?.focus();
    }
    const problems = document.querySelector("[data-focus]");
    problems?.removeAttribute("data-focus"); // a later part of the page does not take the focus back
    problems?.focus();
    if (problems?.matches("input")) problems.select();
  });
  // A part of a page brings the title of the page that it comes from. Only with that page's address is it this page's.
  document.addEventListener("htmx:before:swap", ({ detail: { ctx } }) => {
    if (!ctx.push) ctx.title = null;
  });
  dialog.addEventListener("close", () => dialog.firstElementChild.replaceChildren());
  dialog.addEventListener("click", (event) => {
    if (event.target === dialog || event.target.closest?.("[data-close]")) {
      event.preventDefault();
      dialog.close();
    }
  });

  // The arrows lead from a box into what it has found, and back. Escape closes what the search box has found.
  const found = document.getElementById("found");
  document.addEventListener("keydown", (event) => {
    const place = event.target.closest?.("[data-arrows]");
    if (!place) return;
    const box = place.querySelector("input[type=search]");
    const stops = [box, ...place.querySelectorAll("a")];
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step && stops.length > 1) {
      event.preventDefault();
      stops[(stops.indexOf(document.activeElement) + step + stops.length) % stops.length].focus();
    } else if (event.key === "Escape" && place.contains(found) && found.firstChild) {
      event.preventDefault();
      found.replaceChildren();
      box.focus();
    }
  });
  document.addEventListener("click", (event) => {
    if (found && !found.parentElement.contains(event.target)) found.replaceChildren();
  });

  // A preview that comes while a button is pressed may move it, and then the browser sees no click on it.
  let pressed = null;
  const topOf = (element) => element.getBoundingClientRect().top;
  document.addEventListener("pointerdown", (event) => {
    const button = event.target.closest?.("form button[type=submit]");
    pressed = button ? { button, top: topOf(button), x: event.clientX, y: event.clientY } : null;
  });
  document.addEventListener("pointerup", (event) => {
    if (!pressed) return;
    const { button, top, x, y } = pressed;
    pressed = null;
    const isStill = Math.hypot(event.clientX - x, event.clientY - y) < 10;
    const hasMoved = button.isConnected && Math.abs(topOf(button) - top) > 1;
    if (isStill && hasMoved && !button.disabled && !button.contains(event.target)) button.form.requestSubmit(button);
  });

  // A double click sends a form once: the browser would drop the first response, which may have a new secret.
  const sentAt = new WeakMap();
  document.addEventListener("submit", (event) => {
    if (event.target.method === "post" && event.timeStamp - sentAt.get(event.target) < 2000) event.preventDefault();
    else sentAt.set(event.target, event.timeStamp);
  });

  // A picture that has loaded hides what is drawn behind it.
  const shown = (image) => image.parentElement.classList.toggle("loaded", image.complete && image.naturalWidth > 0);
  document.addEventListener("load", (event) => event.target.matches?.(".picture img") && shown(event.target), true);
  document.querySelectorAll(".picture img").forEach(shown);

  // The current tab is in sight.
  document.querySelector(".tabs [aria-current]")?.scrollIntoView({ block: "nearest", inline: "center" });

  // A menu closes when the person turns to something else. A dialog that it has opened gives the focus back to it.
  document.addEventListener("click", (event) => {
    if (dialog.contains(event.target)) return;
    for (const menu of document.querySelectorAll("details:is(.person, .subjects)[open]")) {
      if (!menu.contains(event.target)) menu.open = false;
    }
  });
  document.addEventListener("keydown", (event) => {
    if (event.key !== "Escape" || dialog.open) return;
    for (const menu of document.querySelectorAll("details:is(.person, .subjects)[open]")) {
      menu.open = false;
      menu.querySelector("summary").focus();
    }
  });
})();
