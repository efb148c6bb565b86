//! Operators: the twenty that can be written, and the thirteen that are left in canonical form.

use super::types::Type;

/// The operator of a canonical predicate. The order is the order of literals.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[repr(u8)]
pub enum Op {
    In,
    Lt,
    Le,
    Gt,
    Ge,
    Between,
    StartsWith,
    EndsWith,
    Contains,
    AnyOf,
    AllOf,
    IsEmpty,
    IsNull,
}

impl Op {
    /// Its spelling in the language and in the JSON form.
    pub fn word(self) -> &'static str {
        match self {
            Self::In => "in",
            Self::Lt => "<",
            Self::Le => "<=",
            Self::Gt => ">",
            Self::Ge => ">=",
            Self::Between => "between",
            Self::StartsWith => "starts with",
            Self::EndsWith => "ends with",
            Self::Contains => "contains",
            Self::AnyOf => "any of",
            Self::AllOf => "all of",
            Self::IsEmpty => "is empty",
            Self::IsNull => "is null",
        }
    }
}

/// An operator as it can be written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum WrittenOp {
    Eq,
    Ne,
    Lt,
    Le,
    Gt,
    Ge,
    Between,
    In,
    NotIn,
    AnyOf,
    NoneOf,
    AllOf,
    IsEmpty,
    IsNotEmpty,
    StartsWith,
    EndsWith,
    Contains,
    IsNull,
    IsNotNull,
    /// A bare `bool` attribute.
    Holds,
}

/// What stands after an operator.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Operands {
    Nothing,
    One,
    /// A text that must not be empty.
    Pattern,
    Bounds,
    Set,
}

impl WrittenOp {
    pub(super) fn from_word(word: &str) -> Option<Self> {
        Some(match word {
            "=" => Self::Eq,
            "!=" => Self::Ne,
            "<" => Self::Lt,
            "<=" => Self::Le,
            ">" => Self::Gt,
            ">=" => Self::Ge,
            "between" => Self::Between,
            "in" => Self::In,
            "not in" => Self::NotIn,
            "any of" => Self::AnyOf,
            "none of" => Self::NoneOf,
            "all of" => Self::AllOf,
            "is empty" => Self::IsEmpty,
            "is not empty" => Self::IsNotEmpty,
            "starts with" => Self::StartsWith,
            "ends with" => Self::EndsWith,
            "contains" => Self::Contains,
            "is null" => Self::IsNull,
            "is not null" => Self::IsNotNull,
            "holds" => Self::Holds,
            _ => return None,
        })
    }

    /// For messages.
    pub(super) fn word(self) -> &'static str {
        match self {
            Self::Eq => "=",
            Self::Ne => "!=",
            Self::Lt => "<",
            Self::Le => "<=",
            Self::Gt => ">",
            Self::Ge => ">=",
            Self::Between => "between",
            Self::In => "in",
            Self::NotIn => "not in",
            Self::AnyOf => "any of",
            Self::NoneOf => "none of",
            Self::AllOf => "all of",
            Self::IsEmpty => "is empty",
            Self::IsNotEmpty => "is not empty",
            Self::StartsWith => "starts with",
            Self::EndsWith => "ends with",
            Self::Contains => "contains",
            Self::IsNull => "is null",
            Self::IsNotNull => "is not null",
            Self::Holds => "holds",
        }
    }

    pub(super) fn operands(self) -> Operands {
        match self {
            Self::Eq | Self::Ne | Self::Lt | Self::Le | Self::Gt | Self::Ge => Operands::One,
            Self::Between => Operands::Bounds,
            Self::StartsWith | Self::EndsWith | Self::Contains => Operands::Pattern,
            Self::In | Self::NotIn | Self::AnyOf | Self::NoneOf | Self::AllOf => Operands::Set,
            Self::IsNull | Self::IsNotNull | Self::IsEmpty | Self::IsNotEmpty | Self::Holds => {
                Operands::Nothing
            }
        }
    }

    /// Whether it works on attributes of a type.
    pub(super) fn fits(self, kind: Type) -> bool {
        match self {
            Self::IsNull | Self::IsNotNull => true,
            Self::Eq | Self::Ne | Self::In | Self::NotIn => !kind.is_list(),
            Self::Lt | Self::Le | Self::Gt | Self::Ge | Self::Between => {
                matches!(kind, Type::Int | Type::Float | Type::Str)
            }
            Self::StartsWith | Self::EndsWith | Self::Contains => kind == Type::Str,
            Self::AnyOf | Self::NoneOf | Self::AllOf | Self::IsEmpty | Self::IsNotEmpty => {
                kind.is_list()
            }
            Self::Holds => kind == Type::Bool,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_go_there_and_back() {
        let words = [
            "=",
            "!=",
            "<",
            "<=",
            ">",
            ">=",
            "between",
            "in",
            "not in",
            "any of",
            "none of",
            "all of",
            "is empty",
            "is not empty",
            "starts with",
            "ends with",
            "contains",
            "is null",
            "is not null",
            "holds",
        ];
        for word in words {
            assert_eq!(WrittenOp::from_word(word).map(WrittenOp::word), Some(word));
        }
        assert_eq!(WrittenOp::from_word("IN"), None);
    }
}
