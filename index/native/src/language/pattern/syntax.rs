//! The syntax of patterns, as trees; `pattern_syntax.py` has the grammar.

use super::{BEGIN, BadPattern, EDGE, END, INSIDE, LARGE, Ranges, Read, SYNTAX};
use crate::language::folding::fold_ranges;

/// Groups inside each other.
const DEEPEST: usize = 50;

const LAST: u32 = char::MAX as u32;

#[derive(Clone, Debug)]
pub(super) enum Node {
    Chars(Ranges),
    Place(u64),
    Repeat(Box<Node>, usize, Option<usize>),
    Join(Vec<Node>),
    Choice(Vec<Node>),
}

fn union(mut ranges: Ranges) -> Ranges {
    ranges.sort_unstable();
    let mut found: Ranges = Vec::new();
    for (low, high) in ranges {
        match found.last_mut() {
            Some(last) if low <= last.1 + 1 => last.1 = last.1.max(high),
            _ => found.push((low, high)),
        }
    }
    found
}

fn complement(ranges: &[(u32, u32)]) -> Ranges {
    let (mut found, mut low) = (Ranges::new(), 0);
    for &(first, last) in ranges {
        if low < first {
            found.push((low, first - 1));
        }
        low = last + 1;
    }
    if low <= LAST {
        found.push((low, LAST));
    }
    found
}

fn folded(ranges: &[(u32, u32)]) -> Ranges {
    union(fold_ranges(ranges))
}

struct Reader<'a> {
    text: &'a [char],
    fold: bool,
    at: usize,
    depth: usize,
}

impl Reader<'_> {
    fn next(&self) -> Option<char> {
        self.text.get(self.at).copied()
    }

    fn takes(&mut self, char: char) -> bool {
        let found = self.next() == Some(char);
        self.at += usize::from(found);
        found
    }

    fn choice(&mut self) -> Read<Node> {
        let first = self.branch()?;
        if self.next() != Some('|') {
            return Ok(first);
        }
        let mut branches = vec![first];
        while self.takes('|') {
            branches.push(self.branch()?);
        }
        Ok(Node::Choice(branches))
    }

    fn branch(&mut self) -> Read<Node> {
        let mut pieces = Vec::new();
        while !matches!(self.next(), None | Some('|' | ')')) {
            pieces.push(self.piece()?);
        }
        match pieces.len() {
            1 => Ok(pieces.swap_remove(0)),
            _ => Ok(Node::Join(pieces)),
        }
    }

    fn piece(&mut self) -> Read<Node> {
        let node = self.atom()?;
        let (least, most) = match self.next() {
            Some('*') => (0, None),
            Some('+') => (1, None),
            Some('?') => (0, Some(1)),
            Some('{') => (0, None),
            _ => return Ok(node),
        };
        if matches!(node, Node::Place(_)) {
            return Err(SYNTAX);
        }
        let counted = self.takes('{');
        let (least, most) = if counted {
            self.counts()?
        } else {
            self.at += 1;
            (least, most)
        };
        self.takes('?');
        match self.next() {
            Some('*' | '+' | '?' | '{') => Err(SYNTAX),
            _ => Ok(Node::Repeat(Box::new(node), least, most)),
        }
    }

    fn counts(&mut self) -> Read<(usize, Option<usize>)> {
        let least = self.number()?;
        let mut most = Some(least);
        if self.takes(',') {
            most = match self.next() {
                Some('}') => None,
                _ => Some(self.number()?),
            };
        }
        if !self.takes('}') || most.is_some_and(|most| most < least) {
            return Err(SYNTAX);
        }
        Ok((least, most))
    }

    fn number(&mut self) -> Read<usize> {
        let (start, mut number) = (self.at, 0);
        while let Some(digit) = self.next().filter(char::is_ascii_digit) {
            self.at += 1;
            if self.at - start > 4 {
                return Err(SYNTAX);
            }
            number = number * 10 + (digit as usize - '0' as usize);
        }
        if self.at == start {
            Err(SYNTAX)
        } else {
            Ok(number)
        }
    }

    fn atom(&mut self) -> Read<Node> {
        let char = self.next().ok_or(SYNTAX)?;
        self.at += 1;
        match char {
            '(' => self.group(),
            '[' => self.brackets(),
            '\\' if self.takes('b') => Ok(Node::Place(EDGE)),
            '\\' if self.takes('B') => Ok(Node::Place(INSIDE)),
            '\\' => {
                let ranges = self.escape()?;
                Ok(self.chars(ranges))
            }
            '*' | '+' | '?' | '{' | ']' | '}' => Err(SYNTAX),
            '^' => Ok(Node::Place(BEGIN)),
            '$' => Ok(Node::Place(END)),
            '.' => Ok(Node::Chars(complement(&[(10, 10)]))),
            _ => Ok(self.chars(vec![(char as u32, char as u32)])),
        }
    }

    fn chars(&self, ranges: Ranges) -> Node {
        Node::Chars(if self.fold { folded(&ranges) } else { ranges })
    }

    fn group(&mut self) -> Read<Node> {
        if self.takes('?') && !self.takes(':') {
            return Err(SYNTAX);
        }
        self.depth += 1;
        if self.depth > DEEPEST {
            return Err(LARGE);
        }
        let node = self.choice()?;
        if !self.takes(')') {
            return Err(SYNTAX);
        }
        self.depth -= 1;
        Ok(Node::Join(vec![node]))
    }

    fn escape(&mut self) -> Read<Ranges> {
        let char = self.next().ok_or(SYNTAX)?;
        self.at += 1;
        let code = |char: char| vec![(char as u32, char as u32)];
        let class: &[(u32, u32)] = match char.to_ascii_lowercase() {
            'd' => &[(0x30, 0x39)],
            'w' => &[(0x30, 0x39), (0x41, 0x5a), (0x5f, 0x5f), (0x61, 0x7a)],
            's' => &[(0x09, 0x0d), (0x20, 0x20)],
            _ => &[],
        };
        match char {
            _ if !class.is_empty() && char.is_ascii_lowercase() => Ok(class.to_vec()),
            _ if !class.is_empty() => Ok(complement(class)),
            'n' => Ok(code('\n')),
            'r' => Ok(code('\r')),
            't' => Ok(code('\t')),
            '0'..='9' | 'A'..='Z' | 'a'..='z' | '\u{7f}'.. => Err(SYNTAX),
            _ => Ok(code(char)),
        }
    }

    fn brackets(&mut self) -> Read<Node> {
        let negated = self.takes('^');
        let mut found = Ranges::new();
        while !self.takes(']') {
            let mut low = self.member()?;
            let after = self.text.get(self.at + 1);
            if self.next() == Some('-') && after.is_some_and(|&after| after != ']') {
                self.at += 1;
                let high = self.member()?;
                let (&[(first, same)], &[(last, also)]) = (&low[..], &high[..]) else {
                    return Err(SYNTAX);
                };
                if first != same || last != also || first > last {
                    return Err(SYNTAX);
                }
                low = vec![(first, last)];
            }
            found.extend(low);
        }
        if found.is_empty() {
            return Err(SYNTAX);
        }
        let mut ranges = union(found);
        if self.fold {
            ranges = folded(&ranges);
        }
        Ok(Node::Chars(if negated {
            complement(&ranges)
        } else {
            ranges
        }))
    }

    fn member(&mut self) -> Read<Ranges> {
        let char = self.next().filter(|&char| char != '[').ok_or(SYNTAX)?;
        self.at += 1;
        match char {
            '\\' => self.escape(),
            _ => Ok(vec![(char as u32, char as u32)]),
        }
    }
}

pub(super) fn regular(text: &str, fold: bool) -> Read<Node> {
    let text: Vec<char> = text.chars().collect();
    let mut reader = Reader {
        text: &text,
        fold,
        at: 0,
        depth: 0,
    };
    let node = reader.choice()?;
    if reader.at < text.len() {
        return Err(SYNTAX);
    }
    Ok(node)
}

/// A pattern with wildcards that no other operator says.
pub(super) fn like(text: &str) -> Read<Node> {
    const PLAIN: BadPattern = BadPattern("pattern.plain");
    let mut nodes = vec![Node::Place(BEGIN)];
    let (mut ones, mut stars, mut was_star) = (0, 0, false);
    let mut chars = text.chars();
    while let Some(char) = chars.next() {
        match char {
            '*' if was_star => return Err(PLAIN),
            '*' => {
                let any = Node::Chars(vec![(0, LAST)]);
                nodes.push(Node::Repeat(Box::new(any), 0, None));
                stars += 1;
            }
            '?' if was_star => return Err(PLAIN),
            '?' => {
                nodes.push(Node::Chars(vec![(0, LAST)]));
                ones += 1;
            }
            _ => {
                let itself = match char {
                    '\\' => chars
                        .next()
                        .filter(|&next| matches!(next, '*' | '?' | '\\')),
                    _ => Some(char),
                };
                let char = itself.ok_or(SYNTAX)? as u32;
                nodes.push(Node::Chars(vec![(char, char)]));
            }
        }
        was_star = char == '*';
    }
    // Equality, a prefix, a suffix or a part.
    let begins = text.starts_with('*');
    let is_plain = match stars {
        0 => true,
        1 => begins || was_star,
        _ => stars == 2 && begins && was_star,
    };
    if ones == 0 && is_plain {
        return Err(PLAIN);
    }
    nodes.push(Node::Place(END));
    Ok(Node::Join(nodes))
}
