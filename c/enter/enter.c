// kudzu-enter: starts a program where the files of a GPU are: /dev/nvidia0, /dev/nvidiactl, /dev/nvidia-uvm and /proc/driver/nvidia,
// in a mount namespace of its own, so that nobody else sees them. Root needs nothing else for it; others get a user namespace in
// which they are who they are, and root is nobody. Where the kernel does not allow it the program is started as it is.
//
//   kudzu-enter [-v] COUNT VERSION MODEL program [name arguments...]
//
// It keeps the process: what kudzu run starts has its process number, its files and its signals. It is linked statically, so the
// loader's variables for the program are not its own. Nothing is left behind: what it mounts ends with the last process inside.
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sched.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <unistd.h>

static const char *what = ""; // was being done when something failed

// failed remembers what did not work; errno says why.
static int failed(const char *doing) {
	what = doing;
	return -1;
}

static int put(const char *path, const char *format, ...) {
	char text[1024];
	va_list a;
	va_start(a, format);
	int n = vsnprintf(text, sizeof text, format, a);
	va_end(a);
	int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0444);
	if (fd < 0)
		return -1;
	int ok = n >= 0 && n < (int)sizeof text && write(fd, text, (size_t)n) == n;
	close(fd);
	return ok ? 0 : -1;
}

static int bind_file(const char *from, const char *to) {
	int fd = open(to, O_WRONLY | O_CREAT | O_CLOEXEC, 0666);
	if (fd < 0)
		return -1;
	close(fd);
	return mount(from, to, NULL, MS_BIND, NULL);
}

// The old /dev, below the new one, for users who may make no node: see ptmx.
#define OLD_DEV ".kudzu-old"

// ptmx makes /dev/ptmx. The kernel looks for pts beside it, in the mount that it is opened through: a file that is bound alone has
// nothing beside it, and its open fails. So it is a node of its own, beside the pts of the new /dev; who may make none opens the old
// one, in a folder that is bound whole.
static int ptmx(int old, const char *folder, const char *to, const struct stat *st) {
	char from[64], whole[64 + NAME_MAX];
	if (!mknod(to, st->st_mode, st->st_rdev))
		return chmod(to, st->st_mode & 07777) || lchown(to, st->st_uid, st->st_gid);
	snprintf(from, sizeof from, "/proc/self/fd/%d", old);
	snprintf(whole, sizeof whole, "%s/" OLD_DEV, folder);
	if (mkdir(whole, 0755) || mount(from, whole, NULL, MS_BIND | MS_REC, NULL))
		return -1;
	return umount2(whole, MNT_DETACH) || symlink(OLD_DEV "/ptmx", to); // the new /dev was bound, too, over the old one
}

// again makes in a folder, which a tmpfs now covers, what was in it before: old is a descriptor of that.
static int again(int old, const char *folder) {
	int look = openat(old, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *d = look < 0 ? NULL : fdopendir(look);
	if (!d)
		return -1;
	int bad = 0;
	for (struct dirent *e; !bad && (e = readdir(d));) {
		char from[64 + NAME_MAX], to[64 + NAME_MAX], link[PATH_MAX];
		struct stat st;
		if (!strcmp(e->d_name, ".") || !strcmp(e->d_name, "..") || fstatat(old, e->d_name, &st, AT_SYMLINK_NOFOLLOW))
			continue;
		snprintf(from, sizeof from, "/proc/self/fd/%d/%s", old, e->d_name);
		snprintf(to, sizeof to, "%s/%s", folder, e->d_name);
		if (S_ISLNK(st.st_mode)) {
			ssize_t n = readlinkat(old, e->d_name, link, sizeof link - 1);
			if (n >= 0)
				link[n] = 0;
			bad = n < 0 || symlink(link, to);
		} else if (S_ISDIR(st.st_mode)) {
			bad = mkdir(to, 0755) || mount(from, to, NULL, MS_BIND | MS_REC, NULL);
		} else if (S_ISCHR(st.st_mode) && st.st_rdev == makedev(5, 2)) {
			bad = ptmx(old, folder, to, &st);
		} else {
			bad = bind_file(from, to);
		}
		if (bad && errno == ENOENT && fstatat(old, e->d_name, &st, AT_SYMLINK_NOFOLLOW) && errno == ENOENT) {
			bad = 0; // it went away meanwhile: a device unplugged, a terminal closed
			if (unlink(to))
				rmdir(to);
		}
	}
	int kept = errno;
	closedir(d);
	errno = kept;
	return bad ? -1 : 0;
}

static void uncover(const char *folder, int mounts) {
	int kept = errno;
	while (mounts-- > 0)
		umount2(folder, MNT_DETACH);
	errno = kept;
}

// keep_proc keeps a copy of /proc without a cover, in a tmpfs below the one that is to cover /proc/driver: nobody can go there, but
// the kernel lets sandboxes (bwrap, unshare --mount-proc) mount a /proc of their own only where some /proc shows all of itself.
// It returns how many mounts cover /proc/driver for that; without them all else works.
static int keep_proc(void) {
	static const char cover[] = "/proc/driver", copy[] = "/proc/driver/all", inner[] = "/proc/driver/all/driver";
	if (mount("tmpfs", cover, "tmpfs", MS_NOSUID | MS_NOEXEC, "mode=755"))
		return 0;
	if (!mkdir(copy, 0755) && !mount("/proc", copy, NULL, MS_BIND | MS_REC, NULL) && !umount2(inner, MNT_DETACH)) // inner: this tmpfs, again
		return 1;
	umount2(cover, MNT_DETACH);
	return 0;
}

// cover puts a tmpfs over a folder, with what was there in it, and what below mounts there before. It returns how many mounts cover
// the folder, or -1, and then the folder is as it was.
static int cover(const char *folder, int (*below)(void)) {
	int old = open(folder, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (old < 0)
		return -1;
	int mounts = below ? below() : 0;
	int bad = mount("tmpfs", folder, "tmpfs", MS_NOSUID | MS_NOEXEC, "mode=755");
	mounts += !bad;
	if (!bad)
		bad = again(old, folder);
	if (bad)
		uncover(folder, mounts);
	int kept = errno;
	close(old);
	errno = kept;
	return bad ? -1 : mounts;
}

static int device(const char *path) { return access(path, F_OK) ? bind_file("/dev/null", path) : 0; }

// devices are the files in /dev, which is covered.
static int devices(int count) {
	if (device("/dev/nvidiactl") || device("/dev/nvidia-uvm"))
		return failed("/dev");
	for (int i = 0; i < count; i++) {
		char path[32];
		snprintf(path, sizeof path, "/dev/nvidia%d", i);
		if (device(path))
			return failed("/dev");
	}
	return 0;
}

// about are the files in /proc/driver, which is covered.
static int about(int count, const char *version, const char *model) {
	struct utsname machine;
	if (uname(&machine) || mkdir("/proc/driver/nvidia", 0555) || mkdir("/proc/driver/nvidia/gpus", 0555))
		return failed("/proc/driver");
	if (put("/proc/driver/nvidia/version", "NVRM version: NVIDIA UNIX %s Kernel Module  %s  Kudzu\n", machine.machine, version) || put("/proc/driver/nvidia/params", "EnableMSI: 1\n"))
		return failed("/proc/driver/nvidia");
	for (int i = 0; i < count; i++) {
		char path[96];
		int n = snprintf(path, sizeof path, "/proc/driver/nvidia/gpus/0000:%02x:00.0", i + 1);
		if (mkdir(path, 0555))
			return failed("/proc/driver/nvidia");
		snprintf(path + n, sizeof path - (size_t)n, "/information");
		if (put(path, "Model: \t\t %s\nDevice Minor: \t %d\n", model, i))
			return failed("/proc/driver/nvidia");
	}
	return 0;
}

// files puts the files of count GPUs into this mount namespace, where there are none: all of them, or everything is as it was.
static int files(int count, const char *version, const char *model) {
	if (mount(NULL, "/", NULL, MS_REC | MS_SLAVE, NULL))
		return failed("mounts of its own");
	int dev = 0, proc = 0, bad = 0; // dev, proc: mounts over each
	if (access("/dev/nvidiactl", F_OK)) {
		dev = cover("/dev", NULL);
		bad = dev < 0 ? failed("/dev") : devices(count);
	}
	if (!bad && access("/proc/driver/nvidia/version", F_OK)) {
		proc = cover("/proc/driver", keep_proc);
		bad = proc < 0 ? failed("/proc/driver") : about(count, version, model);
	}
	if (bad) {
		uncover("/proc/driver", proc);
		uncover("/dev", dev);
	}
	return bad;
}

// answer is what the child says of its work.
struct answer {
	int code; // 0, or an errno
	char what[64];
};

// inside does it in a child, with a user namespace: only when all of it worked is this process put there, too.
static int inside(int count, const char *version, const char *model) {
	char cwd[PATH_MAX], path[64];
	uid_t uid = geteuid();
	gid_t gid = getegid();
	int ready[2], done[2];
	struct stat here, there;
	if (!getcwd(cwd, sizeof cwd) || stat(".", &here))
		return failed("the working directory");
	if (pipe2(ready, O_CLOEXEC) || pipe2(done, O_CLOEXEC))
		return failed("pipes");
	pid_t child = (pid_t)syscall(SYS_clone, 0, NULL, NULL, NULL, 0); // fork, but its end sends no signal: the program may have it blocked
	if (child < 0)
		return failed("fork");
	if (!child) {
		close(ready[0]), close(done[1]);
		int bad = unshare(CLONE_NEWUSER | CLONE_NEWNS) ? failed("a user namespace") : 0;
		if (!bad && (put("/proc/self/setgroups", "deny") || put("/proc/self/uid_map", "%u %u 1", uid, uid) || put("/proc/self/gid_map", "%u %u 1", gid, gid)))
			bad = failed("the map of users");
		if (!bad)
			bad = files(count, version, model);
		if (!bad && chdir(cwd)) // as this process will have to: there it could not turn back
			bad = failed("the working directory in it");
		if (!bad && (stat(".", &there) || there.st_dev != here.st_dev || there.st_ino != here.st_ino)) {
			errno = ENOENT; // the name is of another one, which was mounted over it
			bad = failed("the working directory in it");
		}
		struct answer answer = {bad ? errno : 0, ""};
		strncpy(answer.what, what, sizeof answer.what - 1);
		char c;
		if (write(ready[1], &answer, sizeof answer) == sizeof answer && !bad && read(done[0], &c, 1) < 0)
			_exit(1);
		_exit(0);
	}
	close(ready[1]), close(done[0]);
	static struct answer answer;
	int code = read(ready[0], &answer, sizeof answer) == sizeof answer ? answer.code : EIO;
	what = answer.what;
	if (!code) {
		snprintf(path, sizeof path, "/proc/%d/ns/user", child);
		int user = open(path, O_RDONLY | O_CLOEXEC);
		snprintf(path, sizeof path, "/proc/%d/ns/mnt", child);
		int mnt = open(path, O_RDONLY | O_CLOEXEC);
		if (user < 0 || mnt < 0 || setns(user, CLONE_NEWUSER) || setns(mnt, CLONE_NEWNS) || chdir(cwd))
			code = errno, what = "the child's namespaces";
		close(user), close(mnt);
	}
	close(ready[0]), close(done[1]);
	while (waitpid(child, NULL, __WALL) < 0 && errno == EINTR)
		;
	errno = code;
	return code ? -1 : 0;
}

int main(int argc, char **argv) {
	int say = argc > 1 && !strcmp(argv[1], "-v");
	argv += say;
	if (argc - say < 6)
		return 125;
	int count = atoi(argv[1]);
	int bad;
	mode_t mask = umask(022); // the program's is for its own files
	if (geteuid() == 0)
		bad = unshare(CLONE_NEWNS) ? failed("a mount namespace") : files(count, argv[2], argv[3]);
	else
		bad = inside(count, argv[2], argv[3]);
	int why = errno;
	umask(mask);
	if (bad && say)
		fprintf(stderr, "kudzu: the program will not find /dev/nvidia0 and /proc/driver/nvidia: %s: %s\n", what, strerror(why));
	execv(argv[4], argv + 5);
	why = errno;
	fprintf(stderr, "kudzu: program %s: %s\n", argv[4], strerror(why));
	return why == ENOENT ? 127 : 126;
}
