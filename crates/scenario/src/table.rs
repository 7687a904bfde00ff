//! One entry for each key of the file: `keys!` and `table!`.
//!
//! An entry holds two things: the meaning of the key, which is written as the doc of a field, and the key's row of the
//! schema. With `keys!` that is all, and hand-written code reads the value. With `table!` an entry also says how the
//! value is kept and read:
//!
//! | entry | kept in | what is read |
//! |---|---|---|
//! | `pub delay: Span = at.quantity("ms") => { … }` | a field | the value, or else the default |
//! | `opt size: Bytes = at.quantity("B") => { … }` | a field `Option<Bytes>` | the value, if there is one |
//! | `in transport: ecn = at.boolean() => { … }` | a part of another field | as for `pub` |
//! | `pub name: String => { … }` | a field | nothing: read and written by hand |
//! | `key host => { … }` | nothing | nothing |
//! | `row direction => { … }` | nothing: another entry has the name, too | nothing |
//!
//! In a reader, `at` is the value's place, `read` has the values read before it, and `context` has facts from outside
//! the table. The header names these three.
//!
//! The entries make the struct, the keys of the schema, and the struct `…Read` with the values that could be read. They
//! also make the methods of [`Table`], and a setter for each key if there is a draft.

use crate::lines::Lines;
use crate::schema::Keys;
use serde::ser::SerializeMap;

/// A struct that holds a table of the file.
pub(crate) trait Table {
    /// The keys of the table.
    const KEYS: Keys;

    /// Adds the keys whose values are not `usual`.
    fn write(&self, usual: &Self, lines: &mut Lines);

    /// Returns the keys that have another value than `usual`.
    fn changes(&self, usual: &Self) -> Lines {
        let mut lines = Lines::default();
        self.write(usual, &mut lines);
        lines
    }

    /// Adds the value of a key to the data that is hashed, unless it is `usual`.
    fn hash<M: SerializeMap>(&self, key: &str, usual: Option<&Self>, map: &mut M) -> Result<(), M::Error>;
}

/// Returns `value`. Because of `_field` the compiler checks that the reader of an entry returns the type of its field,
/// and reports a wrong type at the entry.
pub(crate) fn of_field<T>(_field: &Option<T>, value: Option<T>) -> Option<T> {
    value
}

/// Returns the value like [`of_field`], for a field that may be absent.
pub(crate) fn of_optional_field<T>(_field: &Option<Option<T>>, value: Option<T>) -> Option<T> {
    value
}

/// Makes rows of the schema.
macro_rules! keys {
    ($(#[$attribute:meta])* $visibility:vis $KEYS:ident from $BASE:ident; $($rows:tt)*) => {
        $(#[$attribute])*
        $visibility const $KEYS: &[$crate::schema::Key] = keys!(@rows $BASE $($rows)*);
    };
    ($(#[$attribute:meta])* $visibility:vis table $KEYS:ident from $BASE:ident; $($rows:tt)*) => {
        $(#[$attribute])*
        $visibility const $KEYS: $crate::schema::Keys = &[keys!(@rows $BASE $($rows)*)];
    };
    (@rows $BASE:ident $($(#[doc = $doc:literal])+ key $name:ident => { $($part:ident: $value:expr),+ $(,)? })+) => {
        &[$($crate::schema::Key {
            name: stringify!($name),
            meaning: concat!($($doc),+).trim_ascii_start(),
            $($part: $value,)+
            ..$BASE
        }),+]
    };
}

/// Makes a table of the file: struct, schema, reading and writing.
///
/// The macro gathers the entries one by one: the fields of the struct, those of the `…Read` struct, and the rows with
/// the rest, by groups.
macro_rules! table {
    (
        $(#[$attribute:meta])*
        pub struct $Table:ident { $($(#[$doc:meta])* pub $field:ident: $Type:ty $(= $start:expr)?,)* }
        read $Read:ident |$at:ident, $read:ident, $context:ident: $Context:ty|;
        $(draft $Draft:ident;)?
        keys $KEYS:ident = [$($of:ident),+];
        $($entries:tt)+
    ) => {
        pub(crate) const $KEYS: $crate::schema::Keys = &[$($of),+];
        table! {
            @gather {
                [$(#[$attribute])*] $Table $Read ($at $read $context $Context) [$($Draft)?] $KEYS
                [$($(#[$doc])* pub $field: $Type,)*]
            }
            [] [$($field ($Type) [$($start)?])*] [] {} $($entries)+
        }
    };

    // A group of rows begins, which ends the group before it.
    (@gather $head:tt $fields:tt $parts:tt [] {} $(#[$doc:meta])* group $GROUP:ident from $BASE:ident; $($entries:tt)*) => {
        table! { @gather $head $fields $parts [] { [$(#[$doc])*] $GROUP $BASE [] } $($entries)* }
    };
    (
        @gather $head:tt $fields:tt $parts:tt [$($groups:tt)*] $group:tt
        $(#[$doc:meta])* group $GROUP:ident from $BASE:ident; $($entries:tt)*
    ) => {
        table! { @gather $head $fields $parts [$($groups)* $group] { [$(#[$doc])*] $GROUP $BASE [] } $($entries)* }
    };
    // A field, with a reader or read by hand.
    (
        @gather $head:tt [$($fields:tt)*] [$($parts:tt)*] $groups:tt { $group:tt $GROUP:ident $BASE:ident [$($rows:tt)*] }
        $(#[doc = $doc:literal])+ pub $name:ident: $Type:ty $([$attribute:meta])? $(= $reader:expr)? => $row:tt
        $($entries:tt)*
    ) => {
        table! {
            @gather $head [$($fields)* $(#[doc = $doc])+ $(#[$attribute])? pub $name: $Type,] [$($parts)* $name ($Type) []] $groups
            { $group $GROUP $BASE [$($rows)* { pub [$($doc)+] $name [$name] [$($reader)?] $row }] }
            $($entries)*
        }
    };
    // A field that may be absent.
    (
        @gather $head:tt [$($fields:tt)*] [$($parts:tt)*] $groups:tt { $group:tt $GROUP:ident $BASE:ident [$($rows:tt)*] }
        $(#[doc = $doc:literal])+ opt $name:ident: $Type:ty $([$attribute:meta])? = $reader:expr => $row:tt
        $($entries:tt)*
    ) => {
        table! {
            @gather $head [$($fields)* $(#[doc = $doc])+ $(#[$attribute])? pub $name: Option<$Type>,] [$($parts)* $name (Option<$Type>) []] $groups
            { $group $GROUP $BASE [$($rows)* { opt [$($doc)+] $name [$name] [$reader] $row }] }
            $($entries)*
        }
    };
    // An entry that is a part of another field.
    (
        @gather $head:tt $fields:tt $parts:tt $groups:tt { $group:tt $GROUP:ident $BASE:ident [$($rows:tt)*] }
        $(#[doc = $doc:literal])+ in $($outer:ident).+: $name:ident $(= $reader:expr)? => $row:tt
        $($entries:tt)*
    ) => {
        table! {
            @gather $head $fields $parts $groups
            { $group $GROUP $BASE [$($rows)* { in [$($doc)+] $name [$($outer .)+ $name] [$($reader)?] $row }] }
            $($entries)*
        }
    };
    // A key without a field.
    (
        @gather $head:tt $fields:tt $parts:tt $groups:tt { $group:tt $GROUP:ident $BASE:ident [$($rows:tt)*] }
        $(#[doc = $doc:literal])+ key $name:ident => $row:tt
        $($entries:tt)*
    ) => {
        table! {
            @gather $head $fields $parts $groups
            { $group $GROUP $BASE [$($rows)* { key [$($doc)+] $name [] [] $row }] }
            $($entries)*
        }
    };
    // A second row of a key whose value another entry reads.
    (
        @gather $head:tt $fields:tt $parts:tt $groups:tt { $group:tt $GROUP:ident $BASE:ident [$($rows:tt)*] }
        $(#[doc = $doc:literal])+ row $name:ident => $row:tt
        $($entries:tt)*
    ) => {
        table! {
            @gather $head $fields $parts $groups
            { $group $GROUP $BASE [$($rows)* { row [$($doc)+] $name [] [] $row }] }
            $($entries)*
        }
    };
    // No entry is left.
    (@gather $head:tt $fields:tt $parts:tt [$($groups:tt)*] $group:tt) => {
        table! { @make $head $fields $parts [$($groups)* $group] }
    };

    (
        @make
        {
            [$(#[$attribute:meta])*] $Table:ident $Read:ident ($at:ident $read:ident $context:ident $Context:ty) $draft:tt
            $KEYS:ident [$($more:tt)*]
        }
        [$($fields:tt)*]
        [$($part:ident ($Part:ty) [$($start:expr)?])*]
        [$({ [$($gdoc:tt)*] $GROUP:ident $BASE:ident [$(
            { $kind:ident [$($doc:literal)+] $name:ident $place:tt $reader:tt { $($key:ident: $value:expr),+ $(,)? } }
        )+] })+]
    ) => {
        $(#[$attribute])*
        pub struct $Table { $($fields)* $($more)* }

        /// The same table as far as it could be read.
        #[derive(Clone)]
        pub(crate) struct $Read { $(pub(crate) $part: Option<$Part>,)* }

        impl $Read {
            /// Reads each key whose entry has a reader.
            pub(crate) fn read(keys: &$crate::cursor::Keys<'_>, $context: $Context) -> Self {
                let (keys, _) = (&keys.among($KEYS), &$context);
                let mut $read = Self { $($part: None $(.or(Some($start)))?,)* };
                $($(table!(@read $kind keys $at $read $name $place $reader);)+)+
                $read
            }

            /// Returns the table, if all of it could be read.
            pub(crate) fn whole(self) -> Option<$Table> {
                Some($Table { $($part: self.$part?,)* })
            }
        }

        impl $crate::table::Table for $Table {
            const KEYS: $crate::schema::Keys = $KEYS;

            fn write(&self, usual: &Self, lines: &mut $crate::lines::Lines) {
                $($(table!(@write self usual lines $name $place $reader);)+)+
            }

            fn hash<M: serde::ser::SerializeMap>(
                &self,
                key: &str,
                usual: Option<&Self>,
                map: &mut M,
            ) -> Result<(), M::Error> {
                $($(table!(@hash self key usual map $name $place);)+)+
                Ok(())
            }
        }

        $(
            $($gdoc)*
            pub(crate) const $GROUP: &[$crate::schema::Key] = &[$($crate::schema::Key {
                name: stringify!($name),
                meaning: concat!($($doc),+).trim_ascii_start(),
                $($key: $value,)+
                ..$BASE
            }),+];
        )+

        table! { @draft $draft $($($kind $name [$($doc)+])+)+ }
    };

    (@read pub $keys:ident $at:ident $read:ident $name:ident $place:tt [$reader:expr]) => {
        $read.$name = $keys.read(stringify!($name), |$at| $crate::table::of_field(&$read.$name, $reader));
    };
    (@read opt $keys:ident $at:ident $read:ident $name:ident $place:tt [$reader:expr]) => {
        $read.$name = $keys.optional(stringify!($name), |$at| {
            $crate::table::of_optional_field(&$read.$name, $reader)
        });
    };
    (@read in $keys:ident $at:ident $read:ident $name:ident [$outer:ident $($inner:tt)+] [$reader:expr]) => {
        let now = $read.$outer.as_ref().map(|outer| outer $($inner)+);
        let value = $keys.read(stringify!($name), |$at| $crate::table::of_field(&now, $reader));
        match (value, &mut $read.$outer) {
            (Some(value), Some(outer)) => outer $($inner)+ = value,
            _ => $read.$outer = None,
        }
    };
    (@read $kind:ident $keys:ident $at:ident $read:ident $name:ident $place:tt []) => {};

    (@write $own:ident $usual:ident $lines:ident $name:ident [$($place:tt)+] [$reader:expr]) => {
        $lines.put_key(Self::KEYS, stringify!($name), &$own.$($place)+, &$usual.$($place)+);
    };
    (@write $own:ident $usual:ident $lines:ident $name:ident $place:tt []) => {};

    (@hash $own:ident $key:ident $usual:ident $map:ident $name:ident []) => {};
    (@hash $own:ident $key:ident $usual:ident $map:ident $name:ident [$($place:tt)+]) => {
        if $key == stringify!($name) {
            let value = &$own.$($place)+;
            return match $usual {
                Some(usual) if usual.$($place)+ == *value => Ok(()),
                _ => $map.serialize_entry($key, value),
            };
        }
    };

    (@draft [] $($setters:tt)*) => {};
    (@draft [$Draft:ident] $($kind:ident $name:ident $doc:tt)+) => {
        impl $Draft {
            $(table! { @setter $kind $name $doc })+
        }
    };

    (@setter row $name:ident $doc:tt) => {};
    (@setter $kind:ident $name:ident [$($doc:literal)+]) => {
        #[doc = concat!("Sets `", stringify!($name), "`:", $($doc),+, ".")]
        pub fn $name(self, value: impl $crate::lines::Written) -> Self {
            self.set(stringify!($name), value)
        }
    };
}

pub(crate) use {keys, table};
