package audit

import (
	"crypto/ed25519"
	"crypto/rand"
	"encoding/base64"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"

	"golang.org/x/mod/sumdb/note"
)

// Key signs checkpoints and bundles. It is an Ed25519 key in the form of
// golang.org/x/mod/sumdb/note, one line of text.
type Key struct {
	note.Signer
	Verifier string // the public half, in the form of note.NewVerifier
}

// NewKey makes a key with the name and returns its text, which is secret.
func NewKey(name string) (text string, err error) {
	private, _, err := note.GenerateKey(rand.Reader, name)
	if err != nil {
		return "", fmt.Errorf("make a key: %w", err)
	}
	return private + "\n", nil
}

// ErrNoKey is wrapped by the error for a key file that does not exist.
var ErrNoKey = errors.New("there is no audit key")

// ReadKey reads a key from its file. Only its owner should be able to read the
// file.
func ReadKey(path string) (*Key, error) {
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%w: %s", ErrNoKey, path)
	}
	if err != nil {
		return nil, fmt.Errorf("read the audit key: %w", err)
	}
	return ParseKey(string(text))
}

// ParseKey reads a key from its text.
func ParseKey(text string) (*Key, error) {
	text = strings.TrimSpace(text)
	signer, err := note.NewSigner(text)
	if err != nil {
		return nil, fmt.Errorf("read the audit key: %w", err)
	}
	// PRIVATE+KEY+name+hash+data: the data is the algorithm, one byte, and the
	// seed. NewSigner has checked both.
	seed, err := base64.StdEncoding.DecodeString(strings.SplitN(text, "+", 5)[4])
	if err != nil {
		return nil, fmt.Errorf("read the audit key: %w", err)
	}
	public := ed25519.NewKeyFromSeed(seed[1:]).Public().(ed25519.PublicKey)
	verifier, err := note.NewEd25519VerifierKey(signer.Name(), public)
	if err != nil {
		return nil, fmt.Errorf("read the audit key: %w", err)
	}
	return &Key{signer, verifier}, nil
}

// sign returns the text as a note that is signed by the keys. The text must end
// with a line feed.
func sign(text string, keys ...*Key) (string, error) {
	signers := make([]note.Signer, len(keys))
	for i, k := range keys {
		signers[i] = k
	}
	signed, err := note.Sign(&note.Note{Text: text}, signers...)
	if err != nil {
		return "", fmt.Errorf("sign: %w", err)
	}
	return string(signed), nil
}

// open returns the text of a note that the verifier's key has signed.
func open(signed, verifier string) (string, error) {
	v, err := note.NewVerifier(verifier)
	if err != nil {
		return "", fmt.Errorf("verifier key %q: %w", verifier, err)
	}
	n, err := note.Open([]byte(signed), note.VerifierList(v))
	if unverified, ok := errors.AsType[*note.UnverifiedNoteError](err); ok {
		return "", &otherKeyError{signersOf(unverified.Note), verifier}
	}
	if err != nil {
		return "", fmt.Errorf("its signature by %s does not verify: %w", verifier, err)
	}
	return n.Text, nil
}

// otherKeyError is the error for a note that is signed by other keys only.
type otherKeyError struct{ signers, verifier string }

func (e *otherKeyError) Error() string {
	return fmt.Sprintf("it is signed by %s, not by %s", e.signers, e.verifier)
}

func signersOf(n *note.Note) string {
	var names []string
	for _, s := range n.UnverifiedSigs {
		names = append(names, fmt.Sprintf("%s+%08x", s.Name, s.Hash))
	}
	return strings.Join(names, " and ")
}
