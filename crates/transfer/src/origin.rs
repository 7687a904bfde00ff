//! [`Origin`]: the identity of a file or folder, which differs from that of a later one with the same name.

use rustix::fs::{AtFlags, StatxFlags};
use serde::{Deserialize, Serialize};
use std::os::fd::AsFd;

/// The inode of a file or folder and, where the file system knows it, its birth time, which nobody can choose. An inode
/// alone is not enough because file systems use inodes again.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Origin {
    inode: u64,
    born: Option<(i64, u32)>,
}

impl Origin {
    pub(crate) fn of(folder: impl AsFd) -> rustix::io::Result<Self> {
        let wanted = StatxFlags::BTIME | StatxFlags::INO;
        match rustix::fs::statx(&folder, "", AtFlags::EMPTY_PATH, wanted) {
            Ok(found) => {
                let known = found.stx_mask & StatxFlags::BTIME.bits() != 0;
                let born = known.then_some((found.stx_btime.tv_sec, found.stx_btime.tv_nsec));
                Ok(Self { inode: found.stx_ino, born })
            }
            // A sandbox may lack `statx`.
            Err(_) => Ok(Self { inode: rustix::fs::fstat(&folder)?.st_ino, born: None }),
        }
    }
}
