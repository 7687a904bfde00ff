//! [`Origin`]: what tells a file or folder from another one that later has its name.

use rustix::fs::{AtFlags, StatxFlags};
use serde::{Deserialize, Serialize};
use std::os::fd::AsFd;

/// The inode of a file or folder and, where the file system knows it, the time at which it was made, which nobody can
/// choose. An inode alone is not enough: file systems use inodes again.
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
            // A sandbox without it.
            Err(_) => Ok(Self { inode: rustix::fs::fstat(&folder)?.st_ino, born: None }),
        }
    }
}
