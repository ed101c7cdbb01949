//! The credentials of a process at the server, and the certificates by which it knows the server.

use secrecy::{ExposeSecret, SecretString};

use crate::permissions;

/// As whom to connect. Empty where the server asks nobody.
#[derive(Debug, Clone, Default)]
pub struct Access {
    /// The server's user and the password. Its inbox is its own, so that permissions can keep others out of the answers it gets.
    pub user: Option<(String, SecretString)>,
    /// Root certificates (PEM) that vouch for the server; with it a connection without TLS is refused.
    pub ca_file: Option<std::path::PathBuf>,
}

impl Access {
    pub(crate) fn options(&self) -> async_nats::ConnectOptions {
        let mut options = async_nats::ConnectOptions::new();
        if let Some((user, password)) = &self.user {
            options = options
                .user_and_password(user.clone(), password.expose_secret().to_owned())
                .custom_inbox_prefix(permissions::inbox_of(user));
        }
        if let Some(file) = &self.ca_file {
            options = options.add_root_certificates(file.clone()).require_tls(true);
        }
        options
    }
}
