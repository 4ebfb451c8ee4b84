//go:build linux

package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
)

// lockName is the file whose lock says which server owns a data folder. It is
// never removed: a lock on a file that is gone would protect nothing.
const lockName = "lock"

// dataFolder is the folder of the records while this process owns it.
type dataFolder struct {
	path string
	lock *os.File
}

// openData makes the folder for our eyes only and claims it, so that two
// servers never write the same records.
func openData(path string) (*dataFolder, error) {
	if err := private(path); err != nil {
		return nil, unwritable(path, err)
	}
	lock, err := os.OpenFile(filepath.Join(path, lockName), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, unwritable(path, err)
	}
	if err := claim(lock, path); err != nil {
		lock.Close()
		return nil, err
	}
	return &dataFolder{path: path, lock: lock}, nil
}

// Close gives the folder up.
func (d *dataFolder) Close() error { return d.lock.Close() }

// private makes the folder, or narrows one that is empty or ours already. It
// does not change the mode of a folder that others may be using, such as /tmp.
func private(path string) error {
	if err := os.MkdirAll(path, 0o700); err != nil {
		return err
	}
	info, err := os.Stat(path)
	if err != nil || info.Mode().Perm() == 0o700 {
		return err
	}
	entries, err := os.ReadDir(path)
	if err != nil {
		return err
	}
	if len(entries) > 0 && !hasLock(path) {
		return fmt.Errorf("it holds other files and its mode is %04o, not 0700", info.Mode().Perm())
	}
	return os.Chmod(path, 0o700)
}

func hasLock(path string) bool {
	info, err := os.Lstat(filepath.Join(path, lockName))
	return err == nil && info.Mode().IsRegular()
}

// claim takes the lock (flock(2), which ends with the process whatever its
// end) and leaves our process id for the line that another server prints.
func claim(lock *os.File, path string) error {
	err := syscall.Flock(int(lock.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	if errors.Is(err, syscall.EWOULDBLOCK) {
		return fmt.Errorf("the data folder %s is in use by another cloche server%s; stop that one or choose another folder with --data", path, owner(lock))
	}
	if err != nil {
		return unwritable(path, err)
	}
	if err := lock.Truncate(0); err != nil {
		return unwritable(path, err)
	}
	if _, err := fmt.Fprintf(lock, "%d\n", os.Getpid()); err != nil {
		return unwritable(path, err)
	}
	return nil
}

func owner(lock *os.File) string {
	text, err := io.ReadAll(io.LimitReader(lock, 20))
	if pid := strings.TrimSpace(string(text)); err == nil && pid != "" {
		return " (process " + pid + ")"
	}
	return ""
}

// unwritable drops the path that an fs error repeats.
func unwritable(path string, err error) error {
	if p, ok := errors.AsType[*fs.PathError](err); ok {
		err = p.Err
	}
	return fmt.Errorf("the data folder %s cannot be used: %w; choose another with --data or CLOCHE_DATA", path, err)
}
