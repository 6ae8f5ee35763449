//! TLS: certificates are verified, and passwords are told to nobody else.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::print_stderr,
    reason = "a test may stop at what it did not expect, and says when it is skipped"
)]

use std::{fs, time::Duration};

use hanok_checkpoint::Checkpointer;
use hanok_postgres::{Config, Postgres};
use postgres_for_tests::{Installation, Missing, Server, Stop};
use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, IsCa, KeyPair};

use crate::support::{self, admin, append, given, key, schema, texts, told, value};

/// An authority that anybody may make.
fn authority(name: &str) -> CertifiedIssuer<'static, KeyPair> {
    let mut params = CertificateParams::new(vec![]).unwrap();
    params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    params.distinguished_name.push(rcgen::DnType::CommonName, name);
    CertifiedIssuer::self_signed(params, KeyPair::generate().unwrap()).unwrap()
}

/// A server that speaks TLS as `localhost`, to `agent` with a password only.
fn server(
    installation: &Installation,
    authority: &CertifiedIssuer<'_, KeyPair>,
) -> Result<Server, Missing> {
    let server = Server::start(installation, &[])?;
    let key = KeyPair::generate().unwrap();
    let certificate = CertificateParams::new(vec!["localhost".into()]).unwrap();
    let certificate = certificate.signed_by(&key, authority).unwrap();
    let certificate = server.put("server.crt", &certificate.pem())?;
    let key = server.put("server.key", &key.serialize_pem())?;
    let settings = server.data().join("postgresql.conf");
    let lines = format!(
        "ssl = on\nssl_cert_file = '{}'\nssl_key_file = '{}'\n",
        certificate.display(),
        key.display()
    );
    fs::write(&settings, fs::read_to_string(&settings).unwrap() + &lines).unwrap();
    let hosts =
        "hostssl all agent all scram-sha-256\nhost all agent all reject\nhost all all all trust\n";
    fs::write(server.data().join("pg_hba.conf"), hosts).unwrap();
    server.stop(Stop::Fast)?;
    server.up()?;
    Ok(server)
}

/// P55
#[tokio::test(flavor = "multi_thread")]
async fn only_a_server_whose_certificate_is_good_is_spoken_with() {
    let (mine, other) = (authority("mine"), authority("other"));
    let Some(installation) = given(Installation::with_tls()) else { return };
    let server = server(&installation, &mine).unwrap();
    let admin = admin(&server.url("postgres")).await;
    let agent =
        "CREATE ROLE agent LOGIN PASSWORD 'pass-7c1e'; GRANT CREATE ON DATABASE postgres TO agent";
    admin.batch_execute(agent).await.unwrap();
    let schema = schema();
    let config = |host: &str, password: &str, mode: &str| {
        let place = format!("{host}:{}/postgres?sslmode={mode}", server.port());
        Config::new(format!("postgresql://agent:{password}@{place}"))
            .schema(&schema)
            .retry_for(Duration::from_millis(500))
    };
    for mode in ["require", "verify-full", "prefer"] {
        let config = config("localhost", "pass-7c1e", mode).certificate_authorities(mine.pem());
        let store = Postgres::connect(config).await.unwrap();
        let encrypted = "SELECT bool_and(ssl) FROM pg_stat_ssl JOIN pg_stat_activity USING (pid) WHERE usename = 'agent'";
        assert_eq!(value(&admin, encrypted).await, "t", "{mode}");
        let at = texts(&store, &key("t")).await.len() as u64;
        store.append(&key("t"), append(&key("t"), at, 1, mode)).await.unwrap();
        // Who waits listens with TLS too.
        assert_eq!(store.beyond(&key("t"), hanok_core::Position(at)).await.unwrap().0, at + 1);
    }
    let ours = || config("localhost", "pass-7c1e", "require");
    let unknown = "invalid peer certificate: UnknownIssuer";
    for (config, want, case) in [
        (ours().certificate_authorities(other.pem()), unknown, "another's authority"),
        (
            config("localhost", "pass-7c1e", "prefer").certificate_authorities(other.pem()),
            unknown,
            "another's authority where TLS is preferred",
        ),
        (ours(), unknown, "the system's authorities"),
        (
            config("127.0.0.1", "pass-7c1e", "require").certificate_authorities(mine.pem()),
            "not valid for name",
            "another name",
        ),
        (
            config("localhost", "wrong-7c1e", "require").certificate_authorities(mine.pem()),
            "password authentication failed",
            "a wrong password",
        ),
        (config("localhost", "pass-7c1e", "disable"), "pg_hba.conf rejects", "no TLS"),
        (ours().certificate_authorities("no PEM"), "no certificate authority is given", "no PEM"),
    ] {
        let error = Postgres::connect(config).await.err().unwrap();
        assert!(told(&error).contains(want), "{case}: {}", told(&error));
        let shown = format!("{error:?} {}", told(&error));
        assert!(!shown.contains("7c1e"), "{case}: {shown}");
    }
}

#[tokio::test]
async fn a_server_without_tls_is_refused_where_tls_is_required() {
    let Some(url) = support::server() else { return };
    let required = format!("{url}?sslmode=require");
    if admin(&url)
        .await
        .batch_execute("DO $$ BEGIN ASSERT current_setting('ssl') = 'off'; END $$")
        .await
        .is_err()
    {
        return eprintln!("skipped: the server speaks TLS");
    }
    let error = Postgres::connect(support::config(&required)).await.err().unwrap();
    assert!(told(&error).contains("server does not support TLS"), "{}", told(&error));
}
