//! Long literals in a snapshot: their memory, the numbers of all literals, the strings. The tables
//! are rebuilt from the numbers.

use super::{
    ALL_OF, AMONG, ANY_OF, AREA, BUCKET, CONTAINS, EMPTY, HEADER, LIKE, LongLiterals, MATCHES,
    ORDER, PREFIX, Ref, SUFFIX, TEXT, TEXTS,
};
use crate::engine::expression::areas::Area;
use crate::engine::expression::literal_ids::{LiteralId, Numbers};
use crate::engine::expression::literal_word::{self, LiteralWord};
use crate::engine::memory::arena::Claims;
use crate::engine::snapshot::sections::{Malformed, Section, ensure};
use crate::language::Type;
use crate::language::pattern::is_program;

impl LongLiterals {
    /// The sections of this part of a snapshot.
    pub fn sections(&self) -> [&dyn Section; 4] {
        let [truth, open] = self.numbers.sections();
        let [strings] = self.strings.sections();
        [&self.arena, truth, open, strings]
    }

    /// See `sections`.
    pub fn sections_mut(&mut self) -> [&mut dyn Section; 4] {
        let [truth, open] = self.numbers.sections_mut();
        let [strings] = self.strings.sections_mut();
        [&mut self.arena, truth, open, strings]
    }

    /// Literals to read a snapshot into.
    pub fn unread() -> Self {
        LongLiterals {
            numbers: Numbers::unread(),
            ..Default::default()
        }
    }

    /// Rebuild the tables from the numbers of the literals.
    ///
    /// # Errors
    /// If a literal is not valid.
    pub fn rebuild(&mut self, types: &[Type]) -> Result<(), Malformed> {
        let mut claims = self.arena.claims()?;
        let ids: Vec<(LiteralId, LiteralWord)> = self.numbers.iter().collect();
        for (id, word) in ids {
            let Some(&kind) = types.get(literal_word::attribute_of(word) as usize) else {
                return Err(Malformed("a literal has an unknown attribute"));
            };
            let payload = literal_word::payload_of(word);
            match literal_word::op_of(word) {
                literal_word::EQ | literal_word::NE if kind == Type::Str => {
                    let is_known = self.strings.is_known(payload);
                    ensure(is_known, "a literal names an unknown string")?;
                    self.strings.retain(payload as u32);
                }
                literal_word::LITERAL => {
                    let place = Ref::try_from(payload).unwrap_or(Ref::MAX);
                    self.rebuild_literal(place, id, word, types.len(), &mut claims)?;
                }
                op => ensure(is_short(op), "a literal has an unknown kind")?,
            }
        }
        self.arena.settle(&claims);
        let mut numbers = std::mem::take(&mut self.numbers);
        let rebuilt = numbers.rebuild(types.len(), |word| {
            let kind = types[literal_word::attribute_of(word) as usize];
            self.ranges(word, kind)
        });
        self.numbers = numbers;
        rebuilt?;
        self.strings.rebuild()
    }

    /// Whether a literal may be at a position.
    pub(in super::super) fn is_inside(&self, place: Ref) -> bool {
        self.arena.has(place, HEADER)
    }

    /// Check a literal and enter it.
    fn rebuild_literal(
        &mut self,
        place: Ref,
        id: LiteralId,
        word: LiteralWord,
        attributes: usize,
        claims: &mut Claims,
    ) -> Result<(), Malformed> {
        ensure(self.is_inside(place), "a long literal is outside its arena")?;
        let len = (self.arena.words(place, 1)[0] >> 32) as usize;
        claims.claim(place, HEADER + len)?;
        self.check(place, attributes)?;
        let is_its = self.word_at(place) == word && self.id_of(place) == id;
        ensure(is_its, "a long literal has another number")?;
        self.hold_strings(place)?;
        let hash = self.hash(&self.get(place));
        self.enter(place, hash);
        Ok(())
    }

    /// Whether there is a valid literal at a position inside the arena.
    fn check(&self, number: Ref, attributes: usize) -> Result<(), Malformed> {
        let header = self.arena.words(number, 1)[0];
        let data = self
            .arena
            .words(number + HEADER as u32, (header >> 32) as usize);
        let attribute = (header >> 16) as usize & 0xffff;
        ensure(
            attribute < attributes,
            "a long literal is about no attribute",
        )?;
        let kind = header & 0xff;
        let is_set = matches!(kind, AMONG | ANY_OF | ALL_OF);
        let fits = match kind {
            ORDER => data.len() == 2,
            PREFIX | SUFFIX => data.len() == 1,
            EMPTY => data.is_empty(),
            CONTAINS => rest_of_text(data) == Some(&[]),
            TEXT => rest_of_text(data).and_then(rest_of_text) == Some(&[]),
            BUCKET => rest_of_text(data)
                .is_some_and(|ranges| !ranges.is_empty() && ranges.len().is_multiple_of(2)),
            LIKE | MATCHES => rest_of_text(data)
                .and_then(rest_of_text)
                .is_some_and(is_program),
            area if area >= AREA => Area::ALL
                .get((area - AREA) as usize)
                .is_some_and(|area| area.fits(data.len())),
            _ => is_set && !data.is_empty() && data.is_sorted_by(|a, b| a < b),
        };
        ensure(fits, "a long literal is not valid")?;
        ensure(header & TEXTS == 0 || is_set, "only sets hold strings")
    }

    fn hold_strings(&mut self, number: Ref) -> Result<(), Malformed> {
        let header = self.arena.words(number, 1)[0];
        let is_one = matches!(header & 0xff, PREFIX | SUFFIX);
        if !is_one && header & TEXTS == 0 {
            return Ok(());
        }
        let place = number + HEADER as u32;
        for &string in self.arena.words(place, (header >> 32) as usize) {
            ensure(
                self.strings.is_known(string),
                "a set names an unknown string",
            )?;
            self.strings.retain(string as u32);
        }
        Ok(())
    }
}

fn is_short(op: u64) -> bool {
    matches!(
        op,
        literal_word::EQ
            | literal_word::NE
            | literal_word::RANGE
            | literal_word::OUTSIDE
            | literal_word::TINY
            | literal_word::NOT_TINY
            | literal_word::PRESENT
            | literal_word::MISSING
    )
}

/// What follows a text that can be read.
fn rest_of_text(data: &[u64]) -> Option<&[u64]> {
    let (&len, rest) = data.split_first()?;
    let len = usize::try_from(len).ok()?;
    let (words, rest) = rest.split_at_checked(len.div_ceil(8))?;
    // Native byte order, as the text was written.
    let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_ne_bytes()).collect();
    std::str::from_utf8(&bytes[..len]).ok()?;
    Some(rest)
}
