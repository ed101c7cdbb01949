//! The connection to NATS, and the server versions that may be trusted with messages (D16).

use std::{sync::Arc, time::Duration};

use async_nats::{ConnectOptions, jetstream};
use tokio::sync::watch;

use crate::{Bus, Error, Settings};

/// The oldest supported version; older servers have lost acknowledged messages.
const FLOOR: [u32; 3] = [2, 12, 3];

impl Bus {
    /// Connects and refuses servers below 2.12.3, which have lost acknowledged data (D16).
    pub async fn connect(settings: &Settings) -> Result<Self, Error> {
        let bus = Self::connect_with(settings, settings.access.options()).await?;
        if !bus.look() {
            return Err(Error::TooOld {
                found: bus.client.server_info().version,
            });
        }
        Ok(bus)
    }

    /// Returns at once and connects as soon as a server is reachable. Meant for processes that can
    /// work without a server. Ingress, for example, then stores events in its spool (D2).
    ///
    /// # Errors
    /// Fails when the settings cannot work with any server.
    pub async fn connect_later(settings: &Settings) -> Result<Self, Error> {
        let bus = Self::connect_with(
            settings,
            settings.access.options().retry_on_initial_connect(),
        )
        .await?;
        let mut looking = bus.clone();
        tokio::spawn(async move {
            // The client knows the server's version only a moment after the first connection.
            if looking
                .connections
                .wait_for(|made| *made > 0)
                .await
                .is_err()
            {
                return;
            }
            while looking.client.try_server_info().is_none() {
                tokio::time::sleep(Duration::from_millis(10)).await;
            }
            if !looking.look() {
                tracing::error!(
                    "this NATS server is too old and may lose what it acknowledged; nothing is published to it"
                );
            }
        });
        Ok(bus)
    }

    /// Checks the server's version; returns false when it is too old.
    fn look(&self) -> bool {
        let new_enough = !self.is_too_old();
        // `set` fails harmlessly if the version was checked before.
        drop(self.trusted.set(new_enough));
        new_enough
    }

    pub(crate) fn is_too_old(&self) -> bool {
        version(&self.client.server_info().version) < FLOOR
    }

    async fn connect_with(settings: &Settings, options: ConnectOptions) -> Result<Self, Error> {
        let (connected, connections) = watch::channel(0);
        let connecting = options
            .name(format!("seven-{}", settings.instance))
            .ping_interval(Duration::from_secs(10))
            .max_reconnects(None)
            // No delay before the first attempt, because the start of the process waits for it.
            .reconnect_delay_callback(|attempt| {
                Duration::from_millis(
                    u64::try_from(attempt.saturating_sub(1).min(10)).unwrap_or(10) * 100,
                )
            })
            .event_callback(move |event| {
                if matches!(event, async_nats::Event::Connected) {
                    connected.send_modify(|count| *count += 1);
                }
                std::future::ready(())
            })
            .connect(settings.url.split(',').map(str::trim).collect::<Vec<_>>());
        // Boxed: otherwise the future of every caller would include all the state of making a
        // connection.
        let client = Box::pin(connecting).await.map_err(Error::Connect)?;
        let mut js = jetstream::new(client.clone());
        js.set_timeout(Duration::from_secs(5));
        Ok(Self {
            client,
            js,
            limits: settings.limits,
            connections,
            trusted: Arc::default(),
            raised: Arc::default(),
        })
    }

    /// Returns how often this process has connected, the first time included.
    pub fn connections(&self) -> u64 {
        *self.connections.borrow()
    }
}

fn version(text: &str) -> [u32; 3] {
    let mut numbers = text.split(['.', '-']).map(|part| part.parse().unwrap_or(0));
    std::array::from_fn(|_| numbers.next().unwrap_or(0))
}

#[cfg(test)]
mod tests {
    use tokio::{
        io::{AsyncBufReadExt, AsyncWriteExt, BufReader},
        net::TcpListener,
    };

    use super::*;
    use crate::{Access, Outgoing, topology};

    #[test]
    fn versions_compare_by_number() {
        assert!(version("2.9.10") < FLOOR && version("2.12.2") < FLOOR);
        assert!(
            version("2.12.3") >= FLOOR
                && version("2.15.1") >= FLOOR
                && version("2.13.0-preview.1") >= FLOOR
        );
    }

    /// Acts as an old server: implements enough of the protocol to accept a connection, and counts
    /// the messages published to it.
    async fn old_server(listener: TcpListener, published: watch::Sender<usize>) {
        loop {
            let (connection, _) = listener.accept().await.unwrap();
            let published = published.clone();
            tokio::spawn(async move {
                let (reading, mut writing) = connection.into_split();
                let info = r#"INFO {"server_id":"OLD","version":"2.9.10","go":"","host":"127.0.0.1","port":4222,"headers":true,"max_payload":1048576,"proto":1}"#;
                writing
                    .write_all(format!("{info}\r\n").as_bytes())
                    .await
                    .unwrap();
                let mut lines = BufReader::new(reading).lines();
                while let Ok(Some(line)) = lines.next_line().await {
                    if line.starts_with("PING") {
                        writing.write_all(b"PONG\r\n").await.unwrap();
                    }
                    if line.starts_with("PUB") || line.starts_with("HPUB") {
                        published.send_modify(|count| *count += 1);
                    }
                }
            });
        }
    }

    #[tokio::test] // D16
    async fn an_old_server_is_given_nothing_also_when_it_comes_late() {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let limits = topology::Limits::default();
        let settings = Settings {
            url: format!("nats://{address}"),
            access: Access::default(),
            limits,
            instance: "test".into(),
        };
        let bus = Bus::connect_later(&settings).await.unwrap();
        let message = Outgoing {
            subject: "cleared.a_b".into(),
            key: "k",
            copy: None,
            trace: "",
            payload: bytes::Bytes::new(),
        };
        let patience = Duration::from_millis(100);
        assert!(matches!(
            bus.publish(&message, patience).await,
            Err(Error::AckTimeout { .. })
        ));
        let (publishing, published) = watch::channel(0);
        tokio::spawn(old_server(listener, publishing));
        // From now on a server answers. The first publish waits for the version check; the second
        // comes after it.
        for _ in 0..2 {
            let told = bus.publish(&message, Duration::from_secs(10)).await;
            assert!(
                matches!(&told, Err(Error::TooOld { found }) if found == "2.9.10"),
                "{told:?}"
            );
        }
        assert!(!bus.ready().await, "and no worker works on it");
        assert_eq!(
            *published.borrow(),
            0,
            "what was asked before there was a server is not sent to it either"
        );
        assert!(matches!(
            Bus::connect(&settings).await,
            Err(Error::TooOld { .. })
        ));
    }
}
