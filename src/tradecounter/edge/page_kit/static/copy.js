// Gives every piece of code a button that copies it, and every reference, number or code that people take elsewhere.
(() => {
  async function copy(text) {
    if (navigator.clipboard && isSecureContext) return navigator.clipboard.writeText(text);
    // Over plain http there is no clipboard object.
    const area = document.createElement("textarea");
    area.value = text;
    area.className = "off-screen";
    document.body.append(area);
    area.select();
    const done = document.execCommand("copy");
    area.remove();
    if (!done) throw new Error("not copied");
  }

  function copier(kind, text) {
    const button = document.createElement("button");
    button.type = "button";
    button.className = kind;
    button.textContent = "Copy";
    button.setAttribute("aria-live", "polite");
    button.addEventListener("click", async () => {
      try {
        await copy(text);
        button.textContent = "Copied";
      } catch {
        button.textContent = "Not copied";
      }
      button.focus();
      setTimeout(() => { button.textContent = "Copy"; }, 2000);
    });
    return button;
  }

  for (const code of document.querySelectorAll("pre.code")) {
    const frame = document.createElement("div");
    frame.className = "with-copy";
    code.replaceWith(frame);
    code.tabIndex = 0;
    frame.append(code, copier("copy", code.textContent));
  }

  for (const named of document.querySelectorAll("[data-copy]")) {
    const button = copier("copy-text", named.dataset.copy);
    button.title = `Copy ${named.dataset.copy}`;
    named.after(" ", button);
  }
})();
