//! What the operating system says of this process. Only Linux tells it without a library; elsewhere these metrics are missing.

use std::fs;

/// Clock ticks of a second in `/proc`: the kernel's interface fixes it, whatever the machine's own clock does.
const TICKS: u64 = 100;

/// Reports once.
pub(crate) fn report() {
    if let Some(bytes) = resident_bytes(&fs::read_to_string("/proc/self/status").unwrap_or_default()) {
        metrics::gauge!("process_resident_memory_bytes").set(bytes);
    }
    if let Some(seconds) = cpu_seconds(&fs::read_to_string("/proc/self/stat").unwrap_or_default()) {
        metrics::counter!("process_cpu_seconds_total").absolute(seconds);
    }
    if let Ok(entries) = fs::read_dir("/proc/self/fd") {
        let open = u32::try_from(entries.count()).unwrap_or(u32::MAX);
        metrics::gauge!("process_open_fds").set(open);
    }
}

/// `VmRSS:   12345 kB`
fn resident_bytes(status: &str) -> Option<f64> {
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
    let kilobytes: u32 = line.split_whitespace().next()?.parse().ok()?;
    Some(f64::from(kilobytes) * 1024.0)
}

/// User and system time: the 14th and 15th field. The second is the program's name in brackets and may hold anything.
fn cpu_seconds(stat: &str) -> Option<u64> {
    let (_, rest) = stat.rsplit_once(')')?;
    let mut fields = rest.split_whitespace().skip(11);
    let user: u64 = fields.next()?.parse().ok()?;
    let system: u64 = fields.next()?.parse().ok()?;
    user.saturating_add(system).checked_div(TICKS)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_kernels_files_are_read() {
        assert_eq!(resident_bytes("Name:\tx\nVmRSS:\t    2048 kB\n"), Some(2_097_152.0));
        assert_eq!(resident_bytes(""), None);
        let stat = "7 (a b) c) S 1 7 7 0 -1 4194368 110 0 0 0 1234 866 0 0 20 0 1 0";
        assert_eq!(cpu_seconds(stat), Some(21));
        assert_eq!(cpu_seconds("7 (x"), None);
    }
}
