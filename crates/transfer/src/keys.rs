//! The identities of both sides: the receiver's key, pinned by the ticket, and the sender's, derived from its secret.
//!
//! Both are Ed25519 keys that prove themselves inside the TLS 1.3 handshake as raw public keys (RFC 7250, no
//! certificates). TLS has each side sign the transcript of this very handshake. So neither proof can be used in another
//! connection.

use crate::ticket::{Fingerprint, Secret};
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::client::{AlwaysResolvesClientRawPublicKeys, Resumption};
use rustls::crypto::ring::sign::any_eddsa_type;
use rustls::crypto::{CryptoProvider, WebPkiSupportedAlgorithms, ring, verify_tls13_signature_with_raw_key};
use rustls::pki_types::{CertificateDer, PrivatePkcs8KeyDer, ServerName, SubjectPublicKeyInfoDer, UnixTime};
use rustls::server::danger::{ClientCertVerified, ClientCertVerifier};
use rustls::server::{AlwaysResolvesServerRawPublicKeys, NoServerSessionStorage};
use rustls::sign::CertifiedKey;
use rustls::{
    CertificateError, ClientConfig, DigitallySignedStruct, DistinguishedName, Error, PeerIncompatible,
    ServerConfig, SignatureScheme,
};
use std::sync::Arc;
use zeroize::Zeroizing;

/// The bytes before the 32 bytes of an Ed25519 private key in PKCS #8 [rfc8410:7].
const PKCS8: [u8; 16] = [0x30, 0x2e, 2, 1, 0, 0x30, 5, 6, 3, 0x2b, 0x65, 0x70, 4, 0x22, 4, 0x20];

/// A key made from 32 secret bytes.
pub(crate) struct Key(Arc<CertifiedKey>);

impl std::fmt::Debug for Key {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str("Key(…)")
    }
}

impl Key {
    /// Makes the key whose private part is `seed`.
    ///
    /// # Panics
    /// Never: every 32 bytes are a key.
    pub(crate) fn new(seed: &[u8; 32]) -> Self {
        let der = Zeroizing::new([&PKCS8[..], seed].concat());
        let signing =
            any_eddsa_type(&PrivatePkcs8KeyDer::from(der.as_slice())).expect("every 32 bytes are a key");
        let public = signing.public_key().expect("an Ed25519 key has a public part");
        let public = CertificateDer::from(public.to_vec());
        Self(Arc::new(CertifiedKey::new(vec![public], signing)))
    }

    /// Derives the key of the sender that holds `secret`.
    pub(crate) fn of_sender(secret: &Secret) -> Self {
        Self::new(&Zeroizing::new(blake3::derive_key("tightlink 2026-11 sender key", &secret.0)))
    }

    /// Returns the public half, as SubjectPublicKeyInfo.
    pub(crate) fn public(&self) -> &[u8] {
        &self.0.cert[0]
    }

    pub(crate) fn fingerprint(&self) -> Fingerprint {
        Fingerprint::of(self.public())
    }
}

/// Makes the provider of ciphers, AES first. Machines that move gigabits have instructions for AES, with which it is
/// twice as fast as ChaCha20.
fn provider() -> Arc<CryptoProvider> {
    use ring::cipher_suite as suite;
    let suites = vec![
        suite::TLS13_AES_128_GCM_SHA256,
        suite::TLS13_AES_256_GCM_SHA384,
        suite::TLS13_CHACHA20_POLY1305_SHA256,
    ];
    Arc::new(CryptoProvider { cipher_suites: suites, ..ring::default_provider() })
}

/// Fills `bytes` from the operating system's entropy.
///
/// # Panics
/// If the system has no entropy, because then no key would be safe.
pub(crate) fn fill_random(bytes: &mut [u8]) {
    host::fill_random(bytes).expect("the system gives entropy");
}

/// Makes the TLS configuration of a receiver that lets in only the holder of `secret`.
pub(crate) fn receiver_tls(key: &Key, secret: &Secret) -> Arc<ServerConfig> {
    let provider = provider();
    let verifier = PinnedKey::new(Expected::Key(Key::of_sender(secret).public().to_vec()), &provider);
    let mut config = ServerConfig::builder_with_provider(provider)
        .with_protocol_versions(&[&rustls::version::TLS13])
        .expect("the suites are TLS 1.3's")
        .with_client_cert_verifier(Arc::new(verifier))
        .with_cert_resolver(Arc::new(AlwaysResolvesServerRawPublicKeys::new(Arc::clone(&key.0))));
    // No session is resumed, so every connection proves its identity anew.
    config.send_tls13_tickets = 0;
    config.session_storage = Arc::new(NoServerSessionStorage {});
    Arc::new(config)
}

/// Makes the TLS configuration of the holder of `secret`, who talks only to the receiver with `fingerprint`.
pub(crate) fn sender_tls(secret: &Secret, fingerprint: Fingerprint) -> Arc<ClientConfig> {
    let provider = provider();
    let verifier = PinnedKey::new(Expected::Fingerprint(fingerprint), &provider);
    let mut config = ClientConfig::builder_with_provider(provider)
        .with_protocol_versions(&[&rustls::version::TLS13])
        .expect("the suites are TLS 1.3's")
        .dangerous()
        .with_custom_certificate_verifier(Arc::new(verifier))
        .with_client_cert_resolver(Arc::new(AlwaysResolvesClientRawPublicKeys::new(Arc::clone(
            &Key::of_sender(secret).0,
        ))));
    config.resumption = Resumption::disabled();
    config.enable_sni = false;
    Arc::new(config)
}

/// Returns a placeholder for the server's name that rustls requires. It is not sent, and nothing is checked against it.
pub(crate) fn server_name() -> ServerName<'static> {
    ServerName::try_from("tightlink").expect("a name")
}

#[derive(Debug)]
enum Expected {
    /// The whole public key.
    Key(Vec<u8>),
    /// Half of the hash of the public key.
    Fingerprint(Fingerprint),
}

/// A verifier that accepts exactly one key.
#[derive(Debug)]
struct PinnedKey {
    expected: Expected,
    algorithms: WebPkiSupportedAlgorithms,
}

impl PinnedKey {
    fn new(expected: Expected, provider: &CryptoProvider) -> Self {
        Self { expected, algorithms: provider.signature_verification_algorithms }
    }

    /// Checks that `key` is the expected one. Hashes are compared in constant time, so that timing does not reveal how
    /// far a guess is right.
    fn check(&self, key: &[u8]) -> Result<(), Error> {
        let same = match &self.expected {
            Expected::Key(expected) => blake3::hash(expected) == blake3::hash(key),
            Expected::Fingerprint(expected) => {
                blake3::hash(&expected.0) == blake3::hash(&Fingerprint::of(key).0)
            }
        };
        if same { Ok(()) } else { Err(CertificateError::ApplicationVerificationFailure.into()) }
    }

    fn signature(
        &self,
        message: &[u8],
        key: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        let key = SubjectPublicKeyInfoDer::from(key.as_ref());
        verify_tls13_signature_with_raw_key(message, &key, signature, &self.algorithms)
    }
}

impl ServerCertVerifier for PinnedKey {
    fn verify_server_cert(
        &self,
        key: &CertificateDer<'_>,
        _intermediates: &[CertificateDer<'_>],
        _name: &ServerName<'_>,
        _ocsp: &[u8],
        _now: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        self.check(key).map(|()| ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        _message: &[u8],
        _key: &CertificateDer<'_>,
        _signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        Err(PeerIncompatible::Tls13RequiredForQuic.into())
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        key: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        self.signature(message, key, signature)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        vec![SignatureScheme::ED25519]
    }

    fn requires_raw_public_keys(&self) -> bool {
        true
    }
}

impl ClientCertVerifier for PinnedKey {
    fn root_hint_subjects(&self) -> &[DistinguishedName] {
        &[]
    }

    fn verify_client_cert(
        &self,
        key: &CertificateDer<'_>,
        _intermediates: &[CertificateDer<'_>],
        _now: UnixTime,
    ) -> Result<ClientCertVerified, Error> {
        self.check(key).map(|()| ClientCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        _message: &[u8],
        _key: &CertificateDer<'_>,
        _signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        Err(PeerIncompatible::Tls13RequiredForQuic.into())
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        key: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        self.signature(message, key, signature)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        vec![SignatureScheme::ED25519]
    }

    fn requires_raw_public_keys(&self) -> bool {
        true
    }
}
