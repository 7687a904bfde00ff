//! [`Word`]: values that are one of a few words. Faults list the words in the order here.

use crate::values::Host;
use crate::values::{
    AccessRule, AfterCollision, BbrVariant, Carrier, Category, CellDirection, Column, CubicVariant,
    Direction, EcnMode, FigureEngine, Framing, Isolation, LossDetection, Recovery, RttScaling, Stack, Theory,
    Tins, WindowVariant,
};

/// A value that is written as a word.
pub(crate) trait Word: Copy + PartialEq + 'static {
    /// All words and their values.
    const WORDS: &'static [(&'static str, Self)];
}

macro_rules! words {
    ($($of:ident: $($word:literal $value:ident),+;)+) => {
        $(impl Word for $of {
            const WORDS: &'static [(&'static str, Self)] = &[$(($word, Self::$value)),+];
        })+
    };
}

words! {
    Host: "rfc" Rfc, "linux" Linux;
    Theory: "nearest" Nearest, "slow start" SlowStart, "mft" Mft, "fixed point" FixedPoint, "fluid" Fluid;
    Stack: "modern" Modern, "classic" Classic;
    Column: "rate" Rate, "rtt" Rtt, "window" Window, "backlog" Backlog, "drops" Drops, "measures" Measures, "data" Data;
    Carrier: "tcp" Tcp, "quic" Quic;
    Direction: "forward" Forward, "reverse" Reverse;
    Recovery: "rfc6675" Rfc6675, "prr" Prr, "sack1" Sack1, "reno" Reno;
    EcnMode: "off" Off, "classic" Classic, "accecn" Accurate;
    LossDetection: "dupack" DupAck, "rack" Rack;
    BbrVariant: "draft" Draft, "linux" Linux;
    CubicVariant: "rfc" Rfc, "linux" Linux;
    WindowVariant: "rfc" Rfc, "linux" Linux;
    RttScaling: "rate" Rate, "none" None;
    AccessRule: "edca" Edca, "dcf" Dcf;
    AfterCollision: "eifs" Eifs, "difs" Difs;
    Category: "be" Be, "bk" Bk, "vi" Vi, "vo" Vo;
    CellDirection: "down" Down, "up" Up;
    Framing: "none" None, "atm" Atm, "ptm" Ptm;
    Isolation: "triple" Triple, "dual-src" DualSrc, "dual-dst" DualDst, "hosts" Hosts, "flows" Flows;
    Tins: "diffserv3" Diffserv3, "diffserv4" Diffserv4, "besteffort" BestEffort;
    FigureEngine: "model" Model, "sim" Sim, "live" Live;
}

/// Returns the word for a value.
pub(crate) fn word_of<T: Word>(value: T) -> &'static str {
    T::WORDS.iter().find(|(_, known)| *known == value).map_or("", |(word, _)| word)
}
