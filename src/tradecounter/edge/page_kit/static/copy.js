// Gives every piece of code a button that copies it.
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

  for (const code of document.querySelectorAll("pre.code")) {
    const frame = document.createElement("div");
    frame.className = "with-copy";
    code.replaceWith(frame);
    code.tabIndex = 0;
    const button = document.createElement("button");
    button.type = "button";
    button.className = "copy";
    button.textContent = "Copy";
    button.setAttribute("aria-live", "polite");
    frame.append(code, button);
    button.addEventListener("click", async () => {
      try {
        await copy(code.textContent);
        button.textContent = "Copied";
      } catch {
        button.textContent = "Not copied";
      }
      setTimeout(() => { button.textContent = "Copy"; }, 2000);
    });
  }
})();
