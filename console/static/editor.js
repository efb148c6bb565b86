// The targeting editor: a plain text area, so that it works with every keyboard and reader, over a
// copy of its text that has the colours and the wavy line under what is wrong.
import { Completion, TOKEN } from "./completion.js";
import { call } from "./console.js";
import { code, line } from "./elements.js";

for (const box of document.querySelectorAll("[data-editor]")) edit(box);

// A name as it stands in an expression: in backticks where it has other characters.
function written(name) {
  return /^[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*$/.test(name) ? name : "`" + name.replaceAll("`", "``") + "`";
}

function edit(box) {
  const area = box.querySelector("textarea");
  const copy = box.querySelector("pre");
  const verdict = document.getElementById("targeting-note");
  const forecast = document.querySelector("[data-forecast]");
  const dry = document.querySelector("[data-dry-run]");
  const completion = new Completion(area, box.querySelector(".choices"), changed);
  let attributes = new Set();
  let keywords = new Set();
  let wrong = null;
  let doubtful = [];
  let turn = 0;
  let timer;

  function paint() {
    const parts = [];
    for (const match of area.value.matchAll(TOKEN)) {
      const [text, comment, string, number, word] = match;
      let kind = "";
      if (comment) kind = "comment";
      else if (string) kind = "string";
      else if (number) kind = "number";
      else if (word) kind = keywords.has(word.toLowerCase()) ? "keyword" : attributes.has(word) ? "attribute" : "";
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

  function changed() {
    wrong = null;
    doubtful = [];
    dry?.querySelector(".result").replaceChildren();
    paint();
    clearTimeout(timer);
    timer = setTimeout(check, 250);
  }

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

  area.addEventListener("input", changed);
  area.addEventListener("scroll", scroll);
  paint();
  call("/editor/words").then((found) => {
    for (const each of found.attributes) each.name = written(each.name);
    attributes = new Set(found.attributes.map((each) => each.name));
    keywords = new Set(found.keywords);
    paint();
    completion.learn(found);
  });
  check();
}
