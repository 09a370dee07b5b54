// FairShares the samples of an operation into tabs; the language that is chosen holds for the whole page.
(() => {
  const STORED = "tradecounter.language";
  const groups = [...document.querySelectorAll("[data-tabs]")].map(tabbed);

  function tabbed(group, number) {
    const panels = [...group.querySelectorAll("details")];
    const list = document.createElement("div");
    list.className = "tabs";
    list.setAttribute("role", "tablist");
    list.setAttribute("aria-label", group.dataset.tabs);
    const tabs = panels.map((panel, place) => {
      const tab = document.createElement("button");
      tab.type = "button";
      tab.textContent = panel.dataset.language;
      tab.id = `tab-${number}-${place}`;
      tab.setAttribute("role", "tab");
      tab.setAttribute("aria-controls", `panel-${number}-${place}`);
      const shown = document.createElement("div");
      shown.id = `panel-${number}-${place}`;
      shown.setAttribute("role", "tabpanel");
      shown.setAttribute("aria-labelledby", tab.id);
      shown.dataset.language = panel.dataset.language;
      shown.append(...[...panel.children].filter((child) => child.tagName !== "SUMMARY"));
      panel.replaceWith(shown);
      list.append(tab);
      return tab;
    });
    list.addEventListener("click", (event) => {
      const tab = event.target.closest("[role=tab]");
      if (tab) choose(tab.textContent, tab);
    });
    list.addEventListener("keydown", (event) => {
      const steps = { ArrowRight: 1, ArrowLeft: -1, Home: -tabs.length, End: tabs.length };
      if (!(event.key in steps)) return;
      event.preventDefault();
      const here = tabs.indexOf(document.activeElement);
      const next = Math.abs(steps[event.key]) === 1
        ? (here + steps[event.key] + tabs.length) % tabs.length
        : (steps[event.key] < 0 ? 0 : tabs.length - 1);
      choose(tabs[next].textContent, tabs[next]);
      tabs[next].focus();
    });
    group.prepend(list);
    return group;
  }

  function show(language) {
    for (const group of groups) {
      for (const tab of group.querySelectorAll("[role=tab]")) {
        const chosen = tab.textContent === language;
        tab.setAttribute("aria-selected", String(chosen));
        tab.tabIndex = chosen ? 0 : -1;
      }
      for (const panel of group.querySelectorAll("[role=tabpanel]")) panel.hidden = panel.dataset.language !== language;
    }
  }

  // Samples have different lengths: what was clicked stays where it is on the screen.
  function choose(language, tab) {
    const before = tab.getBoundingClientRect().top;
    show(language);
    scrollBy({ top: tab.getBoundingClientRect().top - before, behavior: "instant" });
    try { localStorage.setItem(STORED, language); } catch { /* not stored */ }
  }

  let language = null;
  try { language = localStorage.getItem(STORED); } catch { /* not allowed */ }
  const known = [...document.querySelectorAll("[data-tabs]:first-of-type [role=tab]")].map((tab) => tab.textContent);
  show(known.includes(language) ? language : "curl");
})();
