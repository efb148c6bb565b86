//! Patterns of text: regular expressions (`matches`) and wildcards (`like`), in linear time.
//!
//! `syntax.rs` reads them; `pattern.py` has the same and refuses and accepts the same patterns with the same codes. Here
//! a pattern becomes words, so that a literal and a snapshot can hold it:
//!
//! ```text
//!   operator (8) │ one (28) │ two (28)     for each instruction, in order
//!   ASCII characters (2 words), then first (32) │ last (32) for each range of others: the classes
//! ```
//!
//! A class is of the instruction's `two` ranges at the word `one`. A split goes on at both, a jump at
//! `one`. The program is run over the text once, with the set of states that it can be in.

mod syntax;

use smallvec::SmallVec;
use syntax::{Node, like, regular};

/// Instructions of a program.
const LARGEST: usize = 2000;

const CLASS: u64 = 0;
const SPLIT: u64 = 1;
const JUMP: u64 = 2;
const BEGIN: u64 = 3;
const END: u64 = 4;
const EDGE: u64 = 5;
const INSIDE: u64 = 6;
const DONE: u64 = 7;

/// First and last characters, ascending and apart from each other.
type Ranges = Vec<(u32, u32)>;

/// Why a text is no pattern: the code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BadPattern(pub &'static str);

const SYNTAX: BadPattern = BadPattern("pattern.syntax");
const LARGE: BadPattern = BadPattern("pattern.large");

type Read<T> = Result<T, BadPattern>;

fn pack(op: u64, one: usize, two: usize) -> u64 {
    op | (one as u64) << 8 | (two as u64) << 36
}

struct Writer {
    code: Vec<u64>,
    /// The classes of the instructions, by instruction.
    classes: Vec<(usize, Ranges)>,
}

impl Writer {
    fn write(&mut self, node: &Node) -> Read<()> {
        if self.code.len() > LARGEST {
            return Err(LARGE);
        }
        match node {
            Node::Chars(ranges) => {
                self.classes.push((self.code.len(), ranges.clone()));
                self.code.push(CLASS);
            }
            Node::Place(kind) => self.code.push(*kind),
            Node::Join(nodes) => {
                for node in nodes {
                    self.write(node)?;
                }
            }
            Node::Choice(nodes) => {
                let mut jumps = Vec::new();
                for (place, node) in nodes.iter().enumerate() {
                    let split = self.code.len();
                    if place + 1 == nodes.len() {
                        self.write(node)?;
                        break;
                    }
                    self.code.push(SPLIT);
                    self.write(node)?;
                    jumps.push(self.code.len());
                    self.code.push(JUMP);
                    self.code[split] = pack(SPLIT, split + 1, self.code.len());
                }
                for jump in jumps {
                    self.code[jump] = pack(JUMP, self.code.len(), 0);
                }
            }
            Node::Repeat(node, least, most) => self.repeat(node, *least, *most)?,
        }
        Ok(())
    }

    fn repeat(&mut self, node: &Node, least: usize, most: Option<usize>) -> Read<()> {
        for _ in 0..least {
            let before = self.code.len();
            self.write(node)?;
            if self.code.len() == before {
                return Ok(()); // repeating nothing is nothing
            }
        }
        let Some(most) = most else {
            let split = self.code.len();
            self.code.push(SPLIT);
            self.write(node)?;
            self.code.push(pack(JUMP, split, 0));
            self.code[split] = pack(SPLIT, split + 1, self.code.len());
            return Ok(());
        };
        let mut splits = Vec::new();
        for _ in least..most {
            splits.push(self.code.len());
            self.code.push(SPLIT);
            self.write(node)?;
        }
        for split in splits {
            self.code[split] = pack(SPLIT, split + 1, self.code.len());
        }
        Ok(())
    }
}

/// A pattern that was read: its program, and a text that every match contains; perhaps an empty one.
#[derive(Debug)]
pub struct Pattern {
    pub program: Vec<u64>,
    pub required: String,
}

impl Pattern {
    /// Reads the operand of a `like`, or else of a `matches`; `fold` says that the texts are folded.
    ///
    /// # Errors
    /// With the code of what is wrong.
    pub fn read(text: &str, is_like: bool, fold: bool) -> Read<Self> {
        if !is_like && text.is_empty() {
            return Err(BadPattern("pattern.empty"));
        }
        let node = if is_like {
            like(text)?
        } else {
            regular(text, fold)?
        };
        let mut writer = Writer {
            code: Vec::new(),
            classes: Vec::new(),
        };
        writer.write(&node)?;
        writer.code.push(DONE);
        let Writer {
            code: mut program,
            classes,
        } = writer;
        if program.len() > LARGEST {
            return Err(LARGE);
        }
        let mut known: Vec<(Ranges, u64)> = Vec::new();
        for (place, ranges) in classes {
            program[place] = match known.iter().find(|(other, _)| *other == ranges) {
                Some((_, word)) => *word,
                None => {
                    let word = pack(CLASS, program.len(), write_class(&ranges, &mut program));
                    known.push((ranges, word));
                    word
                }
            };
        }
        let mut runs = Runs::default();
        runs.add(&node);
        Ok(Pattern {
            program,
            required: runs.longest(),
        })
    }
}

/// Appends a class, and returns the number of its ranges outside of ASCII.
fn write_class(ranges: &[(u32, u32)], program: &mut Vec<u64>) -> usize {
    let mut ascii = 0u128;
    for &(low, high) in ranges {
        for char in low..=high.min(127) {
            ascii |= 1 << char;
        }
    }
    program.extend([ascii as u64, (ascii >> 64) as u64]);
    let others = ranges.iter().filter(|&&(_, high)| high > 127);
    let others = others.map(|&(low, high)| u64::from(low.max(128)) << 32 | u64::from(high));
    let before = program.len();
    program.extend(others);
    program.len() - before
}

/// The texts that every match contains.
#[derive(Default)]
struct Runs {
    longest: String,
    current: String,
}

impl Runs {
    fn add(&mut self, node: &Node) {
        match node {
            Node::Chars(ranges) => match ranges[..] {
                [(char, same)] if char == same => self.current.extend(char::from_u32(char)),
                _ => self.end(),
            },
            Node::Place(_) => {}
            Node::Join(nodes) => nodes.iter().for_each(|node| self.add(node)),
            Node::Choice(_) => self.end(),
            Node::Repeat(node, least, most) => {
                // Once for sure, however often; behind it, only if there are no more.
                if *least > 0 {
                    self.add(node);
                }
                if *least != 1 || *most != Some(1) {
                    self.end();
                }
            }
        }
    }

    fn end(&mut self) {
        if self.current.len() > self.longest.len() {
            self.longest.clone_from(&self.current);
        }
        self.current.clear();
    }

    fn longest(mut self) -> String {
        self.end();
        self.longest
    }
}

type States = SmallVec<[u32; 64]>;

/// A set of states between two characters.
struct Reached<'a> {
    program: &'a [u64],
    seen: SmallVec<[u64; 8]>,
    pending: States,
    /// The ones with a class.
    classes: States,
}

impl Reached<'_> {
    /// Adds what a state leads to between two characters. Returns whether that is a match.
    fn add(&mut self, state: u32, before: Option<u8>, after: Option<u8>) -> bool {
        self.pending.push(state);
        while let Some(state) = self.pending.pop() {
            let (word, bit) = (state as usize / 64, 1 << (state % 64));
            if self.seen[word] & bit != 0 {
                continue;
            }
            self.seen[word] |= bit;
            let instruction = self.program[state as usize];
            match instruction & 0xff {
                CLASS => self.classes.push(state),
                DONE => return true,
                SPLIT => {
                    let (one, two) = (instruction >> 8 & 0xfff_ffff, instruction >> 36);
                    self.pending.extend([one as u32, two as u32]);
                }
                JUMP => self.pending.push((instruction >> 8 & 0xfff_ffff) as u32),
                place if is_at(place, before, after) => self.pending.push(state + 1),
                _ => {}
            }
        }
        false
    }

    fn clear(&mut self) {
        self.seen.fill(0);
        self.classes.clear();
    }
}

/// Bytes are enough: only ASCII characters are parts of words.
fn is_at(place: u64, before: Option<u8>, after: Option<u8>) -> bool {
    let is_word =
        |byte: Option<u8>| byte.is_some_and(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
    match place {
        BEGIN => before.is_none(),
        END => after.is_none(),
        EDGE => is_word(before) != is_word(after),
        _ => is_word(before) == is_word(after),
    }
}

fn has(program: &[u64], instruction: u64, char: char) -> bool {
    let class = &program[(instruction >> 8 & 0xfff_ffff) as usize..];
    let code = char as usize;
    if code < 128 {
        return class[code / 64] >> (code % 64) & 1 == 1;
    }
    let ranges = &class[2..2 + (instruction >> 36) as usize];
    let code = code as u64;
    let after = ranges.partition_point(|range| range >> 32 <= code);
    after > 0 && code <= ranges[after - 1] & 0xffff_ffff
}

/// Whether a program finds a match in a text. Takes time proportional to the length of the text and
/// to the number of states.
pub fn finds(program: &[u64], text: &str) -> bool {
    let mut reached = Reached {
        program,
        seen: SmallVec::from_elem(0, LARGEST.div_ceil(64)),
        pending: States::new(),
        classes: States::new(),
    };
    let states = program.len().min(LARGEST);
    reached.seen.truncate(states.div_ceil(64));
    let mut next = States::new();
    let mut before = None;
    let bytes = text.as_bytes();
    let mut chars = text.char_indices();
    loop {
        let found = chars.next();
        let after = found.map(|(at, _)| bytes[at]);
        if reached.add(0, before, after) {
            return true;
        }
        for state in next.drain(..) {
            if reached.add(state, before, after) {
                return true;
            }
        }
        let Some((_, char)) = found else {
            return false;
        };
        for &state in &reached.classes {
            if has(program, program[state as usize], char) {
                next.push(state + 1);
            }
        }
        reached.clear();
        before = after;
    }
}

/// Whether words from elsewhere are a program that can be run.
pub fn is_program(program: &[u64]) -> bool {
    let Some(done) = program.iter().position(|word| word & 0xff == DONE) else {
        return false;
    };
    let is_state = |state: u64| state <= done as u64;
    done < LARGEST
        && program[..done].iter().all(|&word| {
            let (one, two) = (word >> 8 & 0xfff_ffff, word >> 36);
            match word & 0xff {
                CLASS => one + 2 + two <= program.len() as u64,
                SPLIT => is_state(one) && is_state(two),
                JUMP => is_state(one),
                op => op < DONE,
            }
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn matches(pattern: &str, text: &str) -> bool {
        let read = Pattern::read(pattern, false, false).unwrap();
        assert!(is_program(&read.program));
        let found = finds(&read.program, text);
        assert!(!found || text.contains(&read.required), "{}", read.required);
        found
    }

    #[test]
    fn patterns_match_anywhere_unless_they_say_where() {
        assert!(matches("b+c", "abbcd") && !matches("^b", "ab"));
        assert!(matches("^(a|bc)*$", "abcbca") && !matches("^(a|bc)*$", "abcb"));
        assert!(matches(r"\bsport\b", "a sport!") && !matches(r"\bsport\b", "sports"));
        assert!(matches("[^a-y]é{2}", "zéé") && matches("x|", "") && !matches("[é-ü]", "e"));
        assert!(matches("(a*)*b", &("a".repeat(5000) + "b")));
    }

    #[test]
    fn a_required_text_is_in_every_match() {
        let required = |pattern: &str| Pattern::read(pattern, false, false).unwrap().required;
        assert_eq!(required(r"^/sport/\d+\.html$"), "/sport/");
        assert_eq!(required("a(bc)+d"), "abc");
        assert_eq!(required("ab?cd|x"), "");
        assert_eq!(required("(foo|bar)baz"), "baz");
        assert_eq!(
            Pattern::read("*a?bcd", true, false).unwrap().required,
            "bcd"
        );
        assert_eq!(
            Pattern::read("ÉCOLE", false, true).unwrap().required,
            "école"
        );
    }

    #[test]
    fn what_is_no_pattern_is_refused() {
        for bad in [
            "(", ")", "a**", "*", "[b-a]", r"\1", r"\p", "(?i)a", "[[a]", "a{2", "]",
        ] {
            assert_eq!(
                Pattern::read(bad, false, false).unwrap_err(),
                SYNTAX,
                "{bad}"
            );
        }
        let large = ["(a{999}){9}", &("(".repeat(60) + &")".repeat(60))];
        for bad in large {
            assert_eq!(Pattern::read(bad, false, false).unwrap_err(), LARGE);
        }
        for plain in ["a", "a*", "*a", "*a*", "*", "", "a**b", "a*?b"] {
            assert!(Pattern::read(plain, true, false).is_err(), "{plain}");
        }
    }
}
