// The targeting editor: a plain text area, so that it works with every keyboard and reader, over a
// copy of its text that has the colours and the wavy line under what is wrong.
for (const box of document.querySelectorAll("[data-editor]")) edit(box);

function edit(box) {
  const area = box.querySelector("textarea");
  const copy = box.querySelector("pre");
  const list = box.querySelector(".choices");
  const verdict = document.getElementById("targeting-note");
  const forecast = document.querySelector("[data-forecast]");
  const dry = document.querySelector("[data-dry-run]");
  let words = { attributes: [], operators: [], logic: [], keywords: [] };
  let wrong = null;
  let doubtful = [];
  let choices = [];
  let chosen = 0;
  let turn = 0;
  let asked = null;

  const TOKEN = /(--[^\n]*)|('(?:[^']|'')*'?|"(?:[^"]|"")*"?)|(-?\d[\d.eE+-]*)|([A-Za-z_][\w.]*|`(?:[^`]|``)*`?)|(\s+)|(.)/gy;
  let keywords = new Set();

  // A name as it stands in an expression: in backticks where it has other characters.
  function written(name) {
    return /^[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*$/.test(name) ? name : "`" + name.replaceAll("`", "``") + "`";
  }

  function paint() {
    const parts = [];
    for (const match of area.value.matchAll(TOKEN)) {
      const [text, comment, string, number, word] = match;
      let kind = "";
      if (comment) kind = "comment";
      else if (string) kind = "string";
      else if (number) kind = "number";
      else if (word) kind = keywords.has(word.toLowerCase()) ? "keyword" : words.attributes.some((a) => written(a.name) === word) ? "attribute" : "";
      parts.push({ text, kind, start: match.index, end: match.index + text.length });
    }
    copy.replaceChildren();
    for (const part of parts) {
      const piece = document.createElement("span");
      piece.textContent = part.text;
      piece.className = part.kind;
      if (wrong && part.start < wrong.end && part.end > wrong.start && part.text.trim()) piece.classList.add("error");
      else if (part.text.trim() && doubtful.some((d) => part.start < d.end && part.end > d.start)) piece.classList.add("doubtful");
      copy.append(piece);
    }
    copy.append("\n");
    area.rows = Math.max(6, area.value.split("\n").length + 1);
    scroll();
  }

  function scroll() {
    copy.scrollTop = area.scrollTop;
    copy.scrollLeft = area.scrollLeft;
  }

  // The API counts characters, JavaScript counts UTF-16 units.
  function place(offset) {
    return [...area.value].slice(0, offset).join("").length;
  }

  function code(text) {
    return Object.assign(document.createElement("code"), { textContent: text });
  }

  // A paragraph; words between backticks are code.
  function line(parent, text, kind) {
    const p = document.createElement("p");
    text.split("`").forEach((piece, n) => p.append(n % 2 ? code(piece) : piece));
    if (kind) p.className = kind;
    parent.append(p);
    return p;
  }

  async function check() {
    const mine = ++turn;
    const text = area.value;
    let found;
    try {
      found = await call("/editor/check", { text });
    } catch (error) {
      verdict.replaceChildren();
      line(verdict, error.message, "problem");
      return;
    }
    if (mine !== turn) return;
    verdict.replaceChildren();
    doubtful = [];
    if (found.error) {
      const { detail, hint, line: row, column } = found.error;
      wrong = { start: place(found.error.start ?? 0), end: place(found.error.end ?? 0) };
      if (wrong.end <= wrong.start) wrong.end = wrong.start + 1;
      if (wrong.start >= text.trimEnd().length) wrong.start = Math.max(0, text.trimEnd().length - 1);
      box.classList.add("wrong");
      area.setAttribute("aria-invalid", "true");
      line(verdict, `${row ? `Line ${row}, column ${column}: ` : ""}${detail}${hint ? ` – ${hint}` : ""}`, "problem");
      paint();
      return;
    }
    wrong = null;
    box.classList.remove("wrong");
    area.removeAttribute("aria-invalid");
    line(verdict, `Valid: ${found.predicates} ${found.predicates === 1 ? "predicate" : "predicates"}.`, "fine");
    for (const warning of found.warnings) warn(warning);
    line(verdict, cost(found.cost), "hint");
    if (found.normal_form && found.normal_form !== text) {
      const more = document.createElement("details");
      const head = document.createElement("summary");
      head.textContent = "How the index reads it";
      more.append(head, code(found.normal_form));
      verdict.append(more);
    }
    paint();
    if (forecast) await foresee(text, mine);
  }

  // A warning, the words that it is about, and a button that corrects them.
  function warn({ message, suggestion, replacement, start, end }) {
    const p = line(verdict, suggestion ? `${message} – ${suggestion}` : message, "warning");
    if (start === null) return;
    const [first, last] = [place(start), place(end)];
    doubtful.push({ start: first, end: last });
    if (replacement === null || area.readOnly) return;
    const fix = document.createElement("button");
    fix.type = "button";
    fix.className = "small";
    fix.textContent = "Apply";
    fix.setAttribute("aria-label", `Write ${replacement}`);
    fix.addEventListener("click", () => {
      area.setRangeText(replacement, first, last, "end");
      changed();
      area.focus();
    });
    p.append(" ", fix);
  }

  // How the index would look for it, without statistics.
  function cost({ way, access, literals }) {
    if (way === "always") return "Cost: every request is a candidate.";
    if (way === "never") return "Cost: none, no request is a candidate.";
    const some = access.slice(0, 3).join(" or ");
    const more = access.length > 3 ? ` or ${access.length - 3} more` : "";
    return `Cost: requests with ${some}${more} are candidates; each is checked against at most ${literals} ${literals === 1 ? "condition" : "conditions"}.`;
  }

  async function foresee(text, mine) {
    const found = await call("/editor/forecast", { text }).catch((error) => ({ unavailable: error.message }));
    if (mine !== turn) return;
    const title = forecast.querySelector("h3");
    forecast.replaceChildren(title);
    if (found.unavailable) {
      line(forecast, found.unavailable, "hint");
      return;
    }
    const { low, high } = found.matched_requests_per_day;
    const share = found.sampled_requests ? Math.round((100 * found.hits) / found.sampled_requests) : 0;
    line(forecast, `${low.toLocaleString("en")} – ${high.toLocaleString("en")}`, "figure");
    line(forecast, `requests a day, about ${share} % of all${found.insufficient_data ? "; too few sampled requests for more" : ""}`, "hint");
    const costs = found.without.filter((each) => each.change === null || each.change > 0);
    const rows = document.createElement("ul");
    rows.className = "without";
    for (const each of costs.sort((a, b) => (b.change ?? Infinity) - (a.change ?? Infinity)).slice(0, 6)) {
      const row = document.createElement("li");
      const more = document.createElement("span");
      more.textContent = each.change === null ? `${each.matched_requests_per_day.toLocaleString("en")} a day` : `+${Math.round(100 * each.change)} %`;
      row.append("without ", code(each.predicate), " ", more);
      rows.append(row);
    }
    if (rows.children.length) forecast.append(rows);
  }

  let timer;
  function changed() {
    wrong = null;
    doubtful = [];
    dry?.querySelector(".result").replaceChildren();
    paint();
    clearTimeout(timer);
    timer = setTimeout(check, 250);
  }

  // Completion.
  function prefix() {
    const before = area.value.slice(0, area.selectionStart);
    return before.match(/[\w.]*$/)[0];
  }

  // The string that the caret is in: its attribute, and what is typed of it.
  function inString() {
    const before = area.value.slice(0, area.selectionStart);
    const last = [...before.matchAll(TOKEN)].at(-1);
    const text = last?.[2];
    if (!text || (text.length > 1 && /^(?:'(?:[^']|'')*'|"(?:[^"]|"")*")$/.test(text))) return null;
    const head = before.slice(0, last.index).match(/(?:^|[\s(])([A-Za-z_][\w.]*|`(?:[^`]|``)*`)\s*(?:=|!=|<>|(?:not\s+)?in\s*\(|(?:any|all|none)\s+of\s*\(|starts with|ends with|contains)[^()=]*$/i);
    return head && { name: head[1], typed: text.slice(1) };
  }

  function suggest(force) {
    asked = force;
    const open = inString();
    const typed = open ? open.typed : prefix();
    let found = [];
    if (open) {
      const attribute = words.attributes.find((a) => written(a.name) === open.name);
      found = (attribute?.values || []).map((text) => ({ text, note: "" }));
    } else if (force || typed) {
      const last = area.value.slice(0, area.selectionStart - typed.length).match(/([A-Za-z_][\w.]*|`(?:[^`]|``)*`)\s+(?:not\s+)?$/);
      const before = last && words.attributes.find((a) => written(a.name) === last[1]);
      const fits = words.operators.filter((o) => !before || o.types.includes(before.type)).map((o) => ({ text: o.word, note: "" }));
      const logic = words.logic.map((text) => ({ text, note: "" }));
      found = before ? fits : [...words.attributes.map((a) => ({ text: written(a.name), note: a.type })), ...logic, ...fits];
    }
    const lower = typed.toLowerCase();
    choices = found.filter((c) => c.text.toLowerCase().startsWith(lower) && c.text !== typed).slice(0, 8);
    if (choices.length < 8 && lower) {
      const more = found.filter((c) => c.text.toLowerCase().includes(lower) && !c.text.toLowerCase().startsWith(lower));
      choices.push(...more.slice(0, 8 - choices.length));
    }
    chosen = 0;
    offer();
  }

  function offer() {
    list.replaceChildren();
    choices.forEach((choice, n) => {
      const item = document.createElement("li");
      item.role = "option";
      item.id = `choice-${n}`;
      item.setAttribute("aria-selected", String(n === chosen));
      const note = document.createElement("span");
      note.textContent = choice.note;
      item.append(code(choice.text), note);
      item.addEventListener("mousedown", (event) => {
        event.preventDefault();
        chosen = n;
        take();
      });
      list.append(item);
    });
    list.hidden = choices.length === 0;
    if (list.hidden) area.removeAttribute("aria-activedescendant");
    else area.setAttribute("aria-activedescendant", `choice-${chosen}`);
  }

  function take() {
    const open = inString();
    const typed = open ? open.typed : prefix();
    const choice = choices[chosen];
    const start = area.selectionStart - typed.length;
    const ending = open ? "" : " ";
    area.setRangeText(choice.text + ending, start, area.selectionStart, "end");
    close();
    changed();
  }

  function close() {
    asked = null;
    choices = [];
    offer();
  }

  area.addEventListener("input", () => {
    changed();
    suggest(false);
  });
  area.addEventListener("scroll", scroll);
  area.addEventListener("blur", close);
  area.addEventListener("keydown", (event) => {
    if (event.key === " " && event.ctrlKey) {
      event.preventDefault();
      suggest(true);
      return;
    }
    if (choices.length) {
      if (event.key === "ArrowDown" || event.key === "ArrowUp") {
        event.preventDefault();
        chosen = (chosen + (event.key === "ArrowDown" ? 1 : choices.length - 1)) % choices.length;
        offer();
      } else if (event.key === "Tab" || event.key === "Enter") {
        event.preventDefault();
        take();
      } else if (event.key === "Escape") close();
      return;
    }
  });

  dry?.querySelector("button").addEventListener("click", async () => {
    const result = dry.querySelector(".result");
    result.replaceChildren();
    const campaign = box.dataset.campaign ? Number(box.dataset.campaign) : null;
    const owner = Number(document.getElementById("advertiser_id")?.value) || null;
    const asked = { text: area.value, campaign_id: campaign, advertiser_id: owner };
    const found = await call("/editor/preview", asked).catch((error) => ({ unavailable: error.message }));
    if (found.unavailable) {
      line(result, found.unavailable, "hint");
      return;
    }
    const { requests, before, after, gained, lost, gained_requests: won, lost_requests: gone } = found.sampled;
    if (!requests) {
      line(result, "No request was sampled yet.", "hint");
      return;
    }
    line(result, `${after} of ${requests}`, "figure");
    line(result, `sampled requests would match${campaign ? `, ${before} do now: ${gained} gained, ${lost} lost` : ""}.`, "hint");
    for (const [title, some] of [["Gained", campaign ? won : []], ["Lost", gone]]) {
      for (const each of some.slice(0, 3)) {
        const p = line(result, `${title}: `, title.toLowerCase());
        const values = Object.entries(each.attributes).map(([name, value]) => `${name} ${typeof value === "string" ? value : JSON.stringify(value)}`);
        p.append(values.join(", "));
      }
    }
    if (found.same_targeting.length) line(result, `Same targeting as campaign ${found.same_targeting.join(", ")}.`, "warning");
  });

  paint();
  call("/editor/words").then((found) => {
    words = found;
    keywords = new Set(found.keywords);
    paint();
    if (asked !== null) suggest(asked);
  });
  check();
}
