// What every page does: the theme, questions before what cannot be undone, copies.
document.querySelector("[data-theme-switch]")?.addEventListener("click", () => {
  const root = document.documentElement;
  root.dataset.theme = root.dataset.theme === "dark" ? "light" : "dark";
  localStorage.setItem("theme", root.dataset.theme);
});

// On a phone the navigation is wider than the page.
document.querySelector(".bar [aria-current]")?.scrollIntoView({ block: "nearest", inline: "nearest" });

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

// A long form is sent only while the session and the service are there: nothing typed is lost.
const form = document.querySelector("form[data-draft]");
const draft = `draft ${location.pathname}`;
form?.addEventListener("submit", async (event) => {
  event.preventDefault();
  try {
    await send("/session");
    form.submit();
  } catch (error) {
    event.submitter.before(notice(`It was not saved. ${error.message}`, "bad"));
  }
});
if (form && sessionStorage.getItem(draft)) {
  for (const [name, text] of Object.entries(JSON.parse(sessionStorage.getItem(draft)))) {
    if (name !== "csrf" && form.elements[name]) form.elements[name].value = text;
  }
  sessionStorage.removeItem(draft);
  form.before(notice("What you had typed is here again. It is not saved yet.", "warn"));
}

function notice(text, tone) {
  document.querySelector("[data-notice]")?.remove();
  const made = Object.assign(document.createElement("p"), { role: "alert", className: `notice ${tone}`, textContent: text });
  made.dataset.notice = "";
  return made;
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

// A request to the console itself. If the session has ended, what was typed in the form is kept in
// this tab, and is there again after the next sign-in; with `stay` it is an error like any other.
export async function send(path, options = {}) {
  const { root, csrf } = document.body.dataset;
  const headers = { Accept: "application/json", "X-CSRF-Token": csrf || "", ...options.headers };
  const response = await fetch(root + path, { ...options, headers }).catch(() => {
    throw new Error("The console does not answer.");
  });
  if (response.status === 401 && !options.stay) {
    if (form) sessionStorage.setItem(draft, JSON.stringify(Object.fromEntries(new FormData(form))));
    location.assign(`${root}/sign-in?ended=1&next=${encodeURIComponent(location.pathname.slice(root.length))}`);
    await new Promise(() => {});
  }
  if (!response.ok) throw new Error((await response.json()).detail || "That did not work.");
  return response;
}

// The same with JSON.
export async function call(path, body) {
  if (body === undefined) return (await send(path)).json();
  const headers = { "Content-Type": "application/json" };
  return (await send(path, { method: "POST", headers, body: JSON.stringify(body) })).json();
}
