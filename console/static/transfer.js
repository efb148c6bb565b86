// An import: a dry run first, then the same file for real. The file is sent in pieces, so that the
// progress is true, it can be stopped, and no request is long.
import { send } from "./console.js";

const MOST_ROWS = 500;
const MOST_CHARACTERS = 500_000;
const SHOWN = 500;

const form = document.querySelector("[data-import]");
const field = document.getElementById("file");
const [dry, real, stop] = ["dry", "real", "stop"].map((name) => document.querySelector(`[data-${name}]`));
const [progress, summary, results] = ["progress", "summary", "results"].map((name) => document.querySelector(`[data-${name}]`));
let stopped = false;

form?.addEventListener("submit", async (event) => {
  event.preventDefault();
  const isReal = event.submitter === real;
  const file = await read(field.files[0]).catch((error) => say(error.message, "problem"));
  if (!file) return;
  working(true);
  const done = { rows: [], all: [], problem: "" };
  for (const piece of pieces(file)) {
    if (stopped) done.problem ||= "It was stopped.";
    if (done.problem) {
      done.rows.push(...piece.rows.filter((row) => row.trim()));
      continue;
    }
    try {
      const answer = await send(`/transfer/import?dry_run=${!isReal}`, {
        method: "POST",
        headers: { "Content-Type": file.kind },
        body: [...file.head, ...piece.rows].join("\n"),
        stay: true,
      });
      for (const line of (await answer.text()).split("\n").filter(Boolean)) {
        const result = JSON.parse(line);
        if (result.outcome === "failed") done.rows.push(piece.rows[result.line - 1 - file.head.length]);
        result.line += piece.start;
        done.all.push(result);
      }
    } catch (error) {
      done.problem = `It stopped at line ${piece.start + file.head.length + 1}: ${error.message}`;
      done.rows.push(...piece.rows.filter((row) => row.trim()));
    }
    progress.value = (piece.start + piece.rows.length) / file.rows.length;
    say(`${piece.start + piece.rows.length} of ${file.rows.length} lines`, "hint");
  }
  working(false);
  show(file, done, isReal);
});

// What is chosen: its rows, and the row with the names of the fields, which each piece of CSV needs.
async function read(chosen) {
  if (!chosen) throw new Error("Choose a file first.");
  const isCsv = !/\.(ndjson|jsonl)$/i.test(chosen.name);
  let text;
  try {
    text = new TextDecoder("utf-8", { fatal: true }).decode(await chosen.arrayBuffer());
  } catch {
    throw new Error("This file is not in UTF-8. Save it as UTF-8, and choose it again.");
  }
  const all = rowsOf(text, isCsv);
  const head = isCsv ? all.splice(0, 1) : [];
  if (!all.some((row) => row.trim())) throw new Error("There is no campaign in this file.");
  return { name: chosen.name, kind: isCsv ? "text/csv" : "application/x-ndjson", head, rows: all };
}

// A row of CSV goes on in the next line while a quote is open.
function rowsOf(text, isCsv) {
  const found = [];
  let isOpen = false;
  for (const line of text.replace(/\n$/, "").split("\n")) {
    if (isOpen) found[found.length - 1] += `\n${line}`;
    else found.push(line);
    if (isCsv && line.split('"').length % 2 === 0) isOpen = !isOpen;
  }
  return found;
}

function* pieces({ rows }) {
  for (let start = 0; start < rows.length; ) {
    let end = start;
    let size = 0;
    while (end < rows.length && end - start < MOST_ROWS && (end === start || size + rows[end].length < MOST_CHARACTERS)) {
      size += rows[end].length;
      end += 1;
    }
    yield { start, rows: rows.slice(start, end) };
    start = end;
  }
}

function working(isWorking) {
  stopped = false;
  dry.disabled = field.disabled = isWorking;
  real.disabled = true;
  stop.hidden = progress.hidden = !isWorking;
  progress.value = 0;
  results.replaceChildren();
}

function show(file, { rows, all, problem }, isReal) {
  const count = (outcome) => all.filter((each) => each.outcome === outcome).length;
  const [created, updated, unchanged, failed] = ["created", "updated", "unchanged", "failed"].map(count);
  const verb = isReal ? "" : "would be ";
  const counts = `${created} ${verb}created, ${updated} ${verb}changed, ${unchanged} stay as they are, ${failed} ${isReal ? "failed" : "would fail"}.`;
  say(`${counts} ${problem}`.trim(), failed || problem ? "notice warn" : "notice");
  const links = document.createElement("div");
  links.className = "actions";
  if (rows.length) {
    const what = isReal && problem ? "the lines that were not imported" : "the failed lines";
    links.append(download(`Download ${what}`, `failed-${file.name}`, [...file.head, ...rows]));
  }
  links.append(download("Download the results", "results.ndjson", all.map((each) => JSON.stringify(each))));
  all.sort((a, b) => (b.outcome === "failed") - (a.outcome === "failed"));
  results.append(links, table(all.slice(0, SHOWN)));
  if (all.length > SHOWN) results.append(Object.assign(document.createElement("p"), { className: "hint", textContent: `The first ${SHOWN} of ${all.length} lines.` }));
  real.disabled = isReal || Boolean(problem) || created + updated === 0;
}

stop?.addEventListener("click", () => {
  stopped = true;
});

field?.addEventListener("change", () => {
  real.disabled = true;
  results.replaceChildren();
  say("", "");
});

function say(text, kind) {
  summary.textContent = text;
  summary.className = kind;
}

function download(label, name, lines) {
  const href = URL.createObjectURL(new Blob([`${lines.join("\n")}\n`], { type: "application/octet-stream" }));
  return Object.assign(document.createElement("a"), { className: "button", textContent: label, download: name, href });
}

function table(shown) {
  const made = document.createElement("table");
  made.className = "list";
  const head = made.createTHead().insertRow();
  for (const name of ["Line", "Campaign", "Outcome", "Details"]) {
    head.append(Object.assign(document.createElement("th"), { scope: "col", textContent: name }));
  }
  const body = made.createTBody();
  for (const each of shown) {
    const row = body.insertRow();
    const campaign = each.external_id ?? (each.id ? `#${each.id}` : "new");
    const wrong = each.errors.map((e) => `${e.pointer.slice(1)}: ${e.detail}`);
    const notes = [...wrong, ...each.warnings.map((w) => w.message), each.changes.join(", ")].filter(Boolean);
    for (const [label, text] of [["Line", each.line], ["Campaign", campaign], ["Outcome", each.outcome], ["Details", notes.join("; ")]]) {
      const cell = row.insertCell();
      cell.textContent = text;
      cell.dataset.label = label;
      if (label === "Outcome") cell.className = `outcome ${each.outcome}`;
    }
  }
  return made;
}
