//! [`Cookies`]: proof that an address receives the datagrams sent to it, without a memory of addresses.

use crate::key::ProbeKey;
use host::HostError;
use std::net::{IpAddr, SocketAddr};
use units::{Span, Time};

/// The period of cookies: a cookie is valid in the period in which it was made and in the next one.
const PERIOD: Span = Span::from_secs(10);

/// A maker and checker of cookies. Only the echoer knows the secret, so only a receiver of a cookie can show it.
#[derive(Debug)]
pub(crate) struct Cookies {
    secret: ProbeKey,
}

impl Cookies {
    pub(crate) fn new() -> Result<Self, HostError> {
        Ok(Self { secret: ProbeKey::random()? })
    }

    /// Makes the cookie for `address` at `now`.
    pub(crate) fn bake(&self, address: SocketAddr, now: Time) -> u64 {
        self.of(address, now.as_nanos() / PERIOD.as_nanos())
    }

    /// Returns true if `cookie` was made for `address` in this period or the one before.
    pub(crate) fn holds(&self, cookie: u64, address: SocketAddr, now: Time) -> bool {
        let period = now.as_nanos() / PERIOD.as_nanos();
        cookie == self.of(address, period) || (period > 0 && cookie == self.of(address, period - 1))
    }

    fn of(&self, address: SocketAddr, period: u64) -> u64 {
        let ip = match address.ip() {
            IpAddr::V4(ip) => ip.to_ipv6_mapped(),
            IpAddr::V6(ip) => ip,
        };
        let code = self.secret.code(&[&ip.octets(), &address.port().to_be_bytes(), &period.to_be_bytes()]);
        u64::from_be_bytes(code[..8].try_into().expect("eight of sixteen"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cookie_is_of_one_address_and_gets_stale() {
        let cookies = Cookies::new().unwrap();
        let [here, there, port] =
            ["192.0.2.1:5", "192.0.2.2:5", "192.0.2.1:6"].map(|text| text.parse().unwrap());
        let at = |seconds| Time::ZERO + Span::from_secs(seconds);
        let cookie = cookies.bake(here, at(5));
        assert!(cookies.holds(cookie, here, at(5)) && cookies.holds(cookie, here, at(19)));
        assert!(!cookies.holds(cookie, here, at(20)));
        assert!(!cookies.holds(cookie, there, at(5)) && !cookies.holds(cookie, port, at(5)));
        assert!(!Cookies::new().unwrap().holds(cookie, here, at(5)), "another echoer's");
    }
}
