// Scans that count: of the rows of a form, or as lines of a field. What a scan has done is said at once.
(() => {
  if (!document.querySelector("[data-scan-bar]")) return;
  let bar, box, each, echo; // those of the form that is shown: after an error, it is another one
  const longest = 6; // digits of a number of units; a SKU or an EAN is looked for first
  let last = null;

  const same = (one, other) => one.toLowerCase() === other.toLowerCase();
  const units = (text) => Number(text.trim()) || 0;

  const say = (text, wrong = false) => {
    echo.textContent = text;
    echo.classList.toggle("error", wrong);
    echo.classList.remove("fresh");
    void echo.offsetWidth; // so that the same words are seen to be new
    echo.classList.add("fresh");
  };

  const set = (target, number) => {
    target.put(String(number));
    last = target;
    say(`${target.name}: ${number} ${number === 1 ? "unit" : "units"}`);
  };

  // The field of units of a row, found by what is printed on the product.
  const inRows = (table, code) => {
    const rows = [...table.querySelectorAll("tr[data-codes]")];
    const row = rows.find((one) => one.dataset.codes.split(" ").some((known) => same(known, code)));
    const field = row?.querySelector("input:not([type=hidden]):not([type=checkbox])");
    if (!field) return null;
    const put = (text) => {
      field.value = text;
      for (const one of rows) one.classList.toggle("scanned", one === row);
      row.scrollIntoView({ block: "nearest" });
    };
    return { name: row.dataset.codes.split(" ")[0], number: units(field.value), put, field };
  };

  // The line of a field that begins with the code, or a new one at its end.
  const inLines = (area, code) => {
    const lines = area.value.split("\n").filter((line) => line.trim());
    const at = lines.findIndex((line) => same(line.trim().split(/[\s,;]+/)[0], code));
    const place = at < 0 ? lines.length : at;
    const put = (text) => {
      const now = area.value.split("\n").filter((line) => line.trim());
      now[place] = `${code} ${text}`;
      area.value = `${now.join("\n")}\n`;
    };
    return { name: code, number: at < 0 ? 0 : units(lines[at].trim().split(/[\s,;]+/).at(-1)), put, field: area };
  };

  const find = (code) => {
    const table = document.getElementById(bar.dataset.scanRows ?? "");
    if (table) return inRows(table, code);
    const isNumber = /^[0-9]+$/.test(code) && code.length <= longest;
    return isNumber && last ? null : inLines(document.getElementById(bar.dataset.scanLines), code);
  };

  // What is not in the list is looked up in another tab, so that nothing that is counted gets lost.
  const missing = (code) => {
    say(`${code} is not in this list. `, true);
    const finder = document.querySelector("form.find");
    if (!finder) return;
    const link = document.createElement("a");
    link.href = `${finder.action}?q=${encodeURIComponent(code)}`;
    link.target = "_blank";
    link.textContent = "Look it up";
    echo.append(link);
  };

  const scanned = (code) => {
    const target = find(code);
    if (target && each.checked) set(target, target.number + 1);
    else if (target) {
      last = target;
      say(`${target.name}: how many?`);
      target.field.focus();
      target.field.select?.();
    } else if (last && /^[0-9]+$/.test(code) && code.length <= longest) set(last, Number(code));
    else missing(code);
  };

  // A scan ends with Enter. In a field of units, what is no number is a scan too.
  const onEnter = (event) => {
    if (event.key !== "Enter") return;
    const field = event.target;
    const inTable = field.closest?.("tr[data-codes]") && field.matches("input:not([type=checkbox])");
    const text = field === box || inTable ? field.value.trim() : "";
    if (!text || (inTable && /^[0-9]+$/.test(text) && text.length <= longest)) {
      if (field === box) event.preventDefault();
      return;
    }
    event.preventDefault();
    event.stopImmediatePropagation();
    field.value = "";
    scanned(text);
  };
  document.addEventListener("keydown", onEnter, true);

  // What is scanned while no field has the focus.
  document.addEventListener("scanned", (event) => {
    event.preventDefault();
    scanned(event.detail);
  });

  const begin = () => {
    const shown = document.querySelector("[data-scan-bar]");
    if (!shown || shown === bar) return;
    bar = shown;
    box = bar.querySelector("input:not([type=checkbox])");
    each = bar.querySelector("input[type=checkbox]");
    echo = bar.querySelector("[data-echo]");
    last = null;
    bar.hidden = false;
    if (!document.querySelector(".problems, .outcome")) box.focus();
  };
  document.addEventListener("htmx:after:swap", begin);
  begin();
})();
