//go:build linux

package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestDataFolderIsPrivateAndClaimed(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a", "data")
	first, err := openData(path)
	if err != nil {
		t.Fatal(err)
	}
	if mode := modeOf(t, path); mode != 0o700 {
		t.Errorf("mode %04o, want 0700", mode)
	}
	_, err = openData(path)
	if want := fmt.Sprintf("(process %d)", os.Getpid()); err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("a second owner: %v, want a refusal with %q", err, want)
	}
	if err := first.Close(); err != nil {
		t.Fatal(err)
	}
	again, err := openData(path)
	if err != nil {
		t.Fatalf("after it was given up: %v", err)
	}
	again.Close()
}

func TestDataFolderIsNarrowedIfItIsOurs(t *testing.T) {
	for name, content := range map[string]string{"empty": "", "ours": lockName, "elses": "letter.txt"} {
		t.Run(name, func(t *testing.T) {
			path := t.TempDir()
			if content != "" {
				write(t, filepath.Join(path, content))
			}
			if err := os.Chmod(path, 0o755); err != nil {
				t.Fatal(err)
			}
			data, err := openData(path)
			if name == "elses" {
				if err == nil || modeOf(t, path) != 0o755 {
					t.Errorf("took somebody's folder: %v, mode %04o", err, modeOf(t, path))
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			data.Close()
			if mode := modeOf(t, path); mode != 0o700 {
				t.Errorf("mode %04o, want 0700", mode)
			}
		})
	}
}

func modeOf(t *testing.T, path string) os.FileMode {
	t.Helper()
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	return info.Mode().Perm()
}

func write(t *testing.T, path string) {
	t.Helper()
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		t.Fatal(err)
	}
}
