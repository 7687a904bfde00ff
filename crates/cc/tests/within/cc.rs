//! Helpers that the tests of several controllers share.

pub(crate) mod random_events;
