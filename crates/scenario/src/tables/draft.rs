//! [`LinkDraft`] and [`FlowDraft`]: a link and a flow under construction.

#![expect(clippy::needless_pass_by_value, reason = "a call is shorter without an &")]

use crate::lines::{Lines, Written};

/// A link under construction.
#[derive(Clone, Debug, Default)]
#[must_use = "a link belongs to a scenario"]
pub struct LinkDraft(pub(crate) Lines);

/// A flow under construction, or several equal ones. It has a method for each key.
#[derive(Clone, Debug, Default)]
#[must_use = "a flow belongs to a scenario"]
pub struct FlowDraft(pub(crate) Lines);

impl LinkDraft {
    /// Sets the limit of its queue: `"250 packets"`, `"512kB"`, `"40ms"`, `"0.5 bdp"`.
    pub fn limit(self, limit: impl Written) -> Self {
        self.set("queue.limit", limit)
    }

    /// Sets the policy of its queue.
    pub fn queue(self, kind: impl Written) -> Self {
        self.set("queue.kind", kind)
    }

    /// Sets any key of a link, such as `loss`, `name` or `queue.target`.
    pub fn set(mut self, key: &str, value: impl Written) -> Self {
        self.0.set(key, &value);
        self
    }
}

impl FlowDraft {
    /// Sets any key of a flow, such as `rtt` or `socket_buffer.max`.
    pub fn set(mut self, key: &str, value: impl Written) -> Self {
        self.0.set(key, &value);
        self
    }
}
