// Runs before the first paint: the theme that was chosen, else that of the system.
(() => {
  const root = document.documentElement;
  const chosen = localStorage.getItem("theme");
  const dark = matchMedia("(prefers-color-scheme: dark)").matches;
  root.dataset.theme = chosen || (dark ? "dark" : "light");
})();
