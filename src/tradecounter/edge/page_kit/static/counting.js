// Scans that count: of the rows of a form, of a list to pick, or as lines of a field. What a scan has done is said at once.
(() => {
  if (!document.querySelector("[data-scan-bar]")) return;
  let bar, box, each, echo; // those of the form that is shown: after an error, it is another one
  const longest = 6; // digits of a number of units; a SKU or an EAN is looked for first
  let last = null;

  const same = (one, other) => one.toLowerCase() === other.toLowerCase();
  const units = (text) => Number(text.trim()) || 0;
  const codes = (row) => row.dataset.codes.split("\n");
  const most = (row) => Number(row.dataset.units);
  const counted = (target, number) => `${number}${target.most ? ` of ${target.most}` : ""} ${(target.most ?? number) === 1 ? "unit" : "units"}`;

  const say = (text, wrong = false) => {
    echo.textContent = text;
    echo.classList.toggle("error", wrong);
    echo.classList.remove("fresh");
    void echo.offsetWidth; // so that the same words are seen to be new
    echo.classList.add("fresh");
    if (wrong && navigator.userActivation?.hasBeenActive) navigator.vibrate?.(200);
  };

  const set = (target, number) => {
    last = target;
    const isOver = target.most && number > target.most;
    if (isOver && target.told) {
      say(`${target.name}: only ${target.most} ${target.most === 1 ? "is" : "are"} wanted. Put the rest back.`, true);
      return;
    }
    target.put(String(number));
    say(`${target.name}: ${counted(target, number)}${target.told?.() ?? ""}`, isOver);
  };

  // Of the rows with a code that is printed on the product, the first that has not all its units; otherwise the last.
  const rowWith = (rows, code, number) => {
    const found = rows.filter((one) => codes(one).some((known) => same(known, code)));
    return found.find((one) => number(one) < most(one)) ?? found.at(-1);
  };

  // The field of units of a row.
  const inRows = (table, code) => {
    const rows = [...table.querySelectorAll("tr[data-codes]")];
    const fieldOf = (one) => one.querySelector("input:not([type=hidden]):not([type=checkbox])");
    const row = rowWith(rows, code, (one) => units(fieldOf(one).value));
    const field = row && fieldOf(row);
    if (!field) return null;
    const put = (text) => {
      field.value = text;
      for (const one of rows) one.classList.toggle("scanned", one === row);
      row.scrollIntoView({ block: "nearest" });
    };
    return { name: codes(row)[0], number: units(field.value), most: most(row), put, field };
  };

  // A line of a list to pick, which `picking.js` shows.
  const inPicks = (list, code) => {
    const rows = [...list.querySelectorAll("[data-codes]")];
    const picked = (one) => Number(one.dataset.now ?? 0);
    const row = rowWith(rows, code, picked);
    if (!row) return null;
    const put = (text) => row.dispatchEvent(new CustomEvent("pick", { detail: Number(text), bubbles: true }));
    const told = () => {
      const next = rows.find((one) => picked(one) < most(one));
      const then = next ? ` Next: ${next.dataset.place}, ${codes(next)[0]}.` : " All is picked.";
      return ` for ${row.dataset.order}.${picked(row) < most(row) ? "" : then}`;
    };
    return { name: codes(row)[0], number: picked(row), most: most(row), put, told, field: box };
  };

  // Whether a line counts a product, with or without a number: SKUs may contain spaces.
  const counts = (line, code) => {
    const rest = line.trimStart().slice(code.length);
    return same(line.trimStart().slice(0, code.length), code) && /^\s*$|^\s+[0-9]+\s*$|^\s*[,;\t]/.test(rest);
  };

  // The line of a field that begins with the code, or a new one at its end.
  const inLines = (area, code) => {
    const lines = area.value.split("\n").filter((line) => line.trim());
    const at = lines.findIndex((line) => counts(line, code));
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
    if (table) return table.matches("table") ? inRows(table, code) : inPicks(table, code);
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
