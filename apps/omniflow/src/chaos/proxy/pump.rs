//! One connection, both ways.

use std::{io, time::Duration};

use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::TcpStream,
};

use super::{Orders, wire};

/// The server has carried a commit out long before that.
const CARRIED_OUT: Duration = Duration::from_secs(10);

/// Forwards until one side ends, or until an answer is to be lost.
pub(super) async fn run(mut client: TcpStream, mut server: TcpStream, orders: &Orders) -> io::Result<()> {
    let (mut asked, mut answered) = (vec![0; 32 * 1024], vec![0; 32 * 1024]);
    let (mut of_client, mut of_server) = (wire::Client::default(), wire::Server::default());
    loop {
        tokio::select! {
            read = client.read(&mut asked) => {
                let bytes = asked.get(..read?).unwrap_or_default();
                if bytes.is_empty() {
                    return Ok(());
                }
                let commit = of_client.read(bytes, of_server.idle());
                let loses = commit.is_some_and(|writing| orders.loses(writing));
                server.write_all(bytes).await?;
                if loses {
                    return tokio::time::timeout(CARRIED_OUT, until_ready(&mut server, &mut of_server))
                        .await
                        .unwrap_or(Ok(()));
                }
            }
            read = server.read(&mut answered) => {
                let bytes = answered.get(..read?).unwrap_or_default();
                if bytes.is_empty() {
                    return Ok(());
                }
                of_server.read(bytes);
                client.write_all(bytes).await?;
            }
        }
    }
}

/// Swallows the answer. The commit stands: the server says so only afterwards.
async fn until_ready(server: &mut TcpStream, of_server: &mut wire::Server) -> io::Result<()> {
    let mut answered = vec![0; 32 * 1024];
    loop {
        let read = server.read(&mut answered).await?;
        let bytes = answered.get(..read).unwrap_or_default();
        if bytes.is_empty() || of_server.read(bytes) {
            return Ok(());
        }
    }
}
