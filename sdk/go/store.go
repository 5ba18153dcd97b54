package netsim

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
)

// Store keeps a text between two runs of a program: the position of a feed, or the state of an
// upload.
type Store interface {
	// Load returns what was saved last, "" if nothing was.
	Load(context.Context) (string, error)
	Save(context.Context, string) error
}

// FileStore is a store in the file of this name, which only its owner may read. A program that
// is killed while it saves leaves what was saved before.
type FileStore string

// Load implements [Store].
func (f FileStore) Load(context.Context) (string, error) {
	text, err := os.ReadFile(string(f))
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	return string(text), err
}

// Save implements [Store].
func (f FileStore) Save(_ context.Context, text string) error {
	next, err := os.CreateTemp(filepath.Dir(string(f)), filepath.Base(string(f))+".*") // mode 0600
	if err != nil {
		return err
	}
	_, err = next.WriteString(text)
	if err = errors.Join(err, next.Close()); err == nil {
		err = os.Rename(next.Name(), string(f))
	}
	if err != nil {
		_ = os.Remove(next.Name())
	}
	return err
}

// MemoryStore is a store that ends with the program. Its zero value is empty.
type MemoryStore struct {
	mu   sync.Mutex
	text string
}

// Load implements [Store].
func (m *MemoryStore) Load(context.Context) (string, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.text, nil
}

// Save implements [Store].
func (m *MemoryStore) Save(_ context.Context, text string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.text = text
	return nil
}
