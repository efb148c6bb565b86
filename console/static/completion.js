// Completion in a text area: attributes, operators that fit the attribute before, words of logic, and
// inside quotes the values of the attribute.
import { code } from "./elements.js";

const MOST = 8;
const TEXT = /^(?:'(?:[^']|'')*'|"(?:[^"]|"")*")$/;
const NAME_BEFORE_TEXT =
  /(?:^|[\s(])([A-Za-z_][\w.]*|`(?:[^`]|``)*`)\s*(?:=|!=|<>|(?:not\s+)?in\s*\(|(?:any|all|none)\s+of\s*\(|starts with|ends with|contains)[^()=]*$/i;
const NAME_BEFORE_OPERATOR = /([A-Za-z_][\w.]*|`(?:[^`]|``)*`)\s+(?:not\s+)?$/;

export const TOKEN = /(--[^\n]*)|('(?:[^']|'')*'?|"(?:[^"]|"")*"?)|(-?\d[\d.eE+-]*)|([A-Za-z_][\w.]*|`(?:[^`]|``)*`?)|(\s+)|(.)/gy;
// Its groups: comment, text, number, word, space, anything else.

export class Completion {
  // `changed` is called after a choice was taken.
  constructor(area, list, changed) {
    this.area = area;
    this.list = list;
    this.changed = changed;
    this.words = { attributes: [], operators: [], logic: [] };
    this.choices = [];
    this.chosen = 0;
    this.wanted = null;
    area.addEventListener("input", () => this.suggest(false));
    area.addEventListener("blur", () => this.close());
    area.addEventListener("keydown", (event) => this.press(event));
  }

  // Words that arrive after somebody has begun to type are suggested then.
  learn(words) {
    this.words = words;
    if (this.wanted !== null) this.suggest(this.wanted);
  }

  get before() {
    return this.area.value.slice(0, this.area.selectionStart);
  }

  // What is typed of a word, or of a text in quotes; then with the attribute that it belongs to.
  get typed() {
    const last = [...this.before.matchAll(TOKEN)].at(-1);
    const text = last?.[2];
    if (text && !(text.length > 1 && TEXT.test(text))) {
      const name = this.before.slice(0, last.index).match(NAME_BEFORE_TEXT)?.[1];
      if (name) return { text: text.slice(1), name };
    }
    return { text: this.before.match(/[\w.]*$/)[0], name: null };
  }

  // `force`: also if nothing is typed yet.
  suggest(force) {
    this.wanted = force;
    const typed = this.typed;
    const lower = typed.text.toLowerCase();
    const found = typed.name || force || lower ? this.candidates(typed) : [];
    const starts = found.filter((each) => each.text.toLowerCase().startsWith(lower) && each.text !== typed.text);
    const contains = lower ? found.filter((each) => each.text.toLowerCase().indexOf(lower) > 0) : [];
    this.choices = [...starts, ...contains].slice(0, MOST);
    this.chosen = 0;
    this.show();
  }

  candidates({ text, name }) {
    const named = (some) => some.map((each) => ({ text: each, note: "" }));
    const { attributes, operators, logic } = this.words;
    if (name) return named(attributes.find((each) => each.name === name)?.values ?? []);
    const last = this.before.slice(0, this.before.length - text.length).match(NAME_BEFORE_OPERATOR);
    const attribute = last && attributes.find((each) => each.name === last[1]);
    const fits = named(operators.filter((each) => !attribute || each.types.includes(attribute.type)).map((each) => each.word));
    if (attribute) return fits;
    return [...attributes.map((each) => ({ text: each.name, note: each.type })), ...named(logic), ...fits];
  }

  show() {
    this.list.replaceChildren(...this.choices.map((choice, n) => this.item(choice, n)));
    this.list.hidden = this.choices.length === 0;
    if (this.list.hidden) this.area.removeAttribute("aria-activedescendant");
    else this.area.setAttribute("aria-activedescendant", `choice-${this.chosen}`);
  }

  item(choice, n) {
    const item = Object.assign(document.createElement("li"), { role: "option", id: `choice-${n}` });
    item.setAttribute("aria-selected", String(n === this.chosen));
    item.append(code(choice.text), Object.assign(document.createElement("span"), { textContent: choice.note }));
    item.addEventListener("mousedown", (event) => {
      event.preventDefault();
      this.chosen = n;
      this.take();
    });
    return item;
  }

  take() {
    const { text, name } = this.typed;
    const { value, selectionStart: end } = this.area;
    const quote = value[end - text.length - 1];
    const ending = !name ? " " : value[end] === quote ? "" : quote;
    this.area.setRangeText(this.choices[this.chosen].text + ending, end - text.length, end, "end");
    this.close();
    this.changed();
  }

  close() {
    this.wanted = null;
    this.choices = [];
    this.show();
  }

  press(event) {
    if (event.key === " " && event.ctrlKey) this.suggest(true);
    else if (!this.choices.length) return;
    else if (event.key === "ArrowDown") this.move(1);
    else if (event.key === "ArrowUp") this.move(this.choices.length - 1);
    else if (event.key === "Tab" || event.key === "Enter") this.take();
    else if (event.key === "Escape") this.close();
    else return;
    event.preventDefault();
  }

  move(by) {
    this.chosen = (this.chosen + by) % this.choices.length;
    this.show();
  }
}
