// What every page does: the theme, questions before what cannot be undone, copies.
document.querySelector("[data-theme-switch]")?.addEventListener("click", () => {
  const root = document.documentElement;
  root.dataset.theme = root.dataset.theme === "dark" ? "light" : "dark";
  localStorage.setItem("theme", root.dataset.theme);
});

document.addEventListener("submit", (event) => {
  const form = event.target;
  const question = form.dataset.confirm;
  if (!question || form.dataset.sure) return;
  event.preventDefault();
  ask(question, () => {
    form.dataset.sure = "yes";
    form.requestSubmit();
  });
});

function ask(question, then) {
  const dialog = document.createElement("dialog");
  const text = document.createElement("p");
  text.textContent = question;
  text.id = "question";
  dialog.setAttribute("aria-labelledby", "question");
  const actions = document.createElement("div");
  actions.className = "actions";
  const no = Object.assign(document.createElement("button"), { type: "button", textContent: "Cancel" });
  const yes = Object.assign(document.createElement("button"), { type: "button", textContent: "Yes", className: "primary" });
  no.addEventListener("click", () => dialog.close());
  yes.addEventListener("click", () => {
    dialog.close();
    then();
  });
  actions.append(no, yes);
  dialog.append(text, actions);
  dialog.addEventListener("close", () => dialog.remove());
  document.body.append(dialog);
  dialog.showModal();
}

for (const button of document.querySelectorAll("[data-copy]")) {
  button.addEventListener("click", async () => {
    const target = document.querySelector(button.dataset.copy);
    try {
      await navigator.clipboard.writeText(target.textContent);
      button.textContent = "Copied";
    } catch {
      getSelection().selectAllChildren(target);
    }
  });
}

// A call to the console itself. A session that has ended leads to the sign-in page.
async function call(path, body) {
  const { root, csrf } = document.body.dataset;
  const headers = { Accept: "application/json", "X-CSRF-Token": csrf || "" };
  const options = { headers };
  if (body !== undefined) {
    options.method = "POST";
    options.body = JSON.stringify(body);
    headers["Content-Type"] = "application/json";
  }
  const response = await fetch(root + path, options);
  if (response.status === 401 || response.redirected) location.assign(`${root}/sign-in?ended=1`);
  if (!response.ok) throw new Error((await response.json()).detail || "That did not work.");
  return response.json();
}
