// An import: a dry run first, then the same file for real; the failed lines can be downloaded.
const form = document.querySelector("[data-import]");
form?.addEventListener("submit", async (event) => {
  event.preventDefault();
  const file = document.getElementById("file").files[0];
  const result = document.querySelector("[data-result]");
  const progress = document.querySelector("[data-progress]");
  const real = document.querySelector("[data-real]");
  const isReal = event.submitter?.value === "real";
  result.replaceChildren();
  if (!file) {
    say(result, "Choose a file first.", "problem");
    return;
  }
  const { root, csrf } = document.body.dataset;
  const kind = /\.(ndjson|jsonl)$/i.test(file.name) ? "application/x-ndjson" : "text/csv";
  const total = (await file.text()).split("\n").filter((line) => line.trim()).length;
  progress.hidden = false;
  progress.max = total;
  progress.value = 0;
  const answer = await fetch(`${root}/transfer/import?dry_run=${!isReal}`, {
    method: "POST",
    headers: { "Content-Type": kind, "X-CSRF-Token": csrf, Accept: "application/json" },
    body: file,
  });
  if (!answer.ok) {
    progress.hidden = true;
    say(result, (await answer.json()).detail, "problem");
    return;
  }
  const counts = { created: 0, updated: 0, unchanged: 0, failed: 0 };
  const shown = [];
  const failed = [];
  let rest = "";
  const reader = answer.body.pipeThrough(new TextDecoderStream()).getReader();
  for (;;) {
    const { value, done } = await reader.read();
    const lines = (rest + (value ?? "")).split("\n");
    rest = lines.pop();
    for (const line of lines) {
      const each = JSON.parse(line);
      counts[each.outcome] += 1;
      if (each.outcome === "failed") failed.push(line);
      if (shown.length < 200 && (each.outcome !== "unchanged")) shown.push(each);
      progress.value += 1;
    }
    if (done) break;
  }
  progress.hidden = true;
  const verb = isReal ? "" : "would be ";
  say(result, `${counts.created} ${verb}created, ${counts.updated} ${verb}changed, ${counts.unchanged} stay as they are, ${counts.failed} ${isReal ? "failed" : "would fail"}.`, counts.failed ? "notice warn" : "notice");
  if (failed.length) {
    const link = document.createElement("a");
    link.className = "button";
    link.textContent = "Download the failed lines";
    link.download = "failed.ndjson";
    link.href = URL.createObjectURL(new Blob([`${failed.join("\n")}\n`], { type: "application/x-ndjson" }));
    result.append(link);
  }
  result.append(table(shown));
  real.disabled = isReal || counts.created + counts.updated === 0;
});

document.getElementById("file")?.addEventListener("change", () => {
  document.querySelector("[data-real]").disabled = true;
  document.querySelector("[data-result]").replaceChildren();
});

function say(parent, text, kind) {
  const p = document.createElement("p");
  p.textContent = text;
  p.className = kind;
  parent.append(p);
}

function table(results) {
  const made = document.createElement("table");
  made.className = "list";
  const head = made.createTHead().insertRow();
  for (const name of ["Line", "Campaign", "Outcome", "Details"]) {
    const cell = document.createElement("th");
    cell.scope = "col";
    cell.textContent = name;
    head.append(cell);
  }
  const body = made.createTBody();
  for (const each of results) {
    const row = body.insertRow();
    const details = each.errors.map((e) => `${e.pointer.slice(1)}: ${e.detail}`).join("; ") || each.changes.join(", ");
    for (const [label, text] of [["Line", each.line], ["Campaign", each.external_id ?? (each.id ? `#${each.id}` : "new")], ["Outcome", each.outcome], ["Details", details]]) {
      const cell = row.insertCell();
      cell.textContent = text;
      cell.dataset.label = label;
      if (label === "Outcome") cell.className = `outcome ${each.outcome}`;
    }
  }
  return made;
}
