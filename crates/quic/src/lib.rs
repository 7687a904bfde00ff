//! Real transfers over QUIC.
use {bytes as _, cc as _, host as _, probe as _, quinn_proto as _, quinn_udp as _, rustls as _, sizing as _, socket2 as _, thiserror as _, units as _};
