// Small pieces of a page.

export function code(text) {
  return Object.assign(document.createElement("code"), { textContent: text });
}

// A new paragraph at the end of an element; words between backticks are code.
export function line(parent, text, kind = "") {
  const p = Object.assign(document.createElement("p"), { className: kind });
  text.split("`").forEach((piece, n) => p.append(n % 2 ? code(piece) : piece));
  parent.append(p);
  return p;
}
