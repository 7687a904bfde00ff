//! [`Keys`]: the raw public keys (RFC 7250) by which both ends of a run know each other.
//!
//! Certificates are not used. Each end has an Ed25519 key made for the run, and accepts only the other end's. With one
//! cipher suite and one key exchange, and without tickets, handshake messages have the same sizes in every run.

use host::fill_random;
use live::LiveError;
use quinn_proto::crypto::rustls::{QuicClientConfig, QuicServerConfig};
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::{CryptoProvider, ring, verify_tls13_signature_with_raw_key};
use rustls::pki_types::{CertificateDer, PrivatePkcs8KeyDer, ServerName, SubjectPublicKeyInfoDer, UnixTime};
use rustls::server::danger::{ClientCertVerified, ClientCertVerifier};
use rustls::sign::CertifiedKey;
use rustls::{
    CipherSuite, ClientConfig, DigitallySignedStruct, DistinguishedName, Error, NamedGroup, ServerConfig,
    SignatureScheme, client, server, version,
};
use std::fmt::Display;
use std::sync::Arc;
use units::Complaint;

/// The head of an Ed25519 private key in PKCS #8, before its 32 bytes [rfc8410:7].
const ED25519: [u8; 16] = [0x30, 0x2e, 2, 1, 0, 0x30, 5, 6, 3, 0x2b, 0x65, 0x70, 4, 0x22, 4, 0x20];

/// The name of the server in the handshake, which nobody looks up.
pub(crate) const SERVER_NAME: &str = "tightlink";

/// The keys of both ends, made for one run.
#[derive(Clone, Debug)]
pub struct Keys {
    sender: Arc<CertifiedKey>,
    receiver: Arc<CertifiedKey>,
}

impl Keys {
    /// Makes new keys from the system's random numbers.
    ///
    /// # Errors
    /// [`LiveError::Host`] if the system has no random numbers.
    pub fn random() -> Result<Self, LiveError> {
        let mut seeds = [[0; 32]; 2];
        for seed in &mut seeds {
            fill_random(seed)?;
        }
        let [sender, receiver] = seeds.map(key);
        Ok(Self { sender: Arc::new(sender?), receiver: Arc::new(receiver?) })
    }

    /// Returns the sender's side of the handshake.
    pub(crate) fn client(&self) -> Result<QuicClientConfig, LiveError> {
        let builder =
            ClientConfig::builder_with_provider(provider()).with_protocol_versions(&[&version::TLS13]);
        let verifier = Arc::new(OnlyPeer::new(&self.receiver));
        let resolver = client::AlwaysResolvesClientRawPublicKeys::new(Arc::clone(&self.sender));
        let mut config = builder
            .map_err(refused)?
            .dangerous()
            .with_custom_certificate_verifier(verifier)
            .with_client_cert_resolver(Arc::new(resolver));
        config.resumption = client::Resumption::disabled();
        QuicClientConfig::try_from(config).map_err(refused)
    }

    /// Returns the receiver's side of the handshake.
    pub(crate) fn server(&self) -> Result<QuicServerConfig, LiveError> {
        let builder =
            ServerConfig::builder_with_provider(provider()).with_protocol_versions(&[&version::TLS13]);
        let verifier = Arc::new(OnlyPeer::new(&self.sender));
        let resolver = server::AlwaysResolvesServerRawPublicKeys::new(Arc::clone(&self.receiver));
        let mut config = builder
            .map_err(refused)?
            .with_client_cert_verifier(verifier)
            .with_cert_resolver(Arc::new(resolver));
        config.send_tls13_tickets = 0;
        QuicServerConfig::try_from(config).map_err(refused)
    }
}

/// Makes the key with the private bytes `seed`.
fn key(seed: [u8; 32]) -> Result<CertifiedKey, LiveError> {
    let der = PrivatePkcs8KeyDer::from([ED25519.as_slice(), &seed].concat());
    let key = ring::sign::any_eddsa_type(&der).map_err(refused)?;
    let public = key.public_key().ok_or_else(|| refused("a key without a public part"))?;
    Ok(CertifiedKey::new(vec![CertificateDer::from(public.to_vec())], key))
}

/// Returns the one cipher suite and the one key exchange that both ends use.
fn provider() -> Arc<CryptoProvider> {
    let mut provider = ring::default_provider();
    provider.cipher_suites.retain(|suite| suite.suite() == CipherSuite::TLS13_AES_128_GCM_SHA256);
    provider.kx_groups.retain(|group| group.name() == NamedGroup::X25519);
    Arc::new(provider)
}

/// Reports that the TLS library does not take our settings.
fn refused(error: impl Display) -> LiveError {
    LiveError::Config(Complaint::new("the keys of QUIC", error.to_string()))
}

/// The verifier that accepts one public key.
#[derive(Debug)]
struct OnlyPeer {
    public: Vec<u8>,
}

impl OnlyPeer {
    fn new(peer: &CertifiedKey) -> Self {
        Self { public: peer.cert.first().map(|public| public.to_vec()).unwrap_or_default() }
    }

    fn check(&self, shown: &CertificateDer<'_>) -> Result<(), Error> {
        if shown.as_ref() == self.public { Ok(()) } else { Err(Error::General("another key".into())) }
    }

    fn check_signature(
        message: &[u8],
        shown: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        let algorithms = ring::default_provider().signature_verification_algorithms;
        let public = SubjectPublicKeyInfoDer::from(shown.as_ref());
        verify_tls13_signature_with_raw_key(message, &public, signature, &algorithms)
    }
}

/// Refuses TLS 1.2, which QUIC does not have [rfc9001:4.2].
fn no_tls12() -> Result<HandshakeSignatureValid, Error> {
    Err(Error::General("TLS 1.2".into()))
}

impl ServerCertVerifier for OnlyPeer {
    fn verify_server_cert(
        &self,
        shown: &CertificateDer<'_>,
        _: &[CertificateDer<'_>],
        _: &ServerName<'_>,
        _: &[u8],
        _: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        self.check(shown).map(|()| ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        _: &[u8],
        _: &CertificateDer<'_>,
        _: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        no_tls12()
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        shown: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        Self::check_signature(message, shown, signature)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        vec![SignatureScheme::ED25519]
    }

    fn requires_raw_public_keys(&self) -> bool {
        true
    }
}

impl ClientCertVerifier for OnlyPeer {
    fn root_hint_subjects(&self) -> &[DistinguishedName] {
        &[]
    }

    fn verify_client_cert(
        &self,
        shown: &CertificateDer<'_>,
        _: &[CertificateDer<'_>],
        _: UnixTime,
    ) -> Result<ClientCertVerified, Error> {
        self.check(shown).map(|()| ClientCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        _: &[u8],
        _: &CertificateDer<'_>,
        _: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        no_tls12()
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        shown: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        Self::check_signature(message, shown, signature)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        vec![SignatureScheme::ED25519]
    }

    fn requires_raw_public_keys(&self) -> bool {
        true
    }
}

#[cfg(test)]
#[path = "../tests/within/intruder.rs"]
mod tests;
