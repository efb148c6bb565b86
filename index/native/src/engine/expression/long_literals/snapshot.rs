//! Long literals in a snapshot: their memory, the guards, the strings. The table, the rows of truth
//! and all use counts are rebuilt from the literals of the programs.

use super::{
    ALL_OF, AMONG, ANY_OF, AREA, BUCKET, CONTAINS, EMPTY, HEADER, LIKE, LongLiterals, MATCHES,
    ORDER, PREFIX, Ref, SHARDS, SUFFIX, TEXT, TEXTS,
};
use crate::engine::expression::areas::Area;
use crate::engine::expression::literal_word::{self, LiteralWord};
use crate::engine::expression::truth::{Guard, Truth};
use crate::engine::snapshot::sections::{Malformed, Section, ensure};
use crate::language::Type;
use crate::language::pattern::is_program;

/// The use counts of literals by number, which is a position in the arena.
pub struct Uses(Vec<u32>);

impl Uses {
    /// Whether a literal is in use.
    #[inline]
    pub fn has(&self, number: u32) -> bool {
        self.0.get(number as usize).is_some_and(|&uses| uses > 0)
    }
}

impl LongLiterals {
    /// Literals to read a snapshot into.
    pub fn unread() -> Self {
        LongLiterals {
            truth: Truth::unread(),
            ..Default::default()
        }
    }

    /// The sections of this part of a snapshot.
    pub fn sections(&self) -> [&dyn Section; 3] {
        let [truth] = self.truth.sections();
        let [strings] = self.strings.sections();
        [&self.arena, truth, strings]
    }

    /// See `sections`.
    pub fn sections_mut(&mut self) -> [&mut dyn Section; 3] {
        let [truth] = self.truth.sections_mut();
        let [strings] = self.strings.sections_mut();
        [&mut self.arena, truth, strings]
    }

    /// Start to count uses.
    pub fn uses_of_none(&self) -> Uses {
        Uses(vec![0; self.arena.reach()])
    }

    /// Count one use of the strings and literals that a word of a program names.
    ///
    /// # Errors
    /// If it names something that does not exist.
    #[inline]
    pub fn count(
        &mut self,
        word: LiteralWord,
        types: &[Type],
        uses: &mut Uses,
    ) -> Result<(), Malformed> {
        if word == literal_word::ALWAYS {
            return Ok(());
        }
        let Some(&kind) = types.get(literal_word::attribute_of(word) as usize) else {
            return Err(Malformed("a literal has an unknown attribute"));
        };
        match literal_word::op_of(word) {
            literal_word::EQ | literal_word::NE if kind == Type::Str => {
                let number = literal_word::payload_of(word);
                ensure(
                    self.strings.is_known(number),
                    "a literal names an unknown string",
                )?;
                self.strings.retain(number as u32);
            }
            literal_word::LITERAL => {
                let number = u32::try_from(literal_word::payload_of(word)).unwrap_or(u32::MAX);
                let Some(uses) = uses.0.get_mut(number as usize) else {
                    return Err(Malformed("a long literal is outside its arena"));
                };
                *uses += 1;
            }
            op => ensure(is_short(op), "a literal has an unknown kind")?,
        }
        Ok(())
    }

    /// Count a use of a guard by a posting. Returns whether there is such a guard.
    #[inline]
    pub fn count_guard(&mut self, guard: Guard) -> bool {
        let exists = self.truth.has(guard);
        if exists {
            self.truth.retain(guard);
        }
        exists
    }

    /// Whether every guard is used by a posting or by a set.
    pub fn are_guards_used(&self) -> bool {
        self.truth.are_used()
    }

    /// Rebuild the tables from the use counts.
    ///
    /// # Errors
    /// If a used literal is not valid.
    pub fn rebuild(&mut self, uses: &Uses, types: &[Type]) -> Result<(), Malformed> {
        let attributes = types.len();
        let mut claims = self.arena.claims()?;
        for (number, &count) in uses.0.iter().enumerate().filter(|&(_, &count)| count > 0) {
            let number = number as Ref;
            ensure(self.arena.has(number, HEADER), "a long literal is cut off")?;
            let len = (self.arena.words(number, 1)[0] >> 32) as usize;
            claims.claim(number, HEADER + len)?;
            self.check(number, attributes)?;
            let guard = self.guard(number).unwrap_or(0);
            self.arena.words_mut(number + 1, 1)[0] = u64::from(count) | u64::from(guard) << 32;
            let word = literal_word::pack(
                literal_word::LITERAL,
                self.get(number).attribute,
                u64::from(number),
            );
            let is_its = guard == 0 || (self.truth.has(guard) && self.truth.word(guard) == word);
            ensure(is_its, "a literal has the guard of another one")?;
            self.hold_strings(number)?;
            let hash = self.hash(&self.get(number));
            let shard = (hash >> 45) as usize % SHARDS;
            let mut table = std::mem::take(&mut self.table[shard]);
            table.insert_unique(hash, number, |&other| self.hash(&self.get(other)));
            self.table[shard] = table;
        }
        self.arena.settle(&claims);
        self.rebuild_guards(uses, types)?;
        self.strings.rebuild()
    }

    /// Rebuild the rows of truth. Long literals use their guards; the uses of postings are counted
    /// later.
    fn rebuild_guards(&mut self, uses: &Uses, types: &[Type]) -> Result<(), Malformed> {
        let mut truth = std::mem::take(&mut self.truth);
        let rebuilt = truth.rebuild(types.len(), |word| {
            let kind = *types.get(literal_word::attribute_of(word) as usize)?;
            let is_known = match literal_word::op_of(word) {
                literal_word::LITERAL => {
                    u32::try_from(literal_word::payload_of(word)).is_ok_and(|it| uses.has(it))
                }
                op => is_short(op),
            };
            self.ranges(is_known.then_some(word)?, kind)
        });
        for &number in self.table.iter().flatten() {
            truth.retain(self.guard(number).unwrap_or(0));
        }
        self.truth = truth;
        rebuilt
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
