//! What programs in the jail may not ask of the kernel.
//!
//! A filter in classic BPF (seccomp(2)) that lets everything through but what stands below. The namespaces and limits of the
//! jail do most of the work; this closes what they do not count or do not hide.

/// Refused with `EPERM`; `None` for an architecture whose filter is not written here.
#[cfg(all(target_pointer_width = "64", any(target_arch = "x86_64", target_arch = "aarch64")))]
const REFUSED: Option<&[libc::c_long]> = Some(&[
    // The network is empty, but sockets of machines (`AF_VSOCK`) and of the kernel know no namespaces.
    libc::SYS_socket,
    // Memory that counts against no limit of a process.
    libc::SYS_memfd_create,
    libc::SYS_memfd_secret,
    libc::SYS_shmget,
    libc::SYS_msgget,
    libc::SYS_semget,
    libc::SYS_mq_open,
    // What is kept outside of namespaces.
    libc::SYS_add_key,
    libc::SYS_request_key,
    libc::SYS_keyctl,
    // Other processes, other namespaces, other roots.
    libc::SYS_ptrace,
    libc::SYS_process_vm_readv,
    libc::SYS_process_vm_writev,
    libc::SYS_kcmp,
    libc::SYS_pidfd_getfd,
    libc::SYS_unshare,
    libc::SYS_setns,
    libc::SYS_mount,
    libc::SYS_umount2,
    libc::SYS_pivot_root,
    libc::SYS_chroot,
    libc::SYS_open_tree,
    libc::SYS_move_mount,
    libc::SYS_fsopen,
    libc::SYS_fsconfig,
    libc::SYS_fsmount,
    libc::SYS_fspick,
    libc::SYS_mount_setattr,
    libc::SYS_name_to_handle_at,
    libc::SYS_open_by_handle_at,
    // Large parts of the kernel that a calculation does not need.
    libc::SYS_bpf,
    libc::SYS_perf_event_open,
    libc::SYS_userfaultfd,
    libc::SYS_io_uring_setup,
    libc::SYS_io_uring_enter,
    libc::SYS_io_uring_register,
    libc::SYS_kexec_load,
    libc::SYS_init_module,
    libc::SYS_finit_module,
    libc::SYS_delete_module,
    libc::SYS_swapon,
    libc::SYS_reboot,
    libc::SYS_quotactl,
    libc::SYS_syslog,
]);
#[cfg(not(all(
    target_pointer_width = "64",
    any(target_arch = "x86_64", target_arch = "aarch64")
)))]
const REFUSED: Option<&[libc::c_long]> = None;

/// `AUDIT_ARCH_*` of linux/audit.h.
const ARCHITECTURE: u32 = if cfg!(target_arch = "x86_64") { 0xc000_003e } else { 0xc000_00b7 };

/// Calls of x32, whose numbers have this bit.
const X32: u32 = 0x4000_0000;

const LOAD: u16 = 0x20;
const JUMP_EQUAL: u16 = 0x15;
const JUMP_AT_LEAST: u16 = 0x35;
const RETURN: u16 = 0x06;

/// Offsets in `struct seccomp_data`.
const NUMBER: u32 = 0;
const ARCH: u32 = 4;

const KILL: u32 = 0x8000_0000;
const ALLOW: u32 = 0x7fff_0000;
const EPERM: u32 = 0x0005_0001;

/// The filter as the kernel reads it; `None` where there is none for this architecture.
pub(super) fn filter() -> Option<Vec<u8>> {
    let refused = REFUSED?;
    let mut program = vec![
        (LOAD, 0, 0, ARCH),
        (JUMP_EQUAL, 1, 0, ARCHITECTURE),
        (RETURN, 0, 0, KILL),
        (LOAD, 0, 0, NUMBER),
        (JUMP_AT_LEAST, 0, 1, X32),
        (RETURN, 0, 0, EPERM),
    ];
    for number in refused {
        program.push((JUMP_EQUAL, 0, 1, u32::try_from(*number).ok()?));
        program.push((RETURN, 0, 0, EPERM));
    }
    program.push((RETURN, 0, 0, ALLOW));
    Some(program.into_iter().flat_map(instruction).collect())
}

/// `struct sock_filter`.
fn instruction((code, yes, no, value): (u16, u8, u8, u32)) -> [u8; 8] {
    let [a, b] = code.to_ne_bytes();
    let [c, d, e, f] = value.to_ne_bytes();
    [a, b, yes, no, c, d, e, f]
}
