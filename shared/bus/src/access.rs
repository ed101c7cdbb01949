//! A process's credentials for the NATS server, and the root certificates for verifying the server.

use secrecy::{ExposeSecret, SecretString};

use crate::permissions;

/// Credentials for the connection; empty if the server requires none.
#[derive(Debug, Clone, Default)]
pub struct Access {
    /// User name and password. Each user has its own inbox, so that permissions can prevent other
    /// users from reading its replies.
    pub user: Option<(String, SecretString)>,
    /// Root certificates (PEM) for verifying the server; if set, a connection without TLS is
    /// refused.
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
            options = options
                .add_root_certificates(file.clone())
                .require_tls(true);
        }
        options
    }
}
