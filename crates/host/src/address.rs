//! Addresses of sockets that accept both families.

use std::net::SocketAddr;

/// Returns `address`, with an IPv4 address in its own form instead of `::ffff:192.0.2.1`.
#[must_use]
pub fn plain(address: SocketAddr) -> SocketAddr {
    SocketAddr::new(address.ip().to_canonical(), address.port())
}

#[cfg(test)]
mod tests {
    use super::plain;

    #[test]
    fn an_ipv4_address_is_shown_as_such_and_an_ipv6_address_stays() {
        let shown = |text: &str| plain(text.parse().unwrap()).to_string();
        assert_eq!(shown("[::ffff:192.0.2.1]:80"), "192.0.2.1:80");
        assert_eq!(shown("[fd00::2]:80"), "[fd00::2]:80");
    }
}
